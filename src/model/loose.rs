//! JSON as models write it.
//!
//! Models are asked for JSON and answer with prose around it, fences, comments, trailing commas, Python words, or half of
//! it. [`json`] finds the object that was meant and says whether it had to be mended. What was cut off is left out, never
//! made up.

mod calls;
mod parser;

use std::ops::Range;

use memchr::memchr2;
use serde_json::Value;

pub(super) use calls::{calls, written};
use parser::{Parser, Wrong};

#[cfg(test)]
#[path = "loose_tests.rs"]
mod tests;

/// Where thinking ends and the answer begins.
const THOUGHT_ENDS: &[&str] = &["</think>", "</thinking>", "[/THINK]"];

/// A text may be read so many times over by attempts that came to nothing; from then on nothing is tried twice.
const MAX_READINGS: usize = 16;

/// JSON that was found in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Loose {
    /// An object, or an array of objects.
    pub value: Value,
    /// Whether it was anything but strict and whole JSON.
    pub repaired: bool,
}

/// The first JSON object, or array of objects, in a text. Strict JSON goes before what had to be mended, and anything
/// goes before an empty object.
pub fn json(text: &str) -> Option<Loose> {
    json_with(text, &[])
}

/// The first JSON object, or array of objects, that has one of these keys; if none has, the one that [`json`] gives.
pub fn json_with(text: &str, keys: &[&str]) -> Option<Loose> {
    if let Ok(value) = serde_json::from_str::<Value>(text)
        && (value.is_object() || is_list_of_objects(&value))
    {
        return Some(Loose { value, repaired: false });
    }
    let rank = |found: &Found| {
        let whole = !found.mended && !found.cut;
        (has_one_of(&found.value, keys), !is_empty(&found.value), whole)
    };
    // Of several that rank alike, `max_by_key` takes the last.
    let best = answers(text).into_iter().rev().max_by_key(rank)?;
    Some(Loose { repaired: best.mended || best.cut, value: best.value })
}

/// Something found in a text.
#[derive(Debug)]
struct Found {
    /// An object, or an array of objects.
    value: Value,
    span: Range<usize>,
    /// It was not strict JSON.
    mended: bool,
    /// It was not whole.
    cut: bool,
}

/// Everything a text holds.
#[derive(Debug, Default)]
struct Scan {
    found: Vec<Found>,
    /// Where an object begins that is cut off by the end of the text before it says anything.
    open: Option<usize>,
    /// How many bytes were looked at, those that were looked at twice counted twice.
    read: usize,
}

/// What a text holds behind its thoughts; if there is nothing, what it holds in them.
fn answers(text: &str) -> Vec<Found> {
    let whole = scan(text);
    let Some(thought_end) = THOUGHT_ENDS.iter().filter_map(|end| Some(text.rfind(end)? + end.len())).max() else {
        return whole.found;
    };
    // In the middle of proper JSON it is a word like any other.
    let is_quoted = whole.open.is_some_and(|open| open < thought_end)
        || whole
            .found
            .iter()
            .any(|found| !found.mended && found.span.start < thought_end && thought_end < found.span.end);
    if !is_quoted && let Some(answer) = text.get(thought_end..) {
        let behind = scan(answer).found;
        if !behind.is_empty() {
            return behind;
        }
    }
    whole.found
}

fn scan(text: &str) -> Scan {
    let mut scan = Scan::default();
    let enough = text.len().saturating_mul(MAX_READINGS);
    let mut from = 0;
    while let Some(offset) = text.as_bytes().get(from..).and_then(|rest| memchr2(b'{', b'[', rest)) {
        let at = from + offset;
        let mut parser = Parser::new(text, at);
        let parsed = parser.value();
        let end = parser.position().max(at + 1);
        scan.read += end - at;
        match parsed {
            Ok(Some(value)) => {
                let (mended, cut) = (parser.mended, parser.cut);
                let found = |value| Found { value, span: at..end, mended, cut };
                match value {
                    Value::Array(list) if !list.iter().all(Value::is_object) => {
                        scan.found.extend(list.into_iter().filter(Value::is_object).map(found));
                    }
                    Value::Array(list) if list.is_empty() => {}
                    value => scan.found.push(found(value)),
                }
                from = end;
            }
            // What stands in the rest of it are parts of a value that is not there, not values.
            Ok(None) if end == text.len() && !parser.mended && text.as_bytes().get(at) == Some(&b'{') => {
                scan.open = Some(at);
                break;
            }
            Err(Wrong::TooDeep) => break,
            Ok(None) | Err(Wrong::Strange) => {
                // A quote that is none may have hidden what is looked for, so every start is tried while that is cheap.
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

fn has_one_of(value: &Value, keys: &[&str]) -> bool {
    match value {
        Value::Object(object) => keys.iter().any(|key| object.contains_key(*key)),
        Value::Array(list) => list.iter().any(|item| has_one_of(item, keys)),
        _ => false,
    }
}
