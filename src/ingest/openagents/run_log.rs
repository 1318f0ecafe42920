//! Run logs: what the loop did, event by event.

use serde_json::Value;
use serde_json::json;

use super::AGENT;
use crate::domain::{
    About, Call, EpisodeStatus, Event, Happening, Outcome, Output, OutputOf, Sink, Speaker, Step, Timestamp,
};
use crate::ingest::Reader;
use crate::ingest::chat::{self, Content, Teller};
use crate::ingest::pick::{self, Object};
use crate::ingest::unknown::Unknown;

#[cfg(test)]
#[path = "run_log_tests.rs"]
mod tests;

/// Reads `run-logs/<day>/<runId>.jsonl`.
#[derive(Debug, Default)]
pub(in crate::ingest) struct RunLog {
    teller: Teller,
    unknown: Unknown,
    run: Option<u64>,
    /// The step that the model's calls belong to, until somebody else speaks.
    turn: Option<u32>,
    knows_prompts: bool,
    verifications: u32,
    is_verifying: bool,
    last_words: Option<u64>,
    timeout: Option<String>,
    has_ended: bool,
    last_sign: Option<Timestamp>,
}

impl Reader for RunLog {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let mut line = pick::object(line);
        let kind = pick::string(&line, "type").unwrap_or_default();
        let at = pick::time(&line, "ts");
        match kind.as_str() {
            "run_start" => self.start(&line, at, sink),
            "task_selected" => self.task(&line, at, sink),
            "llm_request" => self.request(line, at, sink),
            "llm_response" => self.response(line, at, sink),
            "tool_call" => self.call(line, at, sink),
            "tool_result" => self.result(line, at, sink),
            "verify_start" => self.verify(&line, at, sink),
            "verify_ok" => self.verified(line, false, at, sink),
            "verify_fail" => self.verified(line, true, at, sink),
            "retry_prompt" => self.system(chat::take_words(&mut line, &["reason"]), at, sink),
            "commit_pushed" => {
                self.system(format!("Pushed commit {}", pick::str(&line, "commit").unwrap_or("unknown")), at, sink);
            }
            "task_closed" => {
                self.system(format!("Closed task {}", pick::str(&line, "taskId").unwrap_or("unknown")), at, sink);
            }
            "timeout" => {
                let reason = chat::take_words(&mut line, &["reason"]);
                let text = if reason.is_empty() { "timeout".to_owned() } else { format!("timeout: {reason}") };
                self.timeout = Some(text.clone());
                self.system(text, at, sink);
            }
            "run_end" => self.finish(line, at, sink),
            "log_trimmed" => {
                sink.hear(Event::Happened(self.teller.last(), Happening::Trimmed, super::trimmed(&line)));
            }
            "turn_start" | "edit_detected" => {}
            other => self.unknown.report(other, number, sink),
        }
        self.last_sign = self.last_sign.max(at);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        if let Some(at) = self.last_sign.take() {
            sink.hear(Event::About(Box::new(About { finished_at: Some(at), ..About::default() })));
        }
        if let Some(timeout) = self.timeout.take().filter(|_| !self.has_ended) {
            sink.hear(Event::Outcome(Outcome {
                status: EpisodeStatus::Failed,
                reward: None,
                error: Some(timeout),
                from: "timeout".to_owned(),
            }));
        }
    }
}

impl RunLog {
    fn start(&mut self, line: &Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let id = pick::string(line, "runId");
        let known = id.as_deref().map(chat::fingerprint);
        if self.run.is_some() && known.is_some() && self.run != known {
            self.end(sink);
            self.teller.begin(sink);
            *self = Self { unknown: std::mem::take(&mut self.unknown), ..Self::default() };
        }
        self.run = known.or(self.run);
        sink.hear(Event::About(Box::new(About {
            session_id: id.clone(),
            trajectory_id: id,
            agent: Some(AGENT.to_owned()),
            model: pick::string(line, "model"),
            directory: pick::string(line, "workDir"),
            task_id: pick::string(line, "taskId"),
            started_at: at,
            ..About::default()
        })));
    }

    fn task(&mut self, line: &Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let (task_id, title) = (pick::string(line, "taskId"), pick::string(line, "title"));
        let text = [task_id.as_deref(), title.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" - ");
        sink.hear(Event::About(Box::new(About { task_id, title, ..About::default() })));
        if !text.is_empty() {
            self.system(format!("Task: {text}"), at, sink);
        }
    }

    /// Every request repeats all that was said before; only the first one's prompts are new.
    fn request(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        if std::mem::replace(&mut self.knows_prompts, true) {
            return;
        }
        for message in pick::take_array(&mut line, "messages") {
            let mut message = pick::object(message);
            if !matches!(pick::str(&message, "role"), Some("system" | "user" | "developer")) {
                break;
            }
            let text = Content::of(message.get_mut("content").map(Value::take).unwrap_or_default()).text;
            if !text.is_empty() {
                self.system(text, at, sink);
            }
        }
    }

