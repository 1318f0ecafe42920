//! A reader for replies in any dialect of chat completions.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::super::endpoint_http::{EndpointFailure, HINT, KeyMask, RefusalMessage, has_content, is_html_page};
use super::super::{Finish, ModelError, ModelReply, ModelToolCall, lenient_json};
use super::event_stream;
use crate::domain::TokenUsage;

/// The most characters kept of an unknown finish reason.
const MAX_REASON: usize = 64;

/// Reads the body of a reply with a success status.
pub(super) fn read_reply(body: &[u8], is_stream: bool, mask: &KeyMask) -> Result<ModelReply, EndpointFailure> {
    let unreadable = |why: String| EndpointFailure::from(ModelError::Unreadable { why });
    let text = std::str::from_utf8(body)
        .map_err(|error| unreadable(format!("it is not UTF-8 from byte {} on", error.valid_up_to())))?;
    let text = text.trim_start_matches('\u{FEFF}').trim();
    if text.is_empty() {
        return Err(unreadable("it is empty".to_owned()));
    }
    if is_html_page(text) {
        return Err(unreadable(format!("it is an HTML page; {HINT}")));
    }
    let value = if event_stream::is_event_stream(text) || (is_stream && !text.starts_with('{')) {
        event_stream::assemble_completion(text, mask)?
    } else {
        serde_json::from_str(text)
            .map_err(|error| unreadable(mask.sanitize_message(&format!("it is not JSON ({error})"))))?
    };
    parse_completion(&value, mask)
}

fn parse_completion(value: &Value, mask: &KeyMask) -> Result<ModelReply, EndpointFailure> {
    // Some gateways wrap every reply in a list.
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
    let choices = value.get("choices").and_then(Value::as_array);
    let choice = choices.and_then(|choices| choices.first());
    let message = choice.and_then(|choice| choice.get("message").or_else(|| choice.get("delta")));
    for error in [value.get("error"), choice.and_then(|choice| choice.get("error"))].into_iter().flatten() {
        if has_content(error) && !message.is_some_and(has_answer) {
            return Err(EndpointFailure::from_refusal(&RefusalMessage::from_json(error), mask));
        }
    }
    let Some(choice) = choice else {
        let why = if choices.is_some() {
            "it has no choices".to_owned()
        } else {
            mask.sanitize_message(&format!("it is no chat completion: {}", RefusalMessage::from_json(value).message))
        };
        return Err(ModelError::Unreadable { why }.into());
    };
    let text = message.and_then(|message| message.get("content")).or_else(|| choice.get("text")).map(content_text);
    let text = text.unwrap_or_default();
    let reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    let refusal = message.and_then(|message| message.get("refusal")).map(content_text).unwrap_or_default();
    let usage = value.get("usage").map(parse_usage).unwrap_or_default();
    let declined = |said: &str| {
        let written = usage.completion_tokens.unwrap_or_default();
        Err(ModelError::Declined { said: mask.sanitize_message(said), written }.into())
    };
    if !refusal.trim().is_empty() {
        return declined(&refusal);
    }
    if matches!(reason.to_ascii_lowercase().as_str(), "content_filter" | "safety" | "refusal") {
        return declined(if text.trim().is_empty() { "a content filter objected" } else { &text });
    }
    let calls = message.map(parse_calls).unwrap_or_default();
    let finish = parse_finish_reason(reason, &calls, mask);
    Ok(ModelReply { text, calls, finish, usage })
}

fn has_answer(message: &Value) -> bool {
    message.get("content").is_some_and(|content| !content_text(content).is_empty())
        || message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty())
}

/// Returns a text, or the joined texts of its parts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(content_text).collect(),
        Value::Object(part) => part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

fn parse_calls(message: &Value) -> Vec<ModelToolCall> {
    let listed = match message.get("tool_calls") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(single @ Value::Object(_)) => std::slice::from_ref(single),
        _ => &[],
    };
    let legacy = message.get("function_call").filter(|_| listed.is_empty());
    let calls: Vec<ModelToolCall> = listed.iter().chain(legacy).filter_map(parse_call).collect();
    if calls.len() < listed.len() {
        tracing::info!(nameless = listed.len() - calls.len(), "the model called tools without naming them");
    }
    with_unique_ids(calls)
}

fn parse_call(value: &Value) -> Option<ModelToolCall> {
    let call = value.as_object()?;
    let function = call.get("function").and_then(Value::as_object).unwrap_or(call);
    let name = function.get("name").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty())?;
    Some(ModelToolCall { id: call_id(call), name: name.to_owned(), arguments: call_arguments(function) })
}

fn call_id(call: &Map<String, Value>) -> String {
    match call.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}

fn call_arguments(function: &Map<String, Value>) -> String {
    lenient_json::encode_arguments(function.get("arguments").unwrap_or(&Value::Null))
}

/// Gives an id to every call that has none or one that is already taken.
fn with_unique_ids(mut calls: Vec<ModelToolCall>) -> Vec<ModelToolCall> {
    let given: HashSet<String> = calls.iter().map(|call| call.id.clone()).collect();
    let mut taken = HashSet::new();
    let mut number = 0_usize;
    for call in &mut calls {
        if call.id.is_empty() || taken.contains(&call.id) {
            loop {
                number += 1;
                call.id = format!("call_{number}");
                if !given.contains(&call.id) {
                    break;
                }
            }
        }
        taken.insert(call.id.clone());
    }
    calls
}

fn parse_finish_reason(reason: &str, calls: &[ModelToolCall], mask: &KeyMask) -> Finish {
    let finish = match reason.to_ascii_lowercase().as_str() {
        "" | "stop" | "end_turn" | "stop_sequence" | "eos" | "completed" => Finish::Stop,
        "length" | "max_tokens" | "model_length" => Finish::Length,
        "tool_calls" | "tool_use" | "function_call" => Finish::ToolCalls,
        _ => Finish::Other(mask.sanitize_message(reason).chars().take(MAX_REASON).collect()),
    };
    // Many endpoints say `stop` whatever the model did.
    if finish == Finish::Stop && !calls.is_empty() { Finish::ToolCalls } else { finish }
}

fn parse_usage(usage: &Value) -> TokenUsage {
    let count = |name: &str| usage.get(name).and_then(parse_token_count);
    TokenUsage {
        prompt_tokens: count("prompt_tokens"),
        completion_tokens: count("completion_tokens"),
        cached_tokens: usage.pointer("/prompt_tokens_details/cached_tokens").and_then(self::parse_token_count),
        ..TokenUsage::default()
    }
}

/// Parses a number of tokens; returns `None` for anything else.
fn parse_token_count(value: &Value) -> Option<u64> {
    match value.as_f64() {
        // Printed without its fraction, a float is read back without a lossy cast.
        Some(number) if value.is_f64() => format!("{number:.0}").parse().ok(),
        _ => value.as_u64(),
    }
}

#[cfg(test)]
#[path = "chat_reply_tests.rs"]
mod tests;
