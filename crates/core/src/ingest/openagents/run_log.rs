//! Reads run logs, which record the events of the agent loop.

use serde_json::Value;
use serde_json::json;

use super::AGENT;
use crate::domain::{
    EpisodeStatus, EventSink, Happening, OutputOwner, SessionDetails, SessionOutcome, Speaker, Step, Timestamp,
    ToolCall, ToolOutput, TrajectoryEvent,
};
use crate::ingest::LogReader;
use crate::ingest::chat_messages::{self, ChatContent, ChatEventEmitter};
use crate::ingest::json_fields::{self, Object};
use crate::ingest::unknown_lines::UnknownKinds;

#[cfg(test)]
#[path = "run_log_tests.rs"]
mod tests;

/// Reads a log at `run-logs/<day>/<runId>.jsonl`.
#[derive(Debug, Default)]
pub(in crate::ingest) struct RunLogReader {
    teller: ChatEventEmitter,
    unknown: UnknownKinds,
    run: Option<u64>,
    /// The step that the model's calls belong to, until another speaker follows.
    turn: Option<u32>,
    knows_prompts: bool,
    verifications: u32,
    is_verifying: bool,
    last_words: Option<u64>,
    timeout: Option<String>,
    has_ended: bool,
    last_sign: Option<Timestamp>,
}

impl LogReader for RunLogReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let mut line = json_fields::into_object(line);
        let kind = json_fields::get_string(&line, "type").unwrap_or_default();
        let at = json_fields::get_time(&line, "ts");
        match kind.as_str() {
            "run_start" => self.read_run_start(&line, at, sink),
            "task_selected" => self.read_task(&line, at, sink),
            "llm_request" => self.read_request(line, at, sink),
            "llm_response" => self.read_response(line, at, sink),
            "tool_call" => self.read_tool_call(line, at, sink),
            "tool_result" => self.read_tool_result(line, at, sink),
            "verify_start" => self.start_verification(&line, at, sink),
            "verify_ok" => self.finish_verification(line, false, at, sink),
            "verify_fail" => self.finish_verification(line, true, at, sink),
            "retry_prompt" => self.emit_system_step(chat_messages::take_first_text(&mut line, &["reason"]), at, sink),
            "commit_pushed" => {
                self.emit_system_step(
                    format!("Pushed commit {}", json_fields::get_str(&line, "commit").unwrap_or("unknown")),
                    at,
                    sink,
                );
            }
            "task_closed" => {
                self.emit_system_step(
                    format!("Closed task {}", json_fields::get_str(&line, "taskId").unwrap_or("unknown")),
                    at,
                    sink,
                );
            }
            "timeout" => {
                let reason = chat_messages::take_first_text(&mut line, &["reason"]);
                let text = if reason.is_empty() { "timeout".to_owned() } else { format!("timeout: {reason}") };
                self.timeout = Some(text.clone());
                self.emit_system_step(text, at, sink);
            }
            "run_end" => self.read_run_end(line, at, sink),
            "log_trimmed" => {
                sink.receive_event(TrajectoryEvent::Happened(
                    self.teller.last_step(),
                    Happening::Trimmed,
                    super::describe_trimming(&line),
                ));
            }
            "turn_start" | "edit_detected" => {}
            other => self.unknown.report_once(other, number, sink),
        }
        self.last_sign = self.last_sign.max(at);
    }

    fn finish_log(&mut self, sink: &mut dyn EventSink) {
        if let Some(at) = self.last_sign.take() {
            sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                finished_at: Some(at),
                ..SessionDetails::default()
            })));
        }
        if let Some(timeout) = self.timeout.take().filter(|_| !self.has_ended) {
            sink.receive_event(TrajectoryEvent::Outcome(SessionOutcome {
                status: EpisodeStatus::Failed,
                reward: None,
                error: Some(timeout),
                from: "timeout".to_owned(),
            }));
        }
    }
}

