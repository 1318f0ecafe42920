//! Errors of setting up a HUD sink.

use std::io;
use std::path::PathBuf;

/// A HUD sink that cannot be set up. Once it is set up, sending never fails.
#[derive(Debug, thiserror::Error)]
pub enum HudError {
    /// The address of a display is invalid.
    #[error("`{address}` is not the address of a display: {why}")]
    Address {
        /// The given address, without anything secret.
        address: String,
        /// The reason why it is invalid.
        why: String,
    },
    /// The address asks for an encrypted connection, which is not supported.
    #[error("`{address}` asks for an encrypted connection, and displays are spoken to without")]
    Encrypted {
        /// The given address, without anything secret.
        address: String,
    },
    /// The file is a symbolic link.
    #[error("{} is a symbolic link; Archivist does not write through links", path.display())]
    Symlink {
        /// The path of the link.
        path: PathBuf,
    },
    /// The operating system reported an error.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file that could not be written.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl HudError {
    /// Returns advice for the user, where there is any.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Address { .. } => Some("give an address such as ws://localhost:8080/ws in `hud.webSocket`"),
            Self::Encrypted { .. } => Some("give a ws:// address; a display elsewhere is reached through a tunnel"),
            Self::Symlink { .. } => Some("name the file itself in `hud.file`"),
            Self::Io { .. } => None,
        }
    }
}
