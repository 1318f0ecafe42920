//! What agents of a project are told anyway.

use std::fs;
use std::path::Path;

use crate::distill::Document;

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;

/// Where agents and people look first.
const NAMES: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
    "CONTRIBUTING.md",
    "README.md",
];

/// More than this nobody is told.
const MAX_BYTES: u64 = 512 * 1024;

/// The documents of a project that its agents are given, those that are there.
pub fn documents(root: &Path) -> Vec<Document> {
    NAMES
        .iter()
        .filter_map(|name| {
            let path = root.join(name);
            let metadata = fs::symlink_metadata(&path).ok()?;
            let is_small = metadata.is_file() && metadata.len() <= MAX_BYTES;
            let text = is_small.then(|| fs::read(&path).ok()).flatten()?;
            Some(Document { path: (*name).to_owned(), text: String::from_utf8_lossy(&text).into_owned() })
        })
        .collect()
}
