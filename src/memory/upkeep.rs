//! What is said of a memory that is looked at from outside: how large it is, and what is out of order in it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

/// Something worth knowing about a bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// In which file, or which table.
    pub file: String,
    /// On which line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is the matter.
    pub problem: String,
    /// What is to be done.
    pub remedy: Remedy,
}

/// What is to be done about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Nothing: it does no harm and stays as it is.
    Kept,
    /// `doctor --repair` puts it right.
    Repairable,
    /// A person has to decide.
    ByHand,
}

/// How a bank stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BankStatus {
    /// Where it is.
    #[serde(flatten)]
    pub site: Site,
    /// Its files, those that exist. A server has none.
    pub files: Vec<FileStatus>,
    /// Lessons in use.
    pub lessons: usize,
    /// Lessons out of use.
    pub retired: usize,
    /// Episodes.
    pub episodes: usize,
    /// Ledger facts.
    pub facts: usize,
    /// Lines that could not be read; `doctor` shows them.
    pub damaged_lines: usize,
    /// How the index stands.
    pub index: IndexStatus,
}

/// Where a bank is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Site {
    /// In files.
    Directory {
        /// Where they lie.
        directory: PathBuf,
    },
    /// On a server.
    Server {
        /// Which.
        server: String,
        /// Under which key.
        bank: String,
    },
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory { directory } => directory.display().fmt(f),
            Self::Server { server, bank } => write!(f, "{server}, bank {bank}"),
        }
    }
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileStatus {
    /// What it is called.
    pub name: String,
    /// How long it is.
    pub bytes: u64,
}

/// How the derived index stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexStatus {
    /// It knows everything.
    Current,
    /// It knows all but the last bytes, which are searched from memory.
    Behind {
        /// How many.
        bytes: u64,
    },
    /// There is none; the files are read instead.
    Absent,
    /// There is one, but it does not fit the files; they are read until it is built anew.
    Unusable,
}

/// What a compaction did to one bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The bank.
    pub directory: PathBuf,
    /// Retired lessons that moved to the archive.
    pub lessons_moved: usize,
    /// Versions that moved to the archive, those of retired lessons among them.
    pub versions_moved: usize,
    /// Length of the lessons file before.
    pub bytes_before: u64,
    /// And after.
    pub bytes_after: u64,
}
