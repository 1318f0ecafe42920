//! References from one log to another: what they lead to, if that is nobody else's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;

/// A chain of references is not followed further.
const MAX_DEPTH: usize = 32;

/// Nor are more files of one session read.
const MAX_FILES: usize = 256;

/// Why a reference is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It names nothing.
    #[error("the reference is empty")]
    Empty,
    /// It names a place on the net.
    #[error("it is a URL, and nothing is fetched")]
    Url,
    /// It leads out of the folder of the log.
    #[error("it leads out of {0}")]
    Outside(PathBuf),
    /// It leads to nothing that can be read.
    #[error("there is no such file")]
    Missing,
    /// It leads to a folder or a device.
    #[error("it is not a file")]
    NotAFile,
    /// The file is being read, or was read before.
    #[error("the file was read already")]
    Again,
    /// The chain of references is too long.
    #[error("it is more than {MAX_DEPTH} references away")]
    TooDeep,
    /// The session has too many files.
    #[error("the session has more than {MAX_FILES} files")]
    TooMany,
}

/// The file that a reference in a log leads to. It must lie below the folder of the log, or of the trial that the log
/// belongs to, whatever links and steps upwards the reference takes.
fn resolve(from: &Path, reference: &str) -> Result<PathBuf, Refused> {
    let reference = reference.trim();
    if reference.is_empty() || reference.contains('\0') {
        return Err(Refused::Empty);
    }
    if is_url(reference) {
        return Err(Refused::Url);
    }
    let folder = match from.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(|_| Refused::Missing)?;
    let tree = trial_of(&folder);
    let path = folder.join(reference);
    // Before anything is looked at: whether a file outside exists is nobody's business either.
    if !flat(&path).starts_with(tree) {
        return Err(Refused::Outside(tree.to_path_buf()));
    }
    let real = path.canonicalize().map_err(|_| Refused::Missing)?;
    if !real.starts_with(tree) {
        return Err(Refused::Outside(tree.to_path_buf()));
    }
    if real.is_file() { Ok(real) } else { Err(Refused::NotAFile) }
}

/// The files of one session that were entered, and how many references away each one is.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    visited: BTreeSet<PathBuf>,
    depths: BTreeMap<PathBuf, usize>,
}

impl Trail {
    /// Goes into a file, once.
    pub fn enter(&mut self, path: &Path) -> Result<(), Refused> {
        let real = path.canonicalize().map_err(|_| Refused::Missing)?;
        if self.visited.contains(&real) {
            return Err(Refused::Again);
        }
        if self.visited.len() >= MAX_FILES {
            return Err(Refused::TooMany);
        }
        self.visited.insert(real);
        Ok(())
    }

    /// The file that a reference in a log leads to, if it is to be entered: it must lie below the folder of the log, or of its trial.
    pub fn follow(&mut self, from: &Path, reference: &str) -> Result<PathBuf, Refused> {
        let found = resolve(from, reference)?;
        if self.visited.contains(&found) {
            return Err(Refused::Again);
        }
        let from = from.canonicalize().map_err(|_| Refused::Missing)?;
        let depth = self.depths.get(&from).map_or(1, |depth| depth + 1);
        if depth > MAX_DEPTH {
            return Err(Refused::TooDeep);
        }
        self.depths.entry(found.clone()).or_insert(depth);
        Ok(found)
    }
}

/// A word and a colon, as in `https://` and `data:`; one letter is a drive.
fn is_url(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    let is_scheme = |letter: char| letter.is_ascii_alphanumeric() || "+.-".contains(letter);
    reference.contains("://") || (scheme.len() > 1 && scheme.chars().all(is_scheme))
}

/// Harbor's logs lie in the folder `agent` of their trial. Any other folder may have that name, too.
fn trial_of(folder: &Path) -> &Path {
    let is_trial = |folder: &Path| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().contains("__"))
            && ["result.json", "config.json"].iter().any(|name| folder.join(name).is_file())
    };
    match (folder.file_name(), folder.parent()) {
        (Some(name), Some(trial)) if name == "agent" && is_trial(trial) => trial,
        _ => folder,
    }
}

/// The path without steps upwards, as if there were no links.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(flat.pop()),
            Component::CurDir => {}
            other => flat.push(other),
        }
    }
    flat
}
