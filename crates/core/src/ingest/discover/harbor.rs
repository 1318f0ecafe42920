//! Finds trials in Harbor's job folders: `<jobs>/<job>/<trial>/agent/trajectory.json`, one session for each trial.

use std::path::{Path, PathBuf};

use super::folder_walk::{FolderEntry, FolderWalk};
use super::log_preview;
use super::{DiscoveredSessions, FoundSession, SessionFacts, SessionWindow};
use crate::ingest::LogFormat;

#[cfg(test)]
#[path = "harbor_tests.rs"]
mod tests;

/// The folder depth: job and trial below the jobs folder.
const MAX_DEPTH: usize = 2;

pub(super) fn discover_harbor_trials(folder: &Path, window: SessionWindow, found: &mut DiscoveredSessions) {
    let Some(mut walk) = FolderWalk::open_root(folder, &mut found.problems) else { return };
    let mut trials = Vec::new();
    collect_trials(&mut walk, folder, MAX_DEPTH, window, &mut trials);
    found.sessions.extend(trials);
}

/// Collects the trials in this folder or below it.
fn collect_trials(
    walk: &mut FolderWalk<'_>,
    folder: &Path,
    depth: usize,
    window: SessionWindow,
    found: &mut Vec<FoundSession>,
) {
    if walk.find_file(&folder.join("agent").join("trajectory.json")).is_some() {
        found.extend(inspect_trial(walk, folder, window));
        return;
    }
    let Some(deeper) = depth.checked_sub(1) else { return };
    for entry in walk.list_entries(folder).into_iter().filter(|entry| entry.is_folder) {
        collect_trials(walk, &entry.path, deeper, window, found);
    }
}

/// The logs of one trial: its own in reading order, and those of its subagents.
struct TrialLogs {
    own: Vec<FolderEntry>,
    subagents: Vec<FolderEntry>,
}

impl TrialLogs {
    fn from_folder(walk: &mut FolderWalk<'_>, folder: &Path) -> Self {
        let mut own: Vec<(u32, FolderEntry)> = Vec::new();
        let mut subagents: Vec<(Vec<LogNamePart>, FolderEntry)> = Vec::new();
        for entry in walk.list_entries(folder) {
            let Some(rest) = entry.file_stem(".json").and_then(|stem| stem.strip_prefix("trajectory")) else {
                continue;
            };
            if rest.is_empty() {
                own.push((0, entry));
            } else if let Some(number) = rest.strip_prefix(".cont-").and_then(|number| number.parse().ok()) {
                own.push((number, entry));
            } else if rest.starts_with('.') {
                subagents.push((split_log_name(rest), entry));
            }
        }
        own.sort_by_key(|(number, _)| *number);
        subagents.sort_by(|a, b| (&a.0, &a.1.path).cmp(&(&b.0, &b.1.path)));
        Self {
            own: own.into_iter().map(|(_, entry)| entry).collect(),
            subagents: subagents.into_iter().map(|(_, entry)| entry).collect(),
        }
    }
}

/// Returns the subagent logs of the trial with this log.
pub(super) fn find_subagent_logs(log: &Path) -> Vec<PathBuf> {
    let is_main = log.file_name().is_some_and(|name| name == "trajectory.json");
    let mut problems = Vec::new();
    let Some(folder) = log.parent().filter(|_| is_main) else { return Vec::new() };
    let Some(mut walk) = FolderWalk::open_root(folder, &mut problems) else { return Vec::new() };
    TrialLogs::from_folder(&mut walk, folder).subagents.into_iter().map(|entry| entry.path).collect()
}

fn inspect_trial(walk: &mut FolderWalk<'_>, folder: &Path, window: SessionWindow) -> Option<FoundSession> {
    let TrialLogs { own, subagents } = TrialLogs::from_folder(walk, &folder.join("agent"));
    let modified = own.iter().chain(&subagents).map(|entry| entry.modified).max()?;
    if window.is_before_start(modified) {
        return None;
    }
    let head = walk.read_or_report(&own.first()?.path, log_preview::preview_document)?;
    let started = head.first_time(&["steps.timestamp"]);
    if window.is_after_end(started) {
        return None;
    }
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let id = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Some(FoundSession {
        facts: SessionFacts {
            session_id: head.text("session_id").map(str::to_owned),
            // The folder is named by the task and a random suffix.
            task_id: id.rsplit_once("__").map(|(task, _)| task.to_owned()),
            started,
            finished: None,
            first_text: head.first_text(&["steps.message", "steps.message.text"]).map(str::to_owned),
        },
        id,
        format: LogFormat::Atif,
        files: own.into_iter().map(|entry| entry.path).collect(),
        subagents: subagents.into_iter().map(|entry| entry.path).collect(),
        about: Vec::new(),
        modified,
        directory: None,
    })
}

/// A part of a log's name; numbers sort as numbers, and the stages of a summary in their order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum LogNamePart {
    Number(u64),
    Stage(usize),
    Text(String),
}

const STAGES: [&str; 3] = ["summary", "questions", "answers"];

fn split_log_name(name: &str) -> Vec<LogNamePart> {
    let word = |word: &str| {
        let stage = STAGES.iter().position(|stage| *stage == word).map(LogNamePart::Stage);
        word.parse().ok().map(LogNamePart::Number).or(stage).unwrap_or_else(|| LogNamePart::Text(word.to_owned()))
    };
    name.split(['.', '-']).map(word).collect()
}
