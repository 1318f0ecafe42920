//! Chat messages in the shapes of OpenAI and Anthropic, and common parts of the readers for chat-like logs.

use std::collections::VecDeque;

use serde_json::Value;

use super::json_fields;
use super::json_fields::Object;
use crate::domain::{
    EventSink, OutputOwner, Speaker, Step, Timestamp, TokenUsage, ToolCall, ToolOutput, TrajectoryEvent,
    fingerprint_text,
};

#[cfg(test)]
#[path = "chat_messages_tests.rs"]
pub(super) mod tests;

/// The maximum number of calls that wait for their output; beyond it the oldest is forgotten.
const MAX_UNANSWERED: usize = 1024;

/// The parsed content of a chat message.
#[derive(Debug, Default)]
pub(super) struct ChatContent {
    pub(super) text: String,
    /// The text of parts that nobody typed: attached documents, references, parts of unknown types.
    pub(super) attached: String,
    pub(super) reasoning: String,
    pub(super) calls: Vec<ToolCall>,
    /// The outputs, each with the id of its call, which may be empty.
    pub(super) outputs: Vec<(String, ToolOutput)>,
}

impl ChatContent {
    /// Parses a string, an array of parts, or any other value. What is attached counts as text.
    pub(super) fn from_value(value: Value) -> Self {
        let mut content = Self::from_user_value(value);
        append_paragraph(&mut content.text, std::mem::take(&mut content.attached));
        content
    }

    /// Parses the content of a message of a user, whose text is only what was typed.
    pub(super) fn from_user_value(value: Value) -> Self {
        let mut content = Self::default();
        match value {
            Value::Array(parts) => parts.into_iter().for_each(|part| content.add_part(part)),
            Value::Object(part) if part.get("type").is_some_and(Value::is_string) => {
                content.add_part(Value::Object(part));
            }
            other => content.text = json_fields::content_text(other),
        }
        content
    }

    fn add_part(&mut self, part: Value) {
        let Value::Object(mut part) = part else {
            append_paragraph(&mut self.text, json_fields::content_text(part));
            return;
        };
        match json_fields::get_str(&part, "type").unwrap_or_default() {
            "thinking" => append_paragraph(&mut self.reasoning, take_first_text(&mut part, &["thinking", "text"])),
            "reasoning" => {
                append_paragraph(&mut self.reasoning, take_first_text(&mut part, &["text", "reasoning", "summary"]));
            }
            "redacted_thinking" => {}
            "refusal" => append_paragraph(&mut self.text, take_first_text(&mut part, &["refusal", "text"])),
            "tool_use" | "tool_call" | "function_call" | "toolCall" => {
                self.calls.extend(parse_call(Value::Object(part)));
            }
            "tool_result" | "toolResult" | "tool-result" | "tool_output" | "function_call_output" => {
                let id = ["tool_use_id", "tool_call_id", "toolCallId", "call_id"]
                    .iter()
                    .find_map(|key| json_fields::get_string(&part, key));
                self.outputs.push((id.unwrap_or_default(), parse_output(&mut part)));
            }
            "image" | "image_url" | "input_image" => append_paragraph(&mut self.text, "[image]".to_owned()),
            "audio" | "input_audio" => append_paragraph(&mut self.text, "[audio]".to_owned()),
            kind => {
                let is_typed = matches!(kind, "" | "text" | "input_text" | "output_text" | "summary_text");
                let text = if is_typed { &mut self.text } else { &mut self.attached };
                append_paragraph(text, json_fields::content_text(Value::Array(vec![Value::Object(part)])));
            }
        }
    }
}

/// Appends a paragraph to a text.
fn append_paragraph(text: &mut String, more: String) {
    if text.is_empty() {
        *text = more;
    } else if !more.is_empty() {
        text.push('\n');
        text.push_str(&more);
    }
}

