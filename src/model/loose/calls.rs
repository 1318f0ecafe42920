//! Calls that were printed instead of made.

use serde_json::{Map, Value};

use super::super::{Tool, ToolCall};

/// Wrappers within wrappers: a list in a `tool_calls` in an object. Nothing real has more.
const MAX_WRAPPERS: u8 = 4;

/// The names that arguments go by.
const ARGUMENTS: &[&str] = &["arguments", "parameters", "args", "input", "tool_input", "action_input"];

/// The calls of these tools that a text holds as JSON: fenced, in tags, in a list, or bare. An object that names no
/// given tool is no call.
pub(in super::super) fn calls(text: &str, tools: &[Tool]) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for found in super::answers(text) {
        collect(&found.value, tools, MAX_WRAPPERS, &mut calls);
    }
    calls
}

fn collect(value: &Value, tools: &[Tool], wrappers: u8, calls: &mut Vec<ToolCall>) {
    let Some(wrappers) = wrappers.checked_sub(1) else { return };
    match value {
        Value::Array(list) => list.iter().for_each(|item| collect(item, tools, wrappers, calls)),
        Value::Object(object) => {
            if let Some((name, arguments)) = call(object, tools) {
                calls.push(ToolCall { id: format!("call_{}", calls.len() + 1), name: name.to_owned(), arguments });
            } else {
                for key in ["tool_calls", "tool_call", "function_call"] {
                    if let Some(inner) = object.get(key) {
                        collect(inner, tools, wrappers, calls);
                    }
                }
            }
        }
        _ => {}
    }
}

fn call<'o>(object: &'o Map<String, Value>, tools: &[Tool]) -> Option<(&'o str, String)> {
    let known = |name: &'o Value| name.as_str().filter(|name| tools.iter().any(|tool| tool.name == *name));
    if let Some(Value::Object(function)) = object.get("function") {
        let name = function.get("name").and_then(known)?;
        let arguments = arguments(function).or_else(|| arguments(object));
        return Some((name, arguments.unwrap_or_else(|| "{}".to_owned())));
    }
    let name = ["name", "tool", "tool_name", "function", "action"].iter().find_map(|key| known(object.get(*key)?))?;
    // A name alone may be anything.
    Some((name, arguments(object)?))
}

fn arguments(object: &Map<String, Value>) -> Option<String> {
    ARGUMENTS.iter().find_map(|key| object.get(*key)).map(written)
}

/// Arguments as a call carries them: a text, which is JSON wherever the model wrote JSON.
pub(in super::super) fn written(arguments: &Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
