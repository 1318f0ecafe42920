//! Finds Gemini CLI's chats: `tmp/<name>/chats/session-*`, where a file in the folder names the project.
//!
//! Older versions named the folder by a hash alone; those without that file are not found.

use std::collections::BTreeMap;
use std::path::Path;

use super::folder_walk::{FolderEntry, FolderWalk};
use super::log_preview;
use super::project_match::ProjectCheckouts;
use super::session_groups::{self, LogCandidate, PreviewedLog};
use super::session_matching::parse_time_in_id;
use super::{DiscoveredSessions, SessionWindow};
use crate::ingest::LogFormat;

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;

/// The maximum length of the path in the marker file.
const MAX_PATH_BYTES: u64 = 16 * 1024;

pub(super) fn discover_gemini_sessions(
    home: &Path,
    project: &mut ProjectCheckouts,
    window: SessionWindow,
    found: &mut DiscoveredSessions,
) {
    let Some(mut walk) = FolderWalk::open_root(home, &mut found.problems) else { return };
    let mut candidates = Vec::new();
    let mut directories = BTreeMap::new();
    for folder in walk.list_entries(&home.join("tmp")).into_iter().filter(|entry| entry.is_folder) {
        let marker = folder.path.join(".project_root");
        let Some(marker) = walk.find_file(&marker) else { continue };
        let Ok((directory, _)) = log_preview::read_beginning(&marker.path, MAX_PATH_BYTES) else { continue };
        let directory = directory.trim().to_owned();
        if !project.contains_directory(&directory) {
            continue;
        }
        let chats = folder.path.join("chats");
        for entry in walk.list_entries(&chats) {
            let logs = if entry.is_folder { walk.list_entries(&entry.path) } else { vec![entry.clone()] };
            for log in logs {
                let Some(id) = log.file_stem(".jsonl").or_else(|| log.file_stem(".json")) else { continue };
                let id = id.to_owned();
                // A session's folder contains its subagents.
                let parent = entry.is_folder.then(|| entry.name.clone());
                directories.insert(log.path.clone(), directory.clone());
                let FolderEntry { path, modified, .. } = log;
                candidates.push(LogCandidate { path, modified, id, parent, is_at_home: true });
            }
        }
    }
    let look = |candidate: LogCandidate| {
        let LogCandidate { path, modified, id, parent, .. } = candidate;
        let lines = walk.read_or_report(&path, |path| log_preview::preview_lines(path, |lines| lines.len() > 1))?;
        let head = match lines.into_iter().find(|line| line.text("sessionId").is_some()) {
            Some(head) => head,
            None => walk.read_or_report(&path, log_preview::preview_document)?,
        };
        let started = head.first_time(&["startTime", "timestamp"]).or_else(|| parse_time_in_id(&id));
        let session = head.text("sessionId").map(str::to_owned);
        let ids = match (session, parent.is_some()) {
            (Some(session), false) => vec![session, id],
            (Some(session), true) => vec![session],
            (None, _) => vec![id],
        };
        let directory = directories.get(&path).cloned();
        Some(PreviewedLog { path, modified, ids, parent, is_ours: true, directory, started, first_text: None })
    };
    let mut logs = session_groups::inspect_candidates(candidates, window, look);
    // A migrated session may exist in both forms, as `.json` and as `.jsonl`; the newer one is used.
    let newer: Vec<_> = logs.iter().map(|log| log.path.clone()).collect();
    logs.retain(|log| {
        let is_old = log.path.extension().is_some_and(|extension| extension == "json");
        !(is_old && newer.contains(&log.path.with_extension("jsonl")))
    });
    found.sessions.extend(session_groups::group_sessions(logs, LogFormat::Gemini, window));
}
