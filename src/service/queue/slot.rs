//! How many workers there may be, and whether there is one: a lock for each, which the system frees when a process dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::error::QueueError;
use super::folder::{open, open_lock};

/// The right to work, for as long as it is kept.
#[derive(Debug)]
pub(crate) struct Slot {
    path: PathBuf,
    file: File,
}

impl Slot {
    /// Takes the first free one of so many; `None` if there is none.
    pub(super) fn take(queue: &Path, count: u32) -> Result<Option<Self>, QueueError> {
        for number in 0..count.max(1) {
            let path = lock(queue, number);
            let file = open_lock(&path).map_err(QueueError::io("open", &path))?;
            match file.try_lock() {
                Ok(()) => {
                    let slot = Self { path, file };
                    // If somebody deleted the file meanwhile, others lock another one.
                    if slot.is_valid() {
                        return Ok(Some(slot));
                    }
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(QueueError::io("lock", &path)(source)),
            }
        }
        Ok(None)
    }

    /// Whether the lock still stands where others look for it. It does not if the queue was deleted.
    #[cfg(unix)]
    pub(crate) fn is_valid(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
        let here = self.path.symlink_metadata().ok().map(identity);
        here.is_some() && self.file.metadata().ok().map(identity) == here
    }

    /// Whether the lock still stands where others look for it. It does not if the queue was deleted.
    #[cfg(not(unix))]
    pub(crate) fn is_valid(&self) -> bool {
        self.path.exists() && self.file.metadata().is_ok()
    }
}

/// Whether any slot is taken. Slots are taken from the first on, but the first may be free again.
pub(super) fn is_any_taken(queue: &Path) -> bool {
    for number in 0.. {
        let Ok(file) = open(OpenOptions::new().read(true), &lock(queue, number)) else { return false };
        // Shared, so that those who only look do not take each other for workers.
        if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return true;
        }
    }
    false
}

fn lock(queue: &Path, number: u32) -> PathBuf {
    queue.join(format!("worker-{number}.lock"))
}
