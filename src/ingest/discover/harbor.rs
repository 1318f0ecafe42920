//! Harbor's job folders: `<jobs>/<job>/<trial>/agent/trajectory.json`, one session for each trial.

use std::path::{Path, PathBuf};

use super::peek;
use super::walk::{Entry, Walk};
use super::{Discovered, Facts, FoundSession, Window};
use crate::ingest::Format;

#[cfg(test)]
#[path = "harbor_tests.rs"]
mod tests;

/// Jobs, job, trial.
const MAX_DEPTH: usize = 2;

pub(super) fn discover(folder: &Path, window: Window, found: &mut Discovered) {
    let Some(mut walk) = Walk::at(folder, &mut found.problems) else { return };
    let mut trials = Vec::new();
    search(&mut walk, folder, MAX_DEPTH, window, &mut trials);
    found.sessions.extend(trials);
}

/// Trials at this folder or below it.
fn search(walk: &mut Walk<'_>, folder: &Path, depth: usize, window: Window, found: &mut Vec<FoundSession>) {
    if walk.file(&folder.join("agent").join("trajectory.json")).is_some() {
        found.extend(trial(walk, folder, window));
        return;
    }
    let Some(deeper) = depth.checked_sub(1) else { return };
    for entry in walk.entries(folder).into_iter().filter(|entry| entry.is_folder) {
        search(walk, &entry.path, deeper, window, found);
    }
}

/// The logs of one trial: its own in their order, and those of its subagents.
struct Logs {
    own: Vec<Entry>,
    subagents: Vec<Entry>,
}

impl Logs {
    fn of(walk: &mut Walk<'_>, folder: &Path) -> Self {
        let mut own: Vec<(u32, Entry)> = Vec::new();
        let mut subagents: Vec<(Vec<Word>, Entry)> = Vec::new();
        for entry in walk.entries(folder) {
            let Some(rest) = entry.file_stem(".json").and_then(|stem| stem.strip_prefix("trajectory")) else {
                continue;
            };
            if rest.is_empty() {
                own.push((0, entry));
            } else if let Some(number) = rest.strip_prefix(".cont-").and_then(|number| number.parse().ok()) {
                own.push((number, entry));
            } else if rest.starts_with('.') {
                subagents.push((words(rest), entry));
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

/// The subagents of the trial with this log.
pub(super) fn subagents_beside(log: &Path) -> Vec<PathBuf> {
    let is_main = log.file_name().is_some_and(|name| name == "trajectory.json");
    let mut problems = Vec::new();
    let Some(folder) = log.parent().filter(|_| is_main) else { return Vec::new() };
    let Some(mut walk) = Walk::at(folder, &mut problems) else { return Vec::new() };
    Logs::of(&mut walk, folder).subagents.into_iter().map(|entry| entry.path).collect()
}

fn trial(walk: &mut Walk<'_>, folder: &Path, window: Window) -> Option<FoundSession> {
    let Logs { own, subagents } = Logs::of(walk, &folder.join("agent"));
    let modified = own.iter().chain(&subagents).map(|entry| entry.modified).max()?;
    if window.is_over(modified) {
        return None;
    }
    let head = walk.read(&own.first()?.path, peek::document)?;
    let started = head.time(&["steps.timestamp"]);
    if window.is_yet_to_come(started) {
        return None;
    }
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let id = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Some(FoundSession {
        facts: Facts {
            session_id: head.text("session_id").map(str::to_owned),
            // The folder is named by the task, and something random.
            task_id: id.rsplit_once("__").map(|(task, _)| task.to_owned()),
            started,
            finished: None,
            first_text: head.first(&["steps.message", "steps.message.text"]).map(str::to_owned),
        },
        id,
        format: Format::Atif,
        files: own.into_iter().map(|entry| entry.path).collect(),
        subagents: subagents.into_iter().map(|entry| entry.path).collect(),
        about: Vec::new(),
        modified,
        directory: None,
    })
}

/// A part of a name; numbers sort as numbers, and summarisations in the order in which they are asked for.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Number(u64),
    Stage(usize),
    Text(String),
}

const STAGES: [&str; 3] = ["summary", "questions", "answers"];

fn words(name: &str) -> Vec<Word> {
    let word = |word: &str| {
        let stage = STAGES.iter().position(|stage| *stage == word).map(Word::Stage);
        word.parse().ok().map(Word::Number).or(stage).unwrap_or_else(|| Word::Text(word.to_owned()))
    };
    name.split(['.', '-']).map(word).collect()
}
