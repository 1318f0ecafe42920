//! Reads `trajectories.jsonl`, in which each line is a whole trajectory.

use chrono::TimeDelta;
use serde_json::Value;

use super::AGENT;
use crate::domain::{
    EventSink, OutputOwner, SessionDetails, Speaker, Step, Timestamp, TokenUsage, ToolCall, ToolOutput, TrajectoryEvent,
};
use crate::ingest::LogReader;
use crate::ingest::chat_messages::{self, ChatEventEmitter};
use crate::ingest::json_fields::{self, Object};
use crate::ingest::unknown_lines::UnknownKinds;

#[cfg(test)]
#[path = "trajectories_tests.rs"]
mod tests;

/// Reads trajectory records, one per line.
#[derive(Debug, Default)]
pub(in crate::ingest) struct TrajectoryRecordReader {
    unknown: UnknownKinds,
    told: u64,
}

impl LogReader for TrajectoryRecordReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let record = json_fields::into_object(line);
        if !record.contains_key("actions") && !record.contains_key("outcome") {
            self.unknown.report_once(json_fields::get_str(&record, "type").unwrap_or_default(), number, sink);
            return;
        }
        if self.told > 0 {
            sink.receive_event(TrajectoryEvent::Begin);
        }
        self.told += 1;
        emit_trajectory(record, sink);
    }
}

fn emit_trajectory(mut record: Object, sink: &mut dyn EventSink) {
    let finished_at = json_fields::get_time(&record, "timestamp");
    let started_at = subtract_duration(finished_at, json_fields::get_count(&record, "totalDurationMs"));
    let task = json_fields::get_string(&record, "taskDescription");
    sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
        trajectory_id: json_fields::get_string(&record, "id"),
        agent: Some(AGENT.to_owned()),
        model: json_fields::get_string(&record, "model"),
        repository: json_fields::get_string(&record, "projectId"),
        task_id: json_fields::get_string(&record, "taskId"),
        title: task.clone(),
        started_at,
        finished_at,
        ..SessionDetails::default()
    })));
    let mut teller = ChatEventEmitter::default();
    if let Some(task) = task {
        teller.emit_message(Speaker::System, task, started_at, sink);
    }
    let error = Some(chat_messages::take_first_text(&mut record, &["errorMessage"])).filter(|error| !error.is_empty());
    emit_actions(json_fields::take_array(&mut record, "actions"), error.as_deref(), finished_at, &mut teller, sink);
    let files = chat_messages::take_strings(&mut record, "filesModified");
    if !files.is_empty() {
        teller.emit_message(Speaker::System, format!("Files modified: {}", files.join(", ")), finished_at, sink);
    }
    if let Some(tokens) = record.get("tokens").and_then(Value::as_object) {
        let (input, output) = (json_fields::get_count(tokens, "input"), json_fields::get_count(tokens, "output"));
        // All zero means that nothing was counted.
        if input.unwrap_or_default() > 0 || output.unwrap_or_default() > 0 {
            sink.receive_event(TrajectoryEvent::Total(TokenUsage {
                prompt_tokens: input,
                completion_tokens: output,
                ..TokenUsage::default()
            }));
        }
    }
    if let Some(outcome) = super::parse_outcome(json_fields::get_str(&record, "outcome"), error, "outcome") {
        sink.receive_event(TrajectoryEvent::Outcome(outcome));
    }
}

