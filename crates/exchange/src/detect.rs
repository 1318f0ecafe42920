//! Detects the format of the memory at a path by its files and their first bytes, if no format was given.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::MemoryFormat;

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;

/// The number of bytes of a file that are read to detect its format.
const BEGINNING: u64 = 64 * 1024;

/// Returns the format of the memory at a path, if it is recognized.
pub fn detect_format(path: &Path) -> Option<MemoryFormat> {
    if path.is_dir() { detect_folder_format(path) } else { detect_file_format(path) }
}

fn detect_folder_format(path: &Path) -> Option<MemoryFormat> {
    let holds = |names: &[&str]| names.iter().any(|name| path.join(name).exists());
    match () {
        () if holds(&["archivist.jsonl"]) => Some(MemoryFormat::Jsonl),
        () if holds(&["claude-mem.db"]) => Some(MemoryFormat::ClaudeMem),
        () if holds(&["MEMORY.md", "memory/MEMORY.md"]) => Some(MemoryFormat::ClaudeMemory),
        () if holds(&[".archeflow", "memory/lessons.jsonl", "audit.jsonl", "archive.jsonl"]) => {
            Some(MemoryFormat::ArcheFlow)
        }
        () if holds(&["lessons.jsonl"]) => detect_file_format(&path.join("lessons.jsonl")),
        () if holds(&["memories.jsonl", "trajectories.jsonl", "memory/reflections.jsonl", ".openagents"]) => {
            Some(MemoryFormat::OpenAgents)
        }
        () if holds(&["mem0.json"]) => Some(MemoryFormat::Mem0),
        () => {
            let entries = std::fs::read_dir(path).ok()?;
            let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
            files.any(|file| file.extension().is_some_and(|ending| ending == "md")).then_some(MemoryFormat::Markdown)
        }
    }
}

fn detect_file_format(path: &Path) -> Option<MemoryFormat> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    if bytes.starts_with(b"SQLite format 3\0") {
        return Some(MemoryFormat::ClaudeMem);
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if path.file_name().is_some_and(|name| name == "MEMORY.md") {
        return Some(MemoryFormat::ClaudeMemory);
    }
    if !text.starts_with(['{', '[']) {
        return (!text.is_empty()).then_some(MemoryFormat::Markdown);
    }
    let first: Option<Value> = text.lines().next().and_then(|line| serde_json::from_str(line).ok());
    let Some(Value::Object(first)) = first else { return Some(MemoryFormat::Mem0) };
    let has = |keys: &[&str]| keys.iter().all(|key| first.contains_key(*key));
    match () {
        () if has(&["results"]) || has(&["id", "memory"]) => Some(MemoryFormat::Mem0),
        () if has(&["memoryType"]) || has(&["suggestion"]) || has(&["actions", "outcome"]) => {
            Some(MemoryFormat::OpenAgents)
        }
        () if has(&["description", "type"]) => Some(MemoryFormat::ArcheFlow),
        () if has(&["lesson"]) || has(&["episode"]) || has(&["fact"]) => Some(MemoryFormat::Jsonl),
        () => None,
    }
}
