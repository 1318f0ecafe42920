//! What stands in the way, in the script's words where it has some.

use std::io;

/// Why a command cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// There is no such log, or it is no file.
    #[error("Error: events file not found: {0}")]
    NoEvents(String),
    /// Nothing was ever learned here.
    #[error("No lessons file found.")]
    NoLessons,
    /// No line has this id.
    #[error("Error: lesson {0} not found.")]
    NotFound(String),
    /// A run's name becomes a path, and this one could lead anywhere.
    #[error("Error: invalid run_id '{0}' (allowed: letters, digits, '.', '_', '-')")]
    RunId(String),
    /// What would be written lies somewhere else.
    #[error("Error: refusing to write through symlink: {0}")]
    Symlink(String),
    /// The lock would be somebody else's file.
    #[error("Error: refusing to use symlinked lock file: {0}")]
    SymlinkedLock(String),
    /// Somebody else writes, and does not come to an end.
    #[error("Error: could not lock {0}")]
    Locked(String),
    /// A file cannot be read.
    #[error("Error: cannot read {0}: {1}")]
    Read(String, #[source] io::Error),
    /// A file cannot be written.
    #[error("Error: cannot write {0}: {1}")]
    Write(String, #[source] io::Error),
}

/// Whether a name may become part of a path: letters, digits, `.`, `_` and `-`, a letter or a digit first, no `..`.
pub fn is_safe_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed) && !name.contains("..")
}
