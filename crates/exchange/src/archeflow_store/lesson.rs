//! A line of `lessons.jsonl`, in the form in which ArcheFlow writes it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

#[cfg(test)]
#[path = "lesson_tests.rs"]
mod tests;

/// A lesson of ArcheFlow. Irregular lines are read leniently: a value that is not a number becomes 0, and a missing
/// text becomes empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ArcheFlowLesson {
    /// The id, in the form `m-NNN`.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub id: String,
    /// The time at which it was created or last seen.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub ts: String,
    /// The run in which it was first seen, or `manual`.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub run_id: String,
    /// The kind of lesson: `pattern`, `preference`, `archetype_hint` or `anti_pattern`.
    #[serde(rename = "type", default, deserialize_with = "deserialize_text")]
    pub kind: String,
    /// The archetype that found it, or `user_feedback`.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub source: String,
    /// The text of the lesson.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub description: String,
    /// The number of runs in which it was seen, less those removed by decay.
    #[serde(default, deserialize_with = "deserialize_whole_number")]
    pub frequency: u64,
    /// The severity: `bug`, `warning`, `info` or `recommendation`.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub severity: String,
    /// The domain: `writing`, `code`, `general` or a word of the project's own.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub domain: String,
    /// The words by which it can be found.
    #[serde(default, deserialize_with = "deserialize_texts")]
    pub tags: Vec<String>,
    /// The archetype that it is for: `None` if the line has no such field, `Some(None)` if the field is `null`.
    #[serde(default, deserialize_with = "deserialize_nullable_text", skip_serializing_if = "Option::is_none")]
    pub archetype: Option<Option<String>>,
    /// The run that saw it last, or empty if none did.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub last_seen_run: String,
    /// The number of runs since then, which starts again whenever decay removes a sighting.
    #[serde(default, deserialize_with = "deserialize_whole_number")]
    pub runs_since_last_seen: u64,
    /// All other fields of the line.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ArcheFlowLesson {
    /// Parses a line. The error describes why it is not a JSON object.
    pub fn parse(line: &str) -> Result<Self, String> {
        // Parsed into a map first, so that the last of two equal keys counts, as in jq.
        let fields: Map<String, Value> =
            serde_json::from_str(line.trim_start_matches('\u{feff}')).map_err(|error| error.to_string())?;
        serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
    }

    /// Returns the lesson as a line without its line break.
    pub fn to_line(&self) -> String {
        // Texts, numbers and maps of them can always be written as JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the archetype that the lesson is for, if any.
    pub fn archetype(&self) -> Option<&str> {
        self.archetype.as_ref().and_then(Option::as_deref)
    }
}

/// Returns a JSON number rounded down to a whole one, or 0 for negative numbers and other values.
pub(super) fn read_whole_number(value: &Value) -> u64 {
    let Value::Number(number) = value else { return 0 };
    number.as_u64().unwrap_or_else(|| {
        let floor = number.as_f64().unwrap_or_default().floor();
        if floor <= 0.0 { 0 } else { format!("{floor:.0}").parse().unwrap_or(u64::MAX) }
    })
}

/// Returns a JSON value as text: a string as it is, `null` as empty text, everything else as JSON.
pub(super) fn json_to_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn deserialize_text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Value::deserialize(from).map(json_to_text)
}

fn deserialize_whole_number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Value::deserialize(from).map(|value| read_whole_number(&value))
}

fn deserialize_texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Array(values) => values.into_iter().map(json_to_text).collect(),
        Value::Null => Vec::new(),
        single => vec![json_to_text(single)],
    })
}

fn deserialize_nullable_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(Some(if value.is_null() { None } else { Some(json_to_text(value)) }))
}
