//! Reads sessions of the first two generations; the third is Claude Code's own log.
//!
//! In the first, lines look like Claude Code's but are typed `session_start`, `user`, `assistant`, `tool_result` and
//! `session_end`. In the second the types are `session_start` with a `config`, `user_message`, `turn`, `message` and
//! `session_end`.

use serde_json::Value;

use super::AGENT;
use crate::domain::{EventSink, Happening, SessionDetails, Speaker, Step, Timestamp, TokenUsage, TrajectoryEvent};
use crate::ingest::LogReader;
use crate::ingest::chat_messages::{self, ChatContent, ChatEventEmitter};
use crate::ingest::json_fields::{self, Object};
use crate::ingest::unknown_lines::UnknownKinds;

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;

/// Reads a log at `sessions/<id>.jsonl`.
#[derive(Debug, Default)]
pub(in crate::ingest) struct OpenAgentsSessionReader {
    teller: ChatEventEmitter,
    unknown: UnknownKinds,
    session: Option<u64>,
    has_task: bool,
    model: Option<String>,
    /// The last message of the model with usage figures, and its step: repeated figures count once.
    spender: Option<(u64, u32)>,
    last_words: Option<u64>,
    last_sign: Option<Timestamp>,
}

impl LogReader for OpenAgentsSessionReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let mut line = json_fields::into_object(line);
        let kind = json_fields::get_string(&line, "type").unwrap_or_default();
        let at = json_fields::get_time(&line, "timestamp");
        match kind.as_str() {
            "session_start" => self.read_session_start(line, at, sink),
            "user" => self.read_user_line(line, at, sink),
            "assistant" => self.read_assistant_line(line, at, sink),
            "tool_result" => self.read_tool_result(line, at, sink),
            "user_message" => {
                // Written by the loop that assigns tasks, never by a person.
                let content = ChatContent::from_value(line.get_mut("content").map(Value::take).unwrap_or_default());
                self.emit_message(Speaker::System, content, None, at, sink);
            }
            "turn" => self.read_turn(line, at, sink),
            "message" => self.read_chat_message(line, at, sink),
            "session_end" => self.read_session_end(line, at, sink),
            "log_trimmed" => {
                sink.receive_event(TrajectoryEvent::Happened(
                    self.teller.last_step(),
                    Happening::Trimmed,
                    super::describe_trimming(&line),
                ));
            }
            other => self.unknown.report_once(other, number, sink),
        }
        self.last_sign = self.last_sign.max(at);
    }

    fn finish_log(&mut self, sink: &mut dyn EventSink) {
        self.emit_finish_time(sink);
    }
}

