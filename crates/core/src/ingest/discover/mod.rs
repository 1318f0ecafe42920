//! Finds the sessions of a project: in the homes of its agents, in the project itself and in Harbor's job folders.
//!
//! Names and times are checked first; only the beginning of a log is read, to learn its project. Links out of a home
//! are not followed, and errors are reported without stopping the search. The order of the results is stable.

mod claude;
mod codex;
mod folder_walk;
mod gemini;
mod harbor;
mod log_preview;
mod openagents;
mod project_match;
mod session_groups;
mod session_matching;

use std::path::{Path, PathBuf};

use super::LogFormat;
use crate::domain::Timestamp;
use project_match::ProjectCheckouts;

pub use session_matching::{SessionFacts, is_same_session};

#[cfg(test)]
#[path = "support_tests.rs"]
mod support;
#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;

/// The places to search. A home that is not given is skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPlaces {
    /// The root of the project.
    pub project: PathBuf,
    /// The URL of its remote, in any form; sessions in another clone of it count if the log states the URL.
    pub repository: Option<String>,
    /// The home folder of Claude Code.
    pub claude_home: Option<PathBuf>,
    /// The home folder of Codex.
    pub codex_home: Option<PathBuf>,
    /// The home folder of Gemini CLI.
    pub gemini_home: Option<PathBuf>,
    /// Harbor's job folders, besides the project's own `jobs`: of many jobs, of one, or of one trial.
    pub jobs: Vec<PathBuf>,
    /// Tells what becomes of logs in the project itself.
    pub project_logs: ProjectLogs,
}

/// What becomes of logs in the project itself, which may have come with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProjectLogs {
    /// They are found like any others.
    #[default]
    Searched,
    /// They are left out, and their number is reported.
    LeftOut,
}

/// A time window; a session counts if it was active within it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionWindow {
    /// Sessions whose files did not change since then are left out.
    pub since: Option<Timestamp>,
    /// Sessions that began later are left out, but not those without a start time.
    pub until: Option<Timestamp>,
}

impl SessionWindow {
    fn is_before_start(&self, modified: Timestamp) -> bool {
        self.since.is_some_and(|since| modified < since)
    }

    fn is_after_end(&self, started: Option<Timestamp>) -> bool {
        matches!((self.until, started), (Some(until), Some(started)) if started > until)
    }
}

/// The sessions that were found, and the problems during the search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiscoveredSessions {
    /// The sessions, the oldest first.
    pub sessions: Vec<FoundSession>,
    /// The problems, sorted by path.
    pub problems: Vec<DiscoveryProblem>,
}

/// One session with all its files.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSession {
    /// The id that the agent gave it; without one, the file name.
    pub id: String,
    /// The format that the place suggests; the content decides.
    pub format: LogFormat,
    /// The files of the main log in reading order. Never empty.
    pub files: Vec<PathBuf>,
    /// The logs of its subagents.
    pub subagents: Vec<PathBuf>,
    /// Small documents about the session that contain no steps.
    pub about: Vec<PathBuf>,
    /// The time when any of these files was last written.
    pub modified: Timestamp,
    /// The directory in which the agent worked, as the log states it.
    pub directory: Option<String>,
    /// Other facts from the beginning of the log, used to link it with other logs.
    pub facts: SessionFacts,
}

/// Something that could not be read during the search.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiscoveryProblem {
    /// The path that could not be read.
    pub path: PathBuf,
    /// The reason in words.
    pub why: String,
}

/// Returns the subagent logs that Claude Code and Harbor put next to the log of a session.
pub fn find_subagent_logs(log: &Path) -> Vec<PathBuf> {
    // A bare file name has an empty parent folder.
    let log = &if log.parent() == Some(Path::new("")) { Path::new(".").join(log) } else { log.to_path_buf() };
    let mut found = claude::find_subagent_logs(log);
    found.extend(harbor::find_subagent_logs(log));
    found
}

/// Finds the sessions in the project itself, or reports how many are left out.
fn discover_project_logs(places: &SearchPlaces, window: SessionWindow, found: &mut DiscoveredSessions) {
    let mut here = DiscoveredSessions::default();
    openagents::discover_openagents_sessions(&places.project, window, &mut here);
    harbor::discover_harbor_trials(&places.project.join("jobs"), window, &mut here);
    found.problems.append(&mut here.problems);
    match (places.project_logs, here.sessions.len()) {
        (ProjectLogs::Searched, _) => found.sessions.append(&mut here.sessions),
        (ProjectLogs::LeftOut, 0) => {}
        (ProjectLogs::LeftOut, count) => {
            let (logs, are) = if count == 1 { ("log", "is") } else { ("logs", "are") };
            let why =
                format!("{count} {logs} in the project {are} left out until `archivist trust` trusts its repository");
            found.problems.push(DiscoveryProblem { path: places.project.clone(), why });
        }
    }
}

/// Finds the sessions of a project in all given places.
pub fn discover_sessions(places: &SearchPlaces, window: SessionWindow) -> DiscoveredSessions {
    let mut found = DiscoveredSessions::default();
    let mut project = ProjectCheckouts::from_root(&places.project, places.repository.as_deref());
    if let Some(home) = &places.claude_home {
        claude::discover_claude_sessions(home, &mut project, window, &mut found);
    }
    if let Some(home) = &places.codex_home {
        codex::discover_codex_sessions(home, &mut project, window, &mut found);
    }
    if let Some(home) = &places.gemini_home {
        gemini::discover_gemini_sessions(home, &mut project, window, &mut found);
    }
    discover_project_logs(places, window, &mut found);
    for jobs in &places.jobs {
        harbor::discover_harbor_trials(jobs, window, &mut found);
    }
    let began = |session: &FoundSession| session.facts.started.unwrap_or(session.modified);
    found.sessions.sort_by(|a, b| (began(a), &a.id, &a.files).cmp(&(began(b), &b.id, &b.files)));
    found.sessions.dedup_by(|a, b| a.id == b.id && a.files == b.files);
    found.problems.sort();
    found.problems.dedup();
    found
}
