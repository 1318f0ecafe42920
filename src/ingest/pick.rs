//! Values out of JSON that need not be what its format promises.

use chrono::DateTime;
use chrono::NaiveDate;
use chrono::NaiveDateTime;
use chrono::Utc;
use serde_json::Map;
use serde_json::Value;

use crate::domain::Timestamp;

#[cfg(test)]
#[path = "pick_tests.rs"]
mod tests;

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// The object, or an empty one.
pub(super) fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

/// A string that is not empty.
pub(super) fn string(object: &Object, key: &str) -> Option<String> {
    str(object, key).map(str::to_owned)
}

/// A string that is not empty, borrowed.
pub(super) fn str<'o>(object: &'o Object, key: &str) -> Option<&'o str> {
    object.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// Takes a part out that is an object.
pub(super) fn take_object(object: &mut Object, key: &str) -> Option<Object> {
    match object.get_mut(key)? {
        Value::Object(inner) => Some(std::mem::take(inner)),
        _ => None,
    }
}

/// Takes a part out that is an array. A single object counts as an array of one.
pub(super) fn take_array(object: &mut Object, key: &str) -> Vec<Value> {
    match object.get_mut(key).map(Value::take) {
        Some(Value::Array(values)) => values,
        Some(value @ Value::Object(_)) => vec![value],
        _ => Vec::new(),
    }
}

/// Whether a flag is set.
pub(super) fn flag(object: &Object, key: &str) -> Option<bool> {
    object.get(key)?.as_bool()
}

/// A count, also where it was written as a float or as digits.
pub(super) fn count(object: &Object, key: &str) -> Option<u64> {
    match object.get(key)? {
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Value::String(digits) => digits.trim().parse().ok(),
        _ => None,
    }
}

fn whole(number: f64) -> Option<u64> {
    // Counts beyond 2^53 are no counts.
    let is_count = (0.0..=9_007_199_254_740_992.0).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    is_count.then_some(number as u64)
}

/// A whole number that may be negative.
pub(super) fn integer(object: &Object, key: &str) -> Option<i32> {
    match object.get(key)? {
        Value::Number(number) => number.as_i64().and_then(|number| i32::try_from(number).ok()),
        Value::String(digits) => digits.trim().parse().ok(),
        _ => None,
    }
}

/// An amount.
pub(super) fn amount(object: &Object, key: &str) -> Option<f64> {
    match object.get(key)? {
        Value::Number(number) => number.as_f64(),
        Value::String(digits) => digits.trim().parse().ok().filter(|amount: &f64| amount.is_finite()),
        _ => None,
    }
}

/// The longest name of a kind of line.
const MAX_NAME_BYTES: usize = 40;

/// What a line calls itself, whole or not at all: half a word could be half a secret, which nothing would recognise.
pub(super) fn name(word: &str) -> &str {
    if word.len() <= MAX_NAME_BYTES { word } else { "(too long for a name)" }
}

/// A moment under this key.
pub(super) fn time(object: &Object, key: &str) -> Option<Timestamp> {
    moment(object.get(key)?)
}

/// A moment, in any of the ways in which logs write them: with an offset, without one (then it is UTC), a date alone,
/// seconds or milliseconds since 1970.
pub(super) fn moment(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => moment_of(text),
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

/// A moment in words.
pub(super) fn moment_of(text: &str) -> Option<Timestamp> {
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

/// The words of a content, whatever its shape: a string, parts with a text, or any JSON.
pub(super) fn words(content: Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text,
        Value::Array(parts) => {
            let parts: Vec<String> = parts.into_iter().map(part).filter(|part| !part.is_empty()).collect();
            parts.join("\n")
        }
        other => other.to_string(),
    }
}

/// One part of a content.
fn part(part: Value) -> String {
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
        other => words(other),
    }
}
