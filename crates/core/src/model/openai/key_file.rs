//! Reading an API key from a file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use thiserror::Error;

/// The largest key file that is read.
const MAX_KEY_BYTES: u64 = 16 * 1024;

/// The reason why a file gives no key. The content of the file is never part of it.
#[derive(Debug, Error)]
pub enum KeyFileError {
    /// The file is missing or cannot be read.
    #[error("the key file {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file contains only whitespace.
    #[error("the key file {} is empty; write the key into it", path.display())]
    Empty {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is longer than any key.
    #[error("the key file {} is longer than any key; it holds the key and nothing else", path.display())]
    TooLong {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file has more than one line.
    #[error("the key file {} has more than one line; it holds the key and nothing else", path.display())]
    ManyLines {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file contains bytes that no key has.
    #[error("the key file {} holds characters that no key has; it is plain ASCII text", path.display())]
    NoText {
        /// The path of the file.
        path: PathBuf,
    },
}

/// Reads a key: one line, without the space around it. A file that others can read is used, with a warning.
pub fn read_key_file(path: &Path) -> Result<SecretString, KeyFileError> {
    let unreadable = |source| KeyFileError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    warn_if_open_to_others(&file, path);
    let mut bytes = Vec::new();
    file.take(MAX_KEY_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_KEY_BYTES) {
        return Err(KeyFileError::TooLong { path: path.to_owned() });
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| KeyFileError::NoText { path: path.to_owned() })?;
    let key = text.trim_start_matches('\u{FEFF}').trim();
    if key.is_empty() {
        return Err(KeyFileError::Empty { path: path.to_owned() });
    }
    if key.contains(['\n', '\r']) {
        return Err(KeyFileError::ManyLines { path: path.to_owned() });
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(KeyFileError::NoText { path: path.to_owned() });
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
#[path = "key_file_tests.rs"]
mod tests;
