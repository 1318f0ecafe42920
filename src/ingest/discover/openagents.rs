//! OpenAgents' own files below `.openagents`: sessions, run logs with their metadata, trajectories, notes and state.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::facts::moment_in;
use super::peek::{self, Peek};
use super::walk::{Entry, Walk};
use super::{Discovered, Facts, FoundSession, Window};
use crate::ingest::{Format, pick};

#[cfg(test)]
#[path = "openagents_tests.rs"]
mod tests;

/// Days below a folder, and one more.
const MAX_DEPTH: usize = 2;

/// No project's settings are longer.
const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;

/// How much of the notes is looked at.
const NOTES_BYTES: u64 = 8 * 1024;

pub(super) fn discover(project: &Path, window: Window, found: &mut Discovered) {
    let Some(mut walk) = Walk::at(project, &mut found.problems) else { return };
    let folder = project.join(".openagents");
    let folders = Folders::of(project, &folder, &mut walk);
    let mut sessions = logs(&mut walk, &folders.sessions, Format::OpenAgentsSession, window);
    sessions.extend(logs(&mut walk, &folders.run_logs, Format::OpenAgentsRunLog, window));
    let metadata = metadata(&mut walk, &folders.run_logs, window);
    attach(&mut sessions, metadata);
    sessions.extend(trajectories(&mut walk, &folders.trajectories, window));
    sessions.extend(documents(&mut walk, &folder));
    sessions.retain(|session| !window.is_over(session.modified) && !window.is_yet_to_come(session.facts.started));
    found.sessions.extend(sessions);
}

struct Folders {
    sessions: PathBuf,
    run_logs: PathBuf,
    trajectories: PathBuf,
}

impl Folders {
    /// Where the project's settings put them. They come with the repository, so they must not lead out of it.
    fn of(project: &Path, folder: &Path, walk: &mut Walk<'_>) -> Self {
        let file = folder.join("project.json");
        let text = walk.file(&file).and_then(|_| peek::beginning(&file, MAX_SETTINGS_BYTES).ok()).map(|(text, _)| text);
        let settings = Peek::of(&text.unwrap_or_default());
        let mut place = |key: &str, start: &Path, default: &str| {
            let set = settings.text(key).unwrap_or(default);
            let leaves = |component| matches!(component, Component::ParentDir | Component::Prefix(_));
            let path = start.join(set);
            if Path::new(set).components().any(leaves) || !path.starts_with(project) {
                walk.problem(&file, format!("`{key}` leads out of the project and is not followed"));
                return start.join(default);
            }
            path
        };
        let trajectories = settings.text("trajectory.directory").unwrap_or_default();
        let start = if trajectories.starts_with(".openagents") { project } else { folder };
        Self {
            sessions: place("sessionDir", project, ".openagents/sessions"),
            run_logs: place("runLogDir", project, ".openagents/run-logs"),
            trajectories: place("trajectory.directory", start, "trajectories"),
        }
    }
}

/// Logs of one object a line.
fn logs(walk: &mut Walk<'_>, folder: &Path, format: Format, window: Window) -> Vec<FoundSession> {
    let mut found = Vec::new();
    for entry in walk.files_below(folder, MAX_DEPTH) {
        let Some(name) = entry.file_stem(".jsonl") else { continue };
        if window.is_over(entry.modified) || window.is_yet_to_come(moment_in(name)) {
            continue;
        }
        let Some(lines) = walk.read(&entry.path, |path| peek::lines(path, |lines| lines.len() > 2)) else { continue };
        let any = |keys: &[&str]| lines.iter().find_map(|line| line.first(keys)).map(str::to_owned);
        let facts = Facts {
            session_id: any(&["sessionId", "runId"]),
            task_id: any(&["taskId", "task.id"]),
            started: lines.iter().find_map(|line| line.time(&["timestamp", "ts"])).or_else(|| moment_in(name)),
            finished: None,
            first_text: any(&["message.content", "message.content.text", "content"]),
        };
        let directory = any(&["cwd", "workDir", "config.cwd", "config.workDir"]);
        found.push(FoundSession { directory, ..session(&entry, name, format, facts) });
    }
    found
}

