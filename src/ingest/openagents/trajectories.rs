//! `trajectories.jsonl`: one record a line, each a whole trajectory.

use chrono::TimeDelta;
use serde_json::Value;

use super::AGENT;
use crate::domain::{About, Call, Event, Output, OutputOf, Sink, Speaker, Step, Timestamp, Usage};
use crate::ingest::Reader;
use crate::ingest::chat::{self, Teller};
use crate::ingest::pick::{self, Object};
use crate::ingest::unknown::Unknown;

#[cfg(test)]
#[path = "trajectories_tests.rs"]
mod tests;

/// Reads trajectory records.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Trajectories {
    unknown: Unknown,
    told: u64,
}

impl Reader for Trajectories {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let record = pick::object(line);
        if !record.contains_key("actions") && !record.contains_key("outcome") {
            self.unknown.report(pick::str(&record, "type").unwrap_or_default(), number, sink);
            return;
        }
        if self.told > 0 {
            sink.hear(Event::Begin);
        }
        self.told += 1;
        tell(record, sink);
    }
}

fn tell(mut record: Object, sink: &mut dyn Sink) {
    let finished_at = pick::time(&record, "timestamp");
    let started_at = before(finished_at, pick::count(&record, "totalDurationMs"));
    let task = pick::string(&record, "taskDescription");
    sink.hear(Event::About(Box::new(About {
        trajectory_id: pick::string(&record, "id"),
        agent: Some(AGENT.to_owned()),
        model: pick::string(&record, "model"),
        repository: pick::string(&record, "projectId"),
        task_id: pick::string(&record, "taskId"),
        title: task.clone(),
        started_at,
        finished_at,
        ..About::default()
    })));
    let mut teller = Teller::default();
    if let Some(task) = task {
        teller.said(Speaker::System, task, started_at, sink);
    }
    let error = Some(chat::take_words(&mut record, &["errorMessage"])).filter(|error| !error.is_empty());
    actions(pick::take_array(&mut record, "actions"), error.as_deref(), finished_at, &mut teller, sink);
    let files = chat::strings(&mut record, "filesModified");
    if !files.is_empty() {
        teller.said(Speaker::System, format!("Files modified: {}", files.join(", ")), finished_at, sink);
    }
    if let Some(tokens) = record.get("tokens").and_then(Value::as_object) {
        let (input, output) = (pick::count(tokens, "input"), pick::count(tokens, "output"));
        // All zero means that nobody counted.
        if input.unwrap_or_default() > 0 || output.unwrap_or_default() > 0 {
            sink.hear(Event::Total(Usage { prompt_tokens: input, completion_tokens: output, ..Usage::default() }));
        }
    }
    if let Some(outcome) = super::outcome(pick::str(&record, "outcome"), error, "outcome") {
        sink.hear(Event::Outcome(outcome));
    }
}

/// Tells the actions, and the record's own error with the last one that failed, unless one of them says it.
fn actions(
    actions: Vec<Value>,
    mut error: Option<&str>,
    at: Option<Timestamp>,
    teller: &mut Teller,
    sink: &mut dyn Sink,
) {
    let mut actions: Vec<Object> = actions.into_iter().map(pick::object).collect();
    let says = |action: &Object, error: &str| {
        ["result", "content"].iter().any(|key| pick::str(action, key).is_some_and(|text| text.contains(error)))
    };
    let last_failed = actions.iter().rposition(has_failed);
    if error.is_some_and(|error| actions.iter().any(|action| has_failed(action) && says(action, error))) {
        error = None;
    }
    let mut told: Vec<u64> = Vec::new();
    for (place, action) in actions.iter_mut().enumerate() {
        let error = if last_failed == Some(place) { error.take() } else { None };
        tell_action(action, error, &mut told, teller, sink);
    }
    if let Some(error) = error {
        let step = teller.said(Speaker::System, String::new(), at, sink);
        let output = Output { text: error.to_owned(), failed: Some(true), at, ..Output::default() };
        sink.hear(Event::Output(OutputOf::Step(step), output));
    }
}

fn has_failed(action: &Object) -> bool {
    match pick::str(action, "type") {
        Some("error") => true,
        Some("thinking") => false,
        _ => pick::flag(action, "success") == Some(false),
    }
}

fn tell_action(
    action: &mut Object,
    error: Option<&str>,
    told: &mut Vec<u64>,
    teller: &mut Teller,
    sink: &mut dyn Sink,
) {
    let at = pick::time(action, "timestamp");
    let duration_ms = pick::count(action, "durationMs");
    let started_at = before(at, duration_ms);
    let content = chat::take_words(action, &["content"]);
    let mut result = chat::take_words(action, &["result"]);
    let failed = pick::flag(action, "success").map(|success| !success);
    let kind = pick::string(action, "type").unwrap_or_default();
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
            let step = teller.step(agent(String::new(), None), sink);
            let id = format!("action-{step}");
            let tool = pick::string(action, "tool").unwrap_or_default();
            let call = Call { id: id.clone(), tool, arguments: chat::arguments(Value::String(content)), output: None };
            sink.hear(Event::Call(step, call));
            let output = Output { text: result, failed, at, duration_ms, ..Output::default() };
            sink.hear(Event::Output(OutputOf::Call(id), output));
        }
        "error" => {
            let mut text = content;
            if !result.is_empty() && result != text {
                text = if text.is_empty() { result } else { format!("{text}\n{result}") };
            }
            let print = chat::fingerprint(&text);
            if told.contains(&print) {
                text.clear();
            }
            told.push(print);
            add(&mut text);
            if text.is_empty() {
                return;
            }
            let step = teller.step(agent(String::new(), None), sink);
            let output = Output { text, failed: Some(true), at, duration_ms, ..Output::default() };
            sink.hear(Event::Output(OutputOf::Step(step), output));
        }
        "thinking" => {
            teller.step(agent(String::new(), Some(content)), sink);
        }
        _ => {
            add(&mut result);
            let step = teller.step(agent(content, None), sink);
            if !result.is_empty() || failed == Some(true) {
                let output = Output { text: result, failed, at, duration_ms, ..Output::default() };
                sink.hear(Event::Output(OutputOf::Step(step), output));
            }
        }
    }
}

/// The moment so many milliseconds earlier.
fn before(at: Option<Timestamp>, milliseconds: Option<u64>) -> Option<Timestamp> {
    let (at, milliseconds) = (at?, milliseconds.unwrap_or_default());
    let earlier = i64::try_from(milliseconds).ok().and_then(TimeDelta::try_milliseconds);
    earlier.and_then(|earlier| at.checked_sub_signed(earlier)).or(Some(at))
}
