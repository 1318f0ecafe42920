//! What agents did, read from the logs they leave.
//!
//! One file for each format: it knows the format's words and turns them into [`Event`]s, and nothing else. The format
//! is known by content, never by name. Logs are read once, in bounded memory; what is too long loses its middle, what
//! cannot be read is skipped and reported, and only a log of which nothing can be read is an error.

mod beside;
mod chat;
mod detect;
pub mod discover;
mod follow;
mod lines;
mod mend;
mod packed;
mod pick;
mod shape;
mod squeeze;
mod unknown;
mod values;

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
mod progress;

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;

use std::io::Read;

use serde_json::Value;

use crate::domain::{Event, Sink, Skipped};
use detect::{Detected, Layout};

pub use archeflow::FINDINGS;
pub use beside::outcome as outcome_beside;
pub use detect::Format;
pub use discover::subagents_beside;
#[cfg(test)]
pub(crate) use generic::PANIC;

pub use follow::{Refused, Trail};
pub use progress::{
    ClaudeSession, LessonSection, PreviousSession, Progress, Tokens, parse as parse_progress, without_lessons,
};

/// How to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether to hold the log against its format's own rules as well.
    pub strict: bool,
}

/// Why nothing of a log could be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// Nobody here knows the format.
    #[error("it is in no format that is known here: {0}")]
    UnknownFormat(String),
    /// The operating system would not hand it over.
    #[error("it could not be read: {0}")]
    Io(#[from] std::io::Error),
}

impl Unreadable {
    /// Whether this is simply no log: nothing that somebody would miss.
    pub fn is_no_log(&self) -> bool {
        matches!(self, Self::Empty | Self::UnknownFormat(_))
    }
}

/// Turns lines of one format into events. Several files of one session go through one reader, so that what they share
/// is told once.
trait Reader: Send {
    /// One line of the log, or the document that it is. Always an object.
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink);

    /// The log is over.
    fn end(&mut self, _sink: &mut dyn Sink) {}
}

/// Reads the files of one session, one after the other.
#[derive(Debug, Default)]
pub struct Reading {
    rules: Rules,
    claude: claude::Claude,
}

impl Reading {
    /// Nothing is read yet.
    pub fn new(rules: Rules) -> Self {
        Self { rules, claude: claude::Claude::default() }
    }

    /// Reads a log to its end, whatever its format is, and says what that was.
    pub fn read(&mut self, input: &mut (dyn Read + Send), sink: &mut dyn Sink) -> Result<Format, Unreadable> {
        let detected = detect::detect(input)?;
        let format = detected.format;
        self.read_in(detected, sink)?;
        Ok(format)
    }

    /// Reads a log that is known to be in a format, or is to be read as if it were.
    pub fn read_as(
        &mut self,
        format: Format,
        input: &mut (dyn Read + Send),
        sink: &mut dyn Sink,
    ) -> Result<(), Unreadable> {
        self.read_in(detect::known(format, input)?, sink)
    }

    fn read_in(&mut self, detected: Detected<'_>, sink: &mut dyn Sink) -> Result<(), Unreadable> {
        let Detected { format, layout, mut input, damage } = detected;
        self.read_through(format, layout, &mut input, sink)?;
        if damage.is_there() {
            let why = "the packed log is damaged, and ends here".to_owned();
            sink.hear(Event::Skipped(Skipped { line: 0, why }));
        }
        Ok(())
    }

    fn read_through(
        &mut self,
        format: Format,
        layout: Layout,
        input: &mut (dyn Read + Send),
        sink: &mut dyn Sink,
    ) -> std::io::Result<()> {
        let reader: &mut dyn Reader = match format {
            Format::Atif if layout == Layout::Lines => return atif::lines(input, self.rules, sink),
            Format::Atif => return atif::documents(input, self.rules, sink),
            Format::ProgressNotes => return progress::read(input, sink),
            Format::AtifStream => &mut atif::Stream::new(self.rules),
            Format::ClaudeCode => &mut self.claude,
            Format::Codex => &mut codex_early::AnyCodex::default(),
            Format::CodexExec => &mut codex_exec::CodexExec::default(),
            Format::OpenAgentsSession => &mut openagents::Session::default(),
            Format::OpenAgentsRunLog => &mut openagents::RunLog::default(),
            Format::OpenAgentsTrajectories => &mut openagents::Trajectories::default(),
            Format::OpenAgentsState => &mut openagents::State::default(),
            Format::ArcheFlow => &mut archeflow::ArcheFlow::default(),
            Format::Gemini => &mut gemini::Gemini::default(),
            Format::OpenCode => &mut opencode::OpenCode::default(),
            Format::Generic => &mut generic::Generic::default(),
        };
        match layout {
            Layout::Lines => lines::Lines::new(input).each(reader, sink),
            Layout::Document => values::each(input, reader, sink),
        }
    }
}
