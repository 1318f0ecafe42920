//! Finds Claude Code's transcripts: `projects/<slug>/<session>.jsonl`, with subagents next to or below them.

use std::path::{Path, PathBuf};

use super::folder_walk::{FolderEntry, FolderWalk};
use super::log_preview::{self, ObjectPreview};
use super::project_match::ProjectCheckouts;
use super::session_groups::{self, LogCandidate, PreviewedLog};
use super::{DiscoveredSessions, SessionWindow};
use crate::ingest::LogFormat;

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;

/// The length after which Claude Code cuts a slug and appends a hash.
const MAX_SLUG_LETTERS: usize = 200;

/// The maximum depth of subagent logs below their session.
const SUBAGENT_DEPTH: usize = 4;

pub(super) fn discover_claude_sessions(
    home: &Path,
    project: &mut ProjectCheckouts,
    window: SessionWindow,
    found: &mut DiscoveredSessions,
) {
    let Some(mut walk) = FolderWalk::open_root(home, &mut found.problems) else { return };
    let slugs: Vec<String> = project.roots().iter().map(|root| directory_slug(root)).collect();
    let mut candidates = Vec::new();
    for folder in walk.list_entries(&home.join("projects")) {
        if folder.is_folder && slugs.iter().any(|slug| may_match_slug(&folder.name, slug)) {
            let is_at_home = slugs.contains(&folder.name);
            candidates.extend(collect_logs(&mut walk, &folder.path, is_at_home));
        }
    }
    let logs =
        session_groups::inspect_candidates(candidates, window, |candidate| inspect_log(candidate, project, &mut walk));
    found.sessions.extend(session_groups::group_sessions(logs, LogFormat::ClaudeCode, window));
}

/// Returns the subagent logs of this log's session: in the folder of its name, or next to it as `agent-*`.
pub(super) fn find_subagent_logs(log: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(session)) = (log.parent(), log.file_stem()) else { return Vec::new() };
    let session = session.to_string_lossy();
    let is_log = log.extension().is_some_and(|extension| extension == "jsonl") && !session.starts_with("agent-");
    let mut problems = Vec::new();
    let Some(mut walk) = FolderWalk::open_root(folder, &mut problems).filter(|_| is_log) else { return Vec::new() };
    let below = walk.list_files_below(&folder.join(&*session).join("subagents"), SUBAGENT_DEPTH);
    let beside = walk.list_entries(folder).into_iter().filter(|entry| {
        entry.name.starts_with("agent-") && {
            let lines = log_preview::preview_lines(&entry.path, |lines| find_text(lines, "sessionId").is_some())
                .unwrap_or_default();
            find_text(&lines, "sessionId") == Some(&session)
        }
    });
    let is_agent = |entry: &FolderEntry| entry.file_stem(".jsonl").is_some_and(|stem| stem.starts_with("agent-"));
    below.into_iter().chain(beside).filter(is_agent).map(|entry| entry.path).collect()
}

/// Returns the name of the folder in which Claude Code keeps the sessions of a directory, before it is cut.
pub(super) fn directory_slug(directory: &Path) -> String {
    let mut slug = String::new();
    for letter in directory.to_string_lossy().chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else {
            // Claude Code counts in UTF-16 units.
            slug.extend(std::iter::repeat_n('-', letter.len_utf16()));
        }
    }
    slug
}

/// Returns true if a folder may contain sessions of the directory with this slug, or of one below it. `/a/b-c` and
/// `/a/b/c` have the same slug, so only the logs can decide. A name that no slug begins with was chosen by the user.
fn may_match_slug(folder: &str, slug: &str) -> bool {
    let is_given = slug.starts_with('-') && !folder.starts_with('-');
    match slug.get(..MAX_SLUG_LETTERS) {
        Some(cut) if slug.len() > MAX_SLUG_LETTERS => is_given || folder.starts_with(cut),
        _ => is_given || folder.strip_prefix(slug).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
    }
}

fn collect_logs(walk: &mut FolderWalk<'_>, folder: &Path, is_at_home: bool) -> Vec<LogCandidate> {
    let mut found = Vec::new();
    for entry in walk.list_entries(folder) {
        if entry.is_folder {
            for log in walk.list_files_below(&entry.path.join("subagents"), SUBAGENT_DEPTH) {
                let parent = Some(entry.name.clone());
                if let Some(id) = log.file_stem(".jsonl").filter(|stem| stem.starts_with("agent-")) {
                    let id = id.to_owned();
                    found.push(LogCandidate { path: log.path, modified: log.modified, id, parent, is_at_home });
                }
            }
        } else if let Some(id) = entry.file_stem(".jsonl") {
            let id = id.to_owned();
            found.push(LogCandidate { path: entry.path, modified: entry.modified, id, parent: None, is_at_home });
        }
    }
    found
}

fn inspect_log(
    candidate: LogCandidate,
    project: &mut ProjectCheckouts,
    walk: &mut FolderWalk<'_>,
) -> Option<PreviewedLog> {
    let LogCandidate { path, modified, id, parent, is_at_home } = candidate;
    let is_enough =
        |lines: &[ObjectPreview]| ["cwd", "sessionId", "timestamp"].iter().all(|key| find_text(lines, key).is_some());
    let lines = walk.read_or_report(&path, |path| log_preview::preview_lines(path, is_enough))?;
    let directory = find_text(&lines, "cwd").map(str::to_owned);
    let session = find_text(&lines, "sessionId").map(str::to_owned);
    let is_subagent = parent.is_some() || id.starts_with("agent-");
    let (ids, parent) = match (is_subagent, session) {
        // Ids of subagents are short and are unique only within their session.
        (true, session) => (vec![path.to_string_lossy().into_owned()], parent.or(session).or(Some(id))),
        (false, Some(session)) if session != id => (vec![session, id], None),
        (false, _) => (vec![id], None),
    };
    Some(PreviewedLog {
        modified,
        ids,
        parent,
        is_ours: directory.as_deref().map_or(is_at_home, |directory| project.contains_directory(directory)),
        directory,
        started: lines.iter().find_map(|line| line.first_time(&["timestamp"])),
        first_text: lines.iter().find_map(prompt_text),
        path,
    })
}

fn find_text<'p>(lines: &'p [ObjectPreview], key: &str) -> Option<&'p str> {
    lines.iter().find_map(|line| line.text(key))
}

fn prompt_text(line: &ObjectPreview) -> Option<String> {
    let is_prompt = line.text("type") == Some("user") && line.text("isMeta") != Some("true");
    let text = line.first_text(&["message.content", "message.content.text"])?;
    is_prompt.then(|| text.to_owned())
}
