//! What mem0 hands out: a list of memories as JSON, bare or under `results`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::loss::{THE_LESSON, in_use, losses, whole};
use super::origin::{OURS, Origin, name_of, returned, time};
use super::{Brought, Format, Parcel, Shelf, Shelved, Skipped, Unreadable, Unwritable, Written, text_of, within};
use crate::domain::{MemoryCategory, MemoryKind, Timestamp};
use crate::text::one_line;

#[cfg(test)]
#[path = "mem0_tests.rs"]
mod tests;

const FORMAT: Format = Format::Mem0;
const FILE: &str = "mem0.json";

/// One memory, as mem0's `get_all` and its exports have it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Record {
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

pub(super) fn read(path: &Path, now: Timestamp) -> Result<Parcel, Unreadable> {
    const WHAT: &str = "export of mem0";
    let path = within(path, FILE);
    let whole: Value =
        serde_json::from_str(&text_of(&path)?).map_err(|error| Unreadable::malformed(&path, WHAT, error))?;
    let list = match whole {
        Value::Array(list) => Some(list),
        Value::Object(mut fields) => ["results", "memories", "data"].iter().find_map(|key| match fields.remove(*key) {
            Some(Value::Array(list)) => Some(list),
            _ => None,
        }),
        _ => None,
    };
    let list = list.ok_or_else(|| Unreadable::malformed(&path, WHAT, "there is no list of memories in it"))?;
    let mut parcel = Parcel::default();
    for (number, value) in (1..).zip(list) {
        let place = || format!("{} memory {number}", path.display());
        match serde_json::from_value::<Record>(value) {
            Ok(record) if one_line(&record.memory).is_empty() => {
                parcel.skipped.push(Skipped { place: place(), why: "it says nothing".to_owned() });
            }
            Ok(record) => parcel.lessons.push(brought(record, now)),
            Err(error) => parcel.skipped.push(Skipped { place: place(), why: error.to_string() }),
        }
    }
    Ok(parcel)
}

fn brought(mut record: Record, now: Timestamp) -> Brought {
    let summary = one_line(&record.memory);
    let name = match &record.id {
        Value::String(id) if !id.is_empty() => id.clone(),
        Value::Null | Value::String(_) => summary.clone(),
        other => other.to_string(),
    };
    let told = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).and_then(time);
    let at = told(&record.created_at).unwrap_or(now);
    if summary == record.memory {
        record.memory.clear();
    }
    let categories = record.categories.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = match serde_json::to_value(&record) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut memory = Origin::lesson(FORMAT, &name, at, &summary, fields);
    memory.updated_at = told(&record.updated_at).filter(|updated| *updated > at);
    memory.tags = categories.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    (memory.kind, memory.category) = kind(record.metadata.as_ref(), &memory.tags);
    let memory = returned(memory, record.metadata.as_ref().and_then(|data| data.get(OURS)));
    Brought { name, versions: vec![memory], facts: Vec::new(), used: None }
}

/// mem0 knows no kinds; people write them into metadata, and its own categories tell a preference.
fn kind(metadata: Option<&Value>, categories: &[String]) -> (MemoryKind, MemoryCategory) {
    let told = |key: &str| metadata.and_then(|data| data.get(key)).and_then(Value::as_str);
    let words = ["type", "category", "kind"].into_iter().filter_map(told).chain(categories.iter().map(String::as_str));
    let mut is_about = words.map(str::to_ascii_lowercase);
    if is_about.any(|word| word.contains("preference")) {
        (MemoryKind::Preference, MemoryCategory::Preference)
    } else {
        (MemoryKind::Fact, MemoryCategory::Heuristic)
    }
}

pub(super) fn write(shelf: &Shelf) -> Result<Written, Unwritable> {
    let mut lost = Vec::new();
    let kept = in_use(&shelf.lessons, &mut lost);
    lost.extend(losses(&kept, FORMAT, THE_LESSON));
    let mut records: Vec<Record> = kept.into_iter().map(record).collect();
    let told = |record: &Record| record.created_at.as_ref().map(Value::to_string);
    records.sort_by(|a, b| told(a).cmp(&told(b)).then_with(|| a.id.to_string().cmp(&b.id.to_string())));
    #[derive(Serialize)]
    struct Export {
        results: Vec<Record>,
    }
    let mut text =
        serde_json::to_string_pretty(&Export { results: records }).map_err(|error| Unwritable::new(FORMAT, error))?;
    text.push('\n');
    Ok(Written::one(FILE, text, lost))
}

fn record(shelved: &Shelved) -> Record {
    let memory = &shelved.lesson.memory;
    let origin = Origin::of_format(memory, FORMAT);
    let known: Option<Record> = origin.and_then(|origin| serde_json::from_value(Value::Object(origin.rest)).ok());
    let mut record = known.unwrap_or_else(|| Record {
        id: name_of(memory, FORMAT).into(),
        metadata: whole(memory).map(|ours| serde_json::json!({ OURS: ours })),
        created_at: Some(memory.created_at.to_rfc3339().into()),
        updated_at: memory.updated_at.map(|at| at.to_rfc3339().into()),
        ..Record::default()
    });
    if one_line(&record.memory) != memory.summary {
        record.memory.clone_from(&memory.summary);
    }
    record
}
