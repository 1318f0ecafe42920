//! Reads and writes OpenAgents' `.openagents/`: `memories.jsonl`, the reflections of `memory/reflections.jsonl`, and
//! the sessions of `trajectories.jsonl`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::export_loss::{THE_LESSON, count_losses};
use super::lesson_origin::{LessonOrigin, OURS, export_name, parse_timestamp, restore_exported};
use super::{
    ExportBundle, ExportWriteError, ExportedFiles, ImportBundle, ImportReadError, IncomingLesson, MemoryFormat,
    OutgoingLesson, SkippedRecord, numbered_lines, read_file_text,
};
use archivist_core::context::{LogGatherer, SessionDescription, build_episode};
use archivist_core::domain::{
    AgentMemory, Episode, Importance, ImportanceScale, LessonAvailability, MemoryCategory, MemoryKind, MemoryScope,
    MemoryState, SessionId, Timestamp,
};
use archivist_core::ingest::{ReaderSettings, SessionReader};
use archivist_core::redact::Redactor;
use archivist_core::text::one_line;

#[cfg(test)]
#[path = "openagents_tests.rs"]
mod tests;

const FORMAT: MemoryFormat = MemoryFormat::OpenAgents;
const MEMORIES: &str = "memories.jsonl";
const REFLECTIONS: &str = "memory/reflections.jsonl";
const TRAJECTORIES: &str = "trajectories.jsonl";

/// One line of `memories.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OpenAgentsRecord {
    id: String,
    memory_type: String,
    scope: String,
    status: String,
    description: String,
    content: Map<String, Value>,
    importance: String,
    tags: Vec<String>,
    access_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_accessed_at: Option<String>,
    created_at: String,
    updated_at: String,
    source: String,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// One line of `memory/reflections.jsonl`, with the fields that are used.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OpenAgentsReflection {
    id: String,
    task_id: Option<String>,
    analysis: String,
    suggestion: String,
    action_items: Vec<String>,
    created_at: String,
}

pub(super) fn read_memory(path: &Path, now: Timestamp) -> Result<ImportBundle, ImportReadError> {
    let mut incoming = ImportBundle::default();
    if !path.is_dir() {
        let text = read_file_text(path)?;
        match path.file_name().and_then(|name| name.to_str()) {
            Some(name) if name.starts_with("trajectories") => read_trajectories(path, &text, now, &mut incoming),
            Some(name) if name.starts_with("reflections") => read_reflections(path, &text, now, &mut incoming),
            _ => read_memories(path, &text, now, &mut incoming),
        }
        return Ok(incoming);
    }
    let folder = [path.join(".openagents"), path.to_owned()].into_iter().find(|folder| folder.is_dir());
    let folder = folder.unwrap_or_else(|| path.to_owned());
    let mut is_there = false;
    type Read = fn(&Path, &str, Timestamp, &mut ImportBundle);
    for (name, read) in
        [(MEMORIES, read_memories as Read), (REFLECTIONS, read_reflections), (TRAJECTORIES, read_trajectories)]
    {
        let file = folder.join(name);
        if file.is_file() {
            is_there = true;
            read(&file, &read_file_text(&file)?, now, &mut incoming);
        }
    }
    if is_there {
        return Ok(incoming);
    }
    let why = format!("there is neither {MEMORIES} nor {TRAJECTORIES} in it");
    Err(ImportReadError::malformed(path, "folder of OpenAgents", why))
}

fn read_memories(path: &Path, text: &str, now: Timestamp, incoming: &mut ImportBundle) {
    for (number, line) in numbered_lines(text) {
        match serde_json::from_str::<OpenAgentsRecord>(line) {
            Ok(record) if one_line(&record.description).is_empty() => {
                incoming.skip_line(path, number, "it says nothing");
            }
            Ok(record) => incoming.lessons.push(import_record(record, now)),
            Err(error) => incoming.skip_line(path, number, error),
        }
    }
}

