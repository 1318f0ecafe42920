//! Codex's rollouts: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, and the archived ones.

use std::collections::BTreeSet;
use std::path::Path;

use chrono::{Days, NaiveDate};

use super::facts::moment_in;
use super::group::{self, Candidate, Looked};
use super::peek::{self, Peek};
use super::project::Project;
use super::walk::{Entry, Walk};
use super::{Discovered, Window};
use crate::ingest::Format;

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;

/// Year, month, day, and one more.
const MAX_DEPTH: usize = 4;

/// Folders are named by local days, and no clock is further than this from UTC.
const SLACK: Days = Days::new(1);

/// A name begins with the time, which is as long as this.
const TIME_LETTERS: usize = "2025-08-06T18-02-11".len();

pub(super) fn discover(home: &Path, project: &mut Project, window: Window, found: &mut Discovered) {
    let Some(mut walk) = Walk::at(home, &mut found.problems) else { return };
    let until = window.until.and_then(|until| until.date_naive().checked_add_days(SLACK));
    let mut rollouts = Vec::new();
    collect(&mut walk, &home.join("sessions"), &mut Vec::new(), until, &mut rollouts);
    rollouts.extend(walk.entries(&home.join("archived_sessions")));

    // A rollout that is being packed or archived may lie in two places.
    let mut seen = BTreeSet::new();
    rollouts.sort_by_key(|entry| entry.name.ends_with(".zst"));
    let candidates: Vec<Candidate> = rollouts
        .into_iter()
        .filter_map(|entry| {
            let name = stem(&entry)?.to_owned();
            let began = moment_in(&name).map(|moment| moment.date_naive());
            let is_later = matches!((until, began), (Some(until), Some(began)) if began > until);
            (!is_later && seen.insert(name.clone())).then(|| Candidate {
                id: thread_of(&name).to_owned(),
                path: entry.path,
                modified: entry.modified,
                parent: None,
                is_at_home: false,
            })
        })
        .collect();
    let logs = group::open(candidates, window, |candidate| look(candidate, project, &mut walk));
    found.sessions.extend(group::sessions(logs, Format::Codex, window));
}

/// The rollouts below a folder, without the days after the window. Those before it may hold what was resumed in it.
fn collect(walk: &mut Walk<'_>, folder: &Path, date: &mut Vec<u32>, until: Option<NaiveDate>, found: &mut Vec<Entry>) {
    for entry in walk.entries(folder) {
        if !entry.is_folder {
            found.push(entry);
        } else if date.len() < MAX_DEPTH {
            date.push(entry.name.parse().unwrap_or_default());
            if !is_after(date, until) {
                collect(walk, &entry.path, date, until, found);
            }
            date.pop();
        }
    }
}

fn is_after(date: &[u32], until: Option<NaiveDate>) -> bool {
    let (Some(until), [year, month, day, ..]) = (until, date) else { return false };
    let date = i32::try_from(*year).ok().and_then(|year| NaiveDate::from_ymd_opt(year, *month, *day));
    date.is_some_and(|date| date > until)
}

fn stem(entry: &Entry) -> Option<&str> {
    entry.file_stem(".jsonl").or_else(|| entry.file_stem(".jsonl.zst"))
}

/// The thread in the name of a rollout; what follows `_` is one of several rollouts of it.
fn thread_of(name: &str) -> &str {
    let thread = name
        .strip_prefix("rollout-")
        .and_then(|rest| rest.get(TIME_LETTERS..)?.strip_prefix('-'))
        .filter(|thread| !thread.is_empty());
    thread.map_or(name, |thread| thread.split('_').next().unwrap_or(thread))
}

fn look(candidate: Candidate, project: &mut Project, walk: &mut Walk<'_>) -> Option<Looked> {
    let Candidate { path, modified, id, .. } = candidate;
    let lines = walk.read(&path, |path| peek::lines(path, tells_directory))?;
    // Forks and subagents may repeat the beginning of another rollout; the first one is their own.
    let is_meta = |line: &&Peek| line.text("type") == Some("session_meta");
    let meta = lines.iter().find(is_meta).or(lines.first())?;
    let directory = meta.first(&["payload.cwd", "cwd"]).map(str::to_owned).or_else(|| told_directory(&lines));
    let repository = meta.first(&["payload.git.repository_url", "git.repository_url"]);
    let is_ours = directory.as_deref().is_some_and(|directory| project.holds(directory))
        || repository.is_some_and(|url| project.is_cloned_from(url));
    let named_at = path.file_name().and_then(|name| moment_in(&name.to_string_lossy()));
    let thread = meta.first(&["payload.id", "id"]).unwrap_or(&id).to_owned();
    let parent = meta
        .first(&["payload.parent_thread_id", "payload.source.subagent.thread_spawn.parent_thread_id"])
        .filter(|parent| **parent != thread)
        .map(str::to_owned);
    let started = meta.time(&["payload.timestamp", "timestamp"]).or(named_at);
    let ids = if thread == id { vec![id] } else { vec![thread, id] };
    Some(Looked { modified, ids, parent, is_ours, directory, started, first_text: first_text(&lines), path })
}

/// Whether the first line is read to its end, and one of them names a directory.
fn tells_directory(lines: &[Peek]) -> bool {
    lines.len() > 1 && (lines.iter().any(|line| line.text("payload.cwd").is_some()) || told_directory(lines).is_some())
}

/// Rollouts of 2025 have no place for the directory, but tell the model where it is.
fn told_directory(lines: &[Peek]) -> Option<String> {
    lines.iter().find_map(|line| {
        let text = line.first(&["payload.content.text", "content.text"])?;
        let told = text.split_once("<cwd>").and_then(|(_, rest)| Some(rest.split_once("</cwd>")?.0));
        let told = told.or_else(|| text.split_once("Current working directory: ")?.1.lines().next());
        told.map(|told| told.trim().to_owned()).filter(|_| text.contains("<environment_context>"))
    })
}

fn first_text(lines: &[Peek]) -> Option<String> {
    let prompt = |line: &Peek| {
        (line.text("payload.type") == Some("user_message")).then(|| line.text("payload.message").map(str::to_owned))?
    };
    lines.iter().find_map(prompt)
}
