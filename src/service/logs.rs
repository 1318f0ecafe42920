//! Logs from disk: one by one to look at, or all those of one session together.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::{Gathered, Gathering, SessionSummary};
use crate::domain::{Elsewhere, Event, Part, Sink, Skipped};
use crate::ingest::{Format, Reading, Refused, Rules, Trail, Unreadable, outcome_beside};
use crate::redact::Redactor;

/// How many bytes were read so far, for whoever watches.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    /// Bytes read.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A file that counts what is read of it.
struct Watched<'p> {
    file: File,
    progress: &'p Progress,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.progress.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// One log, by itself.
#[derive(Debug)]
pub struct Log {
    /// What it is written in.
    pub format: Format,
    /// What it holds.
    pub gathered: Gathered,
}

/// Reads one log and nothing else, but for the outcome that may lie beside it. Of its steps only some are kept.
pub fn inspect(path: &Path, rules: Rules, redactor: &Redactor, progress: &Progress) -> Result<Log, Unreadable> {
    let mut gathering = Gathering::in_brief(redactor);
    let format = read(path, &mut Reading::new(rules), progress, &mut gathering)?;
    Ok(Log { format, gathered: gathering.finish() })
}

fn read(
    path: &Path,
    reading: &mut Reading,
    progress: &Progress,
    gathering: &mut Gathering<'_>,
) -> Result<Format, Unreadable> {
    let mut file = Watched { file: File::open(path)?, progress };
    let format = reading.read(&mut file, gathering)?;
    if let Some(outcome) = (format == Format::Atif).then(|| outcome_beside(path)).flatten() {
        gathering.hear(Event::Outcome(outcome));
    }
    Ok(format)
}

/// All logs of one session, gathered as one; or those of several sessions that are looked at together.
#[derive(Debug)]
pub struct Logs {
    /// What they hold together. The session's own trajectory comes first, then those that it refers to.
    pub gathered: Gathered,
    /// Each of them in brief.
    pub sessions: Vec<SessionSummary>,
    /// Which of the sessions each trajectory belongs to, by its place among them.
    pub owners: Vec<usize>,
}

impl Logs {
    /// Reads the files of one session in their order, then those of its subagents, and whatever they refer to.
    ///
    /// A file that cannot be read is told in the survey; if none can, that is the error of the first.
    pub fn read(files: &[PathBuf], subagents: &[PathBuf], redactor: &Redactor) -> Result<Self, Unreadable> {
        Self::read_together(&[files.iter().chain(subagents).cloned().collect()], redactor)
    }

    /// The same for several sessions: the files of each, as one whole. What they have in common shows only so.
    pub fn read_together(sessions: &[Vec<PathBuf>], redactor: &Redactor) -> Result<Self, Unreadable> {
        let progress = Progress::default();
        let mut gathering = Gathering::new(redactor);
        let mut reading = Reading::new(Rules::default());
        let mut trail = Trail::default();
        let mut summaries = Vec::new();
        let mut owners = Vec::new();
        let mut first_error = None;
        for (number, files) in sessions.iter().enumerate() {
            let mut waiting: VecDeque<PathBuf> = files.iter().cloned().collect();
            while let Some(path) = waiting.pop_front() {
                let shown = path.display().to_string();
                if let Err(refused) = trail.enter(&path) {
                    gathering.hear(skipped(&shown, &refused.to_string()));
                    continue;
                }
                // Every file numbers its steps anew.
                gathering.hear(Event::Begin);
                let before = gathering.so_far();
                match read(&path, &mut reading, &progress, &mut gathering) {
                    Ok(format) => summaries.push(gathering.summary(&before, &shown, format.as_str())),
                    Err(error) => {
                        gathering.hear(skipped(&shown, &error.to_string()));
                        first_error.get_or_insert(error);
                    }
                }
                for elsewhere in gathering.references() {
                    follow(&path, elsewhere, &mut trail, &mut waiting, &mut gathering);
                }
            }
            owners.resize(gathering.kept(), number);
        }
        match first_error {
            Some(error) if summaries.is_empty() => Err(error),
            _ => Ok(Self { gathered: gathering.finish(), sessions: summaries, owners }),
        }
    }
}

/// Puts a file that a log refers to on the list, if it may be read.
fn follow(
    from: &Path,
    elsewhere: Elsewhere,
    trail: &mut Trail,
    waiting: &mut VecDeque<PathBuf>,
    gathering: &mut Gathering<'_>,
) {
    let Some(reference) = elsewhere.path.filter(|_| elsewhere.part != Part::Media) else { return };
    match trail.follow(from, &reference) {
        Ok(path) => {
            if !waiting.contains(&path) {
                waiting.push_back(path);
            }
        }
        Err(Refused::Again) => {}
        Err(refused) => gathering.hear(skipped(&reference, &refused.to_string())),
    }
}

fn skipped(what: &str, why: &str) -> Event {
    Event::Skipped(Skipped { line: 0, why: format!("{what}: {why}") })
}