/// Takes the text under the first of these keys that has one.
pub(super) fn take_first_text(object: &mut Object, keys: &[&str]) -> String {
    keys.iter()
        .find_map(|key| {
            let value = object.get_mut(*key)?.take();
            Some(json_fields::content_text(value)).filter(|words| !words.is_empty())
        })
        .unwrap_or_default()
}

/// Parses a call: `{id, name, input}` or `{id, function: {name, arguments}}`. Its id may be missing.
pub(super) fn parse_call(value: Value) -> Option<ToolCall> {
    let Value::Object(mut call) = value else { return None };
    let id = ["id", "call_id", "toolCallId", "tool_call_id"].iter().find_map(|key| json_fields::get_string(&call, key));
    let mut function = match json_fields::take_object(&mut call, "function") {
        Some(function) => function,
        None => call,
    };
    let tool =
        ["name", "tool", "toolName"].iter().find_map(|key| json_fields::get_string(&function, key)).unwrap_or_default();
    let arguments = ["arguments", "input", "args", "parameters"]
        .iter()
        .find_map(|key| function.get_mut(*key).map(Value::take).filter(|value| !value.is_null()))
        .map_or(Value::Null, decode_arguments);
    Some(ToolCall { id: id.unwrap_or_default(), tool, arguments, output: None })
}

/// Decodes arguments that were written as a JSON string.
pub(super) fn decode_arguments(value: Value) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        other => other,
    }
}

/// Parses an output such as `{content, is_error, exit_code, duration_ms}`.
pub(super) fn parse_output(object: &mut Object) -> ToolOutput {
    let failed = ["is_error", "isError"].iter().find_map(|key| json_fields::get_flag(object, key));
    let exit_code = ["exit_code", "exitCode"].iter().find_map(|key| json_fields::get_integer(object, key));
    let content = ["content", "result", "output"].iter().find_map(|key| object.get_mut(*key).map(Value::take));
    ToolOutput {
        text: content.map(result_text).unwrap_or_default(),
        failed: failed.or(exit_code.map(|code| code != 0)),
        exit_code,
        interrupted: json_fields::get_flag(object, "interrupted").unwrap_or_default(),
        duration_ms: ["duration_ms", "durationMs"].iter().find_map(|key| json_fields::get_count(object, key)),
        ..ToolOutput::default()
    }
}

/// Returns the text of a result, which may wrap its content once more.
pub(super) fn result_text(value: Value) -> String {
    match value {
        Value::Object(mut object) if object.contains_key("content") => take_first_text(&mut object, &["content"]),
        Value::Array(parts) => ChatContent::from_value(Value::Array(parts)).text,
        other => json_fields::content_text(other),
    }
}

/// Parses token counts and costs under any of the names in use.
///
/// `prompt_tokens` includes everything that was read. `input_tokens` does too, except next to Anthropic's cache
/// figures, which are added to it.
pub(super) fn parse_usage(object: &Object) -> TokenUsage {
    let first = |keys: &[&str]| keys.iter().find_map(|key| json_fields::get_count(object, key));
    let details =
        |key: &str| object.get(key)?.as_object().and_then(|details| json_fields::get_count(details, "cached_tokens"));
    let read = first(&["cache_read_input_tokens", "cacheReadInputTokens", "cacheReadTokens"]);
    let write = first(&["cache_creation_input_tokens", "cacheCreationInputTokens", "cacheCreationTokens"]);
    let beside = read.unwrap_or_default().saturating_add(write.unwrap_or_default());
    let input = first(&["input_tokens", "inputTokens"]).map(|input| input.saturating_add(beside));
    TokenUsage {
        prompt_tokens: first(&["prompt_tokens", "promptTokens"]).or(input),
        completion_tokens: first(&["completion_tokens", "output_tokens", "completionTokens", "outputTokens"]),
        cached_tokens: first(&["cached_tokens", "cachedTokens"])
            .or(read)
            .or_else(|| details("prompt_tokens_details"))
            .or_else(|| details("input_tokens_details")),
        cache_write_tokens: first(&["cache_write_tokens", "cacheWriteTokens"]).or(write),
        cost_usd: ["cost_usd", "costUsd", "totalCostUsd", "total_cost_usd"]
            .iter()
            .find_map(|key| json_fields::get_amount(object, key)),
    }
}

