//! Claude Code's transcripts: `projects/<slug>/<session>.jsonl`, subagents beside or below them.

use std::path::{Path, PathBuf};

use super::group::{self, Candidate, Looked};
use super::peek::{self, Peek};
use super::project::Project;
use super::walk::{Entry, Walk};
use super::{Discovered, Window};
use crate::ingest::Format;

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;

/// A longer slug is cut there, and a hash is appended.
const MAX_SLUG_LETTERS: usize = 200;

/// How deep subagents may lie below their session.
const SUBAGENT_DEPTH: usize = 4;

pub(super) fn discover(home: &Path, project: &mut Project, window: Window, found: &mut Discovered) {
    let Some(mut walk) = Walk::at(home, &mut found.problems) else { return };
    let slugs: Vec<String> = project.roots().iter().map(|root| slug(root)).collect();
    let mut candidates = Vec::new();
    for folder in walk.entries(&home.join("projects")) {
        if folder.is_folder && slugs.iter().any(|slug| may_be_in(&folder.name, slug)) {
            let is_at_home = slugs.contains(&folder.name);
            candidates.extend(logs(&mut walk, &folder.path, is_at_home));
        }
    }
    let logs = group::open(candidates, window, |candidate| look(candidate, project, &mut walk));
    found.sessions.extend(group::sessions(logs, Format::ClaudeCode, window));
}

/// The subagents of the session with this log: in the folder of its name, or beside it under names of their own.
pub(super) fn subagents_beside(log: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(session)) = (log.parent(), log.file_stem()) else { return Vec::new() };
    let session = session.to_string_lossy();
    let is_log = log.extension().is_some_and(|extension| extension == "jsonl") && !session.starts_with("agent-");
    let mut problems = Vec::new();
    let Some(mut walk) = Walk::at(folder, &mut problems).filter(|_| is_log) else { return Vec::new() };
    let below = walk.files_below(&folder.join(&*session).join("subagents"), SUBAGENT_DEPTH);
    let beside = walk.entries(folder).into_iter().filter(|entry| {
        entry.name.starts_with("agent-") && {
            let lines = peek::lines(&entry.path, |lines| any(lines, "sessionId").is_some()).unwrap_or_default();
            any(&lines, "sessionId") == Some(&session)
        }
    });
    let is_agent = |entry: &Entry| entry.file_stem(".jsonl").is_some_and(|stem| stem.starts_with("agent-"));
    below.into_iter().chain(beside).filter(is_agent).map(|entry| entry.path).collect()
}

/// The name of the folder in which Claude Code keeps the sessions of a directory, before it is cut.
pub(super) fn slug(directory: &Path) -> String {
    let mut slug = String::new();
    for letter in directory.to_string_lossy().chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else {
            // Claude Code counts in UTF-16.
            slug.extend(std::iter::repeat_n('-', letter.len_utf16()));
        }
    }
    slug
}

/// Whether a folder may hold sessions of the directory with this slug, or of one below it. The slugs of `/a/b-c` and
/// `/a/b/c` are the same, so only the logs can tell. A name that begins unlike any slug was given by hand.
fn may_be_in(folder: &str, slug: &str) -> bool {
    let is_given = slug.starts_with('-') && !folder.starts_with('-');
    match slug.get(..MAX_SLUG_LETTERS) {
        Some(cut) if slug.len() > MAX_SLUG_LETTERS => is_given || folder.starts_with(cut),
        _ => is_given || folder.strip_prefix(slug).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
    }
}

fn logs(walk: &mut Walk<'_>, folder: &Path, is_at_home: bool) -> Vec<Candidate> {
    let mut found = Vec::new();
    for entry in walk.entries(folder) {
        if entry.is_folder {
            for log in walk.files_below(&entry.path.join("subagents"), SUBAGENT_DEPTH) {
                let parent = Some(entry.name.clone());
                if let Some(id) = log.file_stem(".jsonl").filter(|stem| stem.starts_with("agent-")) {
                    let id = id.to_owned();
                    found.push(Candidate { path: log.path, modified: log.modified, id, parent, is_at_home });
                }
            }
        } else if let Some(id) = entry.file_stem(".jsonl") {
            let id = id.to_owned();
            found.push(Candidate { path: entry.path, modified: entry.modified, id, parent: None, is_at_home });
        }
    }
    found
}

fn look(candidate: Candidate, project: &mut Project, walk: &mut Walk<'_>) -> Option<Looked> {
    let Candidate { path, modified, id, parent, is_at_home } = candidate;
    let is_enough = |lines: &[Peek]| ["cwd", "sessionId", "timestamp"].iter().all(|key| any(lines, key).is_some());
    let lines = walk.read(&path, |path| peek::lines(path, is_enough))?;
    let directory = any(&lines, "cwd").map(str::to_owned);
    let session = any(&lines, "sessionId").map(str::to_owned);
    let is_subagent = parent.is_some() || id.starts_with("agent-");
    let (ids, parent) = match (is_subagent, session) {
        // Ids of subagents are short; only together with their session they name one.
        (true, session) => (vec![path.to_string_lossy().into_owned()], parent.or(session).or(Some(id))),
        (false, Some(session)) if session != id => (vec![session, id], None),
        (false, _) => (vec![id], None),
    };
    Some(Looked {
        modified,
        ids,
        parent,
        is_ours: directory.as_deref().map_or(is_at_home, |directory| project.holds(directory)),
        directory,
        started: lines.iter().find_map(|line| line.time(&["timestamp"])),
        first_text: lines.iter().find_map(first_text),
        path,
    })
}

fn any<'p>(lines: &'p [Peek], key: &str) -> Option<&'p str> {
    lines.iter().find_map(|line| line.text(key))
}

fn first_text(line: &Peek) -> Option<String> {
    let is_prompt = line.text("type") == Some("user") && line.text("isMeta") != Some("true");
    let text = line.first(&["message.content", "message.content.text"])?;
    is_prompt.then(|| text.to_owned())
}
