//! Groups log files into sessions: which files to open, which belong together, and whose subagents they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{FoundSession, SessionFacts, SessionWindow};
use crate::domain::Timestamp;
use crate::ingest::LogFormat;

/// A log of which only name and time are known.
pub(super) struct LogCandidate {
    pub(super) path: PathBuf,
    pub(super) modified: Timestamp,
    /// The session id according to the file name.
    pub(super) id: String,
    /// The parent session, if the folder names it.
    pub(super) parent: Option<String>,
    /// True if the folder is the project's own; decides if the log does not state its directory.
    pub(super) is_at_home: bool,
}

/// A log whose beginning was read.
pub(super) struct PreviewedLog {
    pub(super) path: PathBuf,
    pub(super) modified: Timestamp,
    /// The session ids in the log, the most reliable first. Never empty.
    pub(super) ids: Vec<String>,
    /// The session that started this one.
    pub(super) parent: Option<String>,
    pub(super) is_ours: bool,
    pub(super) directory: Option<String>,
    pub(super) started: Option<Timestamp>,
    pub(super) first_text: Option<String>,
}

impl PreviewedLog {
    fn start_time(&self) -> Timestamp {
        self.started.unwrap_or(self.modified)
    }
}

/// Inspects the logs that may belong to a session in the window: those that changed in it, and of the older ones
/// those that such sessions name, or that changed after the first of these sessions began.
pub(super) fn inspect_candidates(
    candidates: Vec<LogCandidate>,
    window: SessionWindow,
    mut look: impl FnMut(LogCandidate) -> Option<PreviewedLog>,
) -> Vec<PreviewedLog> {
    let (mut old, fresh): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|candidate| window.is_before_start(candidate.modified));
    let mut found: Vec<PreviewedLog> = fresh.into_iter().filter_map(&mut look).collect();
    let ours = || found.iter().filter(|log| log.is_ours);
    let mut named: BTreeSet<String> = ours().flat_map(|log| log.ids.iter().chain(&log.parent).cloned()).collect();
    let began = ours().map(PreviewedLog::start_time).min();
    loop {
        let may_belong = |candidate: &LogCandidate| {
            named.contains(&candidate.id)
                || candidate.parent.as_ref().is_some_and(|parent| named.contains(parent))
                || began.is_some_and(|began| candidate.modified >= began)
        };
        let (more, rest): (Vec<_>, Vec<_>) = old.into_iter().partition(may_belong);
        old = rest;
        if more.is_empty() {
            return found;
        }
        for log in more.into_iter().filter_map(&mut look) {
            named.extend(log.parent.clone());
            if log.ids.iter().any(|id| named.contains(id)) {
                named.extend(log.ids.iter().cloned());
            }
            found.push(log);
        }
    }
}

/// Groups the logs of each session, assigns subagents to the session that started them, and keeps the sessions that
/// belong to the project and lie in the window.
pub(super) fn group_sessions(
    mut logs: Vec<PreviewedLog>,
    format: LogFormat,
    window: SessionWindow,
) -> Vec<FoundSession> {
    logs.sort_by(|a, b| (a.start_time(), &a.path).cmp(&(b.start_time(), &b.path)));
    let parents: BTreeMap<String, String> = logs
        .iter()
        .filter_map(|log| Some((log, log.parent.clone()?)))
        .flat_map(|(log, parent)| log.ids.iter().map(move |id| (id.clone(), parent.clone())))
        .collect();
    let (children, mains): (Vec<_>, Vec<_>) = logs.into_iter().partition(|log| log.parent.is_some());

    let mut names = SessionAliases::default();
    for log in mains.iter() {
        names.join_ids(&log.ids);
    }
    let mut groups: BTreeMap<String, SessionGroup> = BTreeMap::new();
    for log in mains {
        groups.entry(names.canonical_id(&log.ids)).or_default().mains.push(log);
    }
    for log in children {
        let elder = find_root_session(&log, &parents);
        groups.entry(names.canonical_id(&[elder])).or_default().children.push(log);
    }
    groups.into_iter().filter_map(|(name, group)| group.into_session(name, format, window)).collect()
}

/// Returns the session at the top of a chain of subagents.
fn find_root_session(log: &PreviewedLog, parents: &BTreeMap<String, String>) -> String {
    let mut above = log.parent.clone().unwrap_or_default();
    let mut passed: BTreeSet<String> = log.ids.iter().cloned().collect();
    while let Some(next) = parents.get(&above) {
        if !passed.insert(above.clone()) || passed.contains(next) {
            break;
        }
        above.clone_from(next);
    }
    above
}

/// Session ids that mean the same session: each points to another, and the last of a chain represents all.
#[derive(Default)]
struct SessionAliases(BTreeMap<String, String>);

impl SessionAliases {
    fn join_ids(&mut self, ids: &[String]) {
        let Some(first) = ids.first() else { return };
        let first = self.resolve_alias(first);
        for id in ids {
            let other = self.resolve_alias(id);
            if other != first {
                self.0.insert(other, first.clone());
            }
        }
    }

    fn canonical_id(&self, ids: &[String]) -> String {
        ids.first().map(|id| self.resolve_alias(id)).unwrap_or_default()
    }

    fn resolve_alias(&self, id: &str) -> String {
        let mut last = id;
        while let Some(next) = self.0.get(last) {
            last = next;
        }
        last.to_owned()
    }
}

#[derive(Default)]
struct SessionGroup {
    mains: Vec<PreviewedLog>,
    children: Vec<PreviewedLog>,
}

impl SessionGroup {
    fn into_session(self, name: String, format: LogFormat, window: SessionWindow) -> Option<FoundSession> {
        // If a session's own log is missing, its subagents represent it.
        let (mains, children) =
            if self.mains.is_empty() { (self.children, Vec::new()) } else { (self.mains, self.children) };
        let all = || mains.iter().chain(&children);
        let modified = all().map(|log| log.modified).max()?;
        let first = mains.first()?;
        let started = mains.iter().filter_map(|log| log.started).min();
        if !mains.iter().any(|log| log.is_ours) || window.is_before_start(modified) || window.is_after_end(started) {
            return None;
        }
        let id = if first.parent.is_some() { name } else { first.ids.first().cloned().unwrap_or(name) };
        Some(FoundSession {
            format,
            modified,
            directory: mains.iter().find_map(|log| log.directory.clone()),
            facts: SessionFacts {
                session_id: Some(id.clone()),
                started,
                first_text: mains.iter().find_map(|log| log.first_text.clone()),
                ..SessionFacts::default()
            },
            id,
            subagents: children.into_iter().map(|log| log.path).collect(),
            files: mains.into_iter().map(|log| log.path).collect(),
            about: Vec::new(),
        })
    }
}
