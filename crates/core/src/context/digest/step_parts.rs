//! Splits a step into its parts, in the words of the log.

use std::borrow::Cow;

use serde_json::Value;

use crate::context::tool_action::ToolAction;
use crate::domain::{Step, ToolCall, ToolOutput};

/// The longest argument string, in bytes, that is shown with the call; longer or multi-line strings get their own part.
const MAX_INLINE_BYTES: usize = 120;

/// The keys under which an edit names its file; the file is shown with the call.
const PATH_KEYS: &[&str] =
    &["file_path", "path", "filePath", "absolute_path", "filename", "target_file", "notebook_path", "file"];

/// One part of a step.
pub(in crate::context) struct StepPart<'s> {
    pub(in crate::context) what: StepPartKind<'s>,
    pub(in crate::context) text: Cow<'s, str>,
}

/// The kind of a part.
pub(in crate::context) enum StepPartKind<'s> {
    /// Words of the speaker.
    Said,
    /// Thoughts before the words.
    Thought,
    /// A tool call with its short arguments.
    Call(&'s str),
    /// A long argument of the call, by its name.
    Argument(String),
    /// The output of a call.
    Output(&'s ToolOutput),
}

/// Returns the texts of a step as a digest shows them, before anything is cut. Any quote from a digest occurs in one of
/// them, letter for letter.
pub fn shown_texts(step: &Step) -> Vec<Cow<'_, str>> {
    split_step_parts(step).into_iter().map(|part| part.text).filter(|text| !text.is_empty()).collect()
}

/// Returns the parts of a step in the order of the log; there is always at least one.
pub(in crate::context) fn split_step_parts(step: &Step) -> Vec<StepPart<'_>> {
    let mut parts = Vec::new();
    if let Some(thought) = step.reasoning.as_deref().map(trim_blank_edges).filter(|thought| !thought.is_empty()) {
        parts.push(StepPart { what: StepPartKind::Thought, text: thought.into() });
    }
    let said = trim_blank_edges(&step.text);
    if !said.is_empty() || (parts.is_empty() && step.calls.is_empty() && step.outputs.is_empty()) {
        parts.push(StepPart { what: StepPartKind::Said, text: said.into() });
    }
    for call in &step.calls {
        if let Some(plan) = presented_plan(call) {
            parts.push(StepPart { what: StepPartKind::Said, text: trim_blank_edges(plan).into() });
        } else {
            push_call_parts(&call.tool, &call.arguments, &mut parts);
        }
        if let Some(output) = &call.output {
            parts.push(StepPart { what: StepPartKind::Output(output), text: trim_blank_edges(&output.text).into() });
        }
    }
    for output in &step.outputs {
        parts.push(StepPart { what: StepPartKind::Output(output), text: trim_blank_edges(&output.text).into() });
    }
    parts
}

/// Returns the plan that a call presents to the user; it counts as the agent's words.
pub(super) fn presented_plan(call: &ToolCall) -> Option<&str> {
    let is_plan = matches!(call.tool.as_str(), "ExitPlanMode" | "exit_plan_mode");
    call.arguments.get("plan").and_then(Value::as_str).filter(|plan| is_plan && !plan.trim().is_empty())
}

/// Returns true if a step contains words of the speaker or a plan.
pub(super) fn has_spoken_text(step: &Step) -> bool {
    !step.text.trim().is_empty() || step.calls.iter().any(|call| presented_plan(call).is_some())
}

/// Returns a text without empty lines before it and blanks after it.
fn trim_blank_edges(text: &str) -> &str {
    text.trim_end().trim_start_matches(['\n', '\r'])
}

/// Pushes a call and its arguments: a command as typed, an edit by its file and texts, anything else as JSON.
fn push_call_parts<'s>(tool: &'s str, arguments: &'s Value, parts: &mut Vec<StepPart<'s>>) {
    let action = ToolAction::from_call(tool, arguments);
    if let ToolAction::Run { command } = action {
        parts.push(StepPart { what: StepPartKind::Call(tool), text: command.into() });
        return;
    }
    let mut long = Vec::new();
    let text: Cow<'s, str> = match arguments {
        Value::Null => "".into(),
        Value::String(text) => trim_blank_edges(text).into(),
        Value::Object(fields) if matches!(action, ToolAction::Edit(_)) => {
            for (key, value) in old_fields_first(fields).filter(|(key, _)| !PATH_KEYS.contains(&key.as_str())) {
                collect_long_strings(key, value, 0, &mut long);
            }
            let path = PATH_KEYS.iter().find_map(|key| fields.get(*key)?.as_str());
            path.map(trim_blank_edges).unwrap_or_default().into()
        }
        other => without_long_strings(other, "", &mut long).map(|value| value.to_string()).unwrap_or_default().into(),
    };
    parts.push(StepPart { what: StepPartKind::Call(tool), text });
    parts.extend(long);
}

/// Returns the fields of an edit, those of the old text first.
fn old_fields_first(fields: &serde_json::Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let is_old = |key: &str| key.starts_with("old");
    fields.iter().filter(move |(key, _)| is_old(key)).chain(fields.iter().filter(move |(key, _)| !is_old(key)))
}

/// Collects every string of a value that is longer than `max` bytes, named by its path.
fn collect_long_strings<'s>(name: &str, value: &'s Value, max: usize, long: &mut Vec<StepPart<'s>>) {
    match value {
        Value::String(text) if text.len() > max || text.contains('\n') => {
            long.push(StepPart { what: StepPartKind::Argument(name.to_owned()), text: trim_blank_edges(text).into() });
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                collect_long_strings(&format!("{name}.{at}"), value, max, long);
            }
        }
        Value::Object(fields) => {
            for (key, value) in old_fields_first(fields) {
                collect_long_strings(&format!("{name}.{key}"), value, max, long);
            }
        }
        _ => {}
    }
}

/// Returns a value without its long strings, which are collected separately; `None` if nothing remains.
fn without_long_strings<'s>(value: &'s Value, name: &str, long: &mut Vec<StepPart<'s>>) -> Option<Value> {
    let under = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::String(text) if text.len() > MAX_INLINE_BYTES || text.contains('\n') => {
            collect_long_strings(name, value, MAX_INLINE_BYTES, long);
            None
        }
        Value::Array(list) => {
            let kept: Vec<Value> = list
                .iter()
                .enumerate()
                .filter_map(|(at, value)| without_long_strings(value, &under(&at.to_string()), long))
                .collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        Value::Object(fields) => {
            let kept: serde_json::Map<String, Value> = fields
                .iter()
                .filter_map(|(key, value)| Some((key.clone(), without_long_strings(value, &under(key), long)?)))
                .collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        other => Some(other.clone()),
    }
}
