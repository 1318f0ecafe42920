//! Chat messages, as OpenAI and Anthropic shape them, and what readers of chat-like logs have in common.

use std::collections::VecDeque;

use serde_json::Value;

use super::pick;
use super::pick::Object;
use crate::domain::{Call, Event, Output, OutputOf, Sink, Speaker, Step, Timestamp, Usage};

#[cfg(test)]
#[path = "chat_tests.rs"]
pub(super) mod tests;

/// Calls that wait for their output; of more than these the oldest is forgotten.
const MAX_UNANSWERED: usize = 1024;

/// What the content of a message holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) calls: Vec<Call>,
    /// Outputs, each with the id of its call, which may be empty.
    pub(super) outputs: Vec<(String, Output)>,
}

impl Content {
    /// Reads a string, an array of parts, or whatever else stands there.
    pub(super) fn of(value: Value) -> Self {
        let mut content = Self::default();
        match value {
            Value::Array(parts) => parts.into_iter().for_each(|part| content.add(part)),
            Value::Object(part) if part.get("type").is_some_and(Value::is_string) => content.add(Value::Object(part)),
            other => content.text = pick::words(other),
        }
        content
    }

    fn add(&mut self, part: Value) {
        let Value::Object(mut part) = part else {
            join(&mut self.text, pick::words(part));
            return;
        };
        match pick::str(&part, "type").unwrap_or_default() {
            "thinking" => join(&mut self.reasoning, take_words(&mut part, &["thinking", "text"])),
            "reasoning" => join(&mut self.reasoning, take_words(&mut part, &["text", "reasoning", "summary"])),
            "redacted_thinking" => {}
            "refusal" => join(&mut self.text, take_words(&mut part, &["refusal", "text"])),
            "tool_use" | "tool_call" | "function_call" | "toolCall" => self.calls.extend(call(Value::Object(part))),
            "tool_result" | "toolResult" => {
                let id = ["tool_use_id", "tool_call_id", "toolCallId"].iter().find_map(|key| pick::string(&part, key));
                self.outputs.push((id.unwrap_or_default(), output(&mut part)));
            }
            "image" | "image_url" | "input_image" => join(&mut self.text, "[image]".to_owned()),
            "audio" | "input_audio" => join(&mut self.text, "[audio]".to_owned()),
            _ => join(&mut self.text, pick::words(Value::Array(vec![Value::Object(part)]))),
        }
    }
}

/// Appends a paragraph.
fn join(text: &mut String, more: String) {
    if text.is_empty() {
        *text = more;
    } else if !more.is_empty() {
        text.push('\n');
        text.push_str(&more);
    }
}

/// The words under the first of these keys that has any.
pub(super) fn take_words(object: &mut Object, keys: &[&str]) -> String {
    keys.iter()
        .find_map(|key| {
            let value = object.get_mut(*key)?.take();
            Some(pick::words(value)).filter(|words| !words.is_empty())
        })
        .unwrap_or_default()
}

/// A call: `{id, name, input}` or `{id, function: {name, arguments}}`. Its id may be missing.
pub(super) fn call(value: Value) -> Option<Call> {
    let Value::Object(mut call) = value else { return None };
    let id = ["id", "call_id", "toolCallId", "tool_call_id"].iter().find_map(|key| pick::string(&call, key));
    let mut function = match pick::take_object(&mut call, "function") {
        Some(function) => function,
        None => call,
    };
    let tool = ["name", "tool", "toolName"].iter().find_map(|key| pick::string(&function, key)).unwrap_or_default();
    let arguments = ["arguments", "input", "args", "parameters"]
        .iter()
        .find_map(|key| function.get_mut(*key).map(Value::take).filter(|value| !value.is_null()))
        .map_or(Value::Null, arguments);
    Some(Call { id: id.unwrap_or_default(), tool, arguments, output: None })
}

/// Arguments that were written as a string of JSON.
pub(super) fn arguments(value: Value) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        other => other,
    }
}

/// What came back: `{content, is_error, exit_code, duration_ms}` and their like.
pub(super) fn output(object: &mut Object) -> Output {
    let failed = ["is_error", "isError"].iter().find_map(|key| pick::flag(object, key));
    let exit_code = ["exit_code", "exitCode"].iter().find_map(|key| pick::integer(object, key));
    let content = ["content", "result", "output"].iter().find_map(|key| object.get_mut(*key).map(Value::take));
    Output {
        text: content.map(result).unwrap_or_default(),
        failed: failed.or(exit_code.map(|code| code != 0)),
        exit_code,
        interrupted: pick::flag(object, "interrupted").unwrap_or_default(),
        duration_ms: ["duration_ms", "durationMs"].iter().find_map(|key| pick::count(object, key)),
        ..Output::default()
    }
}

