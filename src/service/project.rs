//! A project: where it stands, whose its lessons are, and what it says about itself.

use std::fs;
use std::path::{Path, PathBuf};

use crate::distill::Document;
use crate::domain::{AgentMemory, Extra, MemoryQuery, MemoryScope};
use crate::ingest::discover::Places;
use crate::ingest::without_lessons;

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;

/// A project whose sessions are reflected on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Where it stands.
    pub root: PathBuf,
    /// Which repository it is, where that is known apart from the path.
    pub repo_id: Option<String>,
    /// What its lessons carry so that they are known to be its own.
    pub owner: Owner,
    /// Where its sessions leave their logs.
    pub places: Places,
    /// The home directory, where paths may begin.
    pub home: Option<PathBuf>,
}

/// Whose a lesson is. In a memory that moves along with its project a path would only break.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Owner {
    /// The project's path.
    pub project_root: Option<String>,
    /// Its repository.
    pub repo_id: Option<String>,
}

impl Project {
    /// A project that is known by its path alone, with its own logs.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let places = Places { project: root.clone(), ..Places::default() };
        Self { root, repo_id: None, owner: Owner::default(), places, home: None }
    }

    /// Its path as text. One that text cannot hold is written so that two such paths never become one.
    pub fn root_text(&self) -> String {
        self.root.to_str().map_or_else(|| format!("{:?}", self.root), str::to_owned)
    }

    /// A question of this project's that mentions nothing yet.
    pub fn question(&self) -> MemoryQuery {
        MemoryQuery { repo_id: self.repo_id.clone(), ..MemoryQuery::for_project(self.root_text()) }
    }

    /// Writes on a lesson whose it is. What holds everywhere is nobody's.
    pub fn sign(&self, memory: &mut AgentMemory) {
        let owner = if memory.scope == MemoryScope::Global { Owner::default() } else { self.owner.clone() };
        memory.project_root = owner.project_root;
        memory.repo_id = owner.repo_id;
    }
}

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

/// Where an agent leaves its notes.
pub(super) const PROGRESS_NOTES: &str = ".openagents/progress.md";

/// A longer file is none of these.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;

/// The documents that agents of the project are given anyway, those that are there.
pub fn documents(root: &Path) -> Vec<Document> {
    let read = |name: &&str| Some(Document { path: (*name).to_owned(), text: text(&root.join(name))? });
    NAMES.iter().filter_map(read).collect()
}

/// The project's own settings, as `.openagents/project.json` holds them.
pub(super) fn settings(root: &Path) -> Option<Extra> {
    serde_json::from_str(&text(&root.join(".openagents/project.json"))?).ok()
}

/// What an agent noted for the next session, without the lessons that were added to it.
pub(super) fn progress_notes(root: &Path) -> Option<String> {
    text(&root.join(PROGRESS_NOTES)).map(|notes| without_lessons(&notes).into_owned())
}

/// A small file, if it is there. A link may lead to a file that is none of the project's, and is not followed.
fn text(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let bytes = (metadata.is_file() && metadata.len() <= MAX_BYTES).then(|| fs::read(path).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
