//! The spend ledger in files: a directory with one file for each day in UTC, one JSON record for each line.
//!
//! A file only grows. A writer holds the lock of the directory and has read every line before it adds one, so that
//! processes that share a ledger share its caps. A line that was torn by a crash is closed by the next writer and stays
//! invalid: a call whose line was not fully on disk was never made.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::day_totals::{LedgerDay, SpendLedgerEntry};
use crate::domain::Timestamp;
use crate::files::sync_folder;

#[cfg(test)]
#[path = "file_ledger_tests.rs"]
mod tests;

/// The time that a writer waits for the lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first and the longest pause between two attempts to get the lock.
const PAUSE: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(10));

/// The longest line that is read; our own lines are shorter.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024;

/// The number of bytes before the read position that must be unchanged. They contain an id that no other line has.
const REMEMBERED_BYTES: u64 = 256;

/// The reason why the ledger cannot be used.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The file system reported an error.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The path it was tried on.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// Another process does not release the lock.
    #[error("another process has held {} for more than {}s; end it, or try again", path.display(), waited.as_secs())]
    Busy {
        /// The path of the lock.
        path: PathBuf,
        /// The time that was waited for it.
        waited: Duration,
    },
    /// The line is too long to be read back.
    #[error("a line of {bytes} bytes is too long for the ledger; shorten the names of the project and the model")]
    LongLine {
        /// The length of the line.
        bytes: usize,
    },
    /// The ledger is on a server, which reported an error.
    #[error("{why}")]
    Elsewhere {
        /// The server's message.
        why: String,
    },
    /// The work was interrupted before it finished.
    #[error("writing the ledger was interrupted: {0}")]
    Interrupted(String),
}

impl LedgerError {
    fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

/// The ledger in files of this machine.
#[derive(Debug)]
pub(super) struct FileLedger {
    directory: PathBuf,
    patience: Duration,
    /// The state of the last read.
    read: Mutex<LedgerReadState>,
}

impl FileLedger {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, patience: PATIENCE, read: Mutex::default() }
    }

    /// Returns the path of the file for the day of `at`.
    pub(super) fn day_path(&self, at: Timestamp) -> PathBuf {
        self.directory.join(format!("{}.jsonl", at.format("%Y-%m-%d")))
    }

    /// Waits for the lock, and only then reads the clock and opens the day's file.
    pub(super) fn open_day(&self, at: impl FnOnce() -> Timestamp) -> Result<LockedDayFile<'_>, LedgerError> {
        make_directory(&self.directory).map_err(LedgerError::io_error("create", &self.directory))?;
        let lock = lock_file(&self.directory.join("lock"), self.patience)?;
        let at = at();
        let path = self.day_path(at);
        let file = open_regular_file(OpenOptions::new().read(true).append(true).create(true), &path)?;
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(LockedDayFile { at, path, file, read, _lock: lock })
    }

    /// Returns the totals of a day, as far as they are written. Takes no lock and writes nothing.
    pub(super) fn read_day(&self, at: Timestamp) -> Result<LedgerDay, LedgerError> {
        let path = self.day_path(at);
        let mut reading = LedgerReadState::default();
        match open_regular_file(OpenOptions::new().read(true), &path) {
            Ok(file) => reading.catch_up(&path, &file).map_err(LedgerError::io_error("read", &path))?,
            Err(LedgerError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(reading.day)
    }

    #[cfg(test)]
    pub(super) fn with_patience(directory: PathBuf, patience: Duration) -> Self {
        Self { patience, ..Self::new(directory) }
    }
}

/// Locks the ledger in a folder, so that nobody writes to it until the returned file is dropped.
pub(crate) fn lock_spend_folder(folder: &Path) -> Result<File, LedgerError> {
    lock_file(&folder.join("lock"), PATIENCE)
}

/// The file of one day, locked against other writers.
#[derive(Debug)]
pub(super) struct LockedDayFile<'l> {
    at: Timestamp,
    path: PathBuf,
    file: File,
    read: MutexGuard<'l, LedgerReadState>,
    _lock: File,
}

/// The durability that a written line needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteDurability {
    /// The line must be on disk before anything else happens.
    Now,
    /// The line may be lost in a power cut; then more counts as spent than was.
    Later,
}

