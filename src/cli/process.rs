//! What the process was started with: the one place that reads the environment, the clock and the terminal.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;

use terminal_size::{Width, terminal_size_of};

use crate::config::Surroundings;
use crate::domain::Timestamp;

/// Everything from outside that a command depends on, besides its arguments.
#[allow(missing_debug_implementations, reason = "the environment holds secrets")]
pub struct Process {
    /// Environment, home and current directory.
    pub surroundings: Surroundings,
    /// What `--now` replaces.
    pub now: Timestamp,
    /// What `--seed` replaces.
    pub seed: u64,
    /// Where questions and texts are read from.
    pub input: Box<dyn Read>,
    /// Whether a person sits at the other end of it.
    pub is_interactive: bool,
    /// Where data goes.
    pub output: Stream,
    /// Where talk goes.
    pub errors: Stream,
}

/// Somewhere to write to, and what reads it.
#[allow(missing_debug_implementations, reason = "a stream has nothing to show")]
pub struct Stream {
    /// Where the bytes go.
    pub bytes: Box<dyn Write>,
    /// Who reads them.
    pub reader: Reader,
}

/// Who reads a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A person, at a terminal of this many columns if it says so.
    Terminal(Option<usize>),
    /// A file or another program.
    Program,
}

impl Process {
    /// The running process.
    pub fn of_this_one() -> Self {
        Self {
            surroundings: surroundings(),
            now: chrono::Utc::now(),
            seed: RandomState::new().build_hasher().finish(),
            input: Box::new(io::stdin()),
            is_interactive: io::stdin().is_terminal(),
            output: Stream { reader: reader(io::stdout()), bytes: Box::new(io::stdout()) },
            errors: Stream { reader: reader(io::stderr()), bytes: Box::new(io::stderr()) },
        }
    }
}

fn surroundings() -> Surroundings {
    let unicode = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let home = std::env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
    Surroundings {
        home: home.filter(|path| path.is_absolute()),
        environment: std::env::vars_os().filter_map(unicode).collect(),
        // An empty path stands for a directory that is gone; a command that needs it says so.
        current_dir: std::env::current_dir().unwrap_or_default(),
    }
}

#[cfg(unix)]
fn reader(stream: impl IsTerminal + std::os::fd::AsFd) -> Reader {
    if !stream.is_terminal() {
        return Reader::Program;
    }
    Reader::Terminal(terminal_size_of(stream).map(|(Width(columns), _)| usize::from(columns)))
}

#[cfg(windows)]
fn reader(stream: impl IsTerminal + std::os::windows::io::AsHandle) -> Reader {
    if !stream.is_terminal() {
        return Reader::Program;
    }
    Reader::Terminal(terminal_size_of(stream).map(|(Width(columns), _)| usize::from(columns)))
}
