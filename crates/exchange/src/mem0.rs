//! Reads and writes mem0's exports: a list of memories as JSON, at the top level or under `results`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::export_loss::{THE_LESSON, count_losses, select_exportable, to_portable_json};
use super::lesson_origin::{LessonOrigin, OURS, export_name, parse_timestamp, restore_exported};
use super::{
    ExportBundle, ExportWriteError, ExportedFiles, ImportBundle, ImportReadError, IncomingLesson, MemoryFormat,
    OutgoingLesson, SkippedRecord, read_file_text, resolve_file,
};
use archivist_core::domain::{MemoryCategory, MemoryKind, Timestamp};
use archivist_core::text::one_line;

#[cfg(test)]
#[path = "mem0_tests.rs"]
mod tests;

const FORMAT: MemoryFormat = MemoryFormat::Mem0;
const FILE: &str = "mem0.json";

/// One memory, in the form of mem0's `get_all` and its exports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Mem0Record {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    memory: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    categories: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_at: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

pub(super) fn read_memory(path: &Path, now: Timestamp) -> Result<ImportBundle, ImportReadError> {
    const WHAT: &str = "export of mem0";
    let path = resolve_file(path, FILE);
    let whole: Value = serde_json::from_str(&read_file_text(&path)?)
        .map_err(|error| ImportReadError::malformed(&path, WHAT, error))?;
    let list = match whole {
        Value::Array(list) => Some(list),
        Value::Object(mut fields) => ["results", "memories", "data"].iter().find_map(|key| match fields.remove(*key) {
            Some(Value::Array(list)) => Some(list),
            _ => None,
        }),
        _ => None,
    };
    let list = list.ok_or_else(|| ImportReadError::malformed(&path, WHAT, "there is no list of memories in it"))?;
    let mut incoming = ImportBundle::default();
    for (number, value) in (1..).zip(list) {
        let place = || format!("{} memory {number}", path.display());
        match serde_json::from_value::<Mem0Record>(value) {
            Ok(record) if one_line(&record.memory).is_empty() => {
                incoming.skipped.push(SkippedRecord { place: place(), why: "it says nothing".to_owned() });
            }
            Ok(record) => incoming.lessons.push(import_record(record, now)),
            Err(error) => incoming.skipped.push(SkippedRecord { place: place(), why: error.to_string() }),
        }
    }
    Ok(incoming)
}

fn import_record(mut record: Mem0Record, now: Timestamp) -> IncomingLesson {
    let summary = one_line(&record.memory);
    let name = match &record.id {
        Value::String(id) if !id.is_empty() => id.clone(),
        Value::Null | Value::String(_) => summary.clone(),
        other => other.to_string(),
    };
    let told = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).and_then(parse_timestamp);
    let at = told(&record.created_at).unwrap_or(now);
    if summary == record.memory {
        record.memory.clear();
    }
    let categories = record.categories.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = match serde_json::to_value(&record) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut memory = LessonOrigin::new_lesson(FORMAT, &name, at, &summary, fields);
    memory.updated_at = told(&record.updated_at).filter(|updated| *updated > at);
    memory.tags = categories.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    (memory.kind, memory.category) = classify_record(record.metadata.as_ref(), &memory.tags);
    let memory = restore_exported(memory, record.metadata.as_ref().and_then(|data| data.get(OURS)));
    IncomingLesson { name, versions: vec![memory], facts: Vec::new(), used: None }
}

/// Returns the kind and category of a record. mem0 has no kinds, but metadata and categories may indicate a preference.
fn classify_record(metadata: Option<&Value>, categories: &[String]) -> (MemoryKind, MemoryCategory) {
    let told = |key: &str| metadata.and_then(|data| data.get(key)).and_then(Value::as_str);
    let words = ["type", "category", "kind"].into_iter().filter_map(told).chain(categories.iter().map(String::as_str));
    let mut is_about = words.map(str::to_ascii_lowercase);
    if is_about.any(|word| word.contains("preference")) {
        (MemoryKind::Preference, MemoryCategory::Preference)
    } else {
        (MemoryKind::Fact, MemoryCategory::Heuristic)
    }
}

pub(super) fn write_memory(bundle: &ExportBundle) -> Result<ExportedFiles, ExportWriteError> {
    let mut lost = Vec::new();
    let kept = select_exportable(&bundle.lessons, &mut lost);
    lost.extend(count_losses(&kept, FORMAT, THE_LESSON));
    let mut records: Vec<Mem0Record> = kept.into_iter().map(export_record).collect();
    let told = |record: &Mem0Record| record.created_at.as_ref().map(Value::to_string);
    records.sort_by(|a, b| told(a).cmp(&told(b)).then_with(|| a.id.to_string().cmp(&b.id.to_string())));
    #[derive(Serialize)]
    struct Mem0Export {
        results: Vec<Mem0Record>,
    }
    let mut text = serde_json::to_string_pretty(&Mem0Export { results: records })
        .map_err(|error| ExportWriteError::new(FORMAT, error))?;
    text.push('\n');
    Ok(ExportedFiles::single_file(FILE, text, lost))
}

fn export_record(shelved: &OutgoingLesson) -> Mem0Record {
    let memory = &shelved.lesson.memory;
    let origin = LessonOrigin::for_format(memory, FORMAT);
    let known: Option<Mem0Record> = origin.and_then(|origin| serde_json::from_value(Value::Object(origin.rest)).ok());
    let mut record = known.unwrap_or_else(|| Mem0Record {
        id: export_name(memory, FORMAT).into(),
        metadata: to_portable_json(memory).map(|ours| serde_json::json!({ OURS: ours })),
        created_at: Some(memory.created_at.to_rfc3339().into()),
        updated_at: memory.updated_at.map(|at| at.to_rfc3339().into()),
        ..Mem0Record::default()
    });
    if one_line(&record.memory) != memory.summary {
        record.memory.clone_from(&memory.summary);
    }
    record
}
