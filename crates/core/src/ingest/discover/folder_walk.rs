//! Lists folders without following links and without assuming that they can be read.

use std::fs::{DirEntry, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use chrono::DateTime;

use super::DiscoveryProblem;
use crate::domain::Timestamp;

/// A folder tree that is searched, and the problems that occurred in it.
pub(super) struct FolderWalk<'p> {
    root: PathBuf,
    problems: &'p mut Vec<DiscoveryProblem>,
}

/// A file or folder in a folder.
#[derive(Debug, Clone)]
pub(super) struct FolderEntry {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) is_folder: bool,
    pub(super) modified: Timestamp,
}

impl FolderEntry {
    /// Returns the name without this ending, if it is a file that has it.
    pub(super) fn file_stem(&self, ending: &str) -> Option<&str> {
        if self.is_folder { None } else { self.name.strip_suffix(ending).filter(|stem| !stem.is_empty()) }
    }
}

impl<'p> FolderWalk<'p> {
    /// Opens a folder tree, whose root may be a link. Returns `None` if it does not exist.
    pub(super) fn open_root(root: &Path, problems: &'p mut Vec<DiscoveryProblem>) -> Option<Self> {
        match root.canonicalize() {
            Ok(root) => Some(Self { root, problems }),
            Err(error) => {
                if !is_absent(error.kind()) {
                    problems.push(DiscoveryProblem { path: root.to_path_buf(), why: error.to_string() });
                }
                None
            }
        }
    }

    /// Lists the folders and non-empty files in a folder, sorted by name. Links are not followed: inside the tree their
    /// targets are found under their own names, and a link out of it is a problem. A missing folder counts as empty.
    pub(super) fn list_entries(&mut self, folder: &Path) -> Vec<FolderEntry> {
        if !self.is_inside(folder) {
            return Vec::new();
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                if !is_absent(error.kind()) {
                    self.report_problem(folder, error.to_string());
                }
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.metadata()?, entry))) {
                Ok((metadata, entry)) => found.extend(self.inspect_entry(&entry, &metadata)),
                // It was deleted during the search.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => self.report_problem(folder, error.to_string()),
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    /// Lists every file below a folder, down to the given depth.
    pub(super) fn list_files_below(&mut self, folder: &Path, depth: usize) -> Vec<FolderEntry> {
        let mut found = Vec::new();
        for entry in self.list_entries(folder) {
            match depth.checked_sub(1) {
                Some(depth) if entry.is_folder => found.extend(self.list_files_below(&entry.path, depth)),
                _ if entry.is_folder => {}
                _ => found.push(entry),
            }
        }
        found
    }

    /// Returns the file at a path, if it exists, is a regular file and is not empty.
    pub(super) fn find_file(&mut self, path: &Path) -> Option<FolderEntry> {
        let metadata = path.symlink_metadata().ok()?;
        if !metadata.is_file() || metadata.len() == 0 || !self.is_inside(path) {
            return None;
        }
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some(FolderEntry { path: path.to_path_buf(), name, is_folder: false, modified: modified_time(&metadata) })
    }

    /// Reads a file with the given function; a failure is reported as a problem.
    pub(super) fn read_or_report<T>(
        &mut self,
        path: &Path,
        read: impl FnOnce(&Path) -> std::io::Result<T>,
    ) -> Option<T> {
        read(path).map_err(|error| self.report_problem(path, error.to_string())).ok()
    }

    pub(super) fn report_problem(&mut self, path: &Path, why: impl Into<String>) {
        self.problems.push(DiscoveryProblem { path: path.to_path_buf(), why: why.into() });
    }

    fn inspect_entry(&mut self, entry: &DirEntry, metadata: &Metadata) -> Option<FolderEntry> {
        let path = entry.path();
        if metadata.is_symlink() {
            self.is_inside(&path);
            return None;
        }
        let is_folder = metadata.is_dir();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_log = metadata.is_file() && metadata.len() > 0;
        (is_folder || is_log).then(|| FolderEntry { path, name, is_folder, modified: modified_time(metadata) })
    }

    fn is_inside(&mut self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else {
            // A missing file is no problem, and one that cannot be resolved fails again when it is read.
            return true;
        };
        let is_inside = real.starts_with(&self.root);
        if !is_inside {
            self.report_problem(path, format!("it leads out of {} and is not followed", self.root.display()));
        }
        is_inside
    }
}

fn is_absent(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Returns the time of the last change. A time out of range becomes the beginning of 1970.
fn modified_time(metadata: &Metadata) -> Timestamp {
    let since = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    DateTime::from_timestamp(seconds, since.subsec_nanos()).unwrap_or_default()
}
