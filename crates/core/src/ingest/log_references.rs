//! Resolves references from one log to another, if they stay within the folder of the log or its trial.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

#[cfg(test)]
#[path = "log_references_tests.rs"]
mod tests;

/// The maximum length of a chain of references.
const MAX_DEPTH: usize = 32;

/// The maximum number of files that are read for one session.
const MAX_FILES: usize = 256;

/// The reason why a reference is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogReferenceError {
    /// The reference is empty.
    #[error("the reference is empty")]
    Empty,
    /// The reference is a URL.
    #[error("it is a URL, and nothing is fetched")]
    Url,
    /// The reference leads out of the folder of the log.
    #[error("it leads out of {0}")]
    Outside(PathBuf),
    /// The file does not exist or cannot be resolved.
    #[error("there is no such file")]
    Missing,
    /// The reference leads to a folder or a device.
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

/// Resolves a reference in a log to a file. It must lie below the folder of the log, or of the trial that the log
/// belongs to, even after links and `..` are resolved.
fn resolve_reference(from: &Path, reference: &str) -> Result<PathBuf, LogReferenceError> {
    let reference = reference.trim();
    if reference.is_empty() || reference.contains('\0') {
        return Err(LogReferenceError::Empty);
    }
    if is_url(reference) {
        return Err(LogReferenceError::Url);
    }
    let folder = match from.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(|_| LogReferenceError::Missing)?;
    let tree = find_trial_folder(&folder);
    let path = folder.join(reference);
    // Checked before any file access, so that nothing reveals whether a file outside exists.
    if !normalize_path(&path).starts_with(tree) {
        return Err(LogReferenceError::Outside(tree.to_path_buf()));
    }
    let real = path.canonicalize().map_err(|_| LogReferenceError::Missing)?;
    if !real.starts_with(tree) {
        return Err(LogReferenceError::Outside(tree.to_path_buf()));
    }
    if real.is_file() { Ok(real) } else { Err(LogReferenceError::NotAFile) }
}

/// The files of one session that were entered, and how many references away each one is.
#[derive(Debug, Clone, Default)]
pub struct ReferenceTrail {
    visited: BTreeSet<PathBuf>,
    depths: BTreeMap<PathBuf, usize>,
}

impl ReferenceTrail {
    /// Marks a file as entered; fails if it was entered before.
    pub fn enter_file(&mut self, path: &Path) -> Result<(), LogReferenceError> {
        let real = path.canonicalize().map_err(|_| LogReferenceError::Missing)?;
        if self.visited.contains(&real) {
            return Err(LogReferenceError::Again);
        }
        if self.visited.len() >= MAX_FILES {
            return Err(LogReferenceError::TooMany);
        }
        self.visited.insert(real);
        Ok(())
    }

    /// Resolves a reference to a file that may be entered; it must lie below the folder of the log or of its trial.
    pub fn follow_reference(&mut self, from: &Path, reference: &str) -> Result<PathBuf, LogReferenceError> {
        let found = resolve_reference(from, reference)?;
        if self.visited.contains(&found) {
            return Err(LogReferenceError::Again);
        }
        let from = from.canonicalize().map_err(|_| LogReferenceError::Missing)?;
        let depth = self.depths.get(&from).map_or(1, |depth| depth + 1);
        if depth > MAX_DEPTH {
            return Err(LogReferenceError::TooDeep);
        }
        self.depths.entry(found.clone()).or_insert(depth);
        Ok(found)
    }
}

/// Returns true for a scheme and a colon, as in `https://` and `data:`; a single letter is a drive.
fn is_url(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    let is_scheme = |letter: char| letter.is_ascii_alphanumeric() || "+.-".contains(letter);
    reference.contains("://") || (scheme.len() > 1 && scheme.chars().all(is_scheme))
}

/// Returns the trial folder if this is its `agent` folder, where Harbor keeps logs; otherwise this folder.
fn find_trial_folder(folder: &Path) -> &Path {
    let is_trial = |folder: &Path| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().contains("__"))
            && ["result.json", "config.json"].iter().any(|name| folder.join(name).is_file())
    };
    match (folder.file_name(), folder.parent()) {
        (Some(name), Some(trial)) if name == "agent" && is_trial(trial) => trial,
        _ => folder,
    }
}

/// Returns the path without `..` components, as if there were no links.
fn normalize_path(path: &Path) -> PathBuf {
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
