//! Reads chat messages, one per line, for agents without a format of their own. `docs/formats.md` describes it.

use serde_json::Value;

use super::LogReader;
use super::chat_messages::{self, ChatContent, ChatEventEmitter};
use super::json_fields::{self, Object};
use super::unknown_lines::UnknownKinds;
use super::user_turns::{UserTurn, UserTurnReader};
use crate::domain::{
    EpisodeStatus, EventSink, SessionDetails, SessionOutcome, Speaker, Step, Timestamp, ToolOutput, TrajectoryEvent,
};

#[cfg(test)]
#[path = "generic_tests.rs"]
mod tests;

/// A key that makes this reader panic, so that tests can check how a reflection handles it.
#[cfg(test)]
pub(crate) const PANIC: &str = "archivist-test-panic";

/// Reads a log in the generic chat format.
#[derive(Debug, Default)]
pub(super) struct GenericReader {
    teller: ChatEventEmitter,
    turns: UserTurnReader,
    unknown: UnknownKinds,
    has_told: bool,
    model: Option<String>,
}

impl LogReader for GenericReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let mut line = json_fields::into_object(line);
        #[cfg(test)]
        assert!(!line.contains_key(PANIC), "a reader that breaks");
        if line.contains_key("role") || line.contains_key("content") || line.contains_key("tool_calls") {
            self.has_told = true;
            self.read_message(line, sink);
            return;
        }
        let session = json_fields::take_object(&mut line, "session");
        let outcome = line.get_mut("outcome").map(Value::take);
        let usage = line.get("usage").and_then(Value::as_object).map(chat_messages::parse_usage);
        if session.is_none() && outcome.is_none() && usage.is_none() {
            self.unknown.report_once(json_fields::get_str(&line, "type").unwrap_or_default(), number, sink);
        }
        if let Some(session) = session {
            self.read_session(&session, sink);
        }
        if let Some(usage) = usage.filter(|usage| !usage.is_unknown()) {
            sink.receive_event(TrajectoryEvent::Total(usage));
        }
        if let Some(outcome) = outcome.and_then(parse_outcome) {
            sink.receive_event(TrajectoryEvent::Outcome(outcome));
        }
    }
}