impl OpenAgentsSessionReader {
    fn read_session_start(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let id = json_fields::get_string(&line, "sessionId");
        let known = id.as_deref().map(chat_messages::fingerprint_trimmed);
        if self.session.is_some() && known.is_some() && self.session != known {
            self.emit_finish_time(sink);
            self.teller.begin_trajectory(sink);
            *self = Self { unknown: std::mem::take(&mut self.unknown), ..Self::default() };
        }
        self.session = known.or(self.session);
        let mut config = json_fields::take_object(&mut line, "config").unwrap_or_default();
        let task_id = json_fields::get_string(&line, "taskId");
        self.has_task |= task_id.is_some();
        self.model = json_fields::get_string(&line, "model").or_else(|| json_fields::get_string(&config, "model"));
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            session_id: id,
            agent: Some(AGENT.to_owned()),
            agent_version: json_fields::get_string(&line, "version"),
            model: self.model.clone(),
            directory: json_fields::get_string(&line, "cwd"),
            branch: json_fields::get_string(&line, "gitBranch"),
            task_id,
            started_at: at,
            ..SessionDetails::default()
        })));
        let prompt = chat_messages::take_first_text(&mut config, &["systemPrompt"]);
        if !prompt.is_empty() {
            self.teller.emit_message(Speaker::System, prompt, at, sink);
        }
    }

    fn read_user_line(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        // A session that works on a task is driven by a loop, which writes the prompts itself.
        let speaker = match json_fields::get_str(&line, "userType") {
            Some("external") => Speaker::User,
            None if !self.has_task => Speaker::User,
            _ => Speaker::System,
        };
        let mut message = json_fields::take_object(&mut line, "message").unwrap_or_default();
        let mut content = ChatContent::from_user_value(message.get_mut("content").map(Value::take).unwrap_or_default());
        let attached = std::mem::take(&mut content.attached);
        if !attached.is_empty() {
            self.teller.emit_message(Speaker::System, attached, at, sink);
        }
        // Nothing tells what stands beside a result from the result itself.
        let speaker = if content.outputs.is_empty() { speaker } else { Speaker::System };
        self.emit_message(speaker, content, None, at, sink);
    }

    fn read_assistant_line(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let mut message = json_fields::take_object(&mut line, "message").unwrap_or_default();
        let content = ChatContent::from_value(message.get_mut("content").map(Value::take).unwrap_or_default());
        let model = json_fields::get_string(&message, "model");
        let before = self.teller.last_step();
        self.emit_message(Speaker::Agent, content, model, at, sink);
        let usage = line
            .get("usage")
            .or_else(|| message.get("usage"))
            .and_then(Value::as_object)
            .map(chat_messages::parse_usage);
        if let Some(usage) = usage.filter(|usage| !usage.is_unknown()) {
            let id = json_fields::get_str(&message, "id")
                .or_else(|| json_fields::get_str(&line, "requestId"))
                .map(chat_messages::fingerprint_trimmed);
            let step = match (id, self.spender) {
                (Some(id), Some((known, step))) if id == known => step,
                _ if self.teller.last_step() == before => {
                    self.teller.emit_message(Speaker::Agent, String::new(), at, sink)
                }
                _ => self.teller.last_step(),
            };
            self.spender = id.map(|id| (id, step));
            sink.receive_event(TrajectoryEvent::Spent(step, usage));
        }
    }

    fn read_tool_result(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let mut message = json_fields::take_object(&mut line, "message").unwrap_or_default();
        let content = ChatContent::from_value(message.get_mut("content").map(Value::take).unwrap_or_default());
        self.emit_message(Speaker::Tool, content, None, at, sink);
    }

    fn read_turn(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let mut turn = json_fields::take_object(&mut line, "turn").unwrap_or_default();
        let mut content = ChatContent::from_value(turn.get_mut("content").map(Value::take).unwrap_or_default());
        content
            .calls
            .extend(json_fields::take_array(&mut turn, "toolCalls").into_iter().filter_map(chat_messages::parse_call));
        for result in json_fields::take_array(&mut turn, "toolResults") {
            let mut result = json_fields::into_object(result);
            let id = json_fields::get_string(&result, "toolCallId").unwrap_or_default();
            content.outputs.push((id, chat_messages::parse_output(&mut result)));
        }
        let speaker = if json_fields::get_str(&turn, "role") == Some("tool") { Speaker::Tool } else { Speaker::Agent };
        self.emit_message(speaker, content, None, at, sink);
    }

    fn read_chat_message(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let mut message = json_fields::take_object(&mut line, "message").unwrap_or_default();
        let role = json_fields::get_string(&message, "role").unwrap_or_default();
        if role == "tool" {
            let id = json_fields::get_string(&message, "tool_call_id").unwrap_or_default();
            let tool = json_fields::get_string(&message, "name");
            let mut output = chat_messages::parse_output(&mut message);
            output.at = at;
            self.teller.emit_output(&id, tool.as_deref(), output, sink);
            return;
        }
        let mut content = ChatContent::from_value(message.get_mut("content").map(Value::take).unwrap_or_default());
        content.calls.extend(
            json_fields::take_array(&mut message, "tool_calls").into_iter().filter_map(chat_messages::parse_call),
        );
        let speaker = if role == "assistant" { Speaker::Agent } else { Speaker::System };
        self.emit_message(speaker, content, None, at, sink);
    }

    fn read_session_end(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let last_words = chat_messages::take_first_text(&mut line, &["finalMessage"]);
        if !last_words.is_empty() && self.last_words != Some(chat_messages::fingerprint_trimmed(&last_words)) {
            self.teller.emit_message(Speaker::System, last_words, at, sink);
        }
        let done: Vec<String> = [("filesModified", "Files modified"), ("commits", "Commits")]
            .into_iter()
            .map(|(key, label)| (label, chat_messages::take_strings(&mut line, key)))
            .filter(|(_, names)| !names.is_empty())
            .map(|(label, names)| format!("{label}: {}", names.join(", ")))
            .collect();
        if !done.is_empty() {
            self.teller.emit_message(Speaker::System, done.join("\n"), at, sink);
        }
        let total =
            line.get("totalUsage").and_then(Value::as_object).map_or(TokenUsage::default(), chat_messages::parse_usage);
        if !total.is_unknown() {
            sink.receive_event(TrajectoryEvent::Total(total));
        }
        let word = json_fields::get_string(&line, "outcome");
        let reason = json_fields::get_string(&line, "reason").filter(|_| word.as_deref() != Some("success"));
        if let Some(outcome) = super::parse_outcome(word.as_deref(), reason, "session_end") {
            sink.receive_event(TrajectoryEvent::Outcome(outcome));
        }
    }

    fn emit_finish_time(&mut self, sink: &mut dyn EventSink) {
        if let Some(at) = self.last_sign.take() {
            sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                finished_at: Some(at),
                ..SessionDetails::default()
            })));
        }
    }

    fn emit_message(
        &mut self,
        speaker: Speaker,
        content: ChatContent,
        model: Option<String>,
        at: Option<Timestamp>,
        sink: &mut dyn EventSink,
    ) {
        let ChatContent { text, reasoning, calls, outputs, .. } = content;
        for (id, mut output) in outputs {
            output.at = at;
            self.teller.emit_output(&id, None, output, sink);
        }
        if text.is_empty() && reasoning.is_empty() && calls.is_empty() {
            return;
        }
        if speaker == Speaker::Agent && !text.is_empty() {
            self.last_words = Some(chat_messages::fingerprint_trimmed(&text));
        }
        let speaker = if calls.is_empty() { speaker } else { Speaker::Agent };
        let number = self.teller.emit_step(
            Step {
                speaker,
                text,
                reasoning: Some(reasoning).filter(|reasoning| !reasoning.is_empty()),
                model: model.filter(|model| self.model.as_deref() != Some(model)),
                at,
                ..Step::default()
            },
            sink,
        );
        for call in calls {
            self.teller.emit_call(number, call, sink);
        }
    }
}
