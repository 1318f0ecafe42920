//! Finds the sessions of a project: in the homes of its agents, in the project itself and in Harbor's job folders.
//!
//! Names and times come first; of a log only the beginning is read, to learn whose it is. Nothing is followed out of a
//! home, and what cannot be looked at is reported, not fatal. What is found comes in the same order every time.

mod claude;
mod codex;
mod facts;
mod gemini;
mod group;
mod harbor;
mod openagents;
mod peek;
mod project;
mod walk;

use std::path::{Path, PathBuf};

use super::Format;
use crate::domain::Timestamp;
use project::Project;

pub use facts::{Facts, link};

#[cfg(test)]
#[path = "support_tests.rs"]
mod support;
#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;

/// Where to look. A home that is not given is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The root of the project.
    pub project: PathBuf,
    /// The URL of its remote, in any form; sessions in another clone of it count as well where the log tells.
    pub repository: Option<String>,
    /// Claude Code's home.
    pub claude_home: Option<PathBuf>,
    /// Codex's home.
    pub codex_home: Option<PathBuf>,
    /// Gemini CLI's home.
    pub gemini_home: Option<PathBuf>,
    /// Harbor's job folders, besides the project's own `jobs`: of many jobs, of one, or of one trial.
    pub jobs: Vec<PathBuf>,
}

/// When. A session counts that was alive in between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Sessions whose files did not change since are left out.
    pub since: Option<Timestamp>,
    /// Sessions that began later are left out; those that do not say when they began are not.
    pub until: Option<Timestamp>,
}

impl Window {
    fn is_over(&self, modified: Timestamp) -> bool {
        self.since.is_some_and(|since| modified < since)
    }

    fn is_yet_to_come(&self, started: Option<Timestamp>) -> bool {
        matches!((self.until, started), (Some(until), Some(started)) if started > until)
    }
}

/// What was found, and what could not be looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Discovered {
    /// The oldest first.
    pub sessions: Vec<FoundSession>,
    /// Sorted by path.
    pub problems: Vec<Problem>,
}

/// One session, in as many files as it has.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSession {
    /// As the agent names it; where it has no name, that of the file.
    pub id: String,
    /// What the place promises; the content decides.
    pub format: Format,
    /// The main log, in the order in which it is to be read. Never empty.
    pub files: Vec<PathBuf>,
    /// The logs of its subagents.
    pub subagents: Vec<PathBuf>,
    /// Small documents about it that hold no steps.
    pub about: Vec<PathBuf>,
    /// When one of these was last written.
    pub modified: Timestamp,
    /// Where the agent worked, in the log's own words.
    pub directory: Option<String>,
    /// What else the first look told, to link it with others.
    pub facts: Facts,
}

/// Something that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Which.
    pub path: PathBuf,
    /// In words.
    pub why: String,
}

/// The logs of subagents that lie beside the log of a session, as Claude Code and Harbor put them there.
pub fn subagents_beside(log: &Path) -> Vec<PathBuf> {
    // A bare name has no folder of its own.
    let log = &if log.parent() == Some(Path::new("")) { Path::new(".").join(log) } else { log.to_path_buf() };
    let mut found = claude::subagents_beside(log);
    found.extend(harbor::subagents_beside(log));
    found
}

/// Looks everywhere.
pub fn discover(places: &Places, window: Window) -> Discovered {
    let mut found = Discovered::default();
    let mut project = Project::at(&places.project, places.repository.as_deref());
    if let Some(home) = &places.claude_home {
        claude::discover(home, &mut project, window, &mut found);
    }
    if let Some(home) = &places.codex_home {
        codex::discover(home, &mut project, window, &mut found);
    }
    if let Some(home) = &places.gemini_home {
        gemini::discover(home, &mut project, window, &mut found);
    }
    openagents::discover(&places.project, window, &mut found);
    harbor::discover(&places.project.join("jobs"), window, &mut found);
    for jobs in &places.jobs {
        harbor::discover(jobs, window, &mut found);
    }
    let began = |session: &FoundSession| session.facts.started.unwrap_or(session.modified);
    found.sessions.sort_by(|a, b| (began(a), &a.id, &a.files).cmp(&(began(b), &b.id, &b.files)));
    found.sessions.dedup_by(|a, b| a.id == b.id && a.files == b.files);
    found.problems.sort();
    found.problems.dedup();
    found
}