/// What is known of runs besides their logs, each with the names of the logs it speaks of.
fn metadata(walk: &mut Walk<'_>, folder: &Path, window: Window) -> Vec<(FoundSession, Vec<String>)> {
    let mut found = Vec::new();
    for entry in walk.files_below(folder, MAX_DEPTH) {
        let Some(name) = entry.file_stem(".json") else { continue };
        if window.is_over(entry.modified) {
            continue;
        }
        let Some(peek) = walk.read(&entry.path, peek::document) else { continue };
        let logs = ["logFilePath", "sessionFilePath"].iter().filter_map(|key| peek.text(key));
        let logs = logs.filter_map(|path| path.rsplit(['/', '\\']).next()).map(str::to_owned).collect();
        let facts = Facts {
            session_id: peek.text("id").map(str::to_owned),
            task_id: peek.text("taskId").map(str::to_owned),
            started: peek.time(&["startedAt"]),
            finished: peek.time(&["finishedAt"]),
            first_text: None,
        };
        let directory = peek.text("workDir").map(str::to_owned);
        let id = facts.session_id.clone().unwrap_or_else(|| name.to_owned());
        found.push((FoundSession { directory, ..session(&entry, &id, Format::OpenAgentsState, facts) }, logs));
    }
    found
}

/// Gives the metadata to the logs they speak of; those that speak of none that is here stand for themselves.
fn attach(sessions: &mut Vec<FoundSession>, metadata: Vec<(FoundSession, Vec<String>)>) {
    for (about, logs) in metadata {
        let mut is_taken = false;
        for session in sessions.iter_mut() {
            let name = session.files.first().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
            if name.is_some_and(|name| logs.iter().any(|log| *log == name)) {
                is_taken = true;
                session.modified = session.modified.max(about.modified);
                session.about.extend(about.files.iter().cloned());
                session.directory = session.directory.take().or_else(|| about.directory.clone());
                session.facts.task_id = session.facts.task_id.take().or_else(|| about.facts.task_id.clone());
                session.facts.started = session.facts.started.or(about.facts.started);
                session.facts.finished = session.facts.finished.max(about.facts.finished);
            }
        }
        if !is_taken {
            sessions.push(about);
        }
    }
}

/// The files of one trajectory.
#[derive(Default)]
struct Parts {
    document: Option<Entry>,
    stream: Option<Entry>,
    index: Option<Entry>,
}

/// Trajectories, written as a stream with an index and, at the end, as one document. Each of the three may be missing
/// or broken.
fn trajectories(walk: &mut Walk<'_>, folder: &Path, window: Window) -> Vec<FoundSession> {
    let mut parts: BTreeMap<PathBuf, Parts> = BTreeMap::new();
    for entry in walk.files_below(folder, MAX_DEPTH) {
        let stem = |ending: &str| entry.file_stem(ending).map(|stem| entry.path.with_file_name(stem));
        if let Some(stem) = stem(".atif.json") {
            parts.entry(stem).or_default().document = Some(entry);
        } else if let Some(stem) = stem(".atif.jsonl") {
            parts.entry(stem).or_default().stream = Some(entry);
        } else if let Some(stem) = stem(".index.json") {
            parts.entry(stem).or_default().index = Some(entry);
        }
    }
    let mut found = Vec::new();
    for (stem, parts) in parts {
        let name = stem.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let modified = [&parts.document, &parts.stream, &parts.index].into_iter().flatten().map(|part| part.modified);
        let Some(modified) = modified.max() else { continue };
        if !window.is_over(modified) && !window.is_yet_to_come(moment_in(&name)) {
            found.extend(trajectory(walk, &name, parts).map(|session| FoundSession { modified, ..session }));
        }
    }
    found
}

