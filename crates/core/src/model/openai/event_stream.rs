//! A reader for an event stream that an endpoint sent instead of a whole answer.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::super::endpoint_http::{EndpointFailure, KeyMask, has_content};
use super::super::{ModelError, lenient_json};
use super::chat_reply::content_text;

/// Returns true if a body consists of events.
pub(super) fn is_event_stream(body: &str) -> bool {
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| body.starts_with(field))
}

/// Returns the completion that the events make together, as if it had come whole.
pub(super) fn assemble_completion(body: &str, mask: &KeyMask) -> Result<Value, EndpointFailure> {
    let mut answer = StreamedAnswer::default();
    let mut is_over = false;
    for event in split_events(body) {
        if event.trim() == "[DONE]" {
            is_over = true;
            break;
        }
        let chunk: Value = serde_json::from_str(&event).map_err(|error| ModelError::Unreadable {
            why: mask.sanitize_message(&format!("an event of it is not JSON ({error})")),
        })?;
        if chunk.get("error").is_some_and(has_content) {
            return Ok(chunk);
        }
        answer.add_chunk(&chunk);
    }
    if answer.chunks == 0 {
        return Err(ModelError::Unreadable { why: "it is a stream without events".to_owned() }.into());
    }
    if !is_over && answer.finish_reason.is_none() {
        return Err(ModelError::Connection { said: "the stream ended before the answer did".to_owned() }.into());
    }
    Ok(answer.into_completion())
}

/// Returns the data of each event. An event ends at an empty line, and its data lines are joined.
fn split_events(body: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut data: Option<String> = None;
    let mut is_single = true;
    for line in body.lines() {
        if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut data {
                // Some leave the empty line out; a line that is complete by itself is an event by itself.
                Some(before) if is_single && is_whole_event(before) => {
                    events.push(std::mem::replace(before, value.to_owned()));
                }
                Some(before) => {
                    before.push('\n');
                    before.push_str(value);
                    is_single = false;
                }
                None => {
                    data = Some(value.to_owned());
                    is_single = true;
                }
            }
        } else if line.is_empty() {
            events.extend(data.take());
        }
    }
    events.extend(data);
    events.retain(|event| !event.trim().is_empty());
    events
}

fn is_whole_event(data: &str) -> bool {
    data.trim() == "[DONE]" || serde_json::from_str::<IgnoredAny>(data).is_ok()
}

/// The parts of the answer received so far.
#[derive(Debug, Default)]
struct StreamedAnswer {
    chunks: usize,
    has_choices: bool,
    content: String,
    refusal: String,
    calls: Vec<StreamedCall>,
    /// The position of the call to which the parts of an index belong.
    by_index: HashMap<u64, usize>,
    finish_reason: Option<Value>,
    usage: Option<Value>,
}

#[derive(Debug, Default)]
struct StreamedCall {
    id: String,
    name: String,
    arguments: String,
}

impl StreamedAnswer {
    fn add_chunk(&mut self, chunk: &Value) {
        self.chunks += 1;
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.and_then(|choices| choices.iter().find(is_first)) else { return };
        self.has_choices = true;
        if let Some(reason) = choice.get("finish_reason").filter(|reason| !reason.is_null()) {
            self.finish_reason = Some(reason.clone());
        }
        let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) else { return };
        self.content.push_str(&delta.get("content").map(content_text).unwrap_or_default());
        self.refusal.push_str(&delta.get("refusal").map(content_text).unwrap_or_default());
        for part in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.add_call_part(part);
        }
        if let Some(part) = delta.get("function_call").filter(|part| part.is_object()) {
            self.add_call_part(&json!({"index": 0, "function": part}));
        }
    }

    fn add_call_part(&mut self, part: &Value) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text(part.get("id"));
        let function = part.get("function");
        let name = text(function.and_then(|function| function.get("name")));
        let index = part.get("index").and_then(Value::as_u64);
        let known = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.calls.len().checked_sub(1).filter(|_| id.is_empty()),
        };
        // Some give every call the same index and distinguish them by their ids.
        let known = known.filter(|at| {
            let is_another = |call: &StreamedCall| !id.is_empty() && !call.id.is_empty() && call.id != id;
            !self.calls.get(*at).is_some_and(is_another)
        });
        let at = known.unwrap_or_else(|| {
            self.calls.push(StreamedCall::default());
            self.calls.len() - 1
        });
        if let Some(index) = index {
            self.by_index.insert(index, at);
        }
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_empty() {
            call.id = id;
        }
        // A name comes whole; endpoints that repeat it with every part do not extend it.
        if call.name.is_empty() {
            call.name = name;
        }
        match function.and_then(|function| function.get("arguments")) {
            Some(Value::String(part)) => call.arguments.push_str(part),
            Some(Value::Null) | None => {}
            Some(object) => call.arguments.push_str(&lenient_json::encode_arguments(object)),
        }
    }

    fn into_completion(self) -> Value {
        if !self.has_choices {
            return json!({"choices": []});
        }
        let calls: Vec<Value> = self.calls.into_iter().map(StreamedCall::into_json).collect();
        let message = json!({"content": self.content, "refusal": self.refusal, "tool_calls": calls});
        let mut completion = Map::new();
        completion.insert("choices".to_owned(), json!([{"message": message, "finish_reason": self.finish_reason}]));
        completion.extend(self.usage.map(|usage| ("usage".to_owned(), usage)));
        Value::Object(completion)
    }
}

impl StreamedCall {
    fn into_json(self) -> Value {
        json!({"id": self.id, "function": {"name": self.name, "arguments": self.arguments}})
    }
}

#[cfg(test)]
#[path = "event_stream_tests.rs"]
mod tests;
