//! Folders, without following links and without trusting that they can be read.

use std::fs::{DirEntry, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use chrono::DateTime;

use super::Problem;
use crate::domain::Timestamp;

/// A home, and what went wrong in it.
pub(super) struct Walk<'p> {
    root: PathBuf,
    problems: &'p mut Vec<Problem>,
}

/// Something in a folder.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) is_folder: bool,
    pub(super) modified: Timestamp,
}

impl Entry {
    /// The name without this ending, if it is a file that has it.
    pub(super) fn file_stem(&self, ending: &str) -> Option<&str> {
        if self.is_folder { None } else { self.name.strip_suffix(ending).filter(|stem| !stem.is_empty()) }
    }
}

impl<'p> Walk<'p> {
    /// The home itself may be a link; `None` when there is none.
    pub(super) fn at(root: &Path, problems: &'p mut Vec<Problem>) -> Option<Self> {
        match root.canonicalize() {
            Ok(root) => Some(Self { root, problems }),
            Err(error) => {
                if !is_absent(error.kind()) {
                    problems.push(Problem { path: root.to_path_buf(), why: error.to_string() });
                }
                None
            }
        }
    }

    /// What is in a folder and not empty, sorted by name. Links are not followed: inside the home what they lead to is found under
    /// its own name, and one that leads out of it is a problem. A folder that is not there is empty.
    pub(super) fn entries(&mut self, folder: &Path) -> Vec<Entry> {
        if !self.is_inside(folder) {
            return Vec::new();
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                if !is_absent(error.kind()) {
                    self.problem(folder, error.to_string());
                }
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.metadata()?, entry))) {
                Ok((metadata, entry)) => found.extend(self.entry(&entry, &metadata)),
                // It went away while we looked.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => self.problem(folder, error.to_string()),
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    /// Every file below a folder, no deeper than so many folders.
    pub(super) fn files_below(&mut self, folder: &Path, depth: usize) -> Vec<Entry> {
        let mut found = Vec::new();
        for entry in self.entries(folder) {
            match depth.checked_sub(1) {
                Some(depth) if entry.is_folder => found.extend(self.files_below(&entry.path, depth)),
                _ if entry.is_folder => {}
                _ => found.push(entry),
            }
        }
        found
    }

    /// One file by its name, if it is there and a file.
    pub(super) fn file(&mut self, path: &Path) -> Option<Entry> {
        let metadata = path.symlink_metadata().ok()?;
        if !metadata.is_file() || metadata.len() == 0 || !self.is_inside(path) {
            return None;
        }
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some(Entry { path: path.to_path_buf(), name, is_folder: false, modified: modified(&metadata) })
    }

    /// Reads something of a file; a failure is a problem.
    pub(super) fn read<T>(&mut self, path: &Path, read: impl FnOnce(&Path) -> std::io::Result<T>) -> Option<T> {
        read(path).map_err(|error| self.problem(path, error.to_string())).ok()
    }

    pub(super) fn problem(&mut self, path: &Path, why: impl Into<String>) {
        self.problems.push(Problem { path: path.to_path_buf(), why: why.into() });
    }

    fn entry(&mut self, entry: &DirEntry, metadata: &Metadata) -> Option<Entry> {
        let path = entry.path();
        if metadata.is_symlink() {
            self.is_inside(&path);
            return None;
        }
        let is_folder = metadata.is_dir();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_log = metadata.is_file() && metadata.len() > 0;
        (is_folder || is_log).then(|| Entry { path, name, is_folder, modified: modified(metadata) })
    }

    fn is_inside(&mut self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else {
            // What is not there is no problem, and what cannot be resolved fails again when it is read.
            return true;
        };
        let is_inside = real.starts_with(&self.root);
        if !is_inside {
            self.problem(path, format!("it leads out of {} and is not followed", self.root.display()));
        }
        is_inside
    }
}

fn is_absent(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// When it was last written. A time that no calendar has is the beginning of 1970.
fn modified(metadata: &Metadata) -> Timestamp {
    let since = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    DateTime::from_timestamp(seconds, since.subsec_nanos()).unwrap_or_default()
}
