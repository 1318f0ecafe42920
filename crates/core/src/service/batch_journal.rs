//! The journal of a batch's model requests, so that a batch that was killed does not pay for anything twice.
//!
//! It has one line before a request and one line with its result. A request whose reply never arrived still counts as
//! made: the heuristics stand in for it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::domain::{DistillationResult, EpisodeId, LogStamp};
use crate::files::is_link;

#[cfg(test)]
#[path = "batch_journal_tests.rs"]
mod tests;

/// The journal of one batch.
#[derive(Debug)]
pub struct BatchJournal {
    path: PathBuf,
    known: HashMap<EpisodeId, JournaledRequest>,
    file: Mutex<File>,
}

#[derive(Debug)]
struct JournaledRequest {
    logs: Vec<LogStamp>,
    distilled: Option<DistillationResult>,
}

/// The state of an earlier model request.
#[derive(Debug, PartialEq)]
pub(super) enum EarlierRequest {
    /// It was never made.
    Nothing,
    /// It was made, and the reply is lost.
    Asked,
    /// It was made and answered.
    Answered(Box<DistillationResult>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum JournalLine {
    Asked { episode: EpisodeId, logs: Vec<LogStamp> },
    Answered { episode: EpisodeId, distilled: Box<DistillationResult> },
}

impl BatchJournal {
    /// Opens a journal with everything that an earlier batch left in it. A truncated line is ignored, and a link is
    /// refused.
    pub fn open(path: &Path) -> io::Result<Self> {
        if is_link(path) {
            return Err(io::Error::other("it is a symbolic link"));
        }
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut known: HashMap<EpisodeId, JournaledRequest> = HashMap::new();
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match line {
                JournalLine::Asked { episode, logs } => {
                    drop(known.insert(episode, JournaledRequest { logs, distilled: None }));
                }
                JournalLine::Answered { episode, distilled } => {
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

    /// Returns the earlier request about a session with logs of this length. Longer logs are a new request.
    pub(super) fn find_earlier_request(&self, episode: &EpisodeId, logs: &[LogStamp]) -> EarlierRequest {
        match self.known.get(episode).filter(|known| known.logs == logs) {
            None => EarlierRequest::Nothing,
            Some(JournaledRequest { distilled: None, .. }) => EarlierRequest::Asked,
            Some(JournaledRequest { distilled: Some(distilled), .. }) => {
                EarlierRequest::Answered(Box::new(distilled.clone()))
            }
        }
    }

    /// Records that a request is about to be made.
    pub(super) fn record_request(&self, episode: &EpisodeId, logs: &[LogStamp]) -> io::Result<()> {
        self.write_line(&JournalLine::Asked { episode: episode.clone(), logs: logs.to_vec() })
    }

    /// Records that the request was not made after all, as a request about no logs, which never matches.
    pub(super) fn record_cancellation(&self, episode: &EpisodeId) -> io::Result<()> {
        self.record_request(episode, &[])
    }

    /// Records the result of a request.
    pub(super) fn record_reply(&self, episode: &EpisodeId, distilled: &DistillationResult) -> io::Result<()> {
        self.write_line(&JournalLine::Answered { episode: episode.clone(), distilled: Box::new(distilled.clone()) })
    }

    /// Deletes the journal, since the batch is complete.
    pub fn delete_journal(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }

    fn write_line(&self, line: &JournalLine) -> io::Result<()> {
        let mut text = serde_json::to_string(line).map_err(io::Error::other)?;
        text.push('\n');
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes())
    }
}
