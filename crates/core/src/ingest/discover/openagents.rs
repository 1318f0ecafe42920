//! Finds OpenAgents' files below `.openagents`: sessions, run logs with their metadata, trajectories, notes and state.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::folder_walk::{FolderEntry, FolderWalk};
use super::log_preview::{self, ObjectPreview};
use super::session_matching::parse_time_in_id;
use super::{DiscoveredSessions, FoundSession, SessionFacts, SessionWindow};
use crate::ingest::{LogFormat, json_fields};

#[cfg(test)]
#[path = "openagents_tests.rs"]
mod tests;

/// The folder depth: days below a folder, and one more.
const MAX_DEPTH: usize = 2;

/// The maximum size of the project's settings.
const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;

/// The number of bytes of the notes that are read.
const NOTES_BYTES: u64 = 8 * 1024;

pub(super) fn discover_openagents_sessions(project: &Path, window: SessionWindow, found: &mut DiscoveredSessions) {
    let Some(mut walk) = FolderWalk::open_root(project, &mut found.problems) else { return };
    let folder = project.join(".openagents");
    let folders = OpenAgentsFolders::from_settings(project, &folder, &mut walk);
    let mut sessions = collect_logs(&mut walk, &folders.sessions, LogFormat::OpenAgentsSession, window);
    sessions.extend(collect_logs(&mut walk, &folders.run_logs, LogFormat::OpenAgentsRunLog, window));
    let metadata = collect_run_metadata(&mut walk, &folders.run_logs, window);
    attach_metadata(&mut sessions, metadata);
    sessions.extend(collect_trajectories(&mut walk, &folders.trajectories, window));
    sessions.extend(collect_shared_documents(&mut walk, &folder));
    sessions.retain(|session| !window.is_before_start(session.modified) && !window.is_after_end(session.facts.started));
    found.sessions.extend(sessions);
}

struct OpenAgentsFolders {
    sessions: PathBuf,
    run_logs: PathBuf,
    trajectories: PathBuf,
}