/// Emits the actions. The last failed one gets the record's own error, unless a failed action contains it.
fn emit_actions(
    actions: Vec<Value>,
    mut error: Option<&str>,
    at: Option<Timestamp>,
    teller: &mut ChatEventEmitter,
    sink: &mut dyn EventSink,
) {
    let mut actions: Vec<Object> = actions.into_iter().map(json_fields::into_object).collect();
    let says = |action: &Object, error: &str| {
        ["result", "content"]
            .iter()
            .any(|key| json_fields::get_str(action, key).is_some_and(|text| text.contains(error)))
    };
    let last_failed = actions.iter().rposition(has_failed);
    if error.is_some_and(|error| actions.iter().any(|action| has_failed(action) && says(action, error))) {
        error = None;
    }
    let mut told: Vec<u64> = Vec::new();
    for (place, action) in actions.iter_mut().enumerate() {
        let error = if last_failed == Some(place) { error.take() } else { None };
        emit_action(action, error, &mut told, teller, sink);
    }
    if let Some(error) = error {
        let step = teller.emit_message(Speaker::System, String::new(), at, sink);
        let output = ToolOutput { text: error.to_owned(), failed: Some(true), at, ..ToolOutput::default() };
        sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(step), output));
    }
}

fn has_failed(action: &Object) -> bool {
    match json_fields::get_str(action, "type") {
        Some("error") => true,
        Some("thinking") => false,
        _ => json_fields::get_flag(action, "success") == Some(false),
    }
}

fn emit_action(
    action: &mut Object,
    error: Option<&str>,
    told: &mut Vec<u64>,
    teller: &mut ChatEventEmitter,
    sink: &mut dyn EventSink,
) {
    let at = json_fields::get_time(action, "timestamp");
    let duration_ms = json_fields::get_count(action, "durationMs");
    let started_at = subtract_duration(at, duration_ms);
    let content = chat_messages::take_first_text(action, &["content"]);
    let mut result = chat_messages::take_first_text(action, &["result"]);
    let failed = json_fields::get_flag(action, "success").map(|success| !success);
    let kind = json_fields::get_string(action, "type").unwrap_or_default();
    let agent = |text: String, reasoning: Option<String>| Step {
        speaker: Speaker::Agent,
        text,
        reasoning,
        at: started_at,
        ..Step::default()
    };
    let add = |result: &mut String| {
        if let Some(error) = error {
            if !result.is_empty() {
                result.push('\n');
            }
            result.push_str(error);
        }
    };
    match kind.as_str() {
        "tool_call" => {
            add(&mut result);
            let step = teller.emit_step(agent(String::new(), None), sink);
            let id = format!("action-{step}");
            let tool = json_fields::get_string(action, "tool").unwrap_or_default();
            let call = ToolCall {
                id: id.clone(),
                tool,
                arguments: chat_messages::decode_arguments(Value::String(content)),
                output: None,
            };
            sink.receive_event(TrajectoryEvent::Call(step, call));
            let output = ToolOutput { text: result, failed, at, duration_ms, ..ToolOutput::default() };
            sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
        }
        "error" => {
            let mut text = content;
            if !result.is_empty() && result != text {
                text = if text.is_empty() { result } else { format!("{text}\n{result}") };
            }
            let print = chat_messages::fingerprint_trimmed(&text);
            if told.contains(&print) {
                text.clear();
            }
            told.push(print);
            add(&mut text);
            if text.is_empty() {
                return;
            }
            let step = teller.emit_step(agent(String::new(), None), sink);
            let output = ToolOutput { text, failed: Some(true), at, duration_ms, ..ToolOutput::default() };
            sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(step), output));
        }
        "thinking" => {
            teller.emit_step(agent(String::new(), Some(content)), sink);
        }
        _ => {
            add(&mut result);
            let step = teller.emit_step(agent(content, None), sink);
            if !result.is_empty() || failed == Some(true) {
                let output = ToolOutput { text: result, failed, at, duration_ms, ..ToolOutput::default() };
                sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(step), output));
            }
        }
    }
}

/// Returns the time so many milliseconds earlier.
fn subtract_duration(at: Option<Timestamp>, milliseconds: Option<u64>) -> Option<Timestamp> {
    let (at, milliseconds) = (at?, milliseconds.unwrap_or_default());
    let earlier = i64::try_from(milliseconds).ok().and_then(TimeDelta::try_milliseconds);
    earlier.and_then(|earlier| at.checked_sub_signed(earlier)).or(Some(at))
}
