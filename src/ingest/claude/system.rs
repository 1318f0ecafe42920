//! The harness's own lines.

use serde_json::Value;

use super::super::pick::{self, Object};
use super::said::Said;
use super::{Claude, Place, usage};
use crate::domain::{About, EpisodeStatus, Event, Happening, Outcome, Sink, Speaker, Usage};

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;

/// Errors within errors are followed so deep.
const MAX_DEPTH: usize = 6;

impl Claude {
    pub(super) fn system(&mut self, place: &Place, line: &mut Object, sink: &mut dyn Sink) {
        match pick::str(line, "subtype").unwrap_or_default() {
            "init" => {
                if let Some(model) = pick::string(line, "model").filter(|_| self.log.model.is_none()) {
                    self.log.model = Some(model.clone());
                    sink.hear(Event::About(Box::new(About { model: Some(model), ..About::default() })));
                }
            }
            "compact_boundary" => {
                self.log.compacted_at = Some(self.log.step);
                self.happened(Happening::Compacted, compaction(line), sink);
            }
            "api_error" => self.happened(Happening::ApiError, api_error(line), sink),
            "stop_hook_summary" => {
                if let Some(text) = objections(line)
                    && !std::mem::replace(&mut self.log.hook_objected, true)
                {
                    self.happened(Happening::HookFeedback, text, sink);
                }
            }
            "local_command" => {
                let mut said = Said::default();
                if let Some(Value::String(text)) = line.get_mut("content").map(Value::take) {
                    let voice = if text.trim_start().starts_with('<') { Speaker::User } else { Speaker::System };
                    said.hear(text, &voice);
                }
                self.tell(place, said, line, sink);
            }
            subtype if subtype.is_empty() || KNOWN_SUBTYPES.contains(&subtype) => {}
            subtype => self.unknown(place.number, format!("unknown system line `{}`", pick::name(subtype)), sink),
        }
    }

    /// The last line of a headless run.
    pub(super) fn result(&mut self, line: &Object, sink: &mut dyn Sink) {
        let cost_usd = pick::amount(line, "total_cost_usd").or_else(|| pick::amount(line, "cost_usd"));
        let counted = line.get("usage").and_then(Value::as_object).filter(|_| !self.log.has_copies);
        self.log.total = usage::larger(self.log.total, counted.map(usage::of).unwrap_or_default());
        if cost_usd.is_some() {
            sink.hear(Event::Total(Usage { cost_usd, ..Usage::default() }));
        }
        let subtype = pick::str(line, "subtype").unwrap_or_default();
        let is_error = pick::flag(line, "is_error") == Some(true) || subtype.starts_with("error");
        if !is_error && subtype != "success" && pick::flag(line, "is_error").is_none() {
            return;
        }
        let status = match subtype {
            _ if !is_error => EpisodeStatus::Success,
            "error_max_turns" | "error_max_budget_usd" => EpisodeStatus::Aborted,
            _ => EpisodeStatus::Failed,
        };
        let error = is_error.then(|| failure(line, subtype));
        sink.hear(Event::Outcome(Outcome { status, reward: None, error, from: "result".to_owned() }));
    }

    /// What the stream says about limits: only a refusal is worth telling.
    pub(super) fn rate_limit(&mut self, line: &Object, sink: &mut dyn Sink) {
        let Some(info) = line.get("rate_limit_info").and_then(Value::as_object) else { return };
        if pick::str(info, "status") == Some("rejected") {
            let limit = pick::str(info, "rateLimitType").unwrap_or("unknown");
            self.happened(Happening::ApiError, format!("rate limit reached ({limit})"), sink);
        }
    }
}

fn compaction(line: &Object) -> String {
    let Some(about) = line.get("compactMetadata").or_else(|| line.get("compact_metadata")).and_then(Value::as_object)
    else {
        return String::new();
    };
    let trigger = pick::str(about, "trigger").map(str::to_owned);
    let tokens = pick::count(about, "preTokens").or_else(|| pick::count(about, "pre_tokens"));
    let tokens = tokens.map(|tokens| format!("{tokens} tokens before"));
    trigger.into_iter().chain(tokens).collect::<Vec<_>>().join(", ")
}

fn api_error(line: &Object) -> String {
    let error = line.get("error");
    let status = error.and_then(Value::as_object).and_then(|error| pick::count(error, "status"));
    let text = error.and_then(|error| words(error, MAX_DEPTH)).or_else(|| pick::string(line, "content"));
    let retry = pick::count(line, "retryAttempt").map(|attempt| match pick::count(line, "maxRetries") {
        Some(most) => format!("(retry {attempt} of {most})"),
        None => format!("(retry {attempt})"),
    });
    let parts = [status.map(|status| status.to_string()), text, retry];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The innermost message of an error.
fn words(error: &Value, depth: usize) -> Option<String> {
    let error = match error {
        Value::String(text) if !text.is_empty() => return Some(text.clone()),
        Value::Object(error) if depth > 0 => error,
        _ => return None,
    };
    let inner = |key: &str| error.get(key).and_then(|inner| words(inner, depth - 1));
    inner("error")
        .or_else(|| pick::string(error, "message"))
        .or_else(|| inner("cause"))
        .or_else(|| pick::string(error, "code"))
        .or_else(|| pick::string(error, "type"))
}

/// What the hooks objected to at the end of a turn.
fn objections(line: &Object) -> Option<String> {
    let errors = line.get("hookErrors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let errors: Vec<String> = errors.iter().filter_map(|error| words(error, MAX_DEPTH)).collect();
    if !errors.is_empty() {
        return Some(errors.join("\n"));
    }
    let is_prevented = pick::flag(line, "preventedContinuation") == Some(true);
    is_prevented.then(|| pick::string(line, "stopReason").unwrap_or_default())
}

fn failure(line: &Object, subtype: &str) -> String {
    let errors = line.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let errors: Vec<String> = errors.iter().filter_map(|error| words(error, MAX_DEPTH)).collect();
    let text = pick::string(line, "result").unwrap_or_else(|| errors.join("\n"));
    if text.is_empty() { subtype.to_owned() } else { text }
}

const KNOWN_SUBTYPES: &[&str] = &[
    "agents_killed",
    "api_metrics",
    "away_summary",
    "bridge_status",
    "compact_result",
    "files_persisted",
    "hook_progress",
    "hook_response",
    "hook_started",
    "informational",
    "local_command_output",
    "memory_saved",
    "microcompact_boundary",
    "model_refusal_fallback",
    "notification",
    "permission_retry",
    "scheduled_task_fire",
    "session_state_changed",
    "status",
    "task_notification",
    "task_progress",
    "task_started",
    "thinking",
    "turn_duration",
];