impl RunLogReader {
    fn read_run_start(&mut self, line: &Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let id = json_fields::get_string(line, "runId");
        let known = id.as_deref().map(chat_messages::fingerprint_trimmed);
        if self.run.is_some() && known.is_some() && self.run != known {
            self.finish_log(sink);
            self.teller.begin_trajectory(sink);
            *self = Self { unknown: std::mem::take(&mut self.unknown), ..Self::default() };
        }
        self.run = known.or(self.run);
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            session_id: id.clone(),
            trajectory_id: id,
            agent: Some(AGENT.to_owned()),
            model: json_fields::get_string(line, "model"),
            directory: json_fields::get_string(line, "workDir"),
            task_id: json_fields::get_string(line, "taskId"),
            started_at: at,
            ..SessionDetails::default()
        })));
    }

    fn read_task(&mut self, line: &Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let (task_id, title) = (json_fields::get_string(line, "taskId"), json_fields::get_string(line, "title"));
        let text = [task_id.as_deref(), title.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" - ");
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            task_id,
            title,
            ..SessionDetails::default()
        })));
        if !text.is_empty() {
            self.emit_system_step(format!("Task: {text}"), at, sink);
        }
    }

    /// Reads the prompts of the first request; later requests repeat the conversation and are skipped.
    fn read_request(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        if std::mem::replace(&mut self.knows_prompts, true) {
            return;
        }
        for message in json_fields::take_array(&mut line, "messages") {
            let mut message = json_fields::into_object(message);
            if !matches!(json_fields::get_str(&message, "role"), Some("system" | "user" | "developer")) {
                break;
            }
            let text = ChatContent::from_value(message.get_mut("content").map(Value::take).unwrap_or_default()).text;
            if !text.is_empty() {
                self.emit_system_step(text, at, sink);
            }
        }
    }

    fn read_response(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let mut calls: Vec<ToolCall> =
            json_fields::take_array(&mut line, "toolCalls").into_iter().filter_map(chat_messages::parse_call).collect();
        let mut content = match line.get_mut("message").map(Value::take) {
            Some(Value::Object(mut message)) => {
                let mut content =
                    ChatContent::from_value(message.get_mut("content").map(Value::take).unwrap_or_default());
                content.calls.extend(
                    json_fields::take_array(&mut message, "tool_calls")
                        .into_iter()
                        .filter_map(chat_messages::parse_call),
                );
                content
            }
            Some(other) => ChatContent::from_value(other),
            None => ChatContent::default(),
        };
        if calls.is_empty() {
            calls.append(&mut content.calls);
        }
        if content.text.is_empty() && content.reasoning.is_empty() && calls.is_empty() {
            return;
        }
        if !content.text.is_empty() {
            self.last_words = Some(chat_messages::fingerprint_trimmed(&content.text));
        }
        let step = Step {
            speaker: Speaker::Agent,
            text: content.text,
            reasoning: Some(content.reasoning).filter(|reasoning| !reasoning.is_empty()),
            at,
            ..Step::default()
        };
        let number = self.teller.emit_step(step, sink);
        self.turn = Some(number);
        for call in calls {
            self.teller.emit_call(number, call, sink);
        }
    }

    /// Emits a call unless the response that requested it did so; that response may have been trimmed away.
    fn read_tool_call(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let id = json_fields::get_string(&line, "toolCallId").unwrap_or_default();
        if !id.is_empty() && self.teller.is_unanswered(&id) {
            return;
        }
        let arguments = chat_messages::decode_arguments(line.get_mut("args").map(Value::take).unwrap_or_default());
        let tool = json_fields::get_string(&line, "tool").unwrap_or_default();
        self.emit_call(ToolCall { id, tool, arguments, output: None }, at, sink);
    }

    fn emit_call(&mut self, call: ToolCall, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let step = match self.turn {
            Some(step) => step,
            None => self.teller.emit_message(Speaker::Agent, String::new(), at, sink),
        };
        self.turn = Some(step);
        self.teller.emit_call(step, call, sink);
    }

    fn read_tool_result(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let mut output = chat_messages::parse_output(&mut line);
        output.failed = json_fields::get_flag(&line, "ok").map(|ok| !ok).or(output.failed);
        output.at = at;
        let id = json_fields::get_string(&line, "toolCallId").unwrap_or_default();
        let tool = json_fields::get_string(&line, "tool");
        if !id.is_empty() && !self.teller.is_unanswered(&id) {
            // Its call was trimmed away.
            let tool = tool.clone().unwrap_or_default();
            self.emit_call(ToolCall { id: id.clone(), tool, ..ToolCall::default() }, at, sink);
        }
        self.teller.emit_output(&id, tool.as_deref(), output, sink);
    }

    fn start_verification(&mut self, line: &Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let command = json_fields::get_str(line, "command").unwrap_or_default();
        let text = if command.is_empty() { "Verification".to_owned() } else { format!("Verification: {command}") };
        self.emit_system_step(text, at, sink);
        self.verifications = self.verifications.saturating_add(1);
        self.is_verifying = true;
        let call = ToolCall {
            id: self.verification_id(),
            tool: "verify".to_owned(),
            arguments: json!({ "command": command }),
            output: None,
        };
        sink.receive_event(TrajectoryEvent::Call(self.teller.last_step(), call));
    }

    fn verification_id(&self) -> String {
        format!("verify-{}", self.verifications)
    }

    fn finish_verification(&mut self, mut line: Object, failed: bool, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        if !self.is_verifying {
            self.start_verification(&line, at, sink);
        }
        self.is_verifying = false;
        let text = chat_messages::take_first_text(&mut line, &["stderr", "output", "stdout"]);
        let output = ToolOutput { text, failed: Some(failed), at, ..ToolOutput::default() };
        sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(self.verification_id()), output));
    }

    fn read_run_end(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let last_words = chat_messages::take_first_text(&mut line, &["finalMessage"]);
        if !last_words.is_empty() && self.last_words != Some(chat_messages::fingerprint_trimmed(&last_words)) {
            self.emit_system_step(last_words, at, sink);
        }
        let error = Some(chat_messages::take_first_text(&mut line, &["error"])).filter(|error| !error.is_empty());
        let word = json_fields::get_str(&line, "status");
        if let Some(mut outcome) = super::parse_outcome(word, error, "run_end") {
            if outcome.status != EpisodeStatus::Success && outcome.error.is_none() {
                outcome.error = self.timeout.take();
            }
            sink.receive_event(TrajectoryEvent::Outcome(outcome));
            self.has_ended = true;
        }
    }

    fn emit_system_step(&mut self, text: String, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        self.turn = None;
        self.teller.emit_message(Speaker::System, text, at, sink);
    }
}
