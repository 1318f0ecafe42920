//! Gemini CLI's chats: `tmp/<name>/chats/session-*`, where a file in the folder says which project it is.
//!
//! Older versions named the folder by a hash alone; those without that file are not found.

use std::collections::BTreeMap;
use std::path::Path;

use super::facts::moment_in;
use super::group::{self, Candidate, Looked};
use super::peek;
use super::project::Project;
use super::walk::{Entry, Walk};
use super::{Discovered, Window};
use crate::ingest::Format;

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;

/// No path is longer.
const MAX_PATH_BYTES: u64 = 16 * 1024;

pub(super) fn discover(home: &Path, project: &mut Project, window: Window, found: &mut Discovered) {
    let Some(mut walk) = Walk::at(home, &mut found.problems) else { return };
    let mut candidates = Vec::new();
    let mut directories = BTreeMap::new();
    for folder in walk.entries(&home.join("tmp")).into_iter().filter(|entry| entry.is_folder) {
        let marker = folder.path.join(".project_root");
        let Some(marker) = walk.file(&marker) else { continue };
        let Ok((directory, _)) = peek::beginning(&marker.path, MAX_PATH_BYTES) else { continue };
        let directory = directory.trim().to_owned();
        if !project.holds(&directory) {
            continue;
        }
        let chats = folder.path.join("chats");
        for entry in walk.entries(&chats) {
            let logs = if entry.is_folder { walk.entries(&entry.path) } else { vec![entry.clone()] };
            for log in logs {
                let Some(id) = log.file_stem(".jsonl").or_else(|| log.file_stem(".json")) else { continue };
                let id = id.to_owned();
                // A session's folder holds its subagents.
                let parent = entry.is_folder.then(|| entry.name.clone());
                directories.insert(log.path.clone(), directory.clone());
                let Entry { path, modified, .. } = log;
                candidates.push(Candidate { path, modified, id, parent, is_at_home: true });
            }
        }
    }
    let look = |candidate: Candidate| {
        let Candidate { path, modified, id, parent, .. } = candidate;
        let lines = walk.read(&path, |path| peek::lines(path, |lines| lines.len() > 1))?;
        let head = match lines.into_iter().find(|line| line.text("sessionId").is_some()) {
            Some(head) => head,
            None => walk.read(&path, peek::document)?,
        };
        let started = head.time(&["startTime", "timestamp"]).or_else(|| moment_in(&id));
        let session = head.text("sessionId").map(str::to_owned);
        let ids = match (session, parent.is_some()) {
            (Some(session), false) => vec![session, id],
            (Some(session), true) => vec![session],
            (None, _) => vec![id],
        };
        let directory = directories.get(&path).cloned();
        Some(Looked { path, modified, ids, parent, is_ours: true, directory, started, first_text: None })
    };
    let mut logs = group::open(candidates, window, look);
    // A session that was moved to the newer form may lie there in both; one name differs from the other by an `l`.
    let newer: Vec<_> = logs.iter().map(|log| log.path.clone()).collect();
    logs.retain(|log| {
        let is_old = log.path.extension().is_some_and(|extension| extension == "json");
        !(is_old && newer.contains(&log.path.with_extension("jsonl")))
    });
    found.sessions.extend(group::sessions(logs, Format::Gemini, window));
}