impl OpenAgentsFolders {
    /// Reads the folders from the project's settings. These come with the repository, so they must not lead out of it.
    fn from_settings(project: &Path, folder: &Path, walk: &mut FolderWalk<'_>) -> Self {
        let file = folder.join("project.json");
        let text = walk
            .find_file(&file)
            .and_then(|_| log_preview::read_beginning(&file, MAX_SETTINGS_BYTES).ok())
            .map(|(text, _)| text);
        let settings = ObjectPreview::from_text(&text.unwrap_or_default());
        let mut place = |key: &str, start: &Path, default: &str| {
            let set = settings.text(key).unwrap_or(default);
            let leaves = |component| matches!(component, Component::ParentDir | Component::Prefix(_));
            let path = start.join(set);
            if Path::new(set).components().any(leaves) || !path.starts_with(project) {
                walk.report_problem(&file, format!("`{key}` leads out of the project and is not followed"));
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

/// Collects logs with one object per line.
fn collect_logs(
    walk: &mut FolderWalk<'_>,
    folder: &Path,
    format: LogFormat,
    window: SessionWindow,
) -> Vec<FoundSession> {
    let mut found = Vec::new();
    for entry in walk.list_files_below(folder, MAX_DEPTH) {
        let Some(name) = entry.file_stem(".jsonl") else { continue };
        if window.is_before_start(entry.modified) || window.is_after_end(parse_time_in_id(name)) {
            continue;
        }
        let Some(lines) =
            walk.read_or_report(&entry.path, |path| log_preview::preview_lines(path, |lines| lines.len() > 2))
        else {
            continue;
        };
        let any = |keys: &[&str]| lines.iter().find_map(|line| line.first_text(keys)).map(str::to_owned);
        let facts = SessionFacts {
            session_id: any(&["sessionId", "runId"]),
            task_id: any(&["taskId", "task.id"]),
            started: lines
                .iter()
                .find_map(|line| line.first_time(&["timestamp", "ts"]))
                .or_else(|| parse_time_in_id(name)),
            finished: None,
            first_text: any(&["message.content", "message.content.text", "content"]),
        };
        let directory = any(&["cwd", "workDir", "config.cwd", "config.workDir"]);
        found.push(FoundSession { directory, ..build_session(&entry, name, format, facts) });
    }
    found
}

/// Collects the metadata of runs, each with the names of the logs that it refers to.
fn collect_run_metadata(
    walk: &mut FolderWalk<'_>,
    folder: &Path,
    window: SessionWindow,
) -> Vec<(FoundSession, Vec<String>)> {
    let mut found = Vec::new();
    for entry in walk.list_files_below(folder, MAX_DEPTH) {
        let Some(name) = entry.file_stem(".json") else { continue };
        if window.is_before_start(entry.modified) {
            continue;
        }
        let Some(peek) = walk.read_or_report(&entry.path, log_preview::preview_document) else { continue };
        let logs = ["logFilePath", "sessionFilePath"].iter().filter_map(|key| peek.text(key));
        let logs = logs.filter_map(|path| path.rsplit(['/', '\\']).next()).map(str::to_owned).collect();
        let facts = SessionFacts {
            session_id: peek.text("id").map(str::to_owned),
            task_id: peek.text("taskId").map(str::to_owned),
            started: peek.first_time(&["startedAt"]),
            finished: peek.first_time(&["finishedAt"]),
            first_text: None,
        };
        let directory = peek.text("workDir").map(str::to_owned);
        let id = facts.session_id.clone().unwrap_or_else(|| name.to_owned());
        found.push((FoundSession { directory, ..build_session(&entry, &id, LogFormat::OpenAgentsState, facts) }, logs));
    }
    found
}

/// Attaches the metadata to the logs that they refer to; those whose logs are missing become sessions themselves.
fn attach_metadata(sessions: &mut Vec<FoundSession>, metadata: Vec<(FoundSession, Vec<String>)>) {
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
struct TrajectoryFiles {
    document: Option<FolderEntry>,
    stream: Option<FolderEntry>,
    index: Option<FolderEntry>,
}

/// Collects trajectories, which are written as a stream with an index and finally as one document. Each of the three
/// files may be missing or broken.
fn collect_trajectories(walk: &mut FolderWalk<'_>, folder: &Path, window: SessionWindow) -> Vec<FoundSession> {
    let mut parts: BTreeMap<PathBuf, TrajectoryFiles> = BTreeMap::new();
    for entry in walk.list_files_below(folder, MAX_DEPTH) {
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
        if !window.is_before_start(modified) && !window.is_after_end(parse_time_in_id(&name)) {
            found.extend(inspect_trajectory(walk, &name, parts).map(|session| FoundSession { modified, ..session }));
        }
    }
    found
}

fn inspect_trajectory(walk: &mut FolderWalk<'_>, name: &str, parts: TrajectoryFiles) -> Option<FoundSession> {
    let TrajectoryFiles { document, stream, index } = parts;
    let is_whole = document.as_ref().is_some_and(|document| log_preview::ends_like_object(&document.path));
    let lines = match &stream {
        Some(stream) if !is_whole => {
            walk.read_or_report(&stream.path, |path| log_preview::preview_lines(path, |lines| lines.len() > 2))?
        }
        _ => Vec::new(),
    };
    let has_header = lines.first().is_some_and(|line| line.text("__header__").is_some());
    let (entry, format) = match (document, stream) {
        (Some(document), None) => (document, LogFormat::Atif),
        (Some(document), Some(_)) if is_whole || !has_header => (document, LogFormat::Atif),
        (_, Some(stream)) => (stream, LogFormat::AtifStream),
        (None, None) => return None,
    };
    let head = if format == LogFormat::Atif {
        walk.read_or_report(&entry.path, log_preview::preview_document)?
    } else {
        ObjectPreview::default()
    };
    let index_told = index
        .as_ref()
        .and_then(|index| walk.read_or_report(&index.path, log_preview::preview_document))
        .unwrap_or_default();
    let any = |keys: &[&str]| {
        let all = || [&head, &index_told].into_iter().chain(&lines);
        all().find_map(|told| told.first_text(keys)).map(str::to_owned)
    };
    let facts = SessionFacts {
        session_id: any(&["session_id"]),
        task_id: any(&["extra.task_id", "agent.extra.task_id"]),
        started: index_told
            .first_time(&["created_at"])
            .or_else(|| head.first_time(&["steps.timestamp", "created_at"]))
            .or_else(|| lines.iter().find_map(|line| line.first_time(&["created_at", "timestamp"])))
            .or_else(|| parse_time_in_id(name)),
        finished: index_told.first_time(&["checkpoint.timestamp"]),
        first_text: any(&["steps.message", "message"]),
    };
    let about = index.map(|index| index.path).into_iter().collect();
    Some(FoundSession { about, ..build_session(&entry, name, format, facts) })
}

/// Collects the documents that OpenAgents keeps for all sessions or for the last one.
fn collect_shared_documents(walk: &mut FolderWalk<'_>, folder: &Path) -> Vec<FoundSession> {
    let mut found = Vec::new();
    let files = [
        ("trajectories.jsonl", "trajectories", LogFormat::OpenAgentsTrajectories),
        ("healer-state.json", "healer-state", LogFormat::OpenAgentsState),
    ];
    for (file, id, format) in files {
        if let Some(entry) = walk.find_file(&folder.join(file)) {
            found.push(build_session(&entry, id, format, SessionFacts::default()));
        }
    }
    if let Some(entry) = walk.find_file(&folder.join("progress.md"))
        && let Some((text, _)) = walk.read_or_report(&entry.path, |path| log_preview::read_beginning(path, NOTES_BYTES))
    {
        let facts = parse_notes_facts(&text);
        let id = facts.session_id.clone().unwrap_or_else(|| "progress".to_owned());
        found.push(build_session(&entry, &id, LogFormat::ProgressNotes, facts));
    }
    found
}

/// Reads the facts at the beginning of progress notes.
fn parse_notes_facts(text: &str) -> SessionFacts {
    let label = |wanted: &str| {
        text.lines().find_map(|line| {
            let (label, value) = line.split_once(':')?;
            let label = label.trim_matches(['-', '*', ' ']);
            let value = value.trim_matches(['*', ' ']);
            (label.eq_ignore_ascii_case(wanted) && !value.is_empty()).then(|| value.to_owned())
        })
    };
    SessionFacts {
        session_id: label("Session ID"),
        task_id: label("Task").and_then(|task| task.split_whitespace().next().map(str::to_owned)),
        started: label("Started").and_then(|at| json_fields::parse_time_text(&at)),
        finished: None,
        first_text: None,
    }
}

fn build_session(entry: &FolderEntry, id: &str, format: LogFormat, facts: SessionFacts) -> FoundSession {
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