    fn response(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let mut calls: Vec<Call> =
            pick::take_array(&mut line, "toolCalls").into_iter().filter_map(chat::call).collect();
        let mut content = match line.get_mut("message").map(Value::take) {
            Some(Value::Object(mut message)) => {
                let mut content = Content::of(message.get_mut("content").map(Value::take).unwrap_or_default());
                content.calls.extend(pick::take_array(&mut message, "tool_calls").into_iter().filter_map(chat::call));
                content
            }
            Some(other) => Content::of(other),
            None => Content::default(),
        };
        if calls.is_empty() {
            calls.append(&mut content.calls);
        }
        if content.text.is_empty() && content.reasoning.is_empty() && calls.is_empty() {
            return;
        }
        if !content.text.is_empty() {
            self.last_words = Some(chat::fingerprint(&content.text));
        }
        let step = Step {
            speaker: Speaker::Agent,
            text: content.text,
            reasoning: Some(content.reasoning).filter(|reasoning| !reasoning.is_empty()),
            at,
            ..Step::default()
        };
        let number = self.teller.step(step, sink);
        self.turn = Some(number);
        for call in calls {
            self.teller.call(number, call, sink);
        }
    }

    /// The response that asked for it has told it already, unless it was trimmed away.
    fn call(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let id = pick::string(&line, "toolCallId").unwrap_or_default();
        if !id.is_empty() && self.teller.is_unanswered(&id) {
            return;
        }
        let arguments = chat::arguments(line.get_mut("args").map(Value::take).unwrap_or_default());
        let tool = pick::string(&line, "tool").unwrap_or_default();
        self.make(Call { id, tool, arguments, output: None }, at, sink);
    }

    fn make(&mut self, call: Call, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let step = match self.turn {
            Some(step) => step,
            None => self.teller.said(Speaker::Agent, String::new(), at, sink),
        };
        self.turn = Some(step);
        self.teller.call(step, call, sink);
    }

    fn result(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let mut output = chat::output(&mut line);
        output.failed = pick::flag(&line, "ok").map(|ok| !ok).or(output.failed);
        output.at = at;
        let id = pick::string(&line, "toolCallId").unwrap_or_default();
        let tool = pick::string(&line, "tool");
        if !id.is_empty() && !self.teller.is_unanswered(&id) {
            // Its call was trimmed away.
            let tool = tool.clone().unwrap_or_default();
            self.make(Call { id: id.clone(), tool, ..Call::default() }, at, sink);
        }
        self.teller.output(&id, tool.as_deref(), output, sink);
    }

    fn verify(&mut self, line: &Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let command = pick::str(line, "command").unwrap_or_default();
        let text = if command.is_empty() { "Verification".to_owned() } else { format!("Verification: {command}") };
        self.system(text, at, sink);
        self.verifications = self.verifications.saturating_add(1);
        self.is_verifying = true;
        let call = Call {
            id: self.verification(),
            tool: "verify".to_owned(),
            arguments: json!({ "command": command }),
            output: None,
        };
        sink.hear(Event::Call(self.teller.last(), call));
    }

    fn verification(&self) -> String {
        format!("verify-{}", self.verifications)
    }

    fn verified(&mut self, mut line: Object, failed: bool, at: Option<Timestamp>, sink: &mut dyn Sink) {
        if !self.is_verifying {
            self.verify(&line, at, sink);
        }
        self.is_verifying = false;
        let text = chat::take_words(&mut line, &["stderr", "output", "stdout"]);
        let output = Output { text, failed: Some(failed), at, ..Output::default() };
        sink.hear(Event::Output(OutputOf::Call(self.verification()), output));
    }

    fn finish(&mut self, mut line: Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let last_words = chat::take_words(&mut line, &["finalMessage"]);
        if !last_words.is_empty() && self.last_words != Some(chat::fingerprint(&last_words)) {
            self.system(last_words, at, sink);
        }
        let error = Some(chat::take_words(&mut line, &["error"])).filter(|error| !error.is_empty());
        let word = pick::str(&line, "status");
        if let Some(mut outcome) = super::outcome(word, error, "run_end") {
            if outcome.status != EpisodeStatus::Success && outcome.error.is_none() {
                outcome.error = self.timeout.take();
            }
            sink.hear(Event::Outcome(outcome));
            self.has_ended = true;
        }
    }

    fn system(&mut self, text: String, at: Option<Timestamp>, sink: &mut dyn Sink) {
        self.turn = None;
        self.teller.said(Speaker::System, text, at, sink);
    }
}
