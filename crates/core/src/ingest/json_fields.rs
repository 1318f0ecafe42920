//! Reads values from JSON objects that may deviate from their format.

use chrono::DateTime;
use chrono::NaiveDate;
use chrono::NaiveDateTime;
use chrono::Utc;
use serde_json::Map;
use serde_json::Value;

use crate::domain::Timestamp;

#[cfg(test)]
#[path = "json_fields_tests.rs"]
mod tests;

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// Returns the object, or an empty one for any other value.
pub(super) fn into_object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

/// Returns the string under a key, if it is not empty.
pub(super) fn get_string(object: &Object, key: &str) -> Option<String> {
    get_str(object, key).map(str::to_owned)
}

/// Returns the string under a key, if it is not empty, borrowed.
pub(super) fn get_str<'o>(object: &'o Object, key: &str) -> Option<&'o str> {
    object.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// Takes the object under a key out of its parent.
pub(super) fn take_object(object: &mut Object, key: &str) -> Option<Object> {
    match object.get_mut(key)? {
        Value::Object(inner) => Some(std::mem::take(inner)),
        _ => None,
    }
}

/// Takes the array under a key out of its parent. A single object counts as an array of one.
pub(super) fn take_array(object: &mut Object, key: &str) -> Vec<Value> {
    match object.get_mut(key).map(Value::take) {
        Some(Value::Array(values)) => values,
        Some(value @ Value::Object(_)) => vec![value],
        _ => Vec::new(),
    }
}

/// Returns the boolean under a key.
pub(super) fn get_flag(object: &Object, key: &str) -> Option<bool> {
    object.get(key)?.as_bool()
}

/// Returns the count under a key, also if it is written as a float or as digits.
pub(super) fn get_count(object: &Object, key: &str) -> Option<u64> {
    match object.get(key)? {
        Value::Number(number) => number.as_u64().or_else(|| count_from_float(number.as_f64()?)),
        Value::String(digits) => digits.trim().parse().ok(),
        _ => None,
    }
}

fn count_from_float(number: f64) -> Option<u64> {
    // Counts above 2^53 are rejected.
    let is_count = (0.0..=9_007_199_254_740_992.0).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    is_count.then_some(number as u64)
}

/// Returns the whole number under a key, which may be negative.
pub(super) fn get_integer(object: &Object, key: &str) -> Option<i32> {
    match object.get(key)? {
        Value::Number(number) => number.as_i64().and_then(|number| i32::try_from(number).ok()),
        Value::String(digits) => digits.trim().parse().ok(),
        _ => None,
    }
}

/// Returns the finite amount under a key.
pub(super) fn get_amount(object: &Object, key: &str) -> Option<f64> {
    match object.get(key)? {
        Value::Number(number) => number.as_f64(),
        Value::String(digits) => digits.trim().parse().ok().filter(|amount: &f64| amount.is_finite()),
        _ => None,
    }
}

/// The maximum length of the name of a line's kind.
const MAX_NAME_BYTES: usize = 40;

/// Returns the name of a line's kind, or a placeholder if it is too long: a cut secret could not be recognised.
pub(super) fn bounded_kind_name(word: &str) -> &str {
    if word.len() <= MAX_NAME_BYTES { word } else { "(too long for a name)" }
}

/// Returns the time under a key.
pub(super) fn get_time(object: &Object, key: &str) -> Option<Timestamp> {
    parse_time(object.get(key)?)
}

/// Parses a time in any form that logs use: with an offset, without one (then it is UTC), a date alone, seconds or
/// milliseconds since 1970.
pub(super) fn parse_time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => parse_time_text(text),
        Value::Number(number) => {
            let number = number.as_f64()?;
            // Milliseconds of 1973 are seconds of 5138.
            let milliseconds = if number.abs() < 1e11 { number * 1000.0 } else { number };
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a cast of floats saturates, and chrono refuses the rest"
            )]
            DateTime::from_timestamp_millis(milliseconds as i64)
        }
        _ => None,
    }
}

/// Parses a time that is written as text.
pub(super) fn parse_time_text(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.with_timezone(&Utc));
    }
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"] {
        if let Ok(at) = NaiveDateTime::parse_from_str(text, format) {
            return Some(at.and_utc());
        }
    }
    for format in ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %#z"] {
        if let Ok(at) = DateTime::parse_from_str(text, format) {
            return Some(at.with_timezone(&Utc));
        }
    }
    Some(NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0)?.and_utc())
}

/// Returns the text of a content of any shape: a string, parts with a text, or any JSON.
pub(super) fn content_text(content: Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text,
        Value::Array(parts) => {
            let parts: Vec<String> = parts.into_iter().map(part_text).filter(|part| !part.is_empty()).collect();
            parts.join("\n")
        }
        other => other.to_string(),
    }
}

/// Returns the text of one part of a content.
fn part_text(part: Value) -> String {
    match part {
        Value::Object(mut part) => match part.get_mut("text").map(Value::take) {
            Some(Value::String(text)) => text,
            _ => match part.get("type").and_then(Value::as_str) {
                Some(kind @ ("image" | "audio" | "document" | "input_image" | "input_audio" | "file")) => {
                    format!("[{kind}]")
                }
                _ => Value::Object(part).to_string(),
            },
        },
        other => content_text(other),
    }
}
