//! Reads records with a text, one per line: Archivist's lessons, OpenAgents' memories, ArcheFlow's lessons and similar.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::stores::StoreContents;
use crate::memory_audit::AuditEntry;
use archivist_core::domain::Timestamp;

#[cfg(test)]
#[path = "jsonl_tests.rs"]
mod tests;

/// The fields that hold a record's text, in the order in which they are read.
const TEXTS: &[&str] = &[
    "title",
    "summary",
    "description",
    "text",
    "memory",
    "lesson",
    "content",
    "rule",
    "detail",
    "analysis",
    "suggestion",
];
/// The fields that name a record.
const NAMES: &[&str] = &["alias", "id", "name", "key"];
/// The fields that tell when a record was written.
const TIMES: &[&str] = &["createdAt", "created_at", "ts", "timestamp", "at", "date"];
/// The fields that tell how often a record was used.
const USES: &[&str] =
    &["accessCount", "access_count", "usageCount", "usage_count", "useCount", "use_count", "uses", "used"];
/// The fields that hold a record's state.
const STATES: &[&str] = &["state", "status"];
/// The states in which a record is no longer used.
const RETIRED: &[&str] = &[
    "archived",
    "deleted",
    "deprecated",
    "expired",
    "forgotten",
    "inactive",
    "quarantined",
    "rejected",
    "retired",
    "superseded",
];

/// Numbers above this are milliseconds, others are seconds.
const MANY_SECONDS: i64 = 100_000_000_000;

/// Returns the entries of a file. A line that is no record with a text is skipped; of several lines with one id the
/// last counts.
pub(super) fn read_jsonl_entries(file: &str, text: &str) -> StoreContents {
    let mut read = StoreContents::default();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let record = serde_json::from_str::<Map<String, Value>>(line).ok();
        let Some((record, entry)) =
            record.and_then(|record| entry_from_record(&record, file, number).map(|entry| (record, entry)))
        else {
            read.skipped += 1;
            continue;
        };
        let id = record.get("id").map(Value::to_string);
        match id.as_ref().and_then(|id| places.get(id)).and_then(|&place| read.entries.get_mut(place)) {
            // A newer version of an entry keeps the time at which the entry was first written.
            Some(known) => *known = AuditEntry { at: [known.at, entry.at].into_iter().flatten().min(), ..entry },
            None => {
                places.extend(id.map(|id| (id, read.entries.len())));
                read.entries.push(entry);
            }
        }
    }
    read
}

fn entry_from_record(record: &Map<String, Value>, file: &str, line: usize) -> Option<AuditEntry> {
    let mut texts: Vec<&str> = Vec::new();
    for text in TEXTS.iter().filter_map(|key| record.get(*key)?.as_str()).map(str::trim) {
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        return None;
    }
    let first = |keys: &[&str]| keys.iter().find_map(|key| record.get(*key).filter(|value| !value.is_null()));
    let name = match first(NAMES) {
        Some(Value::String(name)) if !name.trim().is_empty() => name.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => format!("{file}:{line}"),
    };
    // Archivist's own records hold no use count; their ledger does.
    let is_ours = record.get("evidence").is_some_and(Value::is_object);
    Some(AuditEntry {
        name,
        text: texts.join("\n"),
        at: first(TIMES).and_then(parse_timestamp),
        used: first(USES).and_then(Value::as_u64).filter(|_| !is_ours),
        is_retired: is_retired(record),
    })
}

fn is_retired(record: &Map<String, Value>) -> bool {
    let is_true = |key: &str| record.get(key).and_then(Value::as_bool) == Some(true);
    let stands = STATES.iter().filter_map(|key| record.get(*key)?.as_str());
    let is_replaced =
        ["supersededBy", "superseded_by"].iter().any(|key| record.get(*key).is_some_and(Value::is_string));
    is_replaced
        || is_true("archived")
        || is_true("deleted")
        || stands.into_iter().any(|word| RETIRED.contains(&word.to_ascii_lowercase().as_str()))
}

fn parse_timestamp(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => chrono::DateTime::parse_from_rfc3339(text).ok().map(|moment| moment.to_utc()),
        Value::Number(number) => {
            let number = number.as_i64()?;
            let millis = if number > MANY_SECONDS { number } else { number.checked_mul(1_000)? };
            chrono::DateTime::from_timestamp_millis(millis)
        }
        _ => None,
    }
}
