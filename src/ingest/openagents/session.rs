//! Sessions of the first two generations; the third is Claude Code's own log.
//!
//! In the first, lines look like Claude Code's but are typed `session_start`, `user`, `assistant`, `tool_result` and
//! `session_end`. In the second they are `session_start` with a `config`, `user_message`, `turn`, `message` and
//! `session_end`.

use serde_json::Value;

use super::AGENT;
use crate::domain::{About, Event, Happening, Sink, Speaker, Step, Timestamp, Usage};
use crate::ingest::Reader;
use crate::ingest::chat::{self, Content, Teller};
use crate::ingest::pick::{self, Object};
use crate::ingest::unknown::Unknown;

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;

/// Reads `sessions/<id>.jsonl`.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Session {
    teller: Teller,
    unknown: Unknown,
    session: Option<u64>,
    has_task: bool,
    model: Option<String>,
    /// The last message of the model that spent something, and its step: repeated figures are one.
    spender: Option<(u64, u32)>,
    last_words: Option<u64>,
    last_sign: Option<Timestamp>,
}

impl Reader for Session {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let mut line = pick::object(line);
        let kind = pick::string(&line, "type").unwrap_or_default();
        let at = pick::time(&line, "timestamp");
        match kind.as_str() {
            "session_start" => self.start(line, at, sink),
            "user" => self.user(line, at, sink),
            "assistant" => self.assistant(line, at, sink),
            "tool_result" => self.tool_result(line, at, sink),
            "user_message" => {
                // Written by the loops that hand out tasks, never by a person.
                let content = Content::of(line.get_mut("content").map(Value::take).unwrap_or_default());
                self.message(Speaker::System, content, None, at, sink);
            }
            "turn" => self.turn(line, at, sink),
            "message" => self.chat(line, at, sink),
            "session_end" => self.finish(line, at, sink),
            "log_trimmed" => {
                sink.hear(Event::Happened(self.teller.last(), Happening::Trimmed, super::trimmed(&line)));
            }
            other => self.unknown.report(other, number, sink),
        }
        self.last_sign = self.last_sign.max(at);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.over(sink);
    }
}

impl Session {
    fn start(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let id = pick::string(&line, "sessionId");
        let known = id.as_deref().map(chat::fingerprint);
        if self.session.is_some() && known.is_some() && self.session != known {
            self.over(sink);
            self.teller.begin(sink);
            *self = Self { unknown: std::mem::take(&mut self.unknown), ..Self::default() };
        }
        self.session = known.or(self.session);
        let mut config = pick::take_object(&mut line, "config").unwrap_or_default();
        let task_id = pick::string(&line, "taskId");
        self.has_task |= task_id.is_some();
        self.model = pick::string(&line, "model").or_else(|| pick::string(&config, "model"));
        sink.hear(Event::About(Box::new(About {
            session_id: id,
            agent: Some(AGENT.to_owned()),
            agent_version: pick::string(&line, "version"),
            model: self.model.clone(),
            directory: pick::string(&line, "cwd"),
            branch: pick::string(&line, "gitBranch"),
            task_id,
            started_at: at,
            ..About::default()
        })));
        let prompt = chat::take_words(&mut config, &["systemPrompt"]);
        if !prompt.is_empty() {
            self.teller.said(Speaker::System, prompt, at, sink);
        }
    }

    fn user(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        // A session that works on a task is run by a loop, which writes the prompts itself.
        let speaker = match pick::str(&line, "userType") {
            Some("external") => Speaker::User,
            None if !self.has_task => Speaker::User,
            _ => Speaker::System,
        };
        let mut message = pick::take_object(&mut line, "message").unwrap_or_default();
        let content = Content::of(message.get_mut("content").map(Value::take).unwrap_or_default());
        self.message(speaker, content, None, at, sink);
    }

    fn assistant(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let mut message = pick::take_object(&mut line, "message").unwrap_or_default();
        let content = Content::of(message.get_mut("content").map(Value::take).unwrap_or_default());
        let model = pick::string(&message, "model");
        let before = self.teller.last();
        self.message(Speaker::Agent, content, model, at, sink);
        let usage = line.get("usage").or_else(|| message.get("usage")).and_then(Value::as_object).map(chat::usage);
        if let Some(usage) = usage.filter(|usage| !usage.is_unknown()) {
            let id = pick::str(&message, "id").or_else(|| pick::str(&line, "requestId")).map(chat::fingerprint);
            let step = match (id, self.spender) {
                (Some(id), Some((known, step))) if id == known => step,
                _ if self.teller.last() == before => self.teller.said(Speaker::Agent, String::new(), at, sink),
                _ => self.teller.last(),
            };
            self.spender = id.map(|id| (id, step));
            sink.hear(Event::Spent(step, usage));
        }
    }