/// Emits the steps, calls and outputs of one trajectory after another.
#[derive(Debug, Default)]
pub(super) struct ChatEventEmitter {
    last: u32,
    unanswered: VecDeque<(String, String)>,
    unnamed: u32,
}

impl ChatEventEmitter {
    /// Returns the number of the last step, or 0 before the first.
    pub(super) fn last_step(&self) -> u32 {
        self.last
    }

    /// Begins another trajectory and restarts the numbering.
    pub(super) fn begin_trajectory(&mut self, sink: &mut dyn EventSink) {
        *self = Self::default();
        sink.receive_event(TrajectoryEvent::Begin);
    }

    /// Emits a step with the next number.
    pub(super) fn emit_step(&mut self, mut step: Step, sink: &mut dyn EventSink) -> u32 {
        self.last = self.last.saturating_add(1);
        step.number = self.last;
        sink.receive_event(TrajectoryEvent::Step(Box::new(step)));
        self.last
    }

    /// Emits a step with this speaker and text.
    pub(super) fn emit_message(
        &mut self,
        speaker: Speaker,
        text: String,
        at: Option<Timestamp>,
        sink: &mut dyn EventSink,
    ) -> u32 {
        self.emit_step(Step { speaker, text, at, ..Step::default() }, sink)
    }

    /// Emits a call; assigns an id if it has none.
    pub(super) fn emit_call(&mut self, step: u32, mut call: ToolCall, sink: &mut dyn EventSink) {
        if call.id.is_empty() {
            self.unnamed = self.unnamed.saturating_add(1);
            call.id = format!("unnamed-{}", self.unnamed);
        }
        if self.unanswered.len() >= MAX_UNANSWERED {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back((call.id.clone(), call.tool.clone()));
        sink.receive_event(TrajectoryEvent::Call(step, call));
    }

    /// Returns true if a call waits for its output.
    pub(super) fn is_unanswered(&self, id: &str) -> bool {
        self.unanswered.iter().rev().any(|(known, _)| known == id)
    }

    /// Emits an output for the call with this id or, without an id, for the oldest waiting call, of this tool if one is
    /// named. An output that no call waits for becomes a step of its own, so that it is not lost.
    pub(super) fn emit_output(&mut self, id: &str, tool: Option<&str>, output: ToolOutput, sink: &mut dyn EventSink) {
        let place = if id.is_empty() {
            self.unanswered.iter().position(|(_, known)| tool.is_none_or(|tool| tool == known))
        } else {
            self.unanswered.iter().rposition(|(known, _)| known == id)
        };
        let of = match place.and_then(|place| self.unanswered.remove(place)) {
            Some((id, _)) => OutputOwner::Call(id),
            None => OutputOwner::Step(self.emit_message(Speaker::Tool, String::new(), output.at, sink)),
        };
        sink.receive_event(TrajectoryEvent::Output(of, output));
    }
}

/// Returns a fingerprint of a text that ignores leading and trailing whitespace.
pub(super) fn fingerprint_trimmed(text: &str) -> u64 {
    fingerprint_text(text.trim())
}

/// Returns the text on one line, with single blanks.
pub(super) fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Takes the strings of an array.
pub(super) fn take_strings(object: &mut Object, key: &str) -> Vec<String> {
    match object.get_mut(key).map(Value::take) {
        Some(Value::Array(values)) => {
            values.into_iter().map(json_fields::content_text).filter(|value| !value.is_empty()).collect()
        }
        Some(Value::String(value)) if !value.is_empty() => vec![value],
        _ => Vec::new(),
    }
}
