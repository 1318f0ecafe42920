//! The ledger of spend: a directory with a file for each day in UTC, one JSON record a line.
//!
//! A file only grows. Whoever writes holds the lock of the directory, and has read every line before it adds one, so
//! that processes that share a ledger share its caps. A line that was torn by a crash is closed by the next writer and
//! stays what it is: a call whose line was not on disk in full was never made.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::day::{Day, Entry};
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;

/// How long a writer waits for the others.
const PATIENCE: Duration = Duration::from_secs(10);

/// First and longest pause between two tries for the lock.
const PAUSE: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(10));

/// A longer line is none of ours.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024;

/// So many bytes before the place where reading goes on must be what they were. They hold an id that no other line has.
const REMEMBERED_BYTES: u64 = 256;

/// Why the ledger cannot be used.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The disk says no.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the disk said.
        source: io::Error,
    },
    /// Another process does not let go of the lock.
    #[error("another process has held {} for more than {}s; end it, or try again", path.display(), waited.as_secs())]
    Busy {
        /// The lock.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Nobody could read such a line.
    #[error("a line of {bytes} bytes is too long for the ledger; shorten the names of the project and the model")]
    LongLine {
        /// How long it would be.
        bytes: usize,
    },
    /// The ledger is on a server, and that said no.
    #[error("{why}")]
    Elsewhere {
        /// What it said.
        why: String,
    },
    /// The work was broken off.
    #[error("writing the ledger was interrupted: {0}")]
    Interrupted(String),
}

impl LedgerError {
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

/// Where spend is written down.
#[derive(Debug)]
pub(super) struct Ledger {
    directory: PathBuf,
    patience: Duration,
    /// What was read last.
    read: Mutex<Reading>,
}

impl Ledger {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, patience: PATIENCE, read: Mutex::default() }
    }

    /// The file for a moment.
    pub(super) fn path(&self, at: Timestamp) -> PathBuf {
        self.directory.join(format!("{}.jsonl", at.format("%Y-%m-%d")))
    }

    /// Waits for the lock, and only then asks what time it is and opens the day's file.
    pub(super) fn open(&self, at: impl FnOnce() -> Timestamp) -> Result<Book<'_>, LedgerError> {
        make_directory(&self.directory).map_err(LedgerError::io("create", &self.directory))?;
        let lock = lock(&self.directory.join("lock"), self.patience)?;
        let at = at();
        let path = self.path(at);
        let file = open(OpenOptions::new().read(true).append(true).create(true), &path)?;
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Book { at, path, file, read, _lock: lock })
    }

    /// What a day comes to, as far as it is written. Takes no lock and writes nothing.
    pub(super) fn look(&self, at: Timestamp) -> Result<Day, LedgerError> {
        let path = self.path(at);
        let mut reading = Reading::default();
        match open(OpenOptions::new().read(true), &path) {
            Ok(file) => reading.catch_up(&path, &file).map_err(LedgerError::io("read", &path))?,
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

/// The file of one day, while nobody else may write.
#[derive(Debug)]
pub(super) struct Book<'l> {
    at: Timestamp,
    path: PathBuf,
    file: File,
    read: MutexGuard<'l, Reading>,
    _lock: File,
}

/// Whether a line must be on disk before anything else happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// It must.
    Now,
    /// If a power cut takes it, more counts as spent than was.
    Later,
}

