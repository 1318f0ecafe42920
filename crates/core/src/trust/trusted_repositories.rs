//! The repositories that the user of this machine trusts, in a file of the state directory.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::Timestamp;
use crate::files::FileReplacement;

#[cfg(test)]
#[path = "trusted_repositories_tests.rs"]
mod tests;

/// The file of the list in the state directory, and the file that is locked while it changes.
const LIST_FILE: &str = "trusted-repositories.json";
const LOCK_FILE: &str = "trusted-repositories.lock";

/// The size limit of the list.
const MAX_LIST_BYTES: u64 = 4 * 1024 * 1024;

/// The kind of a repository's identity. A path and a remote may be written alike without being the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RepositoryKind {
    /// The address of its remote.
    Remote,
    /// The path of its git directory.
    GitDir,
    /// The directory of a project that is under no version control.
    Path,
}

/// The identity of a repository, as nobody who wrote into it could choose it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryKey {
    /// The kind of the identity.
    pub kind: RepositoryKind,
    /// The identity as text.
    pub identity: String,
}

/// A repository that the user trusts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustedRepository {
    /// The identity of the repository.
    #[serde(flatten)]
    pub key: RepositoryKey,
    /// The time when the user said so.
    pub trusted_at: Timestamp,
}

/// The list of trusted repositories. It belongs to the user: nothing in a project can add to it.
#[derive(Debug, Clone)]
pub struct TrustedRepositories {
    folder: Option<PathBuf>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct ListFile {
    repositories: Vec<TrustedRepository>,
}

impl TrustedRepositories {
    /// Names the list in a state directory, without touching any file.
    pub fn in_state_dir(state_dir: Option<&Path>) -> Self {
        Self { folder: state_dir.map(Path::to_path_buf) }
    }

    /// Returns the repositories in the order of their identities. A list that cannot be read is an error.
    pub fn list(&self) -> io::Result<Vec<TrustedRepository>> {
        match &self.folder {
            Some(folder) => Ok(read_list(&folder.join(LIST_FILE))?.repositories),
            None => Ok(Vec::new()),
        }
    }

    /// Returns true if the user trusts the repository. If the list cannot be read, nothing is trusted.
    pub fn contains(&self, key: &RepositoryKey) -> bool {
        match self.list() {
            Ok(known) => known.iter().any(|trusted| trusted.key == *key),
            Err(error) => {
                tracing::warn!(%error, "the list of trusted repositories cannot be read");
                false
            }
        }
    }

    /// Adds a repository, and returns false if it was there already.
    pub fn add(&self, key: RepositoryKey, trusted_at: Timestamp) -> io::Result<bool> {
        self.change_list(|known| {
            if known.iter().any(|trusted| trusted.key == key) {
                return false;
            }
            known.push(TrustedRepository { key, trusted_at });
            known.sort_by(|one, other| one.key.cmp(&other.key));
            true
        })
    }

    /// Removes a repository, and returns false if it was not there.
    pub fn remove(&self, key: &RepositoryKey) -> io::Result<bool> {
        self.change_list(|known| {
            let before = known.len();
            known.retain(|trusted| trusted.key != *key);
            known.len() < before
        })
    }

    /// Changes the list while nobody else does, and returns whether anything changed.
    fn change_list(&self, change: impl FnOnce(&mut Vec<TrustedRepository>) -> bool) -> io::Result<bool> {
        let Some(folder) = &self.folder else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no state directory; set HOME"));
        };
        std::fs::create_dir_all(folder)?;
        let lock = open_plain(OpenOptions::new().append(true).create(true), &folder.join(LOCK_FILE))?;
        lock.lock()?;
        let path = folder.join(LIST_FILE);
        let mut list = read_list(&path)?;
        let is_changed = change(&mut list.repositories);
        if is_changed {
            let mut text = serde_json::to_vec_pretty(&list).map_err(io::Error::other)?;
            text.push(b'\n');
            FileReplacement::new(&path).write(&text)?;
        }
        Ok(is_changed)
    }
}

fn read_list(path: &Path) -> io::Result<ListFile> {
    let file = match open_plain(OpenOptions::new().read(true), path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ListFile::default()),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(MAX_LIST_BYTES).read_to_end(&mut bytes)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display())))
}

/// Opens a regular file. Links are not followed, and a file that others may write is refused.
fn open_plain(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).mode(0o600);
    }
    let file = options.open(path)?;
    let found = file.metadata()?;
    if found.is_file() && !is_writable_by_others(&found) {
        return Ok(file);
    }
    let why = format!("{} is no file that its owner alone may write", path.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

#[cfg(unix)]
fn is_writable_by_others(found: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(found) & 0o022 != 0
}

#[cfg(not(unix))]
fn is_writable_by_others(_: &std::fs::Metadata) -> bool {
    false
}
