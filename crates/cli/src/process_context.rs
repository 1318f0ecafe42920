//! The inputs of the process; the only module that reads the environment, the clock and the terminal.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, IsTerminal, Read, Write};

use terminal_size::{Width, terminal_size_of};

use archivist_core::config::ProcessEnvironment;
use archivist_core::domain::Timestamp;

/// Everything from outside that a command depends on, besides its arguments.
#[allow(missing_debug_implementations, reason = "the environment holds secrets")]
pub struct ProcessContext {
    /// The environment, the home and the current directory.
    pub environment: ProcessEnvironment,
    /// The current time, which `--now` replaces.
    pub now: Timestamp,
    /// The random seed, which `--seed` replaces.
    pub seed: u64,
    /// The stream that texts and answers are read from.
    pub input: Box<dyn Read + Send>,
    /// True if a person can answer on the input stream.
    pub is_interactive: bool,
    /// The stream for data.
    pub output: OutputStream,
    /// The stream for messages.
    pub errors: OutputStream,
}

/// An output stream and the kind of its reader.
#[allow(missing_debug_implementations, reason = "a stream has nothing to show")]
pub struct OutputStream {
    /// The writer of the stream.
    pub bytes: Box<dyn Write>,
    /// The reader of the stream.
    pub reader: OutputTarget,
}

/// The kind of reader of an output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputTarget {
    /// A person at a terminal, with its number of columns if known.
    Terminal(Option<usize>),
    /// A file or another program.
    Program,
}

impl ProcessContext {
    /// Returns the context of the running process.
    pub fn from_running_process() -> Self {
        Self {
            environment: ProcessEnvironment::of_this_process(),
            now: chrono::Utc::now(),
            seed: RandomState::new().build_hasher().finish(),
            input: Box::new(io::stdin()),
            is_interactive: io::stdin().is_terminal(),
            output: OutputStream { reader: detect_target(io::stdout()), bytes: Box::new(io::stdout()) },
            errors: OutputStream { reader: detect_target(io::stderr()), bytes: Box::new(io::stderr()) },
        }
    }
}

#[cfg(unix)]
fn detect_target(stream: impl IsTerminal + std::os::fd::AsFd) -> OutputTarget {
    if !stream.is_terminal() {
        return OutputTarget::Program;
    }
    OutputTarget::Terminal(terminal_size_of(stream).map(|(Width(columns), _)| usize::from(columns)))
}

#[cfg(windows)]
fn detect_target(stream: impl IsTerminal + std::os::windows::io::AsHandle) -> OutputTarget {
    if !stream.is_terminal() {
        return OutputTarget::Program;
    }
    OutputTarget::Terminal(terminal_size_of(stream).map(|(Width(columns), _)| usize::from(columns)))
}
