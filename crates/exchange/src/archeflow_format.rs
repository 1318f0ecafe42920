//! Reads and writes ArcheFlow's `.archeflow/memory/`: `lessons.jsonl`, and `archive.jsonl` for lessons out of use.

use std::path::Path;

use serde_json::{Map, Value};

use super::export_loss::{LessonAspect, count_losses};
use super::lesson_origin::{LessonOrigin, MAX_SIGHTINGS, build_sighting, export_name, parse_timestamp};
use super::{
    ExportBundle, ExportWriteError, ExportedFiles, ImportBundle, ImportReadError, IncomingLesson, MemoryFormat,
    OutgoingLesson, SkippedRecord, numbered_lines, read_file_text,
};
use crate::archeflow_store::ArcheFlowLesson;
use archivist_core::domain::{
    AgentMemory, Fact, Importance, LessonAvailability, MemoryCategory, MemoryKind, MemoryScope, MemorySource,
    MemoryState, Severity, Timestamp,
};
use archivist_core::text::one_line;

#[cfg(test)]
#[path = "archeflow_format_tests.rs"]
mod tests;

const FORMAT: MemoryFormat = MemoryFormat::ArcheFlow;
const LESSONS: &str = "lessons.jsonl";
const ARCHIVE: &str = "archive.jsonl";

const HELD: &[LessonAspect] = &[
    LessonAspect::Severity,
    LessonAspect::Tags,
    LessonAspect::Domain,
    LessonAspect::Category,
    LessonAspect::Importance,
    LessonAspect::State,
];

/// The source of a lesson that was not found by an archetype.
const USER: &str = "user_feedback";

/// The domain that applies everywhere.
const GENERAL: &str = "general";

pub(super) fn read_memory(path: &Path, now: Timestamp) -> Result<ImportBundle, ImportReadError> {
    let mut incoming = ImportBundle::default();
    if !path.is_dir() {
        read_lesson_file(path, false, now, &mut incoming)?;
        return Ok(incoming);
    }
    // The memory folder itself, its parent, or the project's folder.
    let folders = [path.to_owned(), path.join("memory"), path.join(".archeflow/memory")];
    let folder = folders.iter().find(|folder| folder.join(LESSONS).is_file() || folder.join(ARCHIVE).is_file());
    let Some(folder) = folder else {
        return Err(ImportReadError::malformed(path, "memory of ArcheFlow", format!("there is no {LESSONS} in it")));
    };
    for (name, is_archive) in [(LESSONS, false), (ARCHIVE, true)] {
        let file = folder.join(name);
        if file.is_file() {
            read_lesson_file(&file, is_archive, now, &mut incoming)?;
        }
    }
    Ok(incoming)
}

fn read_lesson_file(
    path: &Path,
    is_archive: bool,
    now: Timestamp,
    incoming: &mut ImportBundle,
) -> Result<(), ImportReadError> {
    let text = read_file_text(path)?;
    for (number, line) in numbered_lines(&text) {
        let place = || format!("{}:{number}", path.display());
        match ArcheFlowLesson::parse(line) {
            Ok(lesson) if one_line(&lesson.description).is_empty() => {
                incoming.skipped.push(SkippedRecord { place: place(), why: "it says nothing".to_owned() });
            }
            Ok(lesson) => incoming.lessons.push(import_line(lesson, is_archive, now)),
            Err(why) => incoming.skipped.push(SkippedRecord { place: place(), why }),
        }
    }
    Ok(())
}

