//! Reads the entries of other memories. Every reader of another program's store belongs here, behind [`read_entries`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::project_documents::{find_markdown_files, is_markdown};
use super::{jsonl, markdown};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::memory_audit::AuditEntry;
use crate::text_format::{format_bytes, format_count};
use archivist_core::domain::{LessonAvailability, Timestamp};
use archivist_exchange::{self as exchange, IncomingLesson};

/// The most bytes of a file that is read.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// The most files of a folder that are read.
const MAX_FILES: usize = 5_000;

/// The files that hold memories, relative to the folder that a person names.
const KNOWN_FILES: &[&str] =
    &["memories.jsonl", "lessons.jsonl", "memory/memories.jsonl", "memory/lessons.jsonl", "memory/reflections.jsonl"];

/// What a memory is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AuditFormat {
    /// The file lessons.jsonl of ArcheFlow
    Archeflow,
    /// The file memories.jsonl of OpenAgents
    Openagents,
    /// MEMORY.md and the files beside it
    ClaudeMemory,
    /// What mem0 hands out as JSON
    Mem0,
    /// The database of claude-mem
    ClaudeMem,
    /// Notes in Markdown: each bullet and each paragraph is an entry
    Markdown,
    /// Records with a text, one a line
    Jsonl,
}

impl AuditFormat {
    fn is_jsonl(self) -> bool {
        matches!(self, Self::Archeflow | Self::Openagents | Self::Jsonl)
    }

    /// Returns the exchange format for memories that are not plain text and are read as an import reads them.
    fn exchange_format(self) -> Option<exchange::MemoryFormat> {
        match self {
            Self::Mem0 => Some(exchange::MemoryFormat::Mem0),
            Self::ClaudeMem => Some(exchange::MemoryFormat::ClaudeMem),
            _ => None,
        }
    }
}

/// The entries that were read from a store.
#[derive(Debug, Default)]
pub(super) struct StoreContents {
    /// The entries of the store.
    pub(super) entries: Vec<AuditEntry>,
    /// The number of lines that could not be parsed.
    pub(super) skipped: usize,
}

/// Returns the entries of the memory at this path.
pub(super) fn read_entries(
    path: &Path,
    format: Option<AuditFormat>,
    now: Timestamp,
    console: &mut Console,
) -> Result<Vec<AuditEntry>, CliError> {
    let metadata = fs::metadata(path).map_err(|error| unreadable_error(path, &error))?;
    let told = format.map_or_else(|| exchange::detect_format(path), AuditFormat::exchange_format);
    if let Some(known @ (exchange::MemoryFormat::Mem0 | exchange::MemoryFormat::ClaudeMem)) = told {
        return read_exchanged_entries(known, path, now, console);
    }
    let (files, is_jsonl) = if metadata.is_dir() {
        find_store_files(path, format)?
    } else {
        (vec![path.to_owned()], format.map(AuditFormat::is_jsonl))
    };
    let root = if metadata.is_dir() { path } else { path.parent().unwrap_or(path) };
    let mut entries = Vec::new();
    for file in &files {
        let text = read_text_file(file)?;
        let is_jsonl = match is_jsonl {
            Some(is_jsonl) => is_jsonl,
            None => looks_like_jsonl(file, &text)?,
        };
        let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let read = if is_jsonl {
            jsonl::read_jsonl_entries(&name, &text)
        } else {
            markdown::read_markdown_entries(&name, &text)
        };
        if read.skipped > 0 {
            console.print_warning(&format!("{} of {name} not understood", format_count(read.skipped, "line", "lines")));
        }
        entries.extend(read.entries);
    }
    Ok(entries)
}

/// Returns the entries of a memory in a format that imports read.
fn read_exchanged_entries(
    format: exchange::MemoryFormat,
    path: &Path,
    now: Timestamp,
    console: &mut Console,
) -> Result<Vec<AuditEntry>, CliError> {
    let bundle = exchange::read_memory(format, path, now)
        .map_err(|error| CliError::user_error(error.to_string()).with_hint(error.hint()))?;
    for skipped in &bundle.skipped {
        console.print_warning(&format!("{} was left out: {}", skipped.place, skipped.why));
    }
    let entry = |brought: &IncomingLesson| {
        let memory = brought.current_version()?;
        let texts = [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()];
        Some(AuditEntry {
            name: brought.name.clone(),
            text: texts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n"),
            at: Some(memory.created_at),
            used: brought.used,
            is_retired: memory.availability() == LessonAvailability::Retired,
        })
    };
    Ok(bundle.lessons.iter().filter_map(entry).collect())
}

/// Returns the files of a folder that hold entries, and whether they are JSON lines.
fn find_store_files(folder: &Path, format: Option<AuditFormat>) -> Result<(Vec<PathBuf>, Option<bool>), CliError> {
    let known: Vec<PathBuf> = KNOWN_FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect();
    let wants_jsonl = format.map_or(!known.is_empty(), AuditFormat::is_jsonl);
    let files = match (wants_jsonl, known.is_empty()) {
        (true, false) => known,
        (true, true) => find_jsonl_files(folder)?,
        (false, _) => find_markdown_files(folder, MAX_FILES),
    };
    if files.is_empty() {
        let what = if wants_jsonl { "files *.jsonl" } else { "memories or Markdown files" };
        let message = format!("there are no {what} in {}", folder.display());
        return Err(
            CliError::user_error(message).with_hint("give the file itself, and --format if its name does not tell")
        );
    }
    Ok((files, Some(wants_jsonl)))
}

fn find_jsonl_files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable_error(folder, &error))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "jsonl")).collect();
    files.sort();
    files.truncate(MAX_FILES);
    Ok(files)
}

fn looks_like_jsonl(file: &Path, text: &str) -> Result<bool, CliError> {
    if is_markdown(file) {
        return Ok(false);
    }
    let named = file.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson");
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_record = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(first).is_ok();
    if named || is_record {
        return Ok(true);
    }
    let hint = "give --format jsonl or --format markdown";
    Err(CliError::user_error(format!("cannot tell what {} holds", file.display())).with_hint(hint))
}

fn read_text_file(file: &Path) -> Result<String, CliError> {
    let length = fs::metadata(file).map_err(|error| unreadable_error(file, &error))?.len();
    if length > MAX_BYTES {
        let message = format!("{} is too long: {}", file.display(), format_bytes(length));
        return Err(
            CliError::user_error(message).with_hint(format!("give a file of at most {}", format_bytes(MAX_BYTES)))
        );
    }
    let read = fs::read(file).map_err(|error| unreadable_error(file, &error))?;
    if read.contains(&0) {
        let hint = "give a file of JSON lines or Markdown";
        return Err(CliError::user_error(format!("{} is not text", file.display())).with_hint(hint));
    }
    Ok(String::from_utf8_lossy(&read).into_owned())
}

fn unreadable_error(path: &Path, error: &io::Error) -> CliError {
    let failure = CliError::user_error(format!("{} cannot be read: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::NotFound => failure.with_hint("give a file or a folder that is there"),
        _ => failure,
    }
}