fn trajectory(walk: &mut Walk<'_>, name: &str, parts: Parts) -> Option<FoundSession> {
    let Parts { document, stream, index } = parts;
    let is_whole = document.as_ref().is_some_and(|document| peek::ends_like_an_object(&document.path));
    let lines = match &stream {
        Some(stream) if !is_whole => walk.read(&stream.path, |path| peek::lines(path, |lines| lines.len() > 2))?,
        _ => Vec::new(),
    };
    let has_header = lines.first().is_some_and(|line| line.text("__header__").is_some());
    let (entry, format) = match (document, stream) {
        (Some(document), None) => (document, Format::Atif),
        (Some(document), Some(_)) if is_whole || !has_header => (document, Format::Atif),
        (_, Some(stream)) => (stream, Format::AtifStream),
        (None, None) => return None,
    };
    let head = if format == Format::Atif { walk.read(&entry.path, peek::document)? } else { Peek::default() };
    let index_told = index.as_ref().and_then(|index| walk.read(&index.path, peek::document)).unwrap_or_default();
    let any = |keys: &[&str]| {
        let all = || [&head, &index_told].into_iter().chain(&lines);
        all().find_map(|told| told.first(keys)).map(str::to_owned)
    };
    let facts = Facts {
        session_id: any(&["session_id"]),
        task_id: any(&["extra.task_id", "agent.extra.task_id"]),
        started: index_told
            .time(&["created_at"])
            .or_else(|| head.time(&["steps.timestamp", "created_at"]))
            .or_else(|| lines.iter().find_map(|line| line.time(&["created_at", "timestamp"])))
            .or_else(|| moment_in(name)),
        finished: index_told.time(&["checkpoint.timestamp"]),
        first_text: any(&["steps.message", "message"]),
    };
    let about = index.map(|index| index.path).into_iter().collect();
    Some(FoundSession { about, ..session(&entry, name, format, facts) })
}

/// What OpenAgents keeps in one file for all sessions, or for the last.
fn documents(walk: &mut Walk<'_>, folder: &Path) -> Vec<FoundSession> {
    let mut found = Vec::new();
    let files = [
        ("trajectories.jsonl", "trajectories", Format::OpenAgentsTrajectories),
        ("healer-state.json", "healer-state", Format::OpenAgentsState),
    ];
    for (file, id, format) in files {
        if let Some(entry) = walk.file(&folder.join(file)) {
            found.push(session(&entry, id, format, Facts::default()));
        }
    }
    if let Some(entry) = walk.file(&folder.join("progress.md"))
        && let Some((text, _)) = walk.read(&entry.path, |path| peek::beginning(path, NOTES_BYTES))
    {
        let facts = notes(&text);
        let id = facts.session_id.clone().unwrap_or_else(|| "progress".to_owned());
        found.push(session(&entry, &id, Format::ProgressNotes, facts));
    }
    found
}

/// What progress notes say of themselves at their beginning.
fn notes(text: &str) -> Facts {
    let label = |wanted: &str| {
        text.lines().find_map(|line| {
            let (label, value) = line.split_once(':')?;
            let label = label.trim_matches(['-', '*', ' ']);
            let value = value.trim_matches(['*', ' ']);
            (label.eq_ignore_ascii_case(wanted) && !value.is_empty()).then(|| value.to_owned())
        })
    };
    Facts {
        session_id: label("Session ID"),
        task_id: label("Task").and_then(|task| task.split_whitespace().next().map(str::to_owned)),
        started: label("Started").and_then(|at| pick::moment_of(&at)),
        finished: None,
        first_text: None,
    }
}

fn session(entry: &Entry, id: &str, format: Format, facts: Facts) -> FoundSession {
    FoundSession {
        id: id.to_owned(),
        format,
        files: vec![entry.path.clone()],
        subagents: Vec::new(),
        about: Vec::new(),
        modified: entry.modified,
        directory: None,
        facts,
    }
}
