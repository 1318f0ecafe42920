//! An answer, in whatever dialect of chat completions it comes.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::super::wire::{Fault, HINT, Mask, Words, is_page, says_something};
use super::super::{Finish, ModelError, Reply, ToolCall, loose};
use super::stream;
use crate::domain::Usage;

/// A reason to end that we do not know is kept so far.
const MAX_REASON: usize = 64;

/// Reads the body of a reply with a status of success.
pub(super) fn read(body: &[u8], is_stream: bool, mask: &Mask) -> Result<Reply, Fault> {
    let unreadable = |why: String| Fault::from(ModelError::Unreadable { why });
    let text = std::str::from_utf8(body)
        .map_err(|error| unreadable(format!("it is not UTF-8 from byte {} on", error.valid_up_to())))?;
    let text = text.trim_start_matches('\u{FEFF}').trim();
    if text.is_empty() {
        return Err(unreadable("it is empty".to_owned()));
    }
    if is_page(text) {
        return Err(unreadable(format!("it is an HTML page; {HINT}")));
    }
    let value = if stream::is_stream(text) || (is_stream && !text.starts_with('{')) {
        stream::whole(text, mask)?
    } else {
        serde_json::from_str(text).map_err(|error| unreadable(mask.said(&format!("it is not JSON ({error})"))))?
    };
    completion(&value, mask)
}

fn completion(value: &Value, mask: &Mask) -> Result<Reply, Fault> {
    // Some gateways put everything they say into a list.
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
    let choices = value.get("choices").and_then(Value::as_array);
    let choice = choices.and_then(|choices| choices.first());
    let message = choice.and_then(|choice| choice.get("message").or_else(|| choice.get("delta")));
    for error in [value.get("error"), choice.and_then(|choice| choice.get("error"))].into_iter().flatten() {
        if says_something(error) && !message.is_some_and(is_answer) {
            return Err(Fault::from_words(&Words::of(error), mask));
        }
    }
    let Some(choice) = choice else {
        let why = if choices.is_some() {
            "it has no choices".to_owned()
        } else {
            mask.said(&format!("it is no chat completion: {}", Words::of(value).message))
        };
        return Err(ModelError::Unreadable { why }.into());
    };
    let text = message.and_then(|message| message.get("content")).or_else(|| choice.get("text")).map(text_of);
    let text = text.unwrap_or_default();
    let reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    let refusal = message.and_then(|message| message.get("refusal")).map(text_of).unwrap_or_default();
    let usage = value.get("usage").map(usage).unwrap_or_default();
    let declined = |said: &str| {
        let written = usage.completion_tokens.unwrap_or_default();
        Err(ModelError::Declined { said: mask.said(said), written }.into())
    };
    if !refusal.trim().is_empty() {
        return declined(&refusal);
    }
    if matches!(reason.to_ascii_lowercase().as_str(), "content_filter" | "safety" | "refusal") {
        return declined(if text.trim().is_empty() { "a content filter objected" } else { &text });
    }
    let calls = message.map(calls).unwrap_or_default();
    let finish = finish(reason, &calls, mask);
    Ok(Reply { text, calls, finish, usage })
}

fn is_answer(message: &Value) -> bool {
    message.get("content").is_some_and(|content| !text_of(content).is_empty())
        || message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty())
}

/// A text, or the texts of its parts.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        Value::Object(part) => part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

fn calls(message: &Value) -> Vec<ToolCall> {
    let listed = match message.get("tool_calls") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(single @ Value::Object(_)) => std::slice::from_ref(single),
        _ => &[],
    };
    let legacy = message.get("function_call").filter(|_| listed.is_empty());
    let calls: Vec<ToolCall> = listed.iter().chain(legacy).filter_map(call).collect();
    if calls.len() < listed.len() {
        tracing::info!(nameless = listed.len() - calls.len(), "the model called tools without naming them");
    }
    with_own_ids(calls)
}

fn call(value: &Value) -> Option<ToolCall> {
    let call = value.as_object()?;
    let function = call.get("function").and_then(Value::as_object).unwrap_or(call);
    let name = function.get("name").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty())?;
    Some(ToolCall { id: id(call), name: name.to_owned(), arguments: arguments(function) })
}

fn id(call: &Map<String, Value>) -> String {
    match call.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}

fn arguments(function: &Map<String, Value>) -> String {
    loose::written(function.get("arguments").unwrap_or(&Value::Null))
}

/// Gives an id to a call that has none, and another one to a call whose id is taken.
fn with_own_ids(mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
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

fn finish(reason: &str, calls: &[ToolCall], mask: &Mask) -> Finish {
    let finish = match reason.to_ascii_lowercase().as_str() {
        "" | "stop" | "end_turn" | "stop_sequence" | "eos" | "completed" => Finish::Stop,
        "length" | "max_tokens" | "model_length" => Finish::Length,
        "tool_calls" | "tool_use" | "function_call" => Finish::ToolCalls,
        _ => Finish::Other(mask.said(reason).chars().take(MAX_REASON).collect()),
    };
    // Many say `stop` whatever the model did.
    if finish == Finish::Stop && !calls.is_empty() { Finish::ToolCalls } else { finish }
}

fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage.get(name).and_then(count);
    Usage {
        prompt_tokens: count("prompt_tokens"),
        completion_tokens: count("completion_tokens"),
        cached_tokens: usage.pointer("/prompt_tokens_details/cached_tokens").and_then(self::count),
        ..Usage::default()
    }
}

/// A number of tokens; what cannot be one is not known.
fn count(value: &Value) -> Option<u64> {
    match value.as_f64() {
        // Printed without its fraction, a float is read back without a lossy cast.
        Some(number) if value.is_f64() => format!("{number:.0}").parse().ok(),
        _ => value.as_u64(),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
