//! The disk operations of a bank, behind a trait so that tests can make each of them fail.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::memory::MemoryError;

/// The first and the longest pause between two tries for the lock.
const LOCK_PAUSE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(4));

/// The steps of a write between which a crash can happen. The default methods perform the plain operation.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Writes at the end of `file`.
    fn append(&self, _path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Returns once the bytes of `file` survive a loss of power.
    fn sync(&self, _path: &Path, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Cuts `file` to `length`.
    fn truncate(&self, _path: &Path, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    /// Puts one file in another's place.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    /// Returns once the names in `directory` survive a loss of power.
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        crate::files::sync_folder(directory)
    }

    /// Returns an id that changes when the machine restarts; until then, written bytes are still there.
    fn boot_id(&self) -> Option<String> {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.trim().to_owned())
    }
}

/// The disk of the machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealDisk;

impl Disk for RealDisk {}

/// The properties that tell a changed file from an unchanged one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileStamp {
    pub(super) length: u64,
    /// The time its bytes last changed, in nanoseconds since 1970. Copying tools may set this back.
    pub(super) modified: u64,
    /// The time anything about it last changed, where the system records it. It cannot be set back.
    pub(super) changed: i64,
}

/// Reads the stamp of a file; all zeros if there is none.
pub(super) fn read_file_stamp(path: &Path) -> Result<FileStamp, MemoryError> {
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileStamp::default()),
        Err(error) => return Err(MemoryError::io_error("read", path)(error)),
    };
    let modified = found.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    #[cfg(unix)]
    let changed = {
        use std::os::unix::fs::MetadataExt;
        found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec())
    };
    #[cfg(not(unix))]
    let changed = 0;
    Ok(FileStamp { length: found.len(), modified: u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX), changed })
}

/// Opens a store file for writing at its end, and creates it if it does not exist. Never follows a link.
pub(super) fn open_to_append(path: &Path) -> Result<File, MemoryError> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    open_without_links(&mut options, path, "write")
}

/// Opens a file that is to be written from its beginning. Never follows a link.
pub(super) fn open_to_replace(path: &Path) -> Result<File, MemoryError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    open_without_links(&mut options, path, "write")
}

/// Returns an error if a store file is a link.
pub(super) fn refuse_link(path: &Path) -> Result<(), MemoryError> {
    if crate::files::is_link(path) {
        return Err(MemoryError::Symlink { path: path.to_owned() });
    }
    Ok(())
}

fn open_without_links(options: &mut OpenOptions, path: &Path, doing: &'static str) -> Result<File, MemoryError> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    if cfg!(not(unix)) {
        refuse_link(path)?;
    }
    options
        .open(path)
        .map_err(|source| refuse_link(path).err().unwrap_or_else(|| MemoryError::io_error(doing, path)(source)))
}

/// Opens a store file for reading; `None` if there is none. Refuses anything but a regular file, without waiting.
pub(super) fn open_to_read(path: &Path) -> Result<Option<File>, MemoryError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(MemoryError::io_error("read", path)(error)),
    };
    let kind = file.metadata().map_err(MemoryError::io_error("read", path))?.file_type();
    if kind.is_file() {
        return Ok(Some(file));
    }
    let kind = if kind.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::InvalidInput };
    Err(MemoryError::io_error("read", path)(io::Error::new(kind, "it is not a file")))
}

/// Returns the bytes from `start` to `end`, or to the end of the file if that comes first.
pub(super) fn read_range(mut file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let wanted = end.min(file.metadata()?.len()).saturating_sub(start);
    let mut bytes = Vec::with_capacity(usize::try_from(wanted).unwrap_or_default());
    file.seek(SeekFrom::Start(start))?;
    file.take(wanted).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Takes a file lock, which is held until it is dropped; the system frees it when the process dies.
pub(super) fn acquire_lock(path: &Path, patience: Duration) -> Result<File, MemoryError> {
    let began = Instant::now();
    let (mut pause, longest) = LOCK_PAUSE;
    loop {
        let file = open_to_append(path)?;
        match file.try_lock() {
            // If the file was deleted in the meantime, this lock is worthless.
            Ok(()) if is_same_file(path, &file) => return Ok(file),
            Err(std::fs::TryLockError::Error(source)) => return Err(MemoryError::io_error("lock", path)(source)),
            Ok(()) | Err(std::fs::TryLockError::WouldBlock) => {}
        }
        if began.elapsed() >= patience {
            return Err(MemoryError::Locked { path: path.to_owned(), waited: began.elapsed() });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(longest);
    }
}

#[cfg(unix)]
fn is_same_file(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    file.metadata().ok().map(identity) == path.metadata().ok().map(identity)
}

#[cfg(not(unix))]
fn is_same_file(_path: &Path, _file: &File) -> bool {
    true
}
