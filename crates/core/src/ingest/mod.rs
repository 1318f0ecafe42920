//! Reads the logs of agents and turns them into a common stream of events.
//!
//! There is one file for each format, which turns the format's records into [`TrajectoryEvent`]s and does nothing else.
//! A format is detected by content, never by name. Logs are read once, in bounded memory; long values are truncated,
//! unreadable records are skipped and reported, and only a log that is entirely unreadable is an error.

mod chat_messages;
mod detect;
pub mod discover;
mod harbor_outcome;
mod json_documents;
mod json_fields;
mod json_key_scan;
mod json_lines;
mod json_repair;
mod json_truncate;
mod log_references;
mod unknown_lines;
mod user_turns;
mod zstd_log;

mod archeflow;
mod atif;
mod claude;
mod codex;
mod codex_early;
mod codex_exec;
mod gemini;
mod generic;
mod openagents;
mod opencode;
mod progress_notes;

#[cfg(test)]
#[path = "quoted_text_tests.rs"]
mod quoted_text_tests;

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;

use std::io::Read;

use serde_json::Value;

use crate::domain::{EventSink, SkippedLogLine, TrajectoryEvent};
use detect::{DetectedLog, LogLayout};

pub use archeflow::FINDINGS;
pub use detect::LogFormat;
pub use discover::find_subagent_logs;
#[cfg(test)]
pub(crate) use generic::PANIC;
pub use harbor_outcome::read_trial_outcome as outcome_beside;

pub use log_references::{LogReferenceError, ReferenceTrail};
pub use progress_notes::{
    ClaudeSession, LessonSection, PreviousSession, ProgressNotes, ProgressTokenCounts, parse as parse_progress,
    strip_lesson_sections,
};

/// The settings for reading logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReaderSettings {
    /// True if the log is also checked against the rules of its format.
    pub strict: bool,
}

/// The reason why nothing of a log could be read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableLog {
    /// The log is empty.
    #[error("it is empty")]
    Empty,
    /// The format is unknown.
    #[error("it is in no format that is known here: {0}")]
    UnknownFormat(String),
    /// The operating system reported an error.
    #[error("it could not be read: {0}")]
    Io(#[from] std::io::Error),
}

impl UnreadableLog {
    /// Returns true if the file is not a log at all, so that nothing is lost by ignoring it.
    pub fn is_not_a_log(&self) -> bool {
        matches!(self, Self::Empty | Self::UnknownFormat(_))
    }
}

/// Turns lines of one format into events. Several files of one session may go through one reader, so that records that
/// they share are emitted once.
trait LogReader: Send {
    /// Reads one line of the log, or the whole document. It is always an object.
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink);

    /// Emits what is left when the log ends.
    fn finish_log(&mut self, _sink: &mut dyn EventSink) {}
}

/// Reads the files of one session, one after the other.
#[derive(Debug, Default)]
pub struct SessionReader {
    rules: ReaderSettings,
    claude: claude::ClaudeReader,
}

impl SessionReader {
    /// Creates a reader that has not read anything yet.
    pub fn new(rules: ReaderSettings) -> Self {
        Self { rules, claude: claude::ClaudeReader::default() }
    }

    /// Reads a log of any format to its end and returns the format.
    pub fn read_log(
        &mut self,
        input: &mut (dyn Read + Send),
        sink: &mut dyn EventSink,
    ) -> Result<LogFormat, UnreadableLog> {
        let detected = detect::detect_format(input)?;
        let format = detected.format;
        self.read_detected(detected, sink)?;
        Ok(format)
    }

    /// Reads a log as one of the given format.
    pub fn read_log_as(
        &mut self,
        format: LogFormat,
        input: &mut (dyn Read + Send),
        sink: &mut dyn EventSink,
    ) -> Result<(), UnreadableLog> {
        self.read_detected(detect::open_in_format(format, input)?, sink)
    }

    fn read_detected(&mut self, detected: DetectedLog<'_>, sink: &mut dyn EventSink) -> Result<(), UnreadableLog> {
        let DetectedLog { format, layout, mut input, damage } = detected;
        self.read_in_format(format, layout, &mut input, sink)?;
        if damage.is_set() {
            let why = "the packed log is damaged, and ends here".to_owned();
            sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: 0, why }));
        }
        Ok(())
    }

    fn read_in_format(
        &mut self,
        format: LogFormat,
        layout: LogLayout,
        input: &mut (dyn Read + Send),
        sink: &mut dyn EventSink,
    ) -> std::io::Result<()> {
        let reader: &mut dyn LogReader = match format {
            LogFormat::Atif if layout == LogLayout::Lines => return atif::read_document_lines(input, self.rules, sink),
            LogFormat::Atif => return atif::read_documents(input, self.rules, sink),
            LogFormat::ProgressNotes => return progress_notes::read_notes(input, sink),
            LogFormat::AtifStream => &mut atif::AtifStreamReader::new(self.rules),
            LogFormat::ClaudeCode => &mut self.claude,
            LogFormat::Codex => &mut codex_early::AnyCodexReader::default(),
            LogFormat::CodexExec => &mut codex_exec::CodexExecReader::default(),
            LogFormat::OpenAgentsSession => &mut openagents::OpenAgentsSessionReader::default(),
            LogFormat::OpenAgentsRunLog => &mut openagents::RunLogReader::default(),
            LogFormat::OpenAgentsTrajectories => &mut openagents::TrajectoryRecordReader::default(),
            LogFormat::OpenAgentsState => &mut openagents::OpenAgentsStateReader::default(),
            LogFormat::ArcheFlow => &mut archeflow::ArcheFlowReader::default(),
            LogFormat::Gemini => &mut gemini::GeminiReader::default(),
            LogFormat::OpenCode => &mut opencode::OpenCodeReader::default(),
            LogFormat::Generic => &mut generic::GenericReader::default(),
        };
        match layout {
            LogLayout::Lines => json_lines::LogLines::new(input).read_all(reader, sink),
            LogLayout::Document => json_documents::read_documents(input, reader, sink),
        }
    }
}
