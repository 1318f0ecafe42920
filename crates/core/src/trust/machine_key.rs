//! The key of this machine, and the seals that it makes.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::files::sync_folder;

#[cfg(test)]
#[path = "machine_key_tests.rs"]
mod tests;

/// The file of the key in the state directory.
const KEY_FILE: &str = "machine.key";

/// The number of bytes of the key.
const KEY_BYTES: usize = 32;

/// The number of hexadecimal digits of a seal.
pub const SEAL_DIGITS: usize = 64;

/// The error of a key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MachineKeyError {
    /// There is no state directory to keep the key in.
    #[error("there is no directory to keep the key of this machine in")]
    NoStateDir,
    /// The file is not a key, or others may read it.
    #[error("{} is no key of {KEY_BYTES} bytes that its owner alone may read", path.display())]
    Unfit {
        /// The file's path.
        path: PathBuf,
    },
    /// The file could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The operation, as in "cannot read".
        doing: &'static str,
        /// The affected file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system gave no random bytes.
    #[error("the system gives no random bytes for a key: {0}")]
    NoRandomness(getrandom::Error),
}

impl MachineKeyError {
    /// Returns the next step that a person can take, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoStateDir => Some("set HOME or XDG_STATE_HOME, or hand an environment to the builder".to_owned()),
            Self::Unfit { path } => Some(format!(
                "take others' rights from it with chmod 600, or delete {}: memories must then be trusted anew",
                path.display()
            )),
            Self::Io { .. } => Some("allow reading and writing there".to_owned()),
            Self::NoRandomness(_) => None,
        }
    }
}

/// The purpose of a seal. A seal for one purpose is worth nothing for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealPurpose {
    /// The records of a memory folder began on this machine.
    MemoryFolder,
    /// A job was written by this machine.
    Job,
    /// What a purge erases was decided on this machine.
    Purge,
}

impl SealPurpose {
    fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::MemoryFolder => b"archivist memory folder\0",
            Self::Job => b"archivist job\0",
            Self::Purge => b"archivist purge\0",
        }
    }
}

/// A keyed hash by which this machine recognizes what it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal(String);

impl Seal {
    /// Returns the seal as hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key of this machine, which is created when something is sealed for the first time. A clone shares it.
#[derive(Clone)]
pub struct MachineKey {
    path: Option<PathBuf>,
    secret: Arc<OnceLock<[u8; KEY_BYTES]>>,
}

impl std::fmt::Debug for MachineKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MachineKey").field("path", &self.path).finish_non_exhaustive()
    }
}

impl MachineKey {
    /// Names the key in a state directory, without touching any file.
    pub fn in_state_dir(state_dir: Option<&Path>) -> Self {
        Self { path: state_dir.map(|folder| folder.join(KEY_FILE)), secret: Arc::default() }
    }

    /// Returns true if there is a directory to keep the key in.
    pub fn has_place(&self) -> bool {
        self.path.is_some()
    }

    /// Seals bytes. The key is created if there is none yet.
    pub fn seal_bytes(&self, purpose: SealPurpose, bytes: &[u8]) -> Result<Seal, MachineKeyError> {
        let key = match self.load_secret()? {
            Some(key) => key,
            None => self.create_secret()?,
        };
        Ok(Seal(hash_with_key(&key, purpose, bytes).to_hex().to_string()))
    }

    /// Returns true if this machine sealed these bytes. Without a key, nothing is sealed, and none is created.
    pub fn is_sealed(&self, purpose: SealPurpose, bytes: &[u8], seal: &str) -> Result<bool, MachineKeyError> {
        let Ok(seal) = blake3::Hash::from_hex(seal) else { return Ok(false) };
        // Hashes are compared in constant time.
        Ok(self.load_secret()?.is_some_and(|key| hash_with_key(&key, purpose, bytes) == seal))
    }

    fn load_secret(&self) -> Result<Option<[u8; KEY_BYTES]>, MachineKeyError> {
        if let Some(key) = self.secret.get() {
            return Ok(Some(*key));
        }
        let Some(path) = &self.path else { return Ok(None) };
        Ok(read_key_file(path)?.map(|key| *self.secret.get_or_init(|| key)))
    }

    /// Creates the key. If another process was faster, its key is the key.
    fn create_secret(&self) -> Result<[u8; KEY_BYTES], MachineKeyError> {
        let path = self.path.as_deref().ok_or(MachineKeyError::NoStateDir)?;
        let folder = path.parent().ok_or(MachineKeyError::NoStateDir)?;
        let mut fresh = [0; KEY_BYTES];
        getrandom::fill(&mut fresh).map_err(MachineKeyError::NoRandomness)?;
        std::fs::create_dir_all(folder).map_err(from_io("create", folder))?;
        // Only its owner may read a temporary file, and it takes its name whole or not at all.
        let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(from_io("write", path))?;
        draft.write_all(&fresh).and_then(|()| draft.as_file().sync_all()).map_err(from_io("write", path))?;
        match draft.persist_noclobber(path) {
            Ok(_) => {
                // Where a folder cannot be synced, its names are left to the system.
                let _ = sync_folder(folder);
            }
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(refused) => return Err(from_io("create", path)(refused.error)),
        }
        let key = read_key_file(path)?.ok_or_else(|| MachineKeyError::Unfit { path: path.to_owned() })?;
        Ok(*self.secret.get_or_init(|| key))
    }
}

fn hash_with_key(key: &[u8; KEY_BYTES], purpose: SealPurpose, bytes: &[u8]) -> blake3::Hash {
    blake3::Hasher::new_keyed(key).update(purpose.as_bytes()).update(bytes).finalize()
}

/// Reads a key, or returns `None` if there is no such file. Links are not followed.
fn read_key_file(path: &Path) -> Result<Option<[u8; KEY_BYTES]>, MachineKeyError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(from_io("read", path)(error)),
    };
    let found = file.metadata().map_err(from_io("read", path))?;
    let mut bytes = Vec::new();
    if found.is_file() && is_private(&found) {
        // One byte more than a key has shows that a longer file is none.
        file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(from_io("read", path))?;
    }
    bytes.try_into().map(Some).map_err(|_| MachineKeyError::Unfit { path: path.to_owned() })
}

#[cfg(unix)]
fn is_private(found: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(found) & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &std::fs::Metadata) -> bool {
    true
}

fn from_io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> MachineKeyError {
    let path = path.to_owned();
    move |source| MachineKeyError::Io { doing, path, source }
}
