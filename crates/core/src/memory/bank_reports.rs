//! Reports about a bank: its size, its problems, and the result of a compaction.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

/// A finding about a bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BankFinding {
    /// The file or the table it is in.
    pub file: String,
    /// The line it is on, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The description of the problem.
    pub problem: String,
    /// The way to handle it.
    pub remedy: FindingRemedy,
}

/// The way to handle a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingRemedy {
    /// Nothing is needed: it does no harm and stays as it is.
    Kept,
    /// Running `doctor --repair` fixes it.
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
    pub site: BankSite,
    /// Its files, those that exist. A server has none.
    pub files: Vec<FileStatus>,
    /// Lessons in use.
    pub lessons: usize,
    /// Lessons out of use.
    pub retired: usize,
    /// The number of episodes.
    pub episodes: usize,
    /// The number of ledger facts.
    pub facts: usize,
    /// Lines that could not be read; `doctor` shows them.
    pub damaged_lines: usize,
    /// How the index stands.
    pub index: IndexStatus,
}

/// Where a bank is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Site")]
pub enum BankSite {
    /// A directory of files.
    Directory {
        /// Where they lie.
        directory: PathBuf,
    },
    /// On a server.
    Server {
        /// The address of the server.
        server: String,
        /// Under which key.
        bank: String,
    },
}

impl std::fmt::Display for BankSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory { directory } => directory.display().fmt(f),
            Self::Server { server, bank } => write!(f, "{server}, bank {bank}"),
        }
    }
}

/// The size of one file.
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
        /// The number of bytes.
        bytes: u64,
    },
    /// There is none; the files are read instead.
    Absent,
    /// There is one, but it does not fit the files; they are read until it is built anew.
    Unusable,
}

/// The result of compacting one bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionReport {
    /// The directory of the bank.
    pub directory: PathBuf,
    /// The number of retired lessons that moved to the archive.
    pub lessons_moved: usize,
    /// The number of versions that moved to the archive, including those of retired lessons.
    pub versions_moved: usize,
    /// The length of the lessons file before.
    pub bytes_before: u64,
    /// The length of the lessons file after.
    pub bytes_after: u64,
}
