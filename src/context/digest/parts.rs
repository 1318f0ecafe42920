//! What a step holds, part by part, in the words of the log.

use std::borrow::Cow;

use serde_json::Value;

use crate::context::action::Action;
use crate::domain::{Call, Output, Step};

/// Strings of arguments that are longer, or have several lines, stand for themselves.
const MAX_INLINE_BYTES: usize = 120;

/// Where an edit says which file it means: shown with the call.
const PATH_KEYS: &[&str] =
    &["file_path", "path", "filePath", "absolute_path", "filename", "target_file", "notebook_path", "file"];

/// One part of a step.
pub(in crate::context) struct Part<'s> {
    pub(in crate::context) what: What<'s>,
    pub(in crate::context) text: Cow<'s, str>,
}

/// What a part is.
pub(in crate::context) enum What<'s> {
    /// Words of whoever speaks.
    Said,
    /// Thoughts before them.
    Thought,
    /// A call of a tool, with what it was given.
    Call(&'s str),
    /// A longer thing that it was given, by its name.
    Argument(String),
    /// What came back.
    Output(&'s Output),
}

/// The texts of a step as a digest shows them, before anything is cut. What is quoted from a digest is found in one of
/// them, letter for letter.
pub fn texts(step: &Step) -> Vec<Cow<'_, str>> {
    parts(step).into_iter().map(|part| part.text).filter(|text| !text.is_empty()).collect()
}

/// The parts of a step in the order of the log. The first one names the speaker, so there is always one.
pub(in crate::context) fn parts(step: &Step) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    if let Some(thought) = step.reasoning.as_deref().map(bare).filter(|thought| !thought.is_empty()) {
        parts.push(Part { what: What::Thought, text: thought.into() });
    }
    let said = bare(&step.text);
    if !said.is_empty() || (parts.is_empty() && step.calls.is_empty() && step.outputs.is_empty()) {
        parts.push(Part { what: What::Said, text: said.into() });
    }
    for call in &step.calls {
        if let Some(plan) = plan(call) {
            parts.push(Part { what: What::Said, text: bare(plan).into() });
        } else {
            given(&call.tool, &call.arguments, &mut parts);
        }
        if let Some(output) = &call.output {
            parts.push(Part { what: What::Output(output), text: bare(&output.text).into() });
        }
    }
    for output in &step.outputs {
        parts.push(Part { what: What::Output(output), text: bare(&output.text).into() });
    }
    parts
}

/// Returns the plan that a call lays before the user: it is what the agent says.
pub(super) fn plan(call: &Call) -> Option<&str> {
    let is_plan = matches!(call.tool.as_str(), "ExitPlanMode" | "exit_plan_mode");
    call.arguments.get("plan").and_then(Value::as_str).filter(|plan| is_plan && !plan.trim().is_empty())
}

/// Tells whether somebody says something in a step.
pub(super) fn says_something(step: &Step) -> bool {
    !step.text.trim().is_empty() || step.calls.iter().any(|call| plan(call).is_some())
}

/// A text without empty lines around it and blanks behind it.
fn bare(text: &str) -> &str {
    text.trim_end().trim_start_matches(['\n', '\r'])
}

/// A call and what it was given: a command as it was typed, an edit by its file and its texts, the rest as JSON.
fn given<'s>(tool: &'s str, arguments: &'s Value, parts: &mut Vec<Part<'s>>) {
    let action = Action::of(tool, arguments);
    if let Action::Run { command } = action {
        parts.push(Part { what: What::Call(tool), text: command.into() });
        return;
    }
    let mut long = Vec::new();
    let text: Cow<'s, str> = match arguments {
        Value::Null => "".into(),
        Value::String(text) => bare(text).into(),
        Value::Object(fields) if matches!(action, Action::Edit(_)) => {
            for (key, value) in old_first(fields).filter(|(key, _)| !PATH_KEYS.contains(&key.as_str())) {
                pick(key, value, 0, &mut long);
            }
            let path = PATH_KEYS.iter().find_map(|key| fields.get(*key)?.as_str());
            path.map(bare).unwrap_or_default().into()
        }
        other => short(other, "", &mut long).map(|value| value.to_string()).unwrap_or_default().into(),
    };
    parts.push(Part { what: What::Call(tool), text });
    parts.extend(long);
}

/// The fields of an edit: what stood there comes before what stands there now.
fn old_first(fields: &serde_json::Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let is_old = |key: &str| key.starts_with("old");
    fields.iter().filter(move |(key, _)| is_old(key)).chain(fields.iter().filter(move |(key, _)| !is_old(key)))
}

/// Every string of a value that is longer than `max` bytes, with the way to it as its name.
fn pick<'s>(name: &str, value: &'s Value, max: usize, long: &mut Vec<Part<'s>>) {
    match value {
        Value::String(text) if text.len() > max || text.contains('\n') => {
            long.push(Part { what: What::Argument(name.to_owned()), text: bare(text).into() });
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                pick(&format!("{name}.{at}"), value, max, long);
            }
        }
        Value::Object(fields) => {
            for (key, value) in old_first(fields) {
                pick(&format!("{name}.{key}"), value, max, long);
            }
        }
        _ => {}
    }
}

/// A value without its long strings, which are put aside; nothing, if nothing remains.
fn short<'s>(value: &'s Value, name: &str, long: &mut Vec<Part<'s>>) -> Option<Value> {
    let under = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::String(text) if text.len() > MAX_INLINE_BYTES || text.contains('\n') => {
            pick(name, value, MAX_INLINE_BYTES, long);
            None
        }
        Value::Array(list) => {
            let kept: Vec<Value> =
                list.iter().enumerate().filter_map(|(at, value)| short(value, &under(&at.to_string()), long)).collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        Value::Object(fields) => {
            let kept: serde_json::Map<String, Value> = fields
                .iter()
                .filter_map(|(key, value)| Some((key.clone(), short(value, &under(key), long)?)))
                .collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        other => Some(other.clone()),
    }
}
