//! Finds Codex's rollouts: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, and the archived ones.

use std::collections::BTreeSet;
use std::path::Path;

use chrono::{Days, NaiveDate};

use super::folder_walk::{FolderEntry, FolderWalk};
use super::log_preview::{self, ObjectPreview};
use super::project_match::ProjectCheckouts;
use super::session_groups::{self, LogCandidate, PreviewedLog};
use super::session_matching::parse_time_in_id;
use super::{DiscoveredSessions, SessionWindow};
use crate::ingest::LogFormat;

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;

/// The folder depth: year, month, day, and one more.
const MAX_DEPTH: usize = 4;

/// The maximum distance of local time from UTC; folders are named by local days.
const SLACK: Days = Days::new(1);

/// The length of the time with which a rollout's name begins.
const TIME_LETTERS: usize = "2025-08-06T18-02-11".len();

pub(super) fn discover_codex_sessions(
    home: &Path,
    project: &mut ProjectCheckouts,
    window: SessionWindow,
    found: &mut DiscoveredSessions,
) {
    let Some(mut walk) = FolderWalk::open_root(home, &mut found.problems) else { return };
    let until = window.until.and_then(|until| until.date_naive().checked_add_days(SLACK));
    let mut rollouts = Vec::new();
    collect_rollouts(&mut walk, &home.join("sessions"), &mut Vec::new(), until, &mut rollouts);
    rollouts.extend(walk.list_entries(&home.join("archived_sessions")));

    // A rollout that is being compressed or archived may lie in two places.
    let mut seen = BTreeSet::new();
    rollouts.sort_by_key(|entry| entry.name.ends_with(".zst"));
    let candidates: Vec<LogCandidate> = rollouts
        .into_iter()
        .filter_map(|entry| {
            let name = rollout_stem(&entry)?.to_owned();
            let began = parse_time_in_id(&name).map(|moment| moment.date_naive());
            let is_later = matches!((until, began), (Some(until), Some(began)) if began > until);
            (!is_later && seen.insert(name.clone())).then(|| LogCandidate {
                id: thread_id_in_name(&name).to_owned(),
                path: entry.path,
                modified: entry.modified,
                parent: None,
                is_at_home: false,
            })
        })
        .collect();
    let logs = session_groups::inspect_candidates(candidates, window, |candidate| {
        inspect_rollout(candidate, project, &mut walk)
    });
    found.sessions.extend(session_groups::group_sessions(logs, LogFormat::Codex, window));
}

/// Collects the rollouts below a folder, except for days after the window. Earlier ones may have been resumed in it.
fn collect_rollouts(
    walk: &mut FolderWalk<'_>,
    folder: &Path,
    date: &mut Vec<u32>,
    until: Option<NaiveDate>,
    found: &mut Vec<FolderEntry>,
) {
    for entry in walk.list_entries(folder) {
        if !entry.is_folder {
            found.push(entry);
        } else if date.len() < MAX_DEPTH {
            date.push(entry.name.parse().unwrap_or_default());
            if !is_after_date(date, until) {
                collect_rollouts(walk, &entry.path, date, until, found);
            }
            date.pop();
        }
    }
}

fn is_after_date(date: &[u32], until: Option<NaiveDate>) -> bool {
    let (Some(until), [year, month, day, ..]) = (until, date) else { return false };
    let date = i32::try_from(*year).ok().and_then(|year| NaiveDate::from_ymd_opt(year, *month, *day));
    date.is_some_and(|date| date > until)
}

fn rollout_stem(entry: &FolderEntry) -> Option<&str> {
    entry.file_stem(".jsonl").or_else(|| entry.file_stem(".jsonl.zst"))
}

/// Returns the thread id in the name of a rollout; a suffix after `_` numbers several rollouts of one thread.
fn thread_id_in_name(name: &str) -> &str {
    let thread = name
        .strip_prefix("rollout-")
        .and_then(|rest| rest.get(TIME_LETTERS..)?.strip_prefix('-'))
        .filter(|thread| !thread.is_empty());
    thread.map_or(name, |thread| thread.split('_').next().unwrap_or(thread))
}

fn inspect_rollout(
    candidate: LogCandidate,
    project: &mut ProjectCheckouts,
    walk: &mut FolderWalk<'_>,
) -> Option<PreviewedLog> {
    let LogCandidate { path, modified, id, .. } = candidate;
    let lines = walk.read_or_report(&path, |path| log_preview::preview_lines(path, names_directory))?;
    // Forks and subagents may repeat the beginning of another rollout; the first one is their own.
    let is_meta = |line: &&ObjectPreview| line.text("type") == Some("session_meta");
    let meta = lines.iter().find(is_meta).or(lines.first())?;
    let directory =
        meta.first_text(&["payload.cwd", "cwd"]).map(str::to_owned).or_else(|| find_context_directory(&lines));
    let repository = meta.first_text(&["payload.git.repository_url", "git.repository_url"]);
    let is_ours = directory.as_deref().is_some_and(|directory| project.contains_directory(directory))
        || repository.is_some_and(|url| project.is_cloned_from(url));
    let named_at = path.file_name().and_then(|name| parse_time_in_id(&name.to_string_lossy()));
    let thread = meta.first_text(&["payload.id", "id"]).unwrap_or(&id).to_owned();
    let parent = meta
        .first_text(&["payload.parent_thread_id", "payload.source.subagent.thread_spawn.parent_thread_id"])
        .filter(|parent| **parent != thread)
        .map(str::to_owned);
    let started = meta.first_time(&["payload.timestamp", "timestamp"]).or(named_at);
    let ids = if thread == id { vec![id] } else { vec![thread, id] };
    Some(PreviewedLog { modified, ids, parent, is_ours, directory, started, first_text: first_prompt(&lines), path })
}

/// Returns true if the first line was read to its end and any line names a directory.
fn names_directory(lines: &[ObjectPreview]) -> bool {
    lines.len() > 1
        && (lines.iter().any(|line| line.text("payload.cwd").is_some()) || find_context_directory(lines).is_some())
}

/// Returns the directory from the model's context, because rollouts of 2025 state it nowhere else.
fn find_context_directory(lines: &[ObjectPreview]) -> Option<String> {
    lines.iter().find_map(|line| {
        let text = line.first_text(&["payload.content.text", "content.text"])?;
        let told = text.split_once("<cwd>").and_then(|(_, rest)| Some(rest.split_once("</cwd>")?.0));
        let told = told.or_else(|| text.split_once("Current working directory: ")?.1.lines().next());
        told.map(|told| told.trim().to_owned()).filter(|_| text.contains("<environment_context>"))
    })
}

fn first_prompt(lines: &[ObjectPreview]) -> Option<String> {
    let prompt = |line: &ObjectPreview| {
        (line.text("payload.type") == Some("user_message")).then(|| line.text("payload.message").map(str::to_owned))?
    };
    lines.iter().find_map(prompt)
}
