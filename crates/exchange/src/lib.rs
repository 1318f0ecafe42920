//! Reads and writes the memory formats of other programs, for import and export.
//!
//! There is one file for each format. Each reads an [`ImportBundle`] and writes an [`ExportBundle`]; what a format
//! cannot hold is counted as lost, never dropped silently. What Archivist cannot hold is kept in
//! [`LessonOrigin::rest`], so that a lesson can be exported in the form in which it came. Storing imported lessons is
//! not done here.

pub mod archeflow_store;

mod archeflow_format;
mod claude_mem;
mod claude_memory;
mod detect;
mod export_loss;
mod import_export;
mod importer;
mod jsonl;
mod lesson_origin;
mod markdown;
mod mem0;
mod openagents;
mod scalar_format;

use std::path::{Path, PathBuf};

use archivist_core::domain::{AgentMemory, Episode, Fact, InvalidValue, Timestamp};
use archivist_core::memory::Lesson;

pub use detect::detect_format;
pub use export_loss::ExportLoss;
pub use import_export::{ImportOptions, export_lessons, import_lessons};
pub use importer::{ImportFate, ImportReport, ImportedLesson, LessonImporter};
pub use lesson_origin::LessonOrigin;

/// The maximum size of a file; no memory kept by a person or an agent is larger.
const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// The format in which a memory is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryFormat {
    /// ArcheFlow's `.archeflow/memory/` folder.
    ArcheFlow,
    /// OpenAgents' `.openagents/` folder.
    OpenAgents,
    /// Claude Code's own notes: `MEMORY.md` and the files of its topics.
    ClaudeMemory,
    /// A JSON export of mem0.
    Mem0,
    /// The database of claude-mem.
    ClaudeMem,
    /// A Markdown document for people.
    Markdown,
    /// A complete export of Archivist as JSON lines.
    Jsonl,
}

impl MemoryFormat {
    /// All supported formats.
    pub const ALL: [Self; 7] = [
        Self::ArcheFlow,
        Self::OpenAgents,
        Self::ClaudeMemory,
        Self::Mem0,
        Self::ClaudeMem,
        Self::Markdown,
        Self::Jsonl,
    ];

    /// The words for the formats on the command line.
    pub const WORDS: &'static [&'static str] =
        &["archeflow", "openagents", "claude-memory", "mem0", "claude-mem", "markdown", "jsonl"];

    /// Returns the word for it on the command line.
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

impl std::str::FromStr for MemoryFormat {
    type Err = InvalidValue;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|format| format.as_str() == word);
        known.ok_or_else(|| archivist_core::domain::unknown_word_error("a format", word, Self::WORDS))
    }
}

impl std::fmt::Display for MemoryFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// The content of a memory to be imported, converted to Archivist's types.
#[derive(Debug, Default, PartialEq)]
pub struct ImportBundle {
    /// The lessons to import.
    pub lessons: Vec<IncomingLesson>,
    /// The episodes to import.
    pub episodes: Vec<Episode>,
    /// The records that could not be read and are left out.
    pub skipped: Vec<SkippedRecord>,
}

/// A lesson from another memory.
#[derive(Debug, Clone, PartialEq)]
pub struct IncomingLesson {
    /// The name of the lesson in that memory.
    pub name: String,
    /// All versions of the lesson, the current one last; other programs have only one.
    pub versions: Vec<AgentMemory>,
    /// The facts known about the lesson.
    pub facts: Vec<Fact>,
    /// The number of times it was used, if the store records it.
    pub used: Option<u64>,
}

impl IncomingLesson {
    /// Returns the current version of the lesson.
    pub fn current_version(&self) -> Option<&AgentMemory> {
        self.versions.last()
    }
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "Skipped")]
pub struct SkippedRecord {
    /// Where it stands.
    pub place: String,
    /// Why it could not be read.
    pub why: String,
}

/// The content of Archivist's memory to be exported.
#[derive(Debug, Default)]
pub struct ExportBundle {
    /// The lessons with all their versions, of which the last is the current one.
    pub lessons: Vec<OutgoingLesson>,
    /// The episodes to export.
    pub episodes: Vec<Episode>,
}

/// A lesson to be exported.
#[derive(Debug, Clone)]
pub struct OutgoingLesson {
    /// The current state of the lesson.
    pub lesson: Lesson,
    /// All versions including the current one, or that one alone if the format cannot hold more.
    pub versions: Vec<AgentMemory>,
    /// The facts recorded about the lesson.
    pub facts: Vec<Fact>,
}

