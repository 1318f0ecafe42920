//! Reads a small file without trusting what lies at its path: a device never ends, and a pipe never begins.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::Path;

#[cfg(test)]
#[path = "small_file_tests.rs"]
mod tests;

/// Returns the content of a regular file of at most `max_bytes`. Anything else at the path is an error, at once.
///
/// A link is followed, because a person may keep settings elsewhere.
pub fn read_small_file(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len().min(max_bytes)).unwrap_or_default());
    // The length that was just read may be out of date, and some file systems tell none.
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= max_bytes => Ok(bytes),
        _ => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {max_bytes} bytes"))),
    }
}
