//! A sink that writes messages to a file or a stream, one per line.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{HudError, HudSink};
use crate::domain::HudMessage;

#[cfg(test)]
#[path = "jsonl_sink_tests.rs"]
mod tests;

/// Appends every message as a line of JSON.
pub struct JsonlSink {
    stream: Mutex<JsonlStream>,
}

struct JsonlStream {
    bytes: Box<dyn Write + Send>,
    /// True once a write failure has been logged.
    has_complained: bool,
}

impl JsonlSink {
    /// Creates a sink for any writer. Each line is one write call, so that lines of several sinks do not mix.
    pub fn new(bytes: impl Write + Send + 'static) -> Self {
        Self { stream: Mutex::new(JsonlStream { bytes: Box::new(bytes), has_complained: false }) }
    }

    /// Opens a file for appending, and creates it for its owner alone if it does not exist. Never follows a link.
    pub fn to_file(path: &Path) -> Result<Self, HudError> {
        Ok(Self::new(ReopenedFile { path: path.to_owned(), file: open_to_append(path)? }))
    }
}

impl HudSink for JsonlSink {
    fn send_message(&self, message: &HudMessage) {
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = stream.bytes.write_all(&line).and_then(|()| stream.bytes.flush())
            && !std::mem::replace(&mut stream.has_complained, true)
        {
            tracing::debug!(%error, "messages cannot be written");
        }
    }
}

impl fmt::Debug for JsonlSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlSink").finish_non_exhaustive()
    }
}

/// A file that is opened again once another one lies at its path: a purge replaces it, and nothing may be written to the
/// old one.
struct ReopenedFile {
    path: PathBuf,
    file: File,
}

impl Write for ReopenedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !is_file_at_path(&self.file, &self.path)? {
            self.file = open_to_append(&self.path).map_err(io::Error::other)?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(unix)]
fn is_file_at_path(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    // A pipe or a terminal stays what it is.
    let is_same = || path.metadata().is_ok_and(|found| (own.dev(), own.ino()) == (found.dev(), found.ino()));
    Ok(!own.is_file() || is_same())
}

#[cfg(not(unix))]
fn is_file_at_path(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

fn open_to_append(path: &Path) -> Result<File, HudError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Opening must not wait for a pipe that has no reader.
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    let is_link = || path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let link = || HudError::Symlink { path: path.to_owned() };
    if cfg!(not(unix)) && is_link() {
        return Err(link());
    }
    let refused = |source| if is_link() { link() } else { HudError::Io { path: path.to_owned(), source } };
    options.open(path).map_err(refused)
}
