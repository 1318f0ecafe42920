//! What can go wrong with a queue, told so that a person knows the next step.

use std::io;
use std::path::{Path, PathBuf};

use crate::memory::MemoryError;

/// What can go wrong with a queue.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The system said no.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was being done, as in "cannot read".
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder of the queue is a symbolic link.
    #[error("{} is a symbolic link; Archivist does not write through links", path.display())]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// Nobody would read so long a job.
    #[error("a job of {bytes} bytes is too long; {most} are allowed")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// What is allowed.
        most: usize,
    },
    /// A job could not be written as JSON.
    #[error("cannot write a job as JSON: {0}")]
    Encode(serde_json::Error),
    /// The server that holds the fleet's queue said no.
    #[error(transparent)]
    Fleet(#[from] MemoryError),
}

impl QueueError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// What the person in front of it can do, where there is something.
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
            Self::Encode(_) => None,
        }
    }

    /// Whether the fault is Archivist's own.
    pub fn is_ours(&self) -> bool {
        match self {
            Self::Encode(_) => true,
            Self::Fleet(error) => error.is_ours(),
            Self::Io { .. } | Self::Symlink { .. } | Self::TooLarge { .. } => false,
        }
    }

    /// Whether nothing is wrong but that the server is away.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Fleet(MemoryError::Unreachable { .. }))
    }
}
