//! From files to sessions: which to open, which belong together, whose subagents they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{Facts, FoundSession, Window};
use crate::domain::Timestamp;
use crate::ingest::Format;

/// A log of which only name and time are known.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) modified: Timestamp,
    /// The session that the name promises.
    pub(super) id: String,
    /// The session that started it, where the folder tells.
    pub(super) parent: Option<String>,
    /// Whether the folder is the project's own, should the log not say where it ran.
    pub(super) is_at_home: bool,
}

/// A log whose beginning was read.
pub(super) struct Looked {
    pub(super) path: PathBuf,
    pub(super) modified: Timestamp,
    /// The sessions it tells of, the surest first. Never empty.
    pub(super) ids: Vec<String>,
    /// The session that started it.
    pub(super) parent: Option<String>,
    pub(super) is_ours: bool,
    pub(super) directory: Option<String>,
    pub(super) started: Option<Timestamp>,
    pub(super) first_text: Option<String>,
}

impl Looked {
    fn began(&self) -> Timestamp {
        self.started.unwrap_or(self.modified)
    }
}

/// Opens what may belong to a session of the window: what changed in it, and of the older files those that such
/// sessions name, or that changed since the first of them began.
pub(super) fn open(
    candidates: Vec<Candidate>,
    window: Window,
    mut look: impl FnMut(Candidate) -> Option<Looked>,
) -> Vec<Looked> {
    let (mut old, fresh): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|candidate| window.is_over(candidate.modified));
    let mut found: Vec<Looked> = fresh.into_iter().filter_map(&mut look).collect();
    let ours = || found.iter().filter(|log| log.is_ours);
    let mut named: BTreeSet<String> = ours().flat_map(|log| log.ids.iter().chain(&log.parent).cloned()).collect();
    let began = ours().map(Looked::began).min();
    loop {
        let may_belong = |candidate: &Candidate| {
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

/// Puts logs together that share a session, gives subagents to the session that started them, and keeps what is the
/// project's and of the window.
pub(super) fn sessions(mut logs: Vec<Looked>, format: Format, window: Window) -> Vec<FoundSession> {
    logs.sort_by(|a, b| (a.began(), &a.path).cmp(&(b.began(), &b.path)));
    let parents: BTreeMap<String, String> = logs
        .iter()
        .filter_map(|log| Some((log, log.parent.clone()?)))
        .flat_map(|(log, parent)| log.ids.iter().map(move |id| (id.clone(), parent.clone())))
        .collect();
    let (children, mains): (Vec<_>, Vec<_>) = logs.into_iter().partition(|log| log.parent.is_some());

    let mut names = Names::default();
    for log in mains.iter() {
        names.join(&log.ids);
    }
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for log in mains {
        groups.entry(names.of(&log.ids)).or_default().mains.push(log);
    }
    for log in children {
        let elder = eldest(&log, &parents);
        groups.entry(names.of(&[elder])).or_default().children.push(log);
    }
    groups.into_iter().filter_map(|(name, group)| group.session(name, format, window)).collect()
}

/// The session at the top of a chain of subagents.
fn eldest(log: &Looked, parents: &BTreeMap<String, String>) -> String {
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

/// Ids that mean the same session: each leads to another, the last of a chain stands for all.
#[derive(Default)]
struct Names(BTreeMap<String, String>);

impl Names {
    fn join(&mut self, ids: &[String]) {
        let Some(first) = ids.first() else { return };
        let first = self.last(first);
        for id in ids {
            let other = self.last(id);
            if other != first {
                self.0.insert(other, first.clone());
            }
        }
    }

    fn of(&self, ids: &[String]) -> String {
        ids.first().map(|id| self.last(id)).unwrap_or_default()
    }

    fn last(&self, id: &str) -> String {
        let mut last = id;
        while let Some(next) = self.0.get(last) {
            last = next;
        }
        last.to_owned()
    }
}

#[derive(Default)]
struct Group {
    mains: Vec<Looked>,
    children: Vec<Looked>,
}

impl Group {
    fn session(self, name: String, format: Format, window: Window) -> Option<FoundSession> {
        // Subagents whose session is gone are all that is left of it.
        let (mains, children) =
            if self.mains.is_empty() { (self.children, Vec::new()) } else { (self.mains, self.children) };
        let all = || mains.iter().chain(&children);
        let modified = all().map(|log| log.modified).max()?;
        let first = mains.first()?;
        let started = mains.iter().filter_map(|log| log.started).min();
        if !mains.iter().any(|log| log.is_ours) || window.is_over(modified) || window.is_yet_to_come(started) {
            return None;
        }
        let id = if first.parent.is_some() { name } else { first.ids.first().cloned().unwrap_or(name) };
        Some(FoundSession {
            format,
            modified,
            directory: mains.iter().find_map(|log| log.directory.clone()),
            facts: Facts {
                session_id: Some(id.clone()),
                started,
                first_text: mains.iter().find_map(|log| log.first_text.clone()),
                ..Facts::default()
            },
            id,
            subagents: children.into_iter().map(|log| log.path).collect(),
            files: mains.into_iter().map(|log| log.path).collect(),
            about: Vec::new(),
        })
    }
}
