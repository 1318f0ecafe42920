//! Reads the lines of the harness itself.

use serde_json::Value;

use super::super::json_fields::{self, Object};
use super::speaker_split::AttributedText;
use super::{ClaudeLineContext, ClaudeReader, usage};
use crate::domain::{
    EpisodeStatus, EventSink, Happening, SessionDetails, SessionOutcome, Speaker, TokenUsage, TrajectoryEvent,
};

#[cfg(test)]
#[path = "harness_lines_tests.rs"]
mod tests;

/// The maximum depth of nested errors that are read.
const MAX_DEPTH: usize = 6;

impl ClaudeReader {
    pub(super) fn read_system_line(&mut self, place: &ClaudeLineContext, line: &mut Object, sink: &mut dyn EventSink) {
        match json_fields::get_str(line, "subtype").unwrap_or_default() {
            "init" => {
                if let Some(model) = json_fields::get_string(line, "model").filter(|_| self.log.model.is_none()) {
                    self.log.model = Some(model.clone());
                    sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                        model: Some(model),
                        ..SessionDetails::default()
                    })));
                }
            }
            "compact_boundary" => {
                self.log.compacted_at = Some(self.log.step);
                self.emit_session_event(Happening::Compacted, describe_compaction(line), sink);
            }
            "api_error" => self.emit_session_event(Happening::ApiError, describe_api_error(line), sink),
            "stop_hook_summary" => {
                if let Some(text) = collect_hook_objections(line)
                    && !std::mem::replace(&mut self.log.hook_objected, true)
                {
                    self.emit_session_event(Happening::HookFeedback, text, sink);
                }
            }
            "local_command" => {
                let mut said = AttributedText::default();
                if let Some(Value::String(text)) = line.get_mut("content").map(Value::take) {
                    let voice = if text.trim_start().starts_with('<') { Speaker::User } else { Speaker::System };
                    said.add_text(text, &voice);
                }
                self.emit_attributed_text(place, said, line, sink);
            }
            subtype if subtype.is_empty() || KNOWN_SUBTYPES.contains(&subtype) => {}
            subtype => self.report_unknown(
                place.number,
                format!("unknown system line `{}`", json_fields::bounded_kind_name(subtype)),
                sink,
            ),
        }
    }

    /// Reads the last line of a headless session.
    pub(super) fn read_result_line(&mut self, line: &Object, sink: &mut dyn EventSink) {
        let cost_usd =
            json_fields::get_amount(line, "total_cost_usd").or_else(|| json_fields::get_amount(line, "cost_usd"));
        let counted = line.get("usage").and_then(Value::as_object).filter(|_| !self.log.has_copies);
        self.log.total = usage::larger_figures(self.log.total, counted.map(usage::read_usage).unwrap_or_default());
        if cost_usd.is_some() {
            sink.receive_event(TrajectoryEvent::Total(TokenUsage { cost_usd, ..TokenUsage::default() }));
        }
        let subtype = json_fields::get_str(line, "subtype").unwrap_or_default();
        let is_error = json_fields::get_flag(line, "is_error") == Some(true) || subtype.starts_with("error");
        if !is_error && subtype != "success" && json_fields::get_flag(line, "is_error").is_none() {
            return;
        }
        let status = match subtype {
            _ if !is_error => EpisodeStatus::Success,
            "error_max_turns" | "error_max_budget_usd" => EpisodeStatus::Aborted,
            _ => EpisodeStatus::Failed,
        };
        let error = is_error.then(|| describe_failure(line, subtype));
        sink.receive_event(TrajectoryEvent::Outcome(SessionOutcome {
            status,
            reward: None,
            error,
            from: "result".to_owned(),
        }));
    }

    /// Reads a rate limit event and emits it only if the request was rejected.
    pub(super) fn read_rate_limit(&mut self, line: &Object, sink: &mut dyn EventSink) {
        let Some(info) = line.get("rate_limit_info").and_then(Value::as_object) else { return };
        if json_fields::get_str(info, "status") == Some("rejected") {
            let limit = json_fields::get_str(info, "rateLimitType").unwrap_or("unknown");
            self.emit_session_event(Happening::ApiError, format!("rate limit reached ({limit})"), sink);
        }
    }
}

fn describe_compaction(line: &Object) -> String {
    let Some(about) = line.get("compactMetadata").or_else(|| line.get("compact_metadata")).and_then(Value::as_object)
    else {
        return String::new();
    };
    let trigger = json_fields::get_str(about, "trigger").map(str::to_owned);
    let tokens = json_fields::get_count(about, "preTokens").or_else(|| json_fields::get_count(about, "pre_tokens"));
    let tokens = tokens.map(|tokens| format!("{tokens} tokens before"));
    trigger.into_iter().chain(tokens).collect::<Vec<_>>().join(", ")
}

fn describe_api_error(line: &Object) -> String {
    let error = line.get("error");
    let status = error.and_then(Value::as_object).and_then(|error| json_fields::get_count(error, "status"));
    let text = error
        .and_then(|error| innermost_message(error, MAX_DEPTH))
        .or_else(|| json_fields::get_string(line, "content"));
    let retry =
        json_fields::get_count(line, "retryAttempt").map(|attempt| match json_fields::get_count(line, "maxRetries") {
            Some(most) => format!("(retry {attempt} of {most})"),
            None => format!("(retry {attempt})"),
        });
    let parts = [status.map(|status| status.to_string()), text, retry];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Returns the innermost message of an error.
fn innermost_message(error: &Value, depth: usize) -> Option<String> {
    let error = match error {
        Value::String(text) if !text.is_empty() => return Some(text.clone()),
        Value::Object(error) if depth > 0 => error,
        _ => return None,
    };
    let inner = |key: &str| error.get(key).and_then(|inner| innermost_message(inner, depth - 1));
    inner("error")
        .or_else(|| json_fields::get_string(error, "message"))
        .or_else(|| inner("cause"))
        .or_else(|| json_fields::get_string(error, "code"))
        .or_else(|| json_fields::get_string(error, "type"))
}

/// Returns the objections of hooks at the end of a turn.
fn collect_hook_objections(line: &Object) -> Option<String> {
    let errors = line.get("hookErrors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let errors: Vec<String> = errors.iter().filter_map(|error| innermost_message(error, MAX_DEPTH)).collect();
    if !errors.is_empty() {
        return Some(errors.join("\n"));
    }
    let is_prevented = json_fields::get_flag(line, "preventedContinuation") == Some(true);
    is_prevented.then(|| json_fields::get_string(line, "stopReason").unwrap_or_default())
}

fn describe_failure(line: &Object, subtype: &str) -> String {
    let errors = line.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let errors: Vec<String> = errors.iter().filter_map(|error| innermost_message(error, MAX_DEPTH)).collect();
    let text = json_fields::get_string(line, "result").unwrap_or_else(|| errors.join("\n"));
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
