//! The seal in a memory folder, by which this machine recognizes a memory that began here.

use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::machine_key::{MachineKey, MachineKeyError, SEAL_DIGITS, SealPurpose};
use crate::files::{FileReplacement, is_link};

#[cfg(test)]
#[path = "memory_seal_tests.rs"]
mod tests;

/// The file of the seal in a memory folder.
const SEAL_FILE: &str = "machine.seal";

/// What a memory folder that holds records has at least one of. An index and a log of changes are derived from records,
/// but in a folder that came from elsewhere they may hold some of their own.
const RECORDS: [&str; 6] =
    ["episodes.jsonl", "ledger.jsonl", "lessons-archive.jsonl", "lessons.jsonl", "redo.log", "index"];

/// Where the records of a memory folder come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryFolderOrigin {
    /// There are no records.
    NoRecords,
    /// They began on this machine, in this very folder.
    ThisMachine,
    /// They came with a clone or from another path, or are older than seals are.
    Elsewhere,
}

/// The folder of a memory inside of a project, and the key of this machine.
#[derive(Debug, Clone)]
pub struct MemoryFolder {
    directory: PathBuf,
    key: MachineKey,
}

impl MemoryFolder {
    /// Names a folder, without touching it.
    pub fn new(directory: impl Into<PathBuf>, key: MachineKey) -> Self {
        Self { directory: directory.into(), key }
    }

    /// Returns where its records come from. What cannot be read comes from elsewhere.
    pub fn find_origin(&self) -> MemoryFolderOrigin {
        if !self.has_records() {
            return MemoryFolderOrigin::NoRecords;
        }
        // A seal says nothing about what a link leads to.
        if RECORDS.iter().any(|name| is_link(&self.directory.join(name))) {
            return MemoryFolderOrigin::Elsewhere;
        }
        match self.has_valid_seal() {
            Ok(true) => MemoryFolderOrigin::ThisMachine,
            Ok(false) => MemoryFolderOrigin::Elsewhere,
            Err(error) => {
                tracing::warn!(%error, "it is not known where a memory comes from");
                MemoryFolderOrigin::Elsewhere
            }
        }
    }

    /// Seals a folder without records; one with records keeps what it has. The caller is about to write the first
    /// record, and holds the lock of all who write.
    pub fn seal_before_first_record(&self) -> Result<(), MachineKeyError> {
        if self.has_records() || self.has_valid_seal()? {
            return Ok(());
        }
        let seal = self.key.seal_bytes(SealPurpose::MemoryFolder, &self.sealed_bytes()?)?;
        let path = self.directory.join(SEAL_FILE);
        let written = FileReplacement::new(&path).write(format!("{}\n", seal.as_str()).as_bytes());
        written.map_err(|source| MachineKeyError::Io { doing: "write", path, source })
    }

    fn has_records(&self) -> bool {
        let is_record = |found: Metadata| !found.is_file() || found.len() > 0;
        RECORDS.iter().any(|name| self.directory.join(name).symlink_metadata().is_ok_and(is_record))
    }

    fn has_valid_seal(&self) -> Result<bool, MachineKeyError> {
        let path = self.directory.join(SEAL_FILE);
        match read_seal(&path) {
            Ok(Some(seal)) => self.key.is_sealed(SealPurpose::MemoryFolder, &self.sealed_bytes()?, seal.trim()),
            Ok(None) => Ok(false),
            Err(source) => Err(MachineKeyError::Io { doing: "read", path, source }),
        }
    }

    /// Returns the bytes under the seal: the real path, so that a seal is worth nothing anywhere else.
    fn sealed_bytes(&self) -> Result<Vec<u8>, MachineKeyError> {
        let real = self.directory.canonicalize().map_err(|source| MachineKeyError::Io {
            doing: "find",
            path: self.directory.clone(),
            source,
        })?;
        Ok(real.into_os_string().into_encoded_bytes())
    }
}

/// Reads a seal; `None` if there is no file or if it cannot be a seal. Links are not followed.
fn read_seal(path: &Path) -> io::Result<Option<String>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    let most = u64::try_from(SEAL_DIGITS).unwrap_or(u64::MAX) + 1;
    let is_text = file.metadata()?.is_file() && file.take(most).read_to_string(&mut text).is_ok();
    Ok(is_text.then_some(text))
}
