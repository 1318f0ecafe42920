//! What a project says about itself: its documents, its settings and its notes.

use std::fs;
use std::path::Path;

use crate::distill::Document;
use crate::domain::Extra;

#[cfg(test)]
#[path = "project_tests.rs"]
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

/// A longer file is none of these.
const MAX_BYTES: u64 = 1024 * 1024;

/// The documents that agents of the project are given anyway, those that are there.
pub fn documents(root: &Path) -> Vec<Document> {
    let read = |name: &&str| Some(Document { path: (*name).to_owned(), text: text(&root.join(name))? });
    NAMES.iter().filter_map(read).collect()
}

/// The project's own settings, as `.openagents/project.json` holds them.
pub fn settings(root: &Path) -> Option<Extra> {
    serde_json::from_str(&text(&root.join(".openagents/project.json"))?).ok()
}

/// What an agent noted for the next session.
pub fn notes(root: &Path) -> Option<String> {
    text(&root.join(".openagents/progress.md"))
}

/// A small file, if it is there. A link may lead to a file that is none of the project's, and is not followed.
fn text(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let bytes = (metadata.is_file() && metadata.len() <= MAX_BYTES).then(|| fs::read(path).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
