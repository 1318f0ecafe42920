//! One line of `lessons.jsonl`, as ArcheFlow writes it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

#[cfg(test)]
#[path = "lesson_tests.rs"]
mod tests;

/// A lesson of ArcheFlow. What the file says in an odd way is read as well as it can be: a number that is none is 0, a
/// text that is missing is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ArcheLesson {
    /// `m-NNN`.
    #[serde(default, deserialize_with = "text")]
    pub id: String,
    /// When it was made or last seen.
    #[serde(default, deserialize_with = "text")]
    pub ts: String,
    /// The run that it was first seen in, or `manual`.
    #[serde(default, deserialize_with = "text")]
    pub run_id: String,
    /// `pattern`, `preference`, `archetype_hint` or `anti_pattern`.
    #[serde(rename = "type", default, deserialize_with = "text")]
    pub kind: String,
    /// The archetype that found it, or `user_feedback`.
    #[serde(default, deserialize_with = "text")]
    pub source: String,
    /// What it says.
    #[serde(default, deserialize_with = "text")]
    pub description: String,
    /// In how many runs it was seen, less what silence took away.
    #[serde(default, deserialize_with = "whole")]
    pub frequency: u64,
    /// `bug`, `warning`, `info` or `recommendation`.
    #[serde(default, deserialize_with = "text")]
    pub severity: String,
    /// `writing`, `code`, `general` or a project's own word.
    #[serde(default, deserialize_with = "text")]
    pub domain: String,
    /// Words to find it by.
    #[serde(default, deserialize_with = "texts")]
    pub tags: Vec<String>,
    /// For which archetype it is: `None` if the line does not speak of one, `Some(None)` if it says `null`.
    #[serde(default, deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    pub archetype: Option<Option<String>>,
    /// The run that saw it last; empty if none did.
    #[serde(default, deserialize_with = "text")]
    pub last_seen_run: String,
    /// Runs since then, up to the next one that takes a sighting away.
    #[serde(default, deserialize_with = "whole")]
    pub runs_since_last_seen: u64,
    /// Whatever else the line says.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ArcheLesson {
    /// Reads a line. The error says what is wrong with it, for it is no JSON or no object.
    pub fn parse(line: &str) -> Result<Self, String> {
        // By way of a map, so that of a key that stands twice the last counts, as for jq.
        let fields: Map<String, Value> =
            serde_json::from_str(line.trim_start_matches('\u{feff}')).map_err(|error| error.to_string())?;
        serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
    }

    /// The line, without its end.
    pub fn to_line(&self) -> String {
        // Texts, numbers and maps of them are always JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The archetype it is for, if it is for one.
    pub fn archetype(&self) -> Option<&str> {
        self.archetype.as_ref().and_then(Option::as_deref)
    }
}

/// A number as a whole one from 0 up: rounded down, and 0 for whatever is no number or below it.
pub(super) fn whole_number(value: &Value) -> u64 {
    let Value::Number(number) = value else { return 0 };
    number.as_u64().unwrap_or_else(|| {
        let floor = number.as_f64().unwrap_or_default().floor();
        if floor <= 0.0 { 0 } else { format!("{floor:.0}").parse().unwrap_or(u64::MAX) }
    })
}

/// A value as a text: a text as it is, nothing for `null`, everything else as JSON.
pub(super) fn plain_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Value::deserialize(from).map(plain_text)
}

fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Value::deserialize(from).map(|value| whole_number(&value))
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Array(values) => values.into_iter().map(plain_text).collect(),
        Value::Null => Vec::new(),
        single => vec![plain_text(single)],
    })
}

fn said<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(Some(if value.is_null() { None } else { Some(plain_text(value)) }))
}
