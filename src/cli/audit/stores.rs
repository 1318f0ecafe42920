//! The entries of other memories. Whatever reads a store of another program is put in here, behind [`entries_of`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::ground::{is_markdown, markdown_files};
use super::{jsonl, markdown};
use crate::audit::Entry;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::prose::{bytes, count};
use crate::domain::{Standing, Timestamp};
use crate::exchange::{self, Brought};

/// A longer file is no memory of anybody's.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// So many files of a folder are read.
const MAX_FILES: usize = 5_000;

/// Files that hold memories, below the folder that a person may name.
const KNOWN_FILES: &[&str] =
    &["memories.jsonl", "lessons.jsonl", "memory/memories.jsonl", "memory/lessons.jsonl", "memory/reflections.jsonl"];

/// What a memory is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// ArcheFlow's lessons.jsonl
    Archeflow,
    /// OpenAgents' memories.jsonl
    Openagents,
    /// MEMORY.md and the files beside it
    ClaudeMemory,
    /// What mem0 hands out as JSON
    Mem0,
    /// claude-mem's database
    ClaudeMem,
    /// Notes in Markdown: each bullet and each paragraph is an entry
    Markdown,
    /// Records with a text, one a line
    Jsonl,
}

impl Format {
    fn is_jsonl(self) -> bool {
        matches!(self, Self::Archeflow | Self::Openagents | Self::Jsonl)
    }

    /// A memory that is no text by itself, and is read as an import reads it.
    fn exchanged(self) -> Option<exchange::Format> {
        match self {
            Self::Mem0 => Some(exchange::Format::Mem0),
            Self::ClaudeMem => Some(exchange::Format::ClaudeMem),
            _ => None,
        }
    }
}

/// What was read of a store.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Its entries.
    pub(super) entries: Vec<Entry>,
    /// Lines that nobody understands.
    pub(super) skipped: usize,
}

/// The entries of the memory at this path.
pub(super) fn entries_of(
    path: &Path,
    format: Option<Format>,
    now: Timestamp,
    console: &mut Console,
) -> Result<Vec<Entry>, Failure> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    let told = format.map_or_else(|| exchange::detect(path), Format::exchanged);
    if let Some(known @ (exchange::Format::Mem0 | exchange::Format::ClaudeMem)) = told {
        return exchanged(known, path, now, console);
    }
    let (files, is_jsonl) = if metadata.is_dir() {
        in_folder(path, format)?
    } else {
        (vec![path.to_owned()], format.map(Format::is_jsonl))
    };
    let root = if metadata.is_dir() { path } else { path.parent().unwrap_or(path) };
    let mut entries = Vec::new();
    for file in &files {
        let text = text_of(file)?;
        let is_jsonl = match is_jsonl {
            Some(is_jsonl) => is_jsonl,
            None => looks_like_jsonl(file, &text)?,
        };
        let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let read = if is_jsonl { jsonl::read(&name, &text) } else { markdown::read(&name, &text) };
        if read.skipped > 0 {
            console.warn(&format!("{} of {name} not understood", count(read.skipped, "line", "lines")));
        }
        entries.extend(read.entries);
    }
    Ok(entries)
}

/// The entries of a memory that an import reads.
fn exchanged(
    format: exchange::Format,
    path: &Path,
    now: Timestamp,
    console: &mut Console,
) -> Result<Vec<Entry>, Failure> {
    let parcel =
        exchange::read(format, path, now).map_err(|error| Failure::user(error.to_string()).with_hint(error.hint()))?;
    for skipped in &parcel.skipped {
        console.warn(&format!("{} was left out: {}", skipped.place, skipped.why));
    }
    let entry = |brought: &Brought| {
        let memory = brought.memory()?;
        let texts = [Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()];
        Some(Entry {
            name: brought.name.clone(),
            text: texts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n"),
            at: Some(memory.created_at),
            used: brought.used,
            is_retired: memory.standing() == Standing::Retired,
        })
    };
    Ok(parcel.lessons.iter().filter_map(entry).collect())
}

/// The files of a folder that hold entries, and whether they are JSON lines.
fn in_folder(folder: &Path, format: Option<Format>) -> Result<(Vec<PathBuf>, Option<bool>), Failure> {
    let known: Vec<PathBuf> = KNOWN_FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect();
    let wants_jsonl = format.map_or(!known.is_empty(), Format::is_jsonl);
    let files = match (wants_jsonl, known.is_empty()) {
        (true, false) => known,
        (true, true) => jsonl_files(folder)?,
        (false, _) => markdown_files(folder, MAX_FILES),
    };
    if files.is_empty() {
        let what = if wants_jsonl { "files *.jsonl" } else { "memories or Markdown files" };
        let message = format!("there are no {what} in {}", folder.display());
        return Err(Failure::user(message).with_hint("give the file itself, and --format if its name does not tell"));
    }
    Ok((files, Some(wants_jsonl)))
}

fn jsonl_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "jsonl")).collect();
    files.sort();
    files.truncate(MAX_FILES);
    Ok(files)
}

fn looks_like_jsonl(file: &Path, text: &str) -> Result<bool, Failure> {
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
    Err(Failure::user(format!("cannot tell what {} holds", file.display())).with_hint(hint))
}

fn text_of(file: &Path) -> Result<String, Failure> {
    let length = fs::metadata(file).map_err(|error| unreadable(file, &error))?.len();
    if length > MAX_BYTES {
        let message = format!("{} is too long: {}", file.display(), bytes(length));
        return Err(Failure::user(message).with_hint(format!("give a file of at most {}", bytes(MAX_BYTES))));
    }
    let read = fs::read(file).map_err(|error| unreadable(file, &error))?;
    if read.contains(&0) {
        let hint = "give a file of JSON lines or Markdown";
        return Err(Failure::user(format!("{} is not text", file.display())).with_hint(hint));
    }
    Ok(String::from_utf8_lossy(&read).into_owned())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::user(format!("{} cannot be read: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::NotFound => failure.with_hint("give a file or a folder that is there"),
        _ => failure,
    }
}