/// A memory written in a format.
#[derive(Debug, Default, PartialEq)]
pub struct ExportedFiles {
    /// The files by their path relative to the target folder, with their bytes.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// The losses of content that the format cannot hold.
    pub lost: Vec<ExportLoss>,
}

impl ExportedFiles {
    fn single_file(name: &str, bytes: impl Into<Vec<u8>>, lost: Vec<ExportLoss>) -> Self {
        Self { files: vec![(PathBuf::from(name), bytes.into())], lost }
    }
}

/// The reason why a memory could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ImportReadError {
    /// The file system returned an error.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The content does not match the format.
    #[error("{} is no {what}: {why}", path.display())]
    Malformed {
        /// The path of the file or folder.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
        /// The reason why it does not match.
        why: String,
    },
    /// The format could not be detected.
    #[error("{} is in no format that is known here", path.display())]
    Unknown {
        /// The path of the file or folder.
        path: PathBuf,
    },
}

impl ImportReadError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { .. } => "give the file or the folder that holds the memory".to_owned(),
            Self::Malformed { .. } => "nothing was taken over; look at the file, or give another --format".to_owned(),
            Self::Unknown { .. } => format!("say what it is: --format {}", MemoryFormat::WORDS.join("|")),
        }
    }

    fn malformed(path: &Path, what: &'static str, why: impl std::fmt::Display) -> Self {
        Self::Malformed { path: path.to_owned(), what, why: why.to_string() }
    }
}

/// Reads the memory at a path. Records without a time of their own get `now`.
pub fn read_memory(format: MemoryFormat, path: &Path, now: Timestamp) -> Result<ImportBundle, ImportReadError> {
    match format {
        MemoryFormat::ArcheFlow => archeflow_format::read_memory(path, now),
        MemoryFormat::OpenAgents => openagents::read_memory(path, now),
        MemoryFormat::ClaudeMemory => claude_memory::read_memory(path, now),
        MemoryFormat::Mem0 => mem0::read_memory(path, now),
        MemoryFormat::ClaudeMem => claude_mem::read_memory(path, now),
        MemoryFormat::Markdown => markdown::read_memory(path, now),
        MemoryFormat::Jsonl => jsonl::read_memory(path),
    }
}

/// Writes the bundle in a format. The same content always gives the same bytes.
pub fn write_memory(format: MemoryFormat, bundle: &ExportBundle) -> Result<ExportedFiles, ExportWriteError> {
    match format {
        MemoryFormat::ArcheFlow => archeflow_format::write_memory(bundle),
        MemoryFormat::OpenAgents => openagents::write_memory(bundle),
        MemoryFormat::ClaudeMemory => Ok(claude_memory::write_memory(bundle)),
        MemoryFormat::Mem0 => mem0::write_memory(bundle),
        MemoryFormat::ClaudeMem => claude_mem::write_memory(bundle),
        MemoryFormat::Markdown => Ok(markdown::write_memory(bundle)),
        MemoryFormat::Jsonl => jsonl::write_memory(bundle),
    }
}

/// The reason why a memory could not be written in a format.
#[derive(Debug, thiserror::Error)]
#[error("it cannot be written as {format}: {why}")]
pub struct ExportWriteError {
    format: MemoryFormat,
    why: String,
}

impl ExportWriteError {
    fn new(format: MemoryFormat, why: impl std::fmt::Display) -> Self {
        Self { format, why: why.to_string() }
    }
}

/// Returns the bytes of a file, unless it is larger than `MAX_FILE_BYTES`.
fn read_file_bytes(path: &Path) -> Result<Vec<u8>, ImportReadError> {
    let io = |source| ImportReadError::Io { path: path.to_owned(), source };
    let length = std::fs::metadata(path).map_err(io)?.len();
    if length > MAX_FILE_BYTES {
        let why = format!("it is {length} bytes long, and {MAX_FILE_BYTES} are the most");
        return Err(ImportReadError::malformed(path, "memory", why));
    }
    std::fs::read(path).map_err(io)
}

/// Returns the text of a file without a byte order mark.
fn read_file_text(path: &Path) -> Result<String, ImportReadError> {
    let text = String::from_utf8(read_file_bytes(path)?)
        .map_err(|error| ImportReadError::malformed(path, "text in UTF-8", error.utf8_error()))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Returns the lines of a text that are not blank, with their numbers.
fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// Returns `path/name` if the path is a folder, else the path itself.
fn resolve_file(path: &Path, name: &str) -> PathBuf {
    if path.is_dir() { path.join(name) } else { path.to_owned() }
}
