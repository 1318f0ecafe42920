//! The files of a bank.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One of the files that hold the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreFile {
    /// Episodes, one version per line.
    Episodes,
    /// Facts about lessons, one per line.
    Ledger,
    /// Lessons that compaction moved away.
    Archive,
    /// Lessons, one version per line.
    Lessons,
}

impl StoreFile {
    /// All files, in the order in which a commit writes them.
    pub const ALL: [Self; 4] = [Self::Episodes, Self::Ledger, Self::Archive, Self::Lessons];
}

/// The place of a record. Places are ordered by time of writing: archived records are older than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RecordPlace {
    pub(super) part: StoreFile,
    pub(super) start: u64,
    pub(super) length: u64,
}

/// The directory of a bank and the names of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankLayout {
    directory: PathBuf,
    /// The prefix of every name, so that two banks can share a directory.
    prefix: &'static str,
    alias_prefix: char,
}

impl BankLayout {
    /// The layout of a project's bank in `.openagents/memory`.
    pub fn for_project(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), prefix: "", alias_prefix: 'm' }
    }

    /// The layout of the global bank in `~/.openagents/memory`.
    pub fn for_global(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), prefix: "global-", alias_prefix: 'g' }
    }

    /// Returns the bank's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the name of a file.
    pub fn file_name(&self, part: StoreFile) -> String {
        let name = match part {
            StoreFile::Episodes => "episodes.jsonl",
            StoreFile::Ledger => "ledger.jsonl",
            StoreFile::Archive => "lessons-archive.jsonl",
            StoreFile::Lessons => "lessons.jsonl",
        };
        format!("{}{name}", self.prefix)
    }

    /// Returns the path of a file.
    pub fn file_path(&self, part: StoreFile) -> PathBuf {
        self.directory.join(self.file_name(part))
    }

    /// Returns the path where compaction prepares a file's successor.
    pub(super) fn successor_path(&self, part: StoreFile) -> PathBuf {
        self.join_name(&format!("{}.next", self.file_name(part)))
    }

    pub(super) fn redo_log_path(&self) -> PathBuf {
        self.join_name(&format!("{}redo.log", self.prefix))
    }

    /// Returns the path where the log's successor is prepared.
    pub(super) fn next_redo_log_path(&self) -> PathBuf {
        self.join_name(&format!("{}redo.next", self.prefix))
    }

    pub(super) fn lock_path(&self) -> PathBuf {
        self.join_name(&format!("{}lock", self.prefix))
    }

    /// Returns the path of the lock that the judging turn holds.
    pub(super) fn turn_lock_path(&self) -> PathBuf {
        self.join_name(&format!("{}judge.lock", self.prefix))
    }

    pub(super) fn index_path(&self) -> PathBuf {
        self.join_name(&format!("{}index", self.prefix))
    }

    /// Returns the path of the notes about what was erased.
    pub(super) fn erasures_path(&self) -> PathBuf {
        self.join_name(&format!("{}erasures.jsonl", self.prefix))
    }

    pub(super) fn gitignore_path(&self) -> PathBuf {
        self.join_name(".gitignore")
    }

    /// Returns the lengths and modification times of the files as a text.
    pub(super) fn change_stamp(&self) -> String {
        let paths = StoreFile::ALL.map(|part| self.file_path(part)).into_iter().chain([self.redo_log_path()]);
        let found = paths.map(|path| path.metadata().map(|found| (found.len(), found.modified().ok())).ok());
        format!("{:?}", found.collect::<Vec<_>>())
    }

    pub(super) fn alias_prefix(&self) -> char {
        self.alias_prefix
    }

    fn join_name(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}