impl Book<'_> {
    /// When the book was opened: the moment that decides which day it is.
    pub(super) fn at(&self) -> Timestamp {
        self.at
    }

    /// Everything that was written in the day, by whomever.
    pub(super) fn day(&mut self) -> Result<&Day, LedgerError> {
        self.read.catch_up(&self.path, &self.file).map_err(LedgerError::io("read", &self.path))?;
        Ok(&self.read.day)
    }

    /// An id that no other line has: no two begin at the same place of a file, and should somebody delete the file
    /// meanwhile, no two are of the same number in the same process.
    pub(super) fn fresh_id(&self) -> Result<String, LedgerError> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let place = self.file.metadata().map_err(LedgerError::io("read", &self.path))?.len();
        Ok(format!("{place:x}-{:x}-{number:x}", std::process::id()))
    }

    /// Adds a line.
    pub(super) fn append(&mut self, entry: &Entry, durability: Durability) -> Result<(), LedgerError> {
        let line = serde_json::to_string(entry).map_err(io::Error::from);
        let line = line.map_err(LedgerError::io("write", &self.path))?;
        if line.len() >= MAX_LINE_BYTES {
            return Err(LedgerError::LongLine { bytes: line.len() });
        }
        self.write(&line, durability).map_err(LedgerError::io("write", &self.path))
    }

    fn write(&mut self, line: &str, durability: Durability) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let is_torn = length > 0 && bytes_before(&self.file, length, 1)? != b"\n";
        let line = format!("{}{line}\n", if is_torn { "\n" } else { "" });
        self.file.write_all(line.as_bytes())?;
        if durability == Durability::Now {
            self.file.sync_data()?;
            if !self.read.is_named {
                sync_parent(&self.path)?;
                self.read.is_named = true;
            }
        }
        Ok(())
    }
}

/// How far a file was read, and what it came to.
#[derive(Debug, Default)]
struct Reading {
    path: PathBuf,
    /// Behind the last whole line.
    offset: u64,
    /// The bytes before it.
    remembered: Vec<u8>,
    /// Whether the name of the file is known to survive a loss of power.
    is_named: bool,
    day: Day,
}

impl Reading {
    /// Reads what was added, or everything if the file is not the one that was read.
    fn catch_up(&mut self, path: &Path, file: &File) -> io::Result<()> {
        if self.path != path || bytes_before(file, self.offset, REMEMBERED_BYTES)? != self.remembered {
            *self = Self { path: path.to_owned(), ..Self::default() };
        }
        let broken_before = self.day.broken;
        // If reading fails half-way, nothing of what is known may be half-true.
        let mut fresh = std::mem::take(self);
        let (mut reader, mut line) = (BufReader::new(file), Vec::new());
        reader.seek(SeekFrom::Start(fresh.offset))?;
        while let Some(bytes) = next_line(&mut reader, &mut line)? {
            fresh.offset += bytes;
            fresh.day.read(&line);
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

/// Reads a whole line and says how many bytes it had; `None` at the end or where a line has no end yet. Of a line that
/// is too long only the beginning is kept, which no JSON is.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
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

/// As many bytes before `end`, fewer where there are fewer.
fn bytes_before(mut file: &File, end: u64, count: u64) -> io::Result<Vec<u8>> {
    let count = count.min(end);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(end - count))?;
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Holds the lock until the file is dropped; the system frees it when the process dies.
fn lock(path: &Path, patience: Duration) -> Result<File, LedgerError> {
    let began = Instant::now();
    let (mut pause, longest) = PAUSE;
    loop {
        let file = open(OpenOptions::new().append(true).create(true), path)?;
        match file.try_lock() {
            // If somebody deleted the file meanwhile, others lock another one.
            Ok(()) if is_at(path, &file) => return Ok(file),
            Err(std::fs::TryLockError::Error(source)) => return Err(LedgerError::io("lock", path)(source)),
            Ok(()) | Err(std::fs::TryLockError::WouldBlock) => {}
        }
        if began.elapsed() >= patience {
            return Err(LedgerError::Busy { path: path.to_owned(), waited: patience });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(longest);
    }
}

/// Opens a file, and nothing but a file: a link may lead anywhere, and a pipe makes wait.
fn open(options: &mut OpenOptions, path: &Path) -> Result<File, LedgerError> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let open = |options: &OpenOptions| {
        let file = options.open(path)?;
        let is_file = file.metadata()?.is_file();
        if is_file { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")) }
    };
    open(options).map_err(LedgerError::io("open", path))
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

/// Makes a directory whose name survives a loss of power.
fn make_directory(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.exists()).collect();
    std::fs::create_dir_all(directory)?;
    missing.into_iter().try_for_each(sync_parent)
}

/// Returns once the name of a file survives a loss of power. Only Unix can do it, and only there is it needed.
fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if cfg!(unix) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            File::open(parent)?.sync_all()
        }
        _ => Ok(()),
    }
}
