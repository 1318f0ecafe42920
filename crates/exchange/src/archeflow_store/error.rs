//! The errors of ArcheFlow commands, in the script's wording where it has one.

use std::io;

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum ArcheFlowError {
    /// The event log does not exist or is not a file.
    #[error("Error: events file not found: {0}")]
    NoEvents(String),
    /// There is no lessons file.
    #[error("No lessons file found.")]
    NoLessons,
    /// No lesson has this id.
    #[error("Error: lesson {0} not found.")]
    NotFound(String),
    /// The run id is not safe as part of a path.
    #[error("Error: invalid run_id '{0}' (allowed: letters, digits, '.', '_', '-')")]
    RunId(String),
    /// A part of the path to be written is a symbolic link.
    #[error("Error: refusing to write through symlink: {0}")]
    Symlink(String),
    /// The lock file is a symbolic link.
    #[error("Error: refusing to use symlinked lock file: {0}")]
    SymlinkedLock(String),
    /// Another process holds the lock for too long.
    #[error("Error: could not lock {0}")]
    Locked(String),
    /// A file cannot be read.
    #[error("Error: cannot read {0}: {1}")]
    Read(String, #[source] io::Error),
    /// A file cannot be written.
    #[error("Error: cannot write {0}: {1}")]
    Write(String, #[source] io::Error),
}

/// Returns true if a name is safe in a path: only letters, digits, `.`, `_` and `-`, a letter or digit first, no `..`.
pub fn is_safe_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed) && !name.contains("..")
}
