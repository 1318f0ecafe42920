//! Chat messages, one a line, for whoever has no format of its own. `docs/formats.md` describes it.

use serde_json::Value;

use super::Reader;
use super::chat::{self, Content, Teller};
use super::pick::{self, Object};
use super::unknown::Unknown;
use crate::domain::{About, EpisodeStatus, Event, Outcome, Output, Sink, Speaker, Step, Timestamp};

#[cfg(test)]
#[path = "generic_tests.rs"]
mod tests;

/// A key at which this reader breaks, so that tests see what becomes of a reflection whose reader does.
#[cfg(test)]
pub(crate) const PANIC: &str = "archivist-test-panic";

/// Reads the generic log.
#[derive(Debug, Default)]
pub(super) struct Generic {
    teller: Teller,
    unknown: Unknown,
    has_told: bool,
    model: Option<String>,
}

impl Reader for Generic {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let mut line = pick::object(line);
        #[cfg(test)]
        assert!(!line.contains_key(PANIC), "a reader that breaks");
        if line.contains_key("role") || line.contains_key("content") || line.contains_key("tool_calls") {
            self.has_told = true;
            self.message(line, sink);
            return;
        }
        let session = pick::take_object(&mut line, "session");
        let outcome = line.get_mut("outcome").map(Value::take);
        let usage = line.get("usage").and_then(Value::as_object).map(chat::usage);
        if session.is_none() && outcome.is_none() && usage.is_none() {
            self.unknown.report(pick::str(&line, "type").unwrap_or_default(), number, sink);
        }
        if let Some(session) = session {
            self.session(&session, sink);
        }
        if let Some(usage) = usage.filter(|usage| !usage.is_unknown()) {
            sink.hear(Event::Total(usage));
        }
        if let Some(outcome) = outcome.and_then(outcome_of) {
            sink.hear(Event::Outcome(outcome));
        }
    }
}

impl Generic {
    fn session(&mut self, session: &Object, sink: &mut dyn Sink) {
        if std::mem::take(&mut self.has_told) {
            self.teller.begin(sink);
        }
        let text = |keys: &[&str]| keys.iter().find_map(|key| pick::string(session, key));
        let time = |keys: &[&str]| keys.iter().find_map(|key| pick::time(session, key));
        self.model = text(&["model"]);
        sink.hear(Event::About(Box::new(About {
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
            ..About::default()
        })));
    }

    fn message(&mut self, mut line: Object, sink: &mut dyn Sink) {
        let at = ["timestamp", "created_at", "createdAt", "ts", "time"].iter().find_map(|key| pick::time(&line, key));
        let speaker = match pick::str(&line, "role").unwrap_or_default() {
            "tool" | "function" => {
                self.tool(line, at, sink);
                return;
            }
            "user" | "human" => Speaker::User,
            "assistant" | "agent" | "model" | "ai" => Speaker::Agent,
            "other_agent" => Speaker::OtherAgent,
            _ => Speaker::System,
        };
        let mut content = Content::of(line.get_mut("content").map(Value::take).unwrap_or_default());
        content.calls.extend(pick::take_array(&mut line, "tool_calls").into_iter().filter_map(chat::call));
        content.calls.extend(line.get_mut("function_call").map(Value::take).and_then(chat::call));
        let aside = chat::take_words(&mut line, &["reasoning", "reasoning_content", "thinking"]);
        let Content { text, reasoning, calls, outputs } = content;
        let reasoning = [aside, reasoning].into_iter().find(|words| !words.is_empty());
        for (id, output) in outputs {
            self.teller.output(&id, None, Output { at, ..output }, sink);
        }
        let usage = line.get("usage").and_then(Value::as_object).map(chat::usage).unwrap_or_default();
        if text.is_empty() && reasoning.is_none() && calls.is_empty() && usage.is_unknown() {
            return;
        }
        let speaker = if calls.is_empty() { speaker } else { Speaker::Agent };
        let model = self.spoke(pick::string(&line, "model"), sink);
        let step = self.teller.step(Step { speaker, text, reasoning, model, at, ..Step::default() }, sink);
        for call in calls {
            self.teller.call(step, call, sink);
        }
        if !usage.is_unknown() {
            sink.hear(Event::Spent(step, usage));
        }
    }

    fn tool(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let id = ["tool_call_id", "tool_use_id"].iter().find_map(|key| pick::string(&line, key)).unwrap_or_default();
        let name = pick::string(&line, "name");
        let output = Output { at, ..chat::output(&mut line) };
        self.teller.output(&id, name.as_deref(), output, sink);
    }

    /// The first model is the session's; a step names only another.
    fn spoke(&mut self, model: Option<String>, sink: &mut dyn Sink) -> Option<String> {
        let model = model?;
        if self.model.is_none() {
            self.model = Some(model.clone());
            sink.hear(Event::About(Box::new(About { model: Some(model), ..About::default() })));
            return None;
        }
        Some(model).filter(|model| self.model.as_ref() != Some(model))
    }
}

/// `{"status", "reward", "error"}`, or the status alone. A reward without a status speaks for itself.
fn outcome_of(value: Value) -> Option<Outcome> {
    let mut outcome = match value {
        Value::Object(outcome) => outcome,
        status => Object::from_iter([("status".to_owned(), status)]),
    };
    let reward = pick::amount(&outcome, "reward");
    let status = match EpisodeStatus::from_outcome(pick::str(&outcome, "status").unwrap_or_default()) {
        Ok(status) => status,
        Err(_) => match reward? {
            reward if reward >= 1.0 => EpisodeStatus::Success,
            reward if reward > 0.0 => EpisodeStatus::Partial,
            _ => EpisodeStatus::Failed,
        },
    };
    let error = Some(chat::take_words(&mut outcome, &["error"])).filter(|error| !error.is_empty());
    Some(Outcome { status, reward, error, from: "outcome".to_owned() })
}
