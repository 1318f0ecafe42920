//! A lenient reader for JSON as models write it.
//!
//! Models that are instructed to write JSON answer with prose around it, fences, comments, trailing commas, Python
//! words, or half of it. [`find_json`] finds the intended object and says whether it had to be repaired. What was cut
//! off is left out, never invented.

mod parser;
mod printed_tool_calls;

use std::ops::Range;

use memchr::memchr2;
use serde_json::Value;

use parser::{LenientParseError, LenientParser};
pub(super) use printed_tool_calls::{encode_arguments, find_printed_calls};

#[cfg(test)]
#[path = "lenient_json_tests.rs"]
mod tests;

/// The marks at which reasoning ends and the answer begins.
const THOUGHT_ENDS: &[&str] = &["</think>", "</thinking>", "[/THINK]"];

/// The limit on rereading: failed attempts may read a text this many times over; from then on nothing is tried twice.
const MAX_READINGS: usize = 16;

/// The JSON that was found in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct LenientJson {
    /// The value: an object, or an array of objects.
    pub value: Value,
    /// True if it was anything but strict and complete JSON.
    pub repaired: bool,
}

/// Returns the first JSON object, or array of objects, in a text. Strict JSON is preferred over repaired JSON, and
/// anything is preferred over an empty object.
pub fn find_json(text: &str) -> Option<LenientJson> {
    find_json_with_keys(text, &[])
}

/// Returns the first JSON object, or array of objects, that has one of these keys; if none has, the result of
/// [`find_json`].
pub fn find_json_with_keys(text: &str, keys: &[&str]) -> Option<LenientJson> {
    if let Ok(value) = serde_json::from_str::<Value>(text)
        && (value.is_object() || is_list_of_objects(&value))
    {
        return Some(LenientJson { value, repaired: false });
    }
    let rank = |found: &FoundJson| {
        let whole = !found.mended && !found.cut;
        (has_any_key(&found.value, keys), !is_empty(&found.value), whole)
    };
    // Among equal ranks, `max_by_key` takes the last.
    let best = find_answer_json(text).into_iter().rev().max_by_key(rank)?;
    Some(LenientJson { repaired: best.mended || best.cut, value: best.value })
}

/// A JSON value found in a text.
#[derive(Debug)]
struct FoundJson {
    /// The value: an object, or an array of objects.
    value: Value,
    span: Range<usize>,
    /// True if it was not strict JSON.
    mended: bool,
    /// True if it was cut off.
    cut: bool,
}

/// All JSON values of a text.
#[derive(Debug, Default)]
struct LenientScan {
    found: Vec<FoundJson>,
    /// The position of an object that is cut off by the end of the text before it has any member.
    open: Option<usize>,
    /// The number of bytes read, with repeated reads counted again.
    read: usize,
}

/// Returns the JSON values after the reasoning; if there are none, those inside it.
fn find_answer_json(text: &str) -> Vec<FoundJson> {
    let whole = scan_text(text);
    let Some(thought_end) = THOUGHT_ENDS.iter().filter_map(|end| Some(text.rfind(end)? + end.len())).max() else {
        return whole.found;
    };
    // In the middle of valid JSON the mark is ordinary text.
    let is_quoted = whole.open.is_some_and(|open| open < thought_end)
        || whole
            .found
            .iter()
            .any(|found| !found.mended && found.span.start < thought_end && thought_end < found.span.end);
    if !is_quoted && let Some(answer) = text.get(thought_end..) {
        let behind = scan_text(answer).found;
        if !behind.is_empty() {
            return behind;
        }
    }
    whole.found
}

fn scan_text(text: &str) -> LenientScan {
    let mut scan = LenientScan::default();
    let enough = text.len().saturating_mul(MAX_READINGS);
    let mut from = 0;
    while let Some(offset) = text.as_bytes().get(from..).and_then(|rest| memchr2(b'{', b'[', rest)) {
        let at = from + offset;
        let mut parser = LenientParser::new(text, at);
        let parsed = parser.parse_value();
        let end = parser.position().max(at + 1);
        scan.read += end - at;
        match parsed {
            Ok(Some(value)) => {
                let (mended, cut) = (parser.mended, parser.cut);
                let found = |value| FoundJson { value, span: at..end, mended, cut };
                match value {
                    Value::Array(list) if !list.iter().all(Value::is_object) => {
                        scan.found.extend(list.into_iter().filter(Value::is_object).map(found));
                    }
                    Value::Array(list) if list.is_empty() => {}
                    value => scan.found.push(found(value)),
                }
                from = end;
            }
            // The rest belongs to an incomplete value and holds no values of its own.
            Ok(None) if end == text.len() && !parser.mended && text.as_bytes().get(at) == Some(&b'{') => {
                scan.open = Some(at);
                break;
            }
            Err(LenientParseError::TooDeep) => break,
            Ok(None) | Err(LenientParseError::Strange) => {
                // A stray quote may have hidden the intended value, so every start is tried while that is cheap.
                from = if scan.read < enough { at + 1 } else { end };
            }
        }
    }
    scan
}

fn is_list_of_objects(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_object))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.is_empty(),
        Value::Array(list) => list.iter().all(is_empty),
        _ => false,
    }
}

fn has_any_key(value: &Value, keys: &[&str]) -> bool {
    match value {
        Value::Object(object) => keys.iter().any(|key| object.contains_key(*key)),
        Value::Array(list) => list.iter().any(|item| has_any_key(item, keys)),
        _ => false,
    }
}
