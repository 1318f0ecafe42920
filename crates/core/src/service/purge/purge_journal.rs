//! The journal of a purge that is under way: hashes of what goes, so that whoever comes next can finish it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::files::{FileReplacement, is_link, read_small_file, sync_folder};
use crate::memory::{ErasureNote, ErasurePlan};
use crate::trust::{MachineKey, SealPurpose};

/// The name of the journal in the directory of a memory. Git ignores it as it does the successors of files.
const JOURNAL: &str = "purge.next";

/// The name of the lock that a purge holds.
const LOCK: &str = "purge.lock";

/// The longest journal that is read.
const MAX_JOURNAL_BYTES: u64 = 512 * 1024 * 1024;

/// The pause between two tries for the lock.
const PAUSE: Duration = Duration::from_millis(10);

/// What a purge erases, and the note that it leaves.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::service) struct PurgeJournal {
    pub(in crate::service) note: ErasureNote,
    pub(in crate::service) plan: ErasurePlan,
}

/// The journal as it lies on the disk, with a seal of this machine: one that came with a clone erases nothing.
#[derive(Debug, Serialize, Deserialize)]
struct SealedJournal {
    journal: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
}

impl PurgeJournal {
    /// Writes the journal; it survives a loss of power when this returns.
    pub(in crate::service) fn save(&self, memory: &Path, key: &MachineKey) -> io::Result<()> {
        let journal = serde_json::to_string(self).map_err(io::Error::other)?;
        let seal = match key.has_place() {
            true => Some(key.seal_bytes(SealPurpose::Purge, journal.as_bytes()).map_err(io::Error::other)?),
            false => None,
        };
        let sealed = SealedJournal { journal, seal: seal.map(|seal| seal.as_str().to_owned()) };
        let bytes = serde_json::to_vec(&sealed).map_err(io::Error::other)?;
        FileReplacement::new(&journal_path(memory)).write(&bytes)
    }

    /// Reads the journal of a purge that was interrupted, if there is one. One that this machine did not write is an
    /// error.
    pub(in crate::service) fn load(memory: &Path, key: &MachineKey) -> io::Result<Option<Self>> {
        let path = journal_path(memory);
        if is_link(&path) {
            return Err(io::Error::other("it is a symbolic link"));
        }
        let bytes = match read_small_file(&path, MAX_JOURNAL_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let sealed: SealedJournal = serde_json::from_slice(&bytes).map_err(io::Error::other)?;
        if key.has_place() {
            let seal = sealed.seal.unwrap_or_default();
            let is_ours = key.is_sealed(SealPurpose::Purge, sealed.journal.as_bytes(), &seal);
            if !is_ours.map_err(io::Error::other)? {
                return Err(io::Error::other("this machine did not write it; delete it"));
            }
        }
        serde_json::from_str(&sealed.journal).map(Some).map_err(io::Error::other)
    }

    /// Removes the journal, because everything is erased.
    pub(in crate::service) fn remove(memory: &Path) -> io::Result<()> {
        match std::fs::remove_file(journal_path(memory)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        sync_folder(memory)
    }
}

/// Returns true if a purge of this memory was interrupted, or is under way. It costs one system call.
pub(in crate::service) fn is_purge_pending(memory: &Path) -> bool {
    journal_path(memory).symlink_metadata().is_ok()
}

/// Returns the path of the journal.
pub(in crate::service) fn journal_path(memory: &Path) -> PathBuf {
    memory.join(JOURNAL)
}

/// The right to purge a memory, which one process has at a time.
#[derive(Debug)]
pub(in crate::service) struct PurgeLock(#[allow(dead_code, reason = "the lock ends with the file")] File);

impl PurgeLock {
    /// Waits for the lock; `None` if another process has it for longer than that.
    pub(in crate::service) fn acquire(memory: &Path, patience: Duration) -> io::Result<Option<Self>> {
        std::fs::create_dir_all(memory)?;
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        }
        let file = options.open(memory.join(LOCK))?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self(file))),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if began.elapsed() >= patience => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }
}