impl GenericReader {
    fn read_session(&mut self, session: &Object, sink: &mut dyn EventSink) {
        if std::mem::take(&mut self.has_told) {
            self.teller.begin_trajectory(sink);
            self.turns = UserTurnReader::default();
        }
        let text = |keys: &[&str]| keys.iter().find_map(|key| json_fields::get_string(session, key));
        let time = |keys: &[&str]| keys.iter().find_map(|key| json_fields::get_time(session, key));
        self.model = text(&["model"]);
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            session_id: text(&["id", "sessionId", "session_id"]),
            agent: text(&["agent"]),
            agent_version: text(&["agentVersion", "agent_version"]),
            model: self.model.clone(),
            directory: text(&["directory", "cwd"]),
            branch: text(&["branch"]),
            repository: text(&["repository"]),
            parent_session_id: text(&["parentId", "parent_id"]),
            task_id: text(&["taskId", "task_id"]),
            subtask_id: text(&["subtaskId", "subtask_id"]),
            title: text(&["title"]),
            started_at: time(&["startedAt", "started_at"]),
            finished_at: time(&["finishedAt", "finished_at"]),
            ..SessionDetails::default()
        })));
    }

    fn read_message(&mut self, mut line: Object, sink: &mut dyn EventSink) {
        let at = ["timestamp", "created_at", "createdAt", "ts", "time"]
            .iter()
            .find_map(|key| json_fields::get_time(&line, key));
        let speaker = match json_fields::get_str(&line, "role").unwrap_or_default() {
            "tool" | "function" => return self.read_tool_output(line, at, sink),
            "user" | "human" if is_tool_output(&line) => return self.read_tool_output(line, at, sink),
            "user" | "human" => Speaker::User,
            "assistant" | "agent" | "model" | "ai" => Speaker::Agent,
            "other_agent" => Speaker::OtherAgent,
            _ => Speaker::System,
        };
        let content = line.get_mut("content").map(Value::take).unwrap_or_default();
        let mut content = match speaker {
            Speaker::User => ChatContent::from_user_value(content),
            _ => ChatContent::from_value(content),
        };
        content
            .calls
            .extend(json_fields::take_array(&mut line, "tool_calls").into_iter().filter_map(chat_messages::parse_call));
        content.calls.extend(line.get_mut("function_call").map(Value::take).and_then(chat_messages::parse_call));
        let aside = chat_messages::take_first_text(&mut line, &["reasoning", "reasoning_content", "thinking"]);
        let ChatContent { text, attached, reasoning, calls, outputs } = content;
        let reasoning = [aside, reasoning].into_iter().find(|words| !words.is_empty());
        let results = outputs.len();
        for (id, output) in outputs {
            self.teller.emit_output(&id, None, ToolOutput { at, ..output }, sink);
        }
        self.turns.note_results(results);
        if !attached.is_empty() {
            self.teller.emit_message(Speaker::System, attached, at, sink);
        }
        let usage = line.get("usage").and_then(Value::as_object).map(chat_messages::parse_usage).unwrap_or_default();
        if text.is_empty() && reasoning.is_none() && calls.is_empty() && usage.is_unknown() {
            return;
        }
        let mut turn = self.attribute_message(speaker, text, calls.len(), results);
        let mut extra = Object::new();
        turn.keep_harness_text(&mut extra);
        let UserTurn { speaker, text, .. } = turn;
        let model = self.resolve_step_model(json_fields::get_string(&line, "model"), sink);
        let step = self.teller.emit_step(Step { speaker, text, reasoning, model, at, extra, ..Step::default() }, sink);
        for call in calls {
            self.teller.emit_call(step, call, sink);
        }
        if !usage.is_unknown() {
            sink.receive_event(TrajectoryEvent::Spent(step, usage));
        }
    }

    /// Decides who speaks in a message with so many calls and results.
    fn attribute_message(&mut self, speaker: Speaker, text: String, calls: usize, results: usize) -> UserTurn {
        let speaker = match speaker {
            _ if calls > 0 => Speaker::Agent,
            Speaker::User if results == 0 => return self.turns.attribute_turn(text),
            // Nothing tells what stands beside a result from the result itself.
            Speaker::User => Speaker::System,
            speaker => speaker,
        };
        if speaker == Speaker::Agent {
            self.turns.note_agent_turn(&text, calls);
        }
        UserTurn { speaker, text, ..UserTurn::default() }
    }

    fn read_tool_output(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let id = ["tool_call_id", "tool_use_id"]
            .iter()
            .find_map(|key| json_fields::get_string(&line, key))
            .unwrap_or_default();
        let name = json_fields::get_string(&line, "name");
        let output = ToolOutput { at, ..chat_messages::parse_output(&mut line) };
        self.turns.note_results(1);
        self.teller.emit_output(&id, name.as_deref(), output, sink);
    }

    /// Returns the model of a step if it differs from the session's; the first model becomes the session's.
    fn resolve_step_model(&mut self, model: Option<String>, sink: &mut dyn EventSink) -> Option<String> {
        let model = model?;
        if self.model.is_none() {
            self.model = Some(model.clone());
            sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                model: Some(model),
                ..SessionDetails::default()
            })));
            return None;
        }
        Some(model).filter(|model| self.model.as_ref() != Some(model))
    }
}

/// Returns true if a message labelled as the user's has the fields of a tool's output.
fn is_tool_output(line: &Object) -> bool {
    let has = |key: &str| line.get(key).is_some_and(|value| !value.is_null());
    ["tool_call_id", "tool_use_id", "is_error", "isError", "exit_code", "exitCode"].into_iter().any(has)
        || json_fields::get_str(line, "type").is_some_and(|kind| kind.contains("result") || kind.ends_with("_output"))
}

/// Parses `{"status", "reward", "error"}`, or the status alone. Without a status, the reward decides.
fn parse_outcome(value: Value) -> Option<SessionOutcome> {
    let mut outcome = match value {
        Value::Object(outcome) => outcome,
        status => Object::from_iter([("status".to_owned(), status)]),
    };
    let reward = json_fields::get_amount(&outcome, "reward");
    let status = match EpisodeStatus::from_outcome(json_fields::get_str(&outcome, "status").unwrap_or_default()) {
        Ok(status) => status,
        Err(_) => match reward? {
            reward if reward >= 1.0 => EpisodeStatus::Success,
            reward if reward > 0.0 => EpisodeStatus::Partial,
            _ => EpisodeStatus::Failed,
        },
    };
    let error = Some(chat_messages::take_first_text(&mut outcome, &["error"])).filter(|error| !error.is_empty());
    Some(SessionOutcome { status, reward, error, from: "outcome".to_owned() })
}
