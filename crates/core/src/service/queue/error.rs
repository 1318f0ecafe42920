//! The errors of a queue, with hints for the next step.

use std::io;
use std::path::{Path, PathBuf};

use crate::memory::MemoryError;
use crate::trust::MachineKeyError;

/// The error of a queue operation.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// A file operation failed.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The operation, as in "cannot read".
        doing: &'static str,
        /// The affected file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A folder of the queue is a symbolic link.
    #[error("{} is a symbolic link; Archivist does not write through links", path.display())]
    Symlink {
        /// The link's path.
        path: PathBuf,
    },
    /// The job is too large to be read again.
    #[error("a job of {bytes} bytes is too long; {most} are allowed")]
    TooLarge {
        /// The job's size.
        bytes: usize,
        /// The allowed size.
        most: usize,
    },
    /// A job could not be written as JSON.
    #[error("cannot write a job as JSON: {0}")]
    Encode(serde_json::Error),
    /// The key that seals jobs cannot be used.
    #[error(transparent)]
    Key(MachineKeyError),
    /// The server of the fleet's queue returned an error.
    #[error(transparent)]
    Fleet(#[from] MemoryError),
}

impl QueueError {
    pub(super) fn from_io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// Returns the next step that a person can take, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Symlink { .. } => Some("put a real folder there, or point `memory.dir` at another directory".into()),
            Self::TooLarge { .. } => Some("name fewer logs, or shorten what was added to the trigger".into()),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Some("allow reading and writing there, or choose another directory with --memory-dir".into())
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    Some("free some space and ask again; nothing was half written".into())
                }
                io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
                    Some("something else stands where a file or a directory is needed; move it away".into())
                }
                _ => None,
            },
            Self::Fleet(error) => error.hint(),
            Self::Key(error) => error.hint(),
            Self::Encode(_) => None,
        }
    }

    /// Returns true if the fault is Archivist's own.
    pub fn is_ours(&self) -> bool {
        match self {
            Self::Encode(_) => true,
            Self::Fleet(error) => error.is_internal_fault(),
            Self::Io { .. } | Self::Symlink { .. } | Self::TooLarge { .. } | Self::Key(_) => false,
        }
    }

    /// Returns true if the only problem is that the server is unreachable.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Fleet(MemoryError::Unreachable { .. }))
    }
}
