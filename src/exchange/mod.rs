//! Memories of other programs, read and written: what people bring along, and what they may take with them.
//!
//! One file for each format. Each reads a [`Parcel`] of what it finds and writes a [`Shelf`] of ours; what a format cannot
//! hold is counted as lost, never dropped in silence. What we cannot hold goes along in [`Origin::rest`], so that a
//! lesson leaves in the shape it came in.

mod archeflow;
mod claude_mem;
mod claude_memory;
mod detect;
mod jsonl;
mod loss;
mod markdown;
mod mem0;
mod openagents;
mod origin;
mod scalar;

use std::path::{Path, PathBuf};

use crate::domain::{AgentMemory, Episode, Fact, Invalid, Timestamp};
use crate::memory::Lesson;

pub use detect::detect;
pub use loss::Loss;
pub use origin::Origin;

/// A longer file is no memory that anybody keeps by hand or by agent.
const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// In what a memory is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// ArcheFlow's `.archeflow/memory/`.
    ArcheFlow,
    /// OpenAgents' `.openagents/`.
    OpenAgents,
    /// Claude Code's own notes: `MEMORY.md` and the files of its topics.
    ClaudeMemory,
    /// What mem0 hands out as JSON.
    Mem0,
    /// claude-mem's database.
    ClaudeMem,
    /// A document for people.
    Markdown,
    /// Everything we have, line by line.
    Jsonl,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ArcheFlow,
        Self::OpenAgents,
        Self::ClaudeMemory,
        Self::Mem0,
        Self::ClaudeMem,
        Self::Markdown,
        Self::Jsonl,
    ];

    /// Their words on the command line.
    pub const WORDS: &'static [&'static str] =
        &["archeflow", "openagents", "claude-memory", "mem0", "claude-mem", "markdown", "jsonl"];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ArcheFlow => "archeflow",
            Self::OpenAgents => "openagents",
            Self::ClaudeMemory => "claude-memory",
            Self::Mem0 => "mem0",
            Self::ClaudeMem => "claude-mem",
            Self::Markdown => "markdown",
            Self::Jsonl => "jsonl",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = Invalid;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|format| format.as_str() == word);
        known.ok_or_else(|| crate::domain::words::unknown("a format", word, Self::WORDS))
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// What somebody brings along, in our words.
#[derive(Debug, Default, PartialEq)]
pub struct Parcel {
    /// Lessons.
    pub lessons: Vec<Brought>,
    /// Runs.
    pub episodes: Vec<Episode>,
    /// What could not be read, and stays where it is.
    pub skipped: Vec<Skipped>,
}

/// A lesson from elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Brought {
    /// What it is called there.
    pub name: String,
    /// All its versions, the last one last; other programs have only one.
    pub versions: Vec<AgentMemory>,
    /// What is known to have happened to it.
    pub facts: Vec<Fact>,
    /// How often it was given to anybody, where the store tells.
    pub used: Option<u64>,
}

impl Brought {
    /// The lesson as it stands.
    pub fn memory(&self) -> Option<&AgentMemory> {
        self.versions.last()
    }
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Skipped {
    /// Where it stands.
    pub place: String,
    /// Why it could not be read.
    pub why: String,
}

/// What we have.
#[derive(Debug, Default)]
pub struct Shelf {
    /// Lessons with all their versions, the last one being the lesson itself.
    pub lessons: Vec<Shelved>,
    /// Runs.
    pub episodes: Vec<Episode>,
}

/// A lesson of ours, on its way out.
#[derive(Debug, Clone)]
pub struct Shelved {
    /// As it stands.
    pub lesson: Lesson,
    /// All its versions, this one included; this one alone where the format has no place for more.
    pub versions: Vec<AgentMemory>,
    /// What happened to it.
    pub facts: Vec<Fact>,
}

/// A memory in another program's shape.
#[derive(Debug, Default, PartialEq)]
pub struct Written {
    /// The files, named from where the memory is put.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// What could not be said in that shape.
    pub lost: Vec<Loss>,
}

impl Written {
    fn one(name: &str, bytes: impl Into<Vec<u8>>, lost: Vec<Loss>) -> Self {
        Self { files: vec![(PathBuf::from(name), bytes.into())], lost }
    }
}

/// Why a memory could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The system would not hand it over.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not what it is said to be.
    #[error("{} is no {what}: {why}", path.display())]
    Malformed {
        /// What.
        path: PathBuf,
        /// What it should be.
        what: &'static str,
        /// Why it is not.
        why: String,
    },
    /// Nobody can tell what it is.
    #[error("{} is in no format that is known here", path.display())]
    Unknown {
        /// What.
        path: PathBuf,
    },
}

impl Unreadable {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { .. } => "give the file or the folder that holds the memory".to_owned(),
            Self::Malformed { .. } => "nothing was taken over; look at the file, or give another --format".to_owned(),
            Self::Unknown { .. } => format!("say what it is: --format {}", Format::WORDS.join("|")),
        }
    }

    fn malformed(path: &Path, what: &'static str, why: impl std::fmt::Display) -> Self {
        Self::Malformed { path: path.to_owned(), what, why: why.to_string() }
    }
}

/// Reads what lies at a path. What has no time of its own gets `now`.
pub fn read(format: Format, path: &Path, now: Timestamp) -> Result<Parcel, Unreadable> {
    match format {
        Format::ArcheFlow => archeflow::read(path, now),
        Format::OpenAgents => openagents::read(path, now),
        Format::ClaudeMemory => claude_memory::read(path, now),
        Format::Mem0 => mem0::read(path, now),
        Format::ClaudeMem => claude_mem::read(path, now),
        Format::Markdown => markdown::read(path, now),
        Format::Jsonl => jsonl::read(path),
    }
}

/// Writes what we have. The same always gives the same bytes.
pub fn write(format: Format, shelf: &Shelf) -> Result<Written, Unwritable> {
    match format {
        Format::ArcheFlow => archeflow::write(shelf),
        Format::OpenAgents => openagents::write(shelf),
        Format::ClaudeMemory => Ok(claude_memory::write(shelf)),
        Format::Mem0 => mem0::write(shelf),
        Format::ClaudeMem => claude_mem::write(shelf),
        Format::Markdown => Ok(markdown::write(shelf)),
        Format::Jsonl => jsonl::write(shelf),
    }
}

/// Why a memory could not be written in a format.
#[derive(Debug, thiserror::Error)]
#[error("it cannot be written as {format}: {why}")]
pub struct Unwritable {
    format: Format,
    why: String,
}

impl Unwritable {
    fn new(format: Format, why: impl std::fmt::Display) -> Self {
        Self { format, why: why.to_string() }
    }
}

/// The bytes of a file that is not absurdly long.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Unreadable> {
    let io = |source| Unreadable::Io { path: path.to_owned(), source };
    let length = std::fs::metadata(path).map_err(io)?.len();
    if length > MAX_FILE_BYTES {
        let why = format!("it is {length} bytes long, and {MAX_FILE_BYTES} are the most");
        return Err(Unreadable::malformed(path, "memory", why));
    }
    std::fs::read(path).map_err(io)
}

/// The text of a file, without the mark that some editors put before it.
fn text_of(path: &Path) -> Result<String, Unreadable> {
    let text = String::from_utf8(bytes_of(path)?)
        .map_err(|error| Unreadable::malformed(path, "text in UTF-8", error.utf8_error()))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The lines of a text that say anything, with their numbers.
fn lines_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// `path/name` if a folder was given, else what was given.
fn within(path: &Path, name: &str) -> PathBuf {
    if path.is_dir() { path.join(name) } else { path.to_owned() }
}
