//! Reads logs from disk: one to inspect, or all logs of one or more sessions together.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::{GatheredLogs, LogGatherer, SessionSummary};
use crate::domain::{EventSink, LogReference, Part, SkippedLogLine, TrajectoryEvent};
use crate::ingest::{
    LogFormat, LogReferenceError, ReaderSettings, ReferenceTrail, SessionReader, UnreadableLog, outcome_beside,
};
use crate::redact::Redactor;

/// The number of bytes read so far, for progress output.
#[derive(Debug, Default)]
pub struct ReadProgress(AtomicU64);

impl ReadProgress {
    /// Returns the number of bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A file that counts the bytes read from it.
struct CountingFile<'p> {
    file: File,
    progress: &'p ReadProgress,
}

impl Read for CountingFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.progress.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// One log that was read on its own.
#[derive(Debug)]
pub struct InspectedLog {
    /// The log's format.
    pub format: LogFormat,
    /// The log's content.
    pub gathered: GatheredLogs,
}

/// Reads a single log, and the outcome file next to it if there is one. Only some of its steps are kept.
pub fn inspect_log(
    path: &Path,
    rules: ReaderSettings,
    redactor: &Redactor,
    progress: &ReadProgress,
) -> Result<InspectedLog, UnreadableLog> {
    let mut gathering = LogGatherer::new_brief(redactor);
    let format = read_log(path, &mut SessionReader::new(rules), progress, &mut gathering)?;
    Ok(InspectedLog { format, gathered: gathering.finish() })
}

fn read_log(
    path: &Path,
    reading: &mut SessionReader,
    progress: &ReadProgress,
    gathering: &mut LogGatherer<'_>,
) -> Result<LogFormat, UnreadableLog> {
    let mut file = CountingFile { file: File::open(path)?, progress };
    let format = reading.read_log(&mut file, gathering)?;
    if let Some(outcome) = (format == LogFormat::Atif).then(|| outcome_beside(path)).flatten() {
        gathering.receive_event(TrajectoryEvent::Outcome(outcome));
    }
    Ok(format)
}

/// All logs of one session combined, or those of several sessions that are reflected on together.
#[derive(Debug)]
pub struct CombinedLogs {
    /// The combined content. The session's own trajectory comes first, then those that it refers to.
    pub gathered: GatheredLogs,
    /// A summary of each log.
    pub sessions: Vec<SessionSummary>,
    /// The index of the session that each trajectory belongs to.
    pub owners: Vec<usize>,
}

impl CombinedLogs {
    /// Reads the files of one session in order, then those of its subagents, and the files that they refer to.
    ///
    /// A file that cannot be read is reported in the survey; if none can, the first error is returned.
    pub fn read_session(files: &[PathBuf], subagents: &[PathBuf], redactor: &Redactor) -> Result<Self, UnreadableLog> {
        Self::read_sessions(&[files.iter().chain(subagents).cloned().collect()], redactor)
    }

    /// Reads several sessions, each with all its files, as one whole. Only so does it show what they have in common.
    pub fn read_sessions(sessions: &[Vec<PathBuf>], redactor: &Redactor) -> Result<Self, UnreadableLog> {
        let progress = ReadProgress::default();
        let mut gathering = LogGatherer::new(redactor);
        let mut reading = SessionReader::new(ReaderSettings::default());
        let mut trail = ReferenceTrail::default();
        let mut summaries = Vec::new();
        let mut owners = Vec::new();
        let mut first_error = None;
        for (number, files) in sessions.iter().enumerate() {
            let mut waiting: VecDeque<PathBuf> = files.iter().cloned().collect();
            while let Some(path) = waiting.pop_front() {
                let shown = path.display().to_string();
                if let Err(refused) = trail.enter_file(&path) {
                    gathering.receive_event(skipped_event(&shown, &refused.to_string()));
                    continue;
                }
                // Every file numbers its steps from the start.
                gathering.receive_event(TrajectoryEvent::Begin);
                let before = gathering.current_progress();
                match read_log(&path, &mut reading, &progress, &mut gathering) {
                    Ok(format) => summaries.push(gathering.summarize_since(&before, &shown, format.as_str())),
                    Err(error) => {
                        gathering.receive_event(skipped_event(&shown, &error.to_string()));
                        first_error.get_or_insert(error);
                    }
                }
                for elsewhere in gathering.take_references() {
                    follow_reference(&path, elsewhere, &mut trail, &mut waiting, &mut gathering);
                }
            }
            owners.resize(gathering.close_and_count(), number);
        }
        match first_error {
            Some(error) if summaries.is_empty() => Err(error),
            _ => Ok(Self { gathered: gathering.finish(), sessions: summaries, owners }),
        }
    }
}

/// Queues a file that a log refers to, if it may be read.
fn follow_reference(
    from: &Path,
    elsewhere: LogReference,
    trail: &mut ReferenceTrail,
    waiting: &mut VecDeque<PathBuf>,
    gathering: &mut LogGatherer<'_>,
) {
    let Some(reference) = elsewhere.path.filter(|_| elsewhere.part != Part::Media) else { return };
    match trail.follow_reference(from, &reference) {
        Ok(path) => {
            if !waiting.contains(&path) {
                waiting.push_back(path);
            }
        }
        Err(LogReferenceError::Again) => {}
        Err(refused) => gathering.receive_event(skipped_event(&reference, &refused.to_string())),
    }
}

fn skipped_event(what: &str, why: &str) -> TrajectoryEvent {
    TrajectoryEvent::Skipped(SkippedLogLine { line: 0, why: format!("{what}: {why}") })
}
