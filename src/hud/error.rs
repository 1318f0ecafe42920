//! Why nobody can be told.

use std::io;
use std::path::PathBuf;

/// Why a display or a file cannot be told anything. Found out when it is set up; later nothing fails.
#[derive(Debug, thiserror::Error)]
pub enum HudError {
    /// The address of a display is none.
    #[error("`{address}` is not the address of a display: {why}")]
    Address {
        /// What was given, without anything secret.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// A display is asked for that is only spoken to in secret.
    #[error("`{address}` asks for an encrypted connection, and displays are spoken to without")]
    Encrypted {
        /// What was given, without anything secret.
        address: String,
    },
    /// The file is a symbolic link.
    #[error("{} is a symbolic link; Archivist does not write through links", path.display())]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// The system said no.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl HudError {
    /// What the person in front of it can do, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Address { .. } => Some("give an address such as ws://localhost:8080/ws in `hud.webSocket`"),
            Self::Encrypted { .. } => Some("give a ws:// address; a display elsewhere is reached through a tunnel"),
            Self::Symlink { .. } => Some("name the file itself in `hud.file`"),
            Self::Io { .. } => None,
        }
    }
}