    fn tool_result(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let mut message = pick::take_object(&mut line, "message").unwrap_or_default();
        let content = Content::of(message.get_mut("content").map(Value::take).unwrap_or_default());
        self.message(Speaker::Tool, content, None, at, sink);
    }

    fn turn(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let mut turn = pick::take_object(&mut line, "turn").unwrap_or_default();
        let mut content = Content::of(turn.get_mut("content").map(Value::take).unwrap_or_default());
        content.calls.extend(pick::take_array(&mut turn, "toolCalls").into_iter().filter_map(chat::call));
        for result in pick::take_array(&mut turn, "toolResults") {
            let mut result = pick::object(result);
            let id = pick::string(&result, "toolCallId").unwrap_or_default();
            content.outputs.push((id, chat::output(&mut result)));
        }
        let speaker = if pick::str(&turn, "role") == Some("tool") { Speaker::Tool } else { Speaker::Agent };
        self.message(speaker, content, None, at, sink);
    }

    fn chat(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let mut message = pick::take_object(&mut line, "message").unwrap_or_default();
        let role = pick::string(&message, "role").unwrap_or_default();
        if role == "tool" {
            let id = pick::string(&message, "tool_call_id").unwrap_or_default();
            let tool = pick::string(&message, "name");
            let mut output = chat::output(&mut message);
            output.at = at;
            self.teller.output(&id, tool.as_deref(), output, sink);
            return;
        }
        let mut content = Content::of(message.get_mut("content").map(Value::take).unwrap_or_default());
        content.calls.extend(pick::take_array(&mut message, "tool_calls").into_iter().filter_map(chat::call));
        let speaker = if role == "assistant" { Speaker::Agent } else { Speaker::System };
        self.message(speaker, content, None, at, sink);
    }

    fn finish(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let last_words = chat::take_words(&mut line, &["finalMessage"]);
        if !last_words.is_empty() && self.last_words != Some(chat::fingerprint(&last_words)) {
            self.teller.said(Speaker::System, last_words, at, sink);
        }
        let done: Vec<String> = [("filesModified", "Files modified"), ("commits", "Commits")]
            .into_iter()
            .map(|(key, label)| (label, chat::strings(&mut line, key)))
            .filter(|(_, names)| !names.is_empty())
            .map(|(label, names)| format!("{label}: {}", names.join(", ")))
            .collect();
        if !done.is_empty() {
            self.teller.said(Speaker::System, done.join("\n"), at, sink);
        }
        let total = line.get("totalUsage").and_then(Value::as_object).map_or(Usage::default(), chat::usage);
        if !total.is_unknown() {
            sink.hear(Event::Total(total));
        }
        let word = pick::string(&line, "outcome");
        let reason = pick::string(&line, "reason").filter(|_| word.as_deref() != Some("success"));
        if let Some(outcome) = super::outcome(word.as_deref(), reason, "session_end") {
            sink.hear(Event::Outcome(outcome));
        }
    }

    fn over(&mut self, sink: &mut dyn Sink) {
        if let Some(at) = self.last_sign.take() {
            sink.hear(Event::About(Box::new(About { finished_at: Some(at), ..About::default() })));
        }
    }

    fn message(
        &mut self,
        speaker: Speaker,
        content: Content,
        model: Option<String>,
        at: Option<Timestamp>,
        sink: &mut dyn Sink,
    ) {
        let Content { text, reasoning, calls, outputs } = content;
        for (id, mut output) in outputs {
            output.at = at;
            self.teller.output(&id, None, output, sink);
        }
        if text.is_empty() && reasoning.is_empty() && calls.is_empty() {
            return;
        }
        if speaker == Speaker::Agent && !text.is_empty() {
            self.last_words = Some(chat::fingerprint(&text));
        }
        let speaker = if calls.is_empty() { speaker } else { Speaker::Agent };
        let number = self.teller.step(
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
            self.teller.call(number, call, sink);
        }
    }
}