fn import_record(record: OpenAgentsRecord, now: Timestamp) -> IncomingLesson {
    let summary = one_line(&record.description);
    let name = if record.id.is_empty() { summary.clone() } else { record.id.clone() };
    let at = parse_timestamp(&record.created_at).unwrap_or(now);
    let text = |key: &str| record.content.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut rest = record.clone();
    if summary == rest.description {
        rest.description.clear();
    }
    let fields = match serde_json::to_value(&rest) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut memory = LessonOrigin::new_lesson(FORMAT, &name, at, &summary, fields);
    (memory.kind, memory.category) = match record.memory_type.as_str() {
        // An account of a single session.
        "episodic" => (MemoryKind::Note, MemoryCategory::Heuristic),
        "semantic" => (MemoryKind::Fact, MemoryCategory::Heuristic),
        _ => (MemoryKind::Lesson, MemoryCategory::Heuristic),
    };
    memory.tags.clone_from(&record.tags);
    memory.updated_at = parse_timestamp(&record.updated_at).filter(|updated| *updated > at);
    memory.rule = text("rule");
    memory.detail = text("errorMessage").or_else(|| text("detail"));
    memory.importance = parse_importance(&record.importance);
    if record.scope == "global" {
        memory.scope = MemoryScope::Global;
    }
    if matches!(record.status.as_str(), "archived" | "deprecated" | "pruned" | "deleted") {
        memory.state = Some(MemoryState::Archived);
        memory.state_reason = Some(format!("{} in OpenAgents", record.status));
    }
    let memory = restore_exported(memory, record.content.get(OURS));
    IncomingLesson { name, versions: vec![memory], facts: Vec::new(), used: Some(record.access_count) }
}

fn parse_importance(word: &str) -> Importance {
    let share = match word {
        "critical" => 0.9,
        "high" => 0.7,
        "low" => 0.3,
        _ => 0.5,
    };
    Importance::parse(share, ImportanceScale::Undeclared).unwrap_or(Importance::MANUAL)
}

fn importance_word(importance: Importance) -> &'static str {
    match importance.value() {
        value if value >= 0.85 => "critical",
        value if value >= 0.65 => "high",
        value if value >= 0.45 => "medium",
        _ => "low",
    }
}

fn read_reflections(path: &Path, text: &str, now: Timestamp, incoming: &mut ImportBundle) {
    for (number, line) in numbered_lines(text) {
        let value: Result<Value, _> = serde_json::from_str(line);
        let read = value.and_then(|value| Ok((serde_json::from_value::<OpenAgentsReflection>(value.clone())?, value)));
        match read {
            Ok((reflection, _)) if one_line(&reflection.suggestion).is_empty() => {
                incoming.skip_line(path, number, "it suggests nothing");
            }
            Ok((reflection, value)) => {
                let summary = one_line(&reflection.suggestion);
                let name = if reflection.id.is_empty() { summary.clone() } else { reflection.id.clone() };
                let at = parse_timestamp(&reflection.created_at).unwrap_or(now);
                let mut rest = Map::new();
                rest.insert("reflection".to_owned(), value);
                let mut memory = LessonOrigin::new_lesson(FORMAT, &name, at, &summary, rest);
                memory.category = MemoryCategory::BugfixPattern;
                let told = std::iter::once(reflection.analysis).chain(reflection.action_items);
                memory.detail = Some(told.collect::<Vec<_>>().join("\n")).filter(|detail| !detail.trim().is_empty());
                memory.facets.task_id = reflection.task_id;
                incoming.lessons.push(IncomingLesson { name, versions: vec![memory], facts: Vec::new(), used: None });
            }
            Err(error) => incoming.skip_line(path, number, error),
        }
    }
}

/// Reads every record as a session of its own.
fn read_trajectories(path: &Path, text: &str, now: Timestamp, incoming: &mut ImportBundle) {
    let redactor = Redactor::new();
    for (number, line) in numbered_lines(text) {
        match import_episode(line, now, &redactor) {
            Ok(episode) => incoming.episodes.push(episode),
            Err(why) => incoming.skip_line(path, number, why),
        }
    }
}

