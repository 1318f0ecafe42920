//! Which memory lies at a path, where nobody says so: known by what is there, and by how it begins.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::Format;

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;

/// So much of a file tells what it is.
const BEGINNING: u64 = 64 * 1024;

/// The format of what lies there.
pub fn detect(path: &Path) -> Option<Format> {
    if path.is_dir() { folder(path) } else { file(path) }
}

fn folder(path: &Path) -> Option<Format> {
    let holds = |names: &[&str]| names.iter().any(|name| path.join(name).exists());
    match () {
        () if holds(&["archivist.jsonl"]) => Some(Format::Jsonl),
        () if holds(&["claude-mem.db"]) => Some(Format::ClaudeMem),
        () if holds(&["MEMORY.md", "memory/MEMORY.md"]) => Some(Format::ClaudeMemory),
        () if holds(&[".archeflow", "memory/lessons.jsonl", "audit.jsonl", "archive.jsonl"]) => Some(Format::ArcheFlow),
        () if holds(&["lessons.jsonl"]) => file(&path.join("lessons.jsonl")),
        () if holds(&["memories.jsonl", "trajectories.jsonl", "memory/reflections.jsonl", ".openagents"]) => {
            Some(Format::OpenAgents)
        }
        () if holds(&["mem0.json"]) => Some(Format::Mem0),
        () => {
            let entries = std::fs::read_dir(path).ok()?;
            let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
            files.any(|file| file.extension().is_some_and(|ending| ending == "md")).then_some(Format::Markdown)
        }
    }
}

fn file(path: &Path) -> Option<Format> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    if bytes.starts_with(b"SQLite format 3\0") {
        return Some(Format::ClaudeMem);
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if path.file_name().is_some_and(|name| name == "MEMORY.md") {
        return Some(Format::ClaudeMemory);
    }
    if !text.starts_with(['{', '[']) {
        return (!text.is_empty()).then_some(Format::Markdown);
    }
    let first: Option<Value> = text.lines().next().and_then(|line| serde_json::from_str(line).ok());
    let Some(Value::Object(first)) = first else { return Some(Format::Mem0) };
    let has = |keys: &[&str]| keys.iter().all(|key| first.contains_key(*key));
    match () {
        () if has(&["results"]) || has(&["id", "memory"]) => Some(Format::Mem0),
        () if has(&["memoryType"]) || has(&["suggestion"]) || has(&["actions", "outcome"]) => Some(Format::OpenAgents),
        () if has(&["description", "type"]) => Some(Format::ArcheFlow),
        () if has(&["lesson"]) || has(&["episode"]) || has(&["fact"]) => Some(Format::Jsonl),
        () => None,
    }
}
