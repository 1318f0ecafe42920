//! The files of a bank.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One of the files that hold the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Runs, one version a line.
    Episodes,
    /// What happened to lessons.
    Ledger,
    /// Lessons moved out of the way by compaction.
    Archive,
    /// Lessons, one version a line.
    Lessons,
}

impl Part {
    /// All of them, in the order in which a commit writes.
    pub const ALL: [Self; 4] = [Self::Episodes, Self::Ledger, Self::Archive, Self::Lessons];
}

/// Where a record stands. The order is the order of writing: what was archived is older than what was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) part: Part,
    pub(super) start: u64,
    pub(super) length: u64,
}

/// Where a bank lies and what its files are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    directory: PathBuf,
    /// Before every name, so that two banks can share a directory.
    prefix: &'static str,
    alias_prefix: char,
}

impl Layout {
    /// A project's bank: `.openagents/memory`.
    pub fn project(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), prefix: "", alias_prefix: 'm' }
    }

    /// The bank of lessons that hold everywhere: `~/.openagents/memory`.
    pub fn global(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), prefix: "global-", alias_prefix: 'g' }
    }

    /// Where it lies.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What the file is called.
    pub fn name(&self, part: Part) -> String {
        let name = match part {
            Part::Episodes => "episodes.jsonl",
            Part::Ledger => "ledger.jsonl",
            Part::Archive => "lessons-archive.jsonl",
            Part::Lessons => "lessons.jsonl",
        };
        format!("{}{name}", self.prefix)
    }

    /// Where the file lies.
    pub fn path(&self, part: Part) -> PathBuf {
        self.directory.join(self.name(part))
    }

    /// Where compaction prepares the file's next form.
    pub(super) fn successor(&self, part: Part) -> PathBuf {
        self.beside(&format!("{}.next", self.name(part)))
    }

    pub(super) fn redo(&self) -> PathBuf {
        self.beside(&format!("{}redo.log", self.prefix))
    }

    /// Where the log's next form is prepared.
    pub(super) fn next_redo(&self) -> PathBuf {
        self.beside(&format!("{}redo.next", self.prefix))
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.beside(&format!("{}lock", self.prefix))
    }

    /// Held by whoever decides what is new.
    pub(super) fn turn(&self) -> PathBuf {
        self.beside(&format!("{}judge.lock", self.prefix))
    }

    pub(super) fn index(&self) -> PathBuf {
        self.beside(&format!("{}index", self.prefix))
    }

    pub(super) fn gitignore(&self) -> PathBuf {
        self.beside(".gitignore")
    }

    /// The lengths of the files, and when each was changed last.
    pub(super) fn stamp(&self) -> String {
        let paths = Part::ALL.map(|part| self.path(part)).into_iter().chain([self.redo()]);
        let found = paths.map(|path| path.metadata().map(|found| (found.len(), found.modified().ok())).ok());
        format!("{:?}", found.collect::<Vec<_>>())
    }

    pub(super) fn alias_prefix(&self) -> char {
        self.alias_prefix
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}
