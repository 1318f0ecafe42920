//! A key from a file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use thiserror::Error;

/// No key is longer.
const MAX_KEY_BYTES: u64 = 16 * 1024;

/// Why a file gives no key. What stands in the file is never part of it.
#[derive(Debug, Error)]
pub enum KeyError {
    /// It is not there, or may not be read.
    #[error("the key file {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing but space.
    #[error("the key file {} is empty; write the key into it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// More than a key.
    #[error("the key file {} is longer than any key; it holds the key and nothing else", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// More than one line.
    #[error("the key file {} has more than one line; it holds the key and nothing else", path.display())]
    ManyLines {
        /// The file.
        path: PathBuf,
    },
    /// Bytes that no key has.
    #[error("the key file {} holds characters that no key has; it is plain ASCII text", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
    },
}

/// Reads a key: one line, the space around it left out. A file that others can read is used, with a warning.
pub fn key_from_file(path: &Path) -> Result<SecretString, KeyError> {
    let unreadable = |source| KeyError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    warn_if_open_to_others(&file, path);
    let mut bytes = Vec::new();
    file.take(MAX_KEY_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_KEY_BYTES) {
        return Err(KeyError::TooLong { path: path.to_owned() });
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| KeyError::NoText { path: path.to_owned() })?;
    let key = text.trim_start_matches('\u{FEFF}').trim();
    if key.is_empty() {
        return Err(KeyError::Empty { path: path.to_owned() });
    }
    if key.contains(['\n', '\r']) {
        return Err(KeyError::ManyLines { path: path.to_owned() });
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(KeyError::NoText { path: path.to_owned() });
    }
    Ok(SecretString::from(key))
}

#[cfg(unix)]
fn warn_if_open_to_others(file: &File, path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    if file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0) {
        tracing::warn!(path = %path.display(), "others can read the key file; `chmod 600` keeps it to you");
    }
}

#[cfg(not(unix))]
fn warn_if_open_to_others(_: &File, _: &Path) {}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
