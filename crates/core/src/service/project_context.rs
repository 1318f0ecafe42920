//! A project: its root, the owner of its lessons, and its documents.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::find_trust_key;
use crate::distill::ProjectDocument;
use crate::domain::{AgentMemory, Extra, MemoryQuery, MemoryScope};
use crate::ingest::discover::{ProjectLogs, SearchPlaces};
use crate::ingest::strip_lesson_sections;
use crate::trust::TrustedRepositories;

#[cfg(test)]
#[path = "project_context_tests.rs"]
mod tests;

/// A project whose sessions are reflected on.
#[derive(Debug, Clone)]
pub struct ProjectContext {
    /// The project's root directory.
    pub root: PathBuf,
    /// The repository, if it is known independently of the path.
    pub repo_id: Option<String>,
    /// The owner that its lessons are marked with.
    pub owner: LessonOwner,
    /// The places of its session logs.
    pub places: SearchPlaces,
    /// The home directory that `~/` refers to.
    pub home: Option<PathBuf>,
    /// The repositories that the user trusts. Without a list, the caller answers for the project.
    pub trusted_repositories: Option<TrustedRepositories>,
}

/// The owner of a lesson. In a memory inside the project the path is left out, since the project may move.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LessonOwner {
    /// The project's path.
    pub project_root: Option<String>,
    /// The project's repository.
    pub repo_id: Option<String>,
}

impl ProjectContext {
    /// Makes a project that is known by its path alone, with its own logs.
    pub fn from_root(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let places = SearchPlaces { project: root.clone(), ..SearchPlaces::default() };
        Self { root, repo_id: None, owner: LessonOwner::default(), places, home: None, trusted_repositories: None }
    }

    /// Returns the places to search for sessions that nobody named. What lies in the project itself may have come with
    /// it, and is left out until its repository is trusted.
    pub(super) fn unnamed_places(&self) -> SearchPlaces {
        let is_trusted = |list: &TrustedRepositories| find_trust_key(&self.root).is_some_and(|key| list.contains(&key));
        let project_logs = match &self.trusted_repositories {
            Some(list) if !is_trusted(list) => ProjectLogs::LeftOut,
            _ => ProjectLogs::Searched,
        };
        SearchPlaces { project_logs, ..self.places.clone() }
    }

    /// Returns the path as text. A path that is not valid Unicode is escaped, so that two paths never become equal.
    pub fn root_text(&self) -> String {
        self.root.to_str().map_or_else(|| format!("{:?}", self.root), str::to_owned)
    }

    /// Returns a query for this project without any topic.
    pub fn new_query(&self) -> MemoryQuery {
        MemoryQuery { repo_id: self.repo_id.clone(), ..MemoryQuery::for_project(self.root_text()) }
    }

    /// Marks a lesson with its owner. Global lessons have none.
    pub fn assign_owner(&self, memory: &mut AgentMemory) {
        let owner = if memory.scope == MemoryScope::Global { LessonOwner::default() } else { self.owner.clone() };
        memory.project_root = owner.project_root;
        memory.repo_id = owner.repo_id;
    }
}

/// The documents that agents and people read first.
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

/// The file where an agent leaves its notes.
pub(super) const PROGRESS_NOTES: &str = ".openagents/progress.md";

/// The size limit of these files.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;

/// Reads the existing documents that the project's agents are given anyway.
pub fn read_documents(root: &Path) -> Vec<ProjectDocument> {
    let read =
        |name: &&str| Some(ProjectDocument { path: (*name).to_owned(), text: read_small_file(&root.join(name))? });
    NAMES.iter().filter_map(read).collect()
}

/// Reads the project's own settings from `.openagents/project.json`.
pub(super) fn read_settings(root: &Path) -> Option<Extra> {
    serde_json::from_str(&read_small_file(&root.join(".openagents/project.json"))?).ok()
}

/// Reads an agent's notes for the next session, without the lessons that were added to them.
pub(super) fn read_progress_notes(root: &Path) -> Option<String> {
    read_small_file(&root.join(PROGRESS_NOTES)).map(|notes| strip_lesson_sections(&notes).into_owned())
}

/// Reads a small file, if it exists. Symbolic links are not followed: they may lead out of the project.
fn read_small_file(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let bytes = (metadata.is_file() && metadata.len() <= MAX_BYTES).then(|| fs::read(path).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