/// The words of a result, which may wrap its content once more.
pub(super) fn result(value: Value) -> String {
    match value {
        Value::Object(mut object) if object.contains_key("content") => take_words(&mut object, &["content"]),
        Value::Array(parts) => Content::of(Value::Array(parts)).text,
        other => pick::words(other),
    }
}

/// Tokens and money under any of the names in use.
///
/// `prompt_tokens` holds everything that was read. `input_tokens` holds it too, except beside Anthropic's cache figures,
/// which come on top of it.
pub(super) fn usage(object: &Object) -> Usage {
    let first = |keys: &[&str]| keys.iter().find_map(|key| pick::count(object, key));
    let details = |key: &str| object.get(key)?.as_object().and_then(|details| pick::count(details, "cached_tokens"));
    let read = first(&["cache_read_input_tokens", "cacheReadInputTokens", "cacheReadTokens"]);
    let write = first(&["cache_creation_input_tokens", "cacheCreationInputTokens", "cacheCreationTokens"]);
    let beside = read.unwrap_or_default().saturating_add(write.unwrap_or_default());
    let input = first(&["input_tokens", "inputTokens"]).map(|input| input.saturating_add(beside));
    Usage {
        prompt_tokens: first(&["prompt_tokens", "promptTokens"]).or(input),
        completion_tokens: first(&["completion_tokens", "output_tokens", "completionTokens", "outputTokens"]),
        cached_tokens: first(&["cached_tokens", "cachedTokens"])
            .or(read)
            .or_else(|| details("prompt_tokens_details"))
            .or_else(|| details("input_tokens_details")),
        cache_write_tokens: first(&["cache_write_tokens", "cacheWriteTokens"]).or(write),
        cost_usd: ["cost_usd", "costUsd", "totalCostUsd", "total_cost_usd"]
            .iter()
            .find_map(|key| pick::amount(object, key)),
    }
}

/// Tells steps, calls and outputs of one trajectory after the other.
#[derive(Debug, Default)]
pub(super) struct Teller {
    last: u32,
    unanswered: VecDeque<(String, String)>,
    unnamed: u32,
}

impl Teller {
    /// The number of the last step, 0 before the first.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// Another trajectory begins, and numbers with it.
    pub(super) fn begin(&mut self, sink: &mut dyn Sink) {
        *self = Self::default();
        sink.hear(Event::Begin);
    }

    /// Tells a step under the next number.
    pub(super) fn step(&mut self, mut step: Step, sink: &mut dyn Sink) -> u32 {
        self.last = self.last.saturating_add(1);
        step.number = self.last;
        sink.hear(Event::Step(Box::new(step)));
        self.last
    }

    /// Tells what somebody said.
    pub(super) fn said(&mut self, speaker: Speaker, text: String, at: Option<Timestamp>, sink: &mut dyn Sink) -> u32 {
        self.step(Step { speaker, text, at, ..Step::default() }, sink)
    }

    /// Tells a call; one without an id is given one.
    pub(super) fn call(&mut self, step: u32, mut call: Call, sink: &mut dyn Sink) {
        if call.id.is_empty() {
            self.unnamed = self.unnamed.saturating_add(1);
            call.id = format!("unnamed-{}", self.unnamed);
        }
        if self.unanswered.len() >= MAX_UNANSWERED {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back((call.id.clone(), call.tool.clone()));
        sink.hear(Event::Call(step, call));
    }

    /// Whether a call waits for its output.
    pub(super) fn is_unanswered(&self, id: &str) -> bool {
        self.unanswered.iter().rev().any(|(known, _)| known == id)
    }

    /// Tells an output: that of the call with this id or, without one, of the oldest that waits and has this tool, where
    /// one is named. One that no call waits for becomes a step of its own, so that it is not lost.
    pub(super) fn output(&mut self, id: &str, tool: Option<&str>, output: Output, sink: &mut dyn Sink) {
        let place = if id.is_empty() {
            self.unanswered.iter().position(|(_, known)| tool.is_none_or(|tool| tool == known))
        } else {
            self.unanswered.iter().rposition(|(known, _)| known == id)
        };
        let of = match place.and_then(|place| self.unanswered.remove(place)) {
            Some((id, _)) => OutputOf::Call(id),
            None => OutputOf::Step(self.said(Speaker::Tool, String::new(), output.at, sink)),
        };
        sink.hear(Event::Output(of, output));
    }
}

/// A short fingerprint of a text, to know it again without keeping it.
pub(super) fn fingerprint(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.trim().hash(&mut hasher);
    hasher.finish()
}

/// On one line, whatever stood there.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The strings of an array.
pub(super) fn strings(object: &mut Object, key: &str) -> Vec<String> {
    match object.get_mut(key).map(Value::take) {
        Some(Value::Array(values)) => values.into_iter().map(pick::words).filter(|value| !value.is_empty()).collect(),
        Some(Value::String(value)) if !value.is_empty() => vec![value],
        _ => Vec::new(),
    }
}
