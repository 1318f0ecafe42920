//! The log files of a session and their sizes.

use std::path::{Path, PathBuf};

use super::reflection_outcome::SkipReason;
use super::session_logs::{ReadProgress, inspect_log};
use crate::domain::{LogStamp, ReflectionTrigger, SessionId};
use crate::ingest::discover::{FoundSession, SearchPlaces, SessionWindow, discover_sessions};
use crate::ingest::{ReaderSettings, UnreadableLog, find_subagent_logs};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "log_sources_tests.rs"]
mod tests;

/// The log files of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSources {
    /// The session's own files, in reading order.
    pub files: Vec<PathBuf>,
    /// The files of its subagents.
    pub subagents: Vec<PathBuf>,
    /// All files with their current size.
    pub stamps: Vec<LogStamp>,
}

impl LogSources {
    /// Finds the files that the trigger names, or else searches where agents leave their logs.
    pub fn for_trigger(
        trigger: &ReflectionTrigger,
        places: &SearchPlaces,
        home: Option<&Path>,
    ) -> Result<Self, SkipReason> {
        let missing = || SkipReason::NoLog(trigger.session_id.clone());
        if !trigger.log_paths.is_empty() {
            let root = Path::new(&trigger.project_root);
            let named = trigger.log_paths.iter().map(|path| expand_path(path, root, home));
            return Self::from_files(named.collect()).ok_or_else(missing);
        }
        let wanted = trigger.session_id.as_str();
        let found = discover_sessions(places, SessionWindow::default()).sessions;
        let session = found.into_iter().find(|session| has_session_name(session, wanted)).ok_or_else(missing)?;
        Self::from_session(&session).ok_or_else(missing)
    }

    /// Returns the files of a discovered session.
    pub fn from_session(session: &FoundSession) -> Option<Self> {
        Self::new(session.files.clone(), session.subagents.clone())
    }

    /// Returns these files and their subagents' files; `None` if none of them exists.
    pub fn from_files(files: Vec<PathBuf>) -> Option<Self> {
        let beside = files.iter().flat_map(|path| find_subagent_logs(path));
        let subagents = beside.filter(|path| !files.contains(path)).collect();
        Self::new(files, subagents)
    }

    /// Stamps the files. Only regular files are kept: opening a pipe would block forever.
    fn new(files: Vec<PathBuf>, subagents: Vec<PathBuf>) -> Option<Self> {
        let stamped = |paths: Vec<PathBuf>| -> Vec<(PathBuf, LogStamp)> {
            paths.into_iter().filter_map(|path| Some((path.clone(), stamp_log(&path)?))).collect()
        };
        let (files, subagents) = (stamped(files), stamped(subagents));
        let stamps = files.iter().chain(&subagents).map(|(_, stamp)| stamp.clone()).collect();
        let paths = |stamped: Vec<(PathBuf, LogStamp)>| stamped.into_iter().map(|(path, _)| path).collect();
        (!files.is_empty()).then(|| Self { files: paths(files), subagents: paths(subagents), stamps })
    }

    /// Reads the id of the session from its log, or else from the file name.
    pub fn read_session_id(&self, redactor: &Redactor) -> Result<Option<SessionId>, UnreadableLog> {
        let Some(path) = self.files.first() else { return Ok(None) };
        let log = inspect_log(path, ReaderSettings::default(), redactor, &ReadProgress::default())?;
        let about = log.gathered.trajectories.first().map(|main| main.about.clone()).unwrap_or_default();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let names = [about.session_id, about.trajectory_id, stem];
        Ok(names.into_iter().flatten().find_map(|name| SessionId::parse(&name).ok()))
    }

    /// Returns the total size of the files.
    pub fn total_bytes(&self) -> u64 {
        self.stamps.iter().map(|stamp| stamp.bytes).fold(0, u64::saturating_add)
    }
}

fn stamp_log(path: &Path) -> Option<LogStamp> {
    let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(LogStamp { path: path.display().to_string(), bytes: found.len() })
}

fn has_session_name(session: &FoundSession, wanted: &str) -> bool {
    let stem = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == wanted);
    session.id == wanted || session.facts.session_id.as_deref() == Some(wanted) || session.files.iter().any(stem)
}

/// Expands a path from a hook: relative to the home directory or the project, or absolute.
pub(super) fn expand_path(path: &str, root: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => root.join(path),
    }
}
