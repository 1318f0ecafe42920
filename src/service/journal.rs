//! What a batch has asked a model, so that a batch that was killed does not pay for anything twice.
//!
//! One line before a question, one line with what came of it. A question whose answer never came was still asked: the
//! heuristics stand in for it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::domain::{Distilled, EpisodeId, LogStamp};

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;

/// The journal of one batch.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    known: HashMap<EpisodeId, Known>,
    file: Mutex<File>,
}

#[derive(Debug)]
struct Known {
    logs: Vec<LogStamp>,
    distilled: Option<Distilled>,
}

/// What is known of a question.
#[derive(Debug, PartialEq)]
pub(super) enum Before {
    /// It was never asked.
    Nothing,
    /// It was asked, and the answer is lost.
    Asked,
    /// It was answered.
    Answered(Box<Distilled>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line {
    Asked { episode: EpisodeId, logs: Vec<LogStamp> },
    Answered { episode: EpisodeId, distilled: Box<Distilled> },
}

impl Journal {
    /// Opens a journal, with all that an earlier batch left in it. A line that was cut off counts for nothing.
    pub fn open(path: &Path) -> io::Result<Self> {
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut known: HashMap<EpisodeId, Known> = HashMap::new();
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match line {
                Line::Asked { episode, logs } => drop(known.insert(episode, Known { logs, distilled: None })),
                Line::Answered { episode, distilled } => {
                    if let Some(known) = known.get_mut(&episode) {
                        known.distilled = Some(*distilled);
                    }
                }
            }
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self { path: path.to_owned(), known, file: Mutex::new(file) })
    }

    /// What is known of the question about a run whose logs were that long. Longer ones are another question.
    pub(super) fn before(&self, episode: &EpisodeId, logs: &[LogStamp]) -> Before {
        match self.known.get(episode).filter(|known| known.logs == logs) {
            None => Before::Nothing,
            Some(Known { distilled: None, .. }) => Before::Asked,
            Some(Known { distilled: Some(distilled), .. }) => Before::Answered(Box::new(distilled.clone())),
        }
    }

    /// Notes that a question is about to be asked.
    pub(super) fn asking(&self, episode: &EpisodeId, logs: &[LogStamp]) -> io::Result<()> {
        self.write(&Line::Asked { episode: episode.clone(), logs: logs.to_vec() })
    }

    /// Notes that it was not asked after all. A question about no logs is no question that anybody asks.
    pub(super) fn not_asked(&self, episode: &EpisodeId) -> io::Result<()> {
        self.asking(episode, &[])
    }

    /// Notes what came of it.
    pub(super) fn answered(&self, episode: &EpisodeId, distilled: &Distilled) -> io::Result<()> {
        self.write(&Line::Answered { episode: episode.clone(), distilled: Box::new(distilled.clone()) })
    }

    /// The batch is through: nothing of this is needed any more.
    pub fn close(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }

    fn write(&self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line).map_err(io::Error::other)?;
        text.push('\n');
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes())
    }
}