/// Converts a line to a lesson. Fields without a counterpart are kept in its origin.
fn import_line(line: ArcheFlowLesson, is_archive: bool, now: Timestamp) -> IncomingLesson {
    let name = if line.id.is_empty() { one_line(&line.description) } else { line.id.clone() };
    let at = parse_timestamp(&line.ts).unwrap_or(now);
    let mut rest = line.clone();
    let summary = one_line(&line.description);
    if summary == line.description {
        rest.description.clear();
    }
    rest.tags.clear();
    let mut memory = LessonOrigin::new_lesson(FORMAT, &name, at, &summary, to_json_fields(&rest));
    (memory.kind, memory.category) = match line.kind.as_str() {
        "preference" => (MemoryKind::Preference, MemoryCategory::Preference),
        "anti_pattern" => (MemoryKind::Lesson, MemoryCategory::AntiPattern),
        _ => (MemoryKind::Lesson, MemoryCategory::Heuristic),
    };
    memory.tags.clone_from(&line.tags);
    memory.facets.domain = Some(line.domain.clone()).filter(|domain| !domain.is_empty());
    if let Some(archetype) = line.archetype().filter(|archetype| !archetype.is_empty()) {
        memory.facets.role = Some(archetype.to_owned());
        memory.scope = MemoryScope::Role;
    }
    let severity = parse_severity(&line.severity);
    memory.importance = Importance::from_severity(&severity);
    memory.severity = Some(severity);
    if is_archive {
        memory.state = Some(MemoryState::Archived);
        memory.state_reason = Some("archived in ArcheFlow".to_owned());
    }
    let facts = build_sightings(&memory, &line, at);
    IncomingLesson { name, versions: vec![memory], facts, used: None }
}

/// Returns one sighting for each run that saw the lesson. At most two of these runs are known by name.
fn build_sightings(memory: &AgentMemory, line: &ArcheFlowLesson, at: Timestamp) -> Vec<Fact> {
    let is_run = |run: &&str| !run.is_empty() && *run != "manual";
    let mut runs: Vec<String> =
        [line.last_seen_run.as_str(), line.run_id.as_str()].into_iter().filter(is_run).map(str::to_owned).collect();
    runs.dedup();
    let seen = line.frequency.min(MAX_SIGHTINGS);
    let known = u64::try_from(runs.len()).unwrap_or(u64::MAX);
    runs.extend((known..seen).map(|number| format!("{} {number}", line.id)));
    let wanted = usize::try_from(seen).unwrap_or(usize::MAX);
    runs.iter().take(wanted).map(|run| build_sighting(FORMAT, &memory.id, run, at)).collect()
}

fn parse_severity(word: &str) -> Severity {
    match word.to_ascii_lowercase().as_str() {
        "bug" | "critical" | "error" | "high" | "blocker" | "major" => Severity::Bug,
        "warning" | "warn" | "medium" | "moderate" => Severity::Warning,
        "recommendation" | "suggestion" | "nit" => Severity::Recommendation,
        _ => Severity::Info,
    }
}

pub(super) fn write_memory(bundle: &ExportBundle) -> Result<ExportedFiles, ExportWriteError> {
    let mut held = Vec::new();
    let mut texts = [String::new(), String::new()];
    let mut lines: Vec<(ArcheFlowLesson, &OutgoingLesson)> =
        bundle.lessons.iter().filter_map(|one| Some((export_line(one)?, one))).collect();
    lines.sort_by(|(a, _), (b, _)| id_number(&a.id).cmp(&id_number(&b.id)).then_with(|| a.id.cmp(&b.id)));
    let left = bundle.lessons.len() - lines.len();
    for (line, shelved) in &lines {
        held.push(*shelved);
        let [lessons, archive] = &mut texts;
        let is_over = shelved.lesson.memory.availability() == LessonAvailability::Retired;
        let text = if is_over { archive } else { lessons };
        text.push_str(&line.to_line());
        text.push('\n');
    }
    let mut lost = count_losses(&held, FORMAT, HELD);
    if left > 0 {
        lost.push(super::ExportLoss { what: "all of it: a person has yet to look at it", lessons: left });
    }
    let [lessons, archive] = texts;
    let mut files = vec![(LESSONS.into(), lessons.into_bytes())];
    if !archive.is_empty() {
        files.push((ARCHIVE.into(), archive.into_bytes()));
    }
    Ok(ExportedFiles { files, lost })
}