impl LockedDayFile<'_> {
    /// Returns the time when the file was opened, which decides the day.
    pub(super) fn opened_at(&self) -> Timestamp {
        self.at
    }

    /// Returns the totals of everything that was written in the day, by any process.
    pub(super) fn read_day(&mut self) -> Result<&LedgerDay, LedgerError> {
        self.read.catch_up(&self.path, &self.file).map_err(LedgerError::io_error("read", &self.path))?;
        Ok(&self.read.day)
    }

    /// Returns an id that no other line has: it contains the position in the file and, in case the file is deleted
    /// meanwhile, the process id and a number that is unique in the process.
    pub(super) fn fresh_id(&self) -> Result<String, LedgerError> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let place = self.file.metadata().map_err(LedgerError::io_error("read", &self.path))?.len();
        Ok(format!("{place:x}-{:x}-{number:x}", std::process::id()))
    }

    /// Appends an entry to the file.
    pub(super) fn append_entry(
        &mut self,
        entry: &SpendLedgerEntry,
        durability: WriteDurability,
    ) -> Result<(), LedgerError> {
        let line = serde_json::to_string(entry).map_err(io::Error::from);
        let line = line.map_err(LedgerError::io_error("write", &self.path))?;
        if line.len() >= MAX_LINE_BYTES {
            return Err(LedgerError::LongLine { bytes: line.len() });
        }
        self.write_line(&line, durability).map_err(LedgerError::io_error("write", &self.path))
    }

    fn write_line(&mut self, line: &str, durability: WriteDurability) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let is_torn = length > 0 && bytes_before(&self.file, length, 1)? != b"\n";
        let line = format!("{}{line}\n", if is_torn { "\n" } else { "" });
        self.file.write_all(line.as_bytes())?;
        if durability == WriteDurability::Now {
            self.file.sync_data()?;
            if !self.read.is_named {
                sync_parent(&self.path)?;
                self.read.is_named = true;
            }
        }
        Ok(())
    }
}

/// The position up to which a file was read, and the totals so far.
#[derive(Debug, Default)]
struct LedgerReadState {
    path: PathBuf,
    /// The offset after the last complete line.
    offset: u64,
    /// The bytes before the offset.
    remembered: Vec<u8>,
    /// True if the directory entry of the file is known to survive a power loss.
    is_named: bool,
    day: LedgerDay,
}

impl LedgerReadState {
    /// Reads what was added, or everything if the file is not the one that was read before.
    fn catch_up(&mut self, path: &Path, file: &File) -> io::Result<()> {
        if self.path != path || bytes_before(file, self.offset, REMEMBERED_BYTES)? != self.remembered {
            *self = Self { path: path.to_owned(), ..Self::default() };
        }
        let broken_before = self.day.broken;
        // If reading fails midway, no partial state may remain.
        let mut fresh = std::mem::take(self);
        let (mut reader, mut line) = (BufReader::new(file), Vec::new());
        reader.seek(SeekFrom::Start(fresh.offset))?;
        while let Some(bytes) = read_next_line(&mut reader, &mut line)? {
            fresh.offset += bytes;
            fresh.day.read_line(&line);
        }
        fresh.remembered = bytes_before(file, fresh.offset, REMEMBERED_BYTES)?;
        if fresh.day.broken > broken_before {
            let lines = fresh.day.broken - broken_before;
            tracing::warn!(path = %path.display(), lines, "lines of the ledger cannot be read and are passed over");
        }
        *self = fresh;
        Ok(())
    }
}

/// Reads a complete line and returns its length in bytes; `None` at the end or if the line is not terminated yet. Only
/// the beginning of a line that is too long is kept, which is never valid JSON.
fn read_next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    let mut bytes = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let end = memchr::memchr(b'\n', buffer);
        let taken = end.map_or(buffer.len(), |end| end + 1);
        let room = MAX_LINE_BYTES.saturating_sub(line.len());
        line.extend(buffer.iter().take(taken.min(room)));
        reader.consume(taken);
        bytes += u64::try_from(taken).unwrap_or(u64::MAX);
        if end.is_some() {
            return Ok(Some(bytes));
        }
    }
}

/// Returns up to `count` bytes before `end`.
fn bytes_before(mut file: &File, end: u64, count: u64) -> io::Result<Vec<u8>> {
    let count = count.min(end);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(end - count))?;
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Waits for the lock and returns its file. The lock ends when the file is dropped or the process dies.
fn lock_file(path: &Path, patience: Duration) -> Result<File, LedgerError> {
    let began = Instant::now();
    let (mut pause, longest) = PAUSE;
    loop {
        let file = open_regular_file(OpenOptions::new().append(true).create(true), path)?;
        match file.try_lock() {
            // If the lock file was deleted meanwhile, others lock another one.
            Ok(()) if is_at(path, &file) => return Ok(file),
            Err(std::fs::TryLockError::Error(source)) => return Err(LedgerError::io_error("lock", path)(source)),
            Ok(()) | Err(std::fs::TryLockError::WouldBlock) => {}
        }
        if began.elapsed() >= patience {
            return Err(LedgerError::Busy { path: path.to_owned(), waited: patience });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(longest);
    }
}

/// Opens a regular file only: a link could lead anywhere, and a pipe could block.
fn open_regular_file(options: &mut OpenOptions, path: &Path) -> Result<File, LedgerError> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let open = |options: &OpenOptions| {
        let file = options.open(path)?;
        let is_file = file.metadata()?.is_file();
        if is_file { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")) }
    };
    open(options).map_err(LedgerError::io_error("open", path))
}

#[cfg(unix)]
fn is_at(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    file.metadata().ok().map(identity) == path.symlink_metadata().ok().map(identity)
}

#[cfg(not(unix))]
fn is_at(_path: &Path, _file: &File) -> bool {
    true
}

/// Creates a directory whose name survives a power loss.
fn make_directory(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.exists()).collect();
    std::fs::create_dir_all(directory)?;
    missing.into_iter().try_for_each(sync_parent)
}

/// Returns once the name of a file survives a power loss.
fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => sync_folder(Path::new(".")),
        Some(parent) => sync_folder(parent),
        None => Ok(()),
    }
}
