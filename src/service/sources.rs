//! Where the logs of a session lie, and how long they are.

use std::path::{Path, PathBuf};

use super::logs::{Progress, inspect};
use super::outcome::Skip;
use crate::domain::{LogStamp, ReflectionTrigger, SessionId};
use crate::ingest::discover::{FoundSession, Places, Window, discover};
use crate::ingest::{Rules, Unreadable, subagents_beside};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;

/// The logs of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Its own, in the order in which they are read.
    pub files: Vec<PathBuf>,
    /// Those of its subagents.
    pub subagents: Vec<PathBuf>,
    /// All of them, as long as they are now.
    pub stamps: Vec<LogStamp>,
}

impl Sources {
    /// Looks where the trigger says, else wherever agents leave their logs.
    pub fn of(trigger: &ReflectionTrigger, places: &Places, home: Option<&Path>) -> Result<Self, Skip> {
        let missing = || Skip::NoLog(trigger.session_id.clone());
        if !trigger.log_paths.is_empty() {
            let root = Path::new(&trigger.project_root);
            let named = trigger.log_paths.iter().map(|path| expanded(path, root, home));
            return Self::in_files(named.collect()).ok_or_else(missing);
        }
        let wanted = trigger.session_id.as_str();
        let found = discover(places, Window::default()).sessions;
        let session = found.into_iter().find(|session| is_named(session, wanted)).ok_or_else(missing)?;
        Self::found(&session).ok_or_else(missing)
    }

    /// The logs of a session that was found.
    pub fn found(session: &FoundSession) -> Option<Self> {
        Self::new(session.files.clone(), session.subagents.clone())
    }

    /// These files and what lies beside them; `None` if none of them is there.
    pub fn in_files(files: Vec<PathBuf>) -> Option<Self> {
        let beside = files.iter().flat_map(|path| subagents_beside(path));
        let subagents = beside.filter(|path| !files.contains(path)).collect();
        Self::new(files, subagents)
    }

    /// Only plain files are read: whoever opens a pipe waits for ever.
    fn new(files: Vec<PathBuf>, subagents: Vec<PathBuf>) -> Option<Self> {
        let stamped = |paths: Vec<PathBuf>| -> Vec<(PathBuf, LogStamp)> {
            paths.into_iter().filter_map(|path| Some((path.clone(), stamp(&path)?))).collect()
        };
        let (files, subagents) = (stamped(files), stamped(subagents));
        let stamps = files.iter().chain(&subagents).map(|(_, stamp)| stamp.clone()).collect();
        let paths = |stamped: Vec<(PathBuf, LogStamp)>| stamped.into_iter().map(|(path, _)| path).collect();
        (!files.is_empty()).then(|| Self { files: paths(files), subagents: paths(subagents), stamps })
    }

    /// The session that they tell of, by its own name, else by that of the file.
    pub fn session(&self, redactor: &Redactor) -> Result<Option<SessionId>, Unreadable> {
        let Some(path) = self.files.first() else { return Ok(None) };
        let log = inspect(path, Rules::default(), redactor, &Progress::default())?;
        let about = log.gathered.trajectories.first().map(|main| main.about.clone()).unwrap_or_default();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let names = [about.session_id, about.trajectory_id, stem];
        Ok(names.into_iter().flatten().find_map(|name| SessionId::parse(&name).ok()))
    }

    /// How long they are together.
    pub fn bytes(&self) -> u64 {
        self.stamps.iter().map(|stamp| stamp.bytes).fold(0, u64::saturating_add)
    }
}

fn stamp(path: &Path) -> Option<LogStamp> {
    let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(LogStamp { path: path.display().to_string(), bytes: found.len() })
}

fn is_named(session: &FoundSession, wanted: &str) -> bool {
    let stem = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == wanted);
    session.id == wanted || session.facts.session_id.as_deref() == Some(wanted) || session.files.iter().any(stem)
}

/// A path as a hook names it: from the home directory, from the project, or absolute.
pub(super) fn expanded(path: &str, root: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => root.join(path),
    }
}