/// Returns the number of an id, so that `m-12` sorts before `m-100`.
fn id_number(id: &str) -> u64 {
    id.rsplit('-').next().and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX)
}

/// Returns the lesson as a line, or `None` for a quarantined lesson.
fn export_line(shelved: &OutgoingLesson) -> Option<ArcheFlowLesson> {
    let memory = &shelved.lesson.memory;
    if memory.state == Some(MemoryState::Quarantined) {
        return None;
    }
    let origin = LessonOrigin::for_format(memory, FORMAT);
    let known = origin.and_then(|origin| serde_json::from_value(Value::Object(origin.rest)).ok());
    Some(known.map_or_else(|| build_line(shelved), |line| update_line(line, shelved)))
}

/// Updates a line that came from ArcheFlow with the changes since then.
fn update_line(mut line: ArcheFlowLesson, shelved: &OutgoingLesson) -> ArcheFlowLesson {
    let OutgoingLesson { lesson, facts, .. } = shelved;
    let memory = &lesson.memory;
    if line.description.is_empty() || one_line(&line.description) != memory.summary {
        line.description.clone_from(&memory.summary);
    }
    line.tags.clone_from(&memory.tags);
    let more = lesson.counters.sightings.saturating_sub(line.frequency.min(MAX_SIGHTINGS));
    if more > 0 {
        line.frequency = line.frequency.saturating_add(more);
        (line.ts, line.last_seen_run) = find_last_sighting(memory, facts).unwrap_or((line.ts, line.last_seen_run));
        line.runs_since_last_seen = 0;
    }
    line
}

fn build_line(shelved: &OutgoingLesson) -> ArcheFlowLesson {
    let OutgoingLesson { lesson, facts, .. } = shelved;
    let memory = &lesson.memory;
    let role = memory.facets.role.clone().filter(|_| memory.scope == MemoryScope::Role);
    let kind = match (&memory.kind, &memory.category, &role) {
        (MemoryKind::Preference, ..) => "preference",
        (_, MemoryCategory::AntiPattern, _) => "anti_pattern",
        (_, _, Some(_)) => "archetype_hint",
        _ => "pattern",
    };
    let run = memory.evidence.session_ids.first().map_or("manual", |session| session.as_str());
    let (ts, last_seen_run) =
        find_last_sighting(memory, facts).unwrap_or_else(|| (format_timestamp(memory.version_at()), String::new()));
    let source = match (&memory.facets.role, &memory.source) {
        (Some(role), _) => role.clone(),
        (None, MemorySource::Manual) => USER.to_owned(),
        (None, source) => source.to_string(),
    };
    ArcheFlowLesson {
        id: export_name(memory, FORMAT),
        ts,
        run_id: run.to_owned(),
        kind: kind.to_owned(),
        source,
        description: memory.summary.clone(),
        frequency: lesson.counters.sightings.max(1),
        severity: memory.severity.as_ref().unwrap_or(&Severity::Info).to_string(),
        domain: memory.facets.domain.clone().unwrap_or_else(|| GENERAL.to_owned()),
        tags: memory.tags.clone(),
        archetype: Some(role),
        last_seen_run,
        runs_since_last_seen: 0,
        other: Map::new(),
    }
}

/// Returns the time of the last sighting and its run.
fn find_last_sighting(memory: &AgentMemory, facts: &[Fact]) -> Option<(String, String)> {
    let seen = facts.iter().filter_map(|fact| match fact {
        Fact::Sighting { at, episode, .. } => Some((*at, episode)),
        _ => None,
    });
    let (at, episode) = seen.max()?;
    let known = memory.evidence.episode_ids.iter().position(|id| id == episode);
    let session = known.and_then(|place| memory.evidence.session_ids.get(place));
    Some((format_timestamp(at), session.map_or_else(|| episode.to_string(), ToString::to_string)))
}

fn format_timestamp(at: Timestamp) -> String {
    at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn to_json_fields(line: &ArcheFlowLesson) -> Map<String, Value> {
    match serde_json::to_value(line) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}