fn import_episode(line: &str, now: Timestamp, redactor: &Redactor) -> Result<Episode, String> {
    let mut gathering = LogGatherer::new_brief(redactor);
    let read = SessionReader::new(ReaderSettings::default()).read_log(&mut line.as_bytes(), &mut gathering);
    read.map_err(|error| error.to_string())?;
    let gathered = gathering.finish();
    let about = gathered.trajectories.first().map(|one| one.about.clone()).unwrap_or_default();
    let name = about.session_id.or(about.trajectory_id).ok_or("it has no name")?;
    let session_id = SessionId::parse(&name).map_err(|invalid| invalid.to_string())?;
    let run = SessionDescription {
        session_id,
        // The caller of the import sets the project.
        project_root: String::new(),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        kind: None,
        outcome: None,
        now,
    };
    Ok(build_episode(&run, &gathered))
}

impl ImportBundle {
    fn skip_line(&mut self, path: &Path, line: usize, why: impl ToString) {
        self.skipped.push(SkippedRecord { place: format!("{}:{line}", path.display()), why: why.to_string() });
    }
}

pub(super) fn write_memory(bundle: &ExportBundle) -> Result<ExportedFiles, ExportWriteError> {
    let is_open = |shelved: &&OutgoingLesson| shelved.lesson.memory.state != Some(MemoryState::Quarantined);
    let kept: Vec<&OutgoingLesson> = bundle.lessons.iter().filter(is_open).collect();
    let mut lost = count_losses(&kept, FORMAT, THE_LESSON);
    if kept.len() < bundle.lessons.len() {
        let lessons = bundle.lessons.len() - kept.len();
        lost.push(super::ExportLoss { what: "all of it: a person has yet to look at it", lessons });
    }
    let mut records: Vec<OpenAgentsRecord> = kept.into_iter().map(export_record).collect();
    records.sort_by(|a, b| a.created_at.cmp(&b.created_at).then_with(|| a.id.cmp(&b.id)));
    let mut text = String::new();
    for record in records {
        text.push_str(&serde_json::to_string(&record).map_err(|error| ExportWriteError::new(FORMAT, error))?);
        text.push('\n');
    }
    Ok(ExportedFiles::single_file(MEMORIES, text, lost))
}

fn export_record(shelved: &OutgoingLesson) -> OpenAgentsRecord {
    let memory = &shelved.lesson.memory;
    let known = LessonOrigin::for_format(memory, FORMAT)
        .filter(|origin| !origin.rest.contains_key("reflection"))
        .and_then(|origin| serde_json::from_value(Value::Object(origin.rest)).ok());
    let mut record: OpenAgentsRecord = known.unwrap_or_else(|| build_record(memory));
    if one_line(&record.description) != memory.summary {
        record.description.clone_from(&memory.summary);
    }
    record
}

fn build_record(memory: &AgentMemory) -> OpenAgentsRecord {
    let memory_type = if memory.kind == MemoryKind::Fact { "semantic" } else { "procedural" };
    let mut content = Map::new();
    content.insert("type".to_owned(), memory_type.into());
    for (key, text) in [("rule", &memory.rule), ("detail", &memory.detail)] {
        if let Some(text) = text {
            content.insert(key.to_owned(), text.as_str().into());
        }
    }
    if let Some(whole) = super::export_loss::to_portable_json(memory) {
        content.insert(OURS.to_owned(), whole);
    }
    let is_over = memory.availability() == LessonAvailability::Retired;
    OpenAgentsRecord {
        id: export_name(memory, FORMAT),
        memory_type: memory_type.to_owned(),
        scope: if memory.scope == MemoryScope::Global { "global" } else { "project" }.to_owned(),
        status: if is_over { "archived" } else { "active" }.to_owned(),
        description: memory.summary.clone(),
        content,
        importance: importance_word(memory.importance).to_owned(),
        tags: memory.tags.clone(),
        access_count: memory.usage_count,
        last_accessed_at: memory.last_used_at.map(|at| at.to_rfc3339()),
        created_at: memory.created_at.to_rfc3339(),
        updated_at: memory.version_at().to_rfc3339(),
        source: memory.source.to_string(),
        other: Map::new(),
    }
}
