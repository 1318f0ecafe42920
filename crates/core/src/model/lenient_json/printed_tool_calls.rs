//! Tool calls that a model printed as text instead of making them.

use serde_json::{Map, Value};

use super::super::{ModelTool, ModelToolCall};

/// The deepest nesting of wrappers: a list in a `tool_calls` in an object. Nothing real has more.
const MAX_WRAPPERS: u8 = 4;

/// The member names under which arguments appear.
const ARGUMENTS: &[&str] = &["arguments", "parameters", "args", "input", "tool_input", "action_input"];

/// Returns the calls of these tools that a text contains as JSON: fenced, in tags, in a list, or bare. An object that
/// names no given tool is not a call.
pub(in super::super) fn find_printed_calls(text: &str, tools: &[ModelTool]) -> Vec<ModelToolCall> {
    let mut calls = Vec::new();
    for found in super::find_answer_json(text) {
        collect_calls(&found.value, tools, MAX_WRAPPERS, &mut calls);
    }
    calls
}

fn collect_calls(value: &Value, tools: &[ModelTool], wrappers: u8, calls: &mut Vec<ModelToolCall>) {
    let Some(wrappers) = wrappers.checked_sub(1) else { return };
    match value {
        Value::Array(list) => list.iter().for_each(|item| collect_calls(item, tools, wrappers, calls)),
        Value::Object(object) => {
            if let Some((name, arguments)) = parse_call(object, tools) {
                calls.push(ModelToolCall { id: format!("call_{}", calls.len() + 1), name: name.to_owned(), arguments });
            } else {
                for key in ["tool_calls", "tool_call", "function_call"] {
                    if let Some(inner) = object.get(key) {
                        collect_calls(inner, tools, wrappers, calls);
                    }
                }
            }
        }
        _ => {}
    }
}

fn parse_call<'o>(object: &'o Map<String, Value>, tools: &[ModelTool]) -> Option<(&'o str, String)> {
    let known = |name: &'o Value| name.as_str().filter(|name| tools.iter().any(|tool| tool.name == *name));
    if let Some(Value::Object(function)) = object.get("function") {
        let name = function.get("name").and_then(known)?;
        let arguments = find_arguments(function).or_else(|| find_arguments(object));
        return Some((name, arguments.unwrap_or_else(|| "{}".to_owned())));
    }
    let name = ["name", "tool", "tool_name", "function", "action"].iter().find_map(|key| known(object.get(*key)?))?;
    // A name without arguments may be anything.
    Some((name, find_arguments(object)?))
}

fn find_arguments(object: &Map<String, Value>) -> Option<String> {
    ARGUMENTS.iter().find_map(|key| object.get(*key)).map(encode_arguments)
}

/// Returns arguments as a call carries them: as text, which is JSON wherever the model wrote JSON.
pub(in super::super) fn encode_arguments(arguments: &Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
