//! The slots of workers: a file lock for each, which the system frees when a process dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::error::QueueError;
use super::job_folder::{open_lock_file, open_plain_file};

/// The lock on one worker slot, held until it is dropped.
#[derive(Debug)]
pub(crate) struct WorkerSlotLock {
    path: PathBuf,
    file: File,
}

impl WorkerSlotLock {
    /// Locks the first free one of `count` slots; `None` if all are taken.
    pub(super) fn lock_first_free(queue: &Path, count: u32) -> Result<Option<Self>, QueueError> {
        for number in 0..count.max(1) {
            let path = lock_path(queue, number);
            let file = open_lock_file(&path).map_err(QueueError::from_io("open", &path))?;
            match file.try_lock() {
                Ok(()) => {
                    let slot = Self { path, file };
                    // If the file was deleted meanwhile, others lock another one.
                    if slot.is_valid() {
                        return Ok(Some(slot));
                    }
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(QueueError::from_io("lock", &path)(source)),
            }
        }
        Ok(None)
    }

    /// Returns true if the lock file still exists in place. It does not if the queue was deleted.
    #[cfg(unix)]
    pub(crate) fn is_valid(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
        let here = self.path.symlink_metadata().ok().map(identity);
        here.is_some() && self.file.metadata().ok().map(identity) == here
    }

    /// Returns true if the lock file still exists in place. It does not if the queue was deleted.
    #[cfg(not(unix))]
    pub(crate) fn is_valid(&self) -> bool {
        self.path.exists() && self.file.metadata().is_ok()
    }
}

/// Returns true if any slot is taken. Slots are taken in order, but earlier ones may be free again.
pub(super) fn is_any_taken(queue: &Path) -> bool {
    for number in 0.. {
        let Ok(file) = open_plain_file(OpenOptions::new().read(true), &lock_path(queue, number)) else { return false };
        // A shared lock, so that concurrent checks do not mistake each other for workers.
        if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return true;
        }
    }
    false
}

fn lock_path(queue: &Path, number: u32) -> PathBuf {
    queue.join(format!("worker-{number}.lock"))
}
