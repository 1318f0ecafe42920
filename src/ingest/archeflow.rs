//! ArcheFlow's run events: `.archeflow/events/<run>.jsonl`.

use serde_json::Value;

use super::Reader;
use super::chat::{self, Teller};
use super::pick::{self, Object};
use super::unknown::Unknown;
use crate::domain::{
    About, Call, EpisodeStatus, Event, Outcome, Output, OutputOf, Sink, Speaker, Step, Timestamp, Usage,
};

#[cfg(test)]
#[path = "archeflow_tests.rs"]
mod tests;

/// Findings of these severities are advice; any other is something that went wrong.
const ADVICE: &[&str] = &["info", "recommendation", "low", "minor", "nit", "note", "suggestion", "trivial"];

/// Under this key a step that tells a reviewer's verdict lists what the reviewer found.
pub const FINDINGS: &str = "findings";

/// Reads run events.
#[derive(Debug, Default)]
pub(super) struct ArcheFlow {
    teller: Teller,
    unknown: Unknown,
    run: Option<u64>,
    last_sign: Option<Timestamp>,
}

impl Reader for ArcheFlow {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let mut line = pick::object(line);
        let at = pick::time(&line, "ts").or_else(|| pick::time(&line, "timestamp"));
        self.run(&line, at, sink);
        let agent = pick::string(&line, "agent");
        let data = pick::take_object(&mut line, "data").unwrap_or_default();
        let mut event = Told { who: pick::string(&data, "archetype").or(agent), data, at };
        match pick::str(&line, "type").unwrap_or_default() {
            "run.start" => self.start(event, sink),
            "agent.start" => {
                let order = chat::take_words(&mut event.data, &["prompt_summary", "prompt"]);
                if !order.is_empty() {
                    self.teller.step(event.step(Speaker::OtherAgent, order), sink);
                }
            }
            "agent.complete" => self.complete(event, sink),
            "agent.failed" => self.gave_up(event, "failed", sink),
            "agent.timeout" => self.gave_up(event, "timed out", sink),
            "wiggum.break" => self.gave_up(event, "was stopped by the circuit breaker", sink),
            "decision" => self.decision(event, sink),
            "decision.point" => self.decision_point(event, sink),
            "review.verdict" => self.verdict(event, sink),
            "fix.applied" => self.fix(event, sink),
            "shadow.detected" => {
                let text = sentence("Shadow detected", &mut event.data, &["archetype", "shadow", "action"]);
                self.teller.said(Speaker::System, text, at, sink);
            }
            "cycle.boundary" => {
                let keys = ["cycle", "max_cycles", "exit_condition", "next_action", "convergence"];
                let text = sentence("Cycle ends", &mut event.data, &keys);
                self.teller.said(Speaker::System, text, at, sink);
            }
            "run.complete" => finish(event, sink),
            "phase.transition" => {}
            other => self.unknown.report(other, number, sink),
        }
        self.last_sign = self.last_sign.max(at);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        if let Some(at) = self.last_sign.take() {
            sink.hear(Event::About(Box::new(About { finished_at: Some(at), ..About::default() })));
        }
    }
}

/// What an event carries, and whose it is.
struct Told {
    who: Option<String>,
    data: Object,
    at: Option<Timestamp>,
}

impl Told {
    fn step(&self, speaker: Speaker, text: String) -> Step {
        Step { speaker, text, at: self.at, subagent: self.who.clone(), ..Step::default() }
    }

    fn name(&self) -> &str {
        self.who.as_deref().unwrap_or("somebody")
    }
}

impl ArcheFlow {
    /// Another run's events in the same log are another trajectory.
    fn run(&mut self, line: &Object, at: Option<Timestamp>, sink: &mut dyn Sink) {
        let Some(id) = pick::string(line, "run_id").or_else(|| pick::string(line, "runId")) else { return };
        let known = Some(chat::fingerprint(&id));
        if self.run == known {
            return;
        }
        if self.run.is_some() {
            self.end(sink);
            self.teller.begin(sink);
        }
        self.run = known;
        sink.hear(Event::About(Box::new(About {
            session_id: Some(id.clone()),
            trajectory_id: Some(id),
            agent: Some("archeflow".to_owned()),
            started_at: at,
            ..About::default()
        })));
    }

    fn start(&mut self, mut event: Told, sink: &mut dyn Sink) {
        let task = chat::take_words(&mut event.data, &["task"]);
        if task.is_empty() {
            return;
        }
        sink.hear(Event::About(Box::new(About { title: Some(task.clone()), ..About::default() })));
        self.teller.said(Speaker::System, task, event.at, sink);
    }

    fn complete(&mut self, mut event: Told, sink: &mut dyn Sink) {
        let text = chat::take_words(&mut event.data, &["summary"]);
        let mut step = event.step(Speaker::Agent, text);
        step.model = pick::string(&event.data, "model");
        let step = self.teller.step(step, sink);
        let tokens = event.data.get("tokens").and_then(Value::as_object).map_or(Usage::default(), |tokens| Usage {
            prompt_tokens: pick::count(tokens, "input"),
            completion_tokens: pick::count(tokens, "output"),
            ..Usage::default()
        });
        let cost_usd = pick::amount(&event.data, "estimated_cost_usd");
        let usage = chat::usage(&event.data).or(tokens).or(Usage { cost_usd, ..Usage::default() });
        if !usage.is_unknown() {
            sink.hear(Event::Spent(step, usage));
        }
    }

    fn gave_up(&mut self, mut event: Told, how: &str, sink: &mut dyn Sink) {
        let mut text = format!("{} {how}", event.name());
        let reason = chat::take_words(&mut event.data, &["reason", "error", "message", "trigger"]);
        if !reason.is_empty() {
            text.push_str(": ");
            text.push_str(&reason);
        }
        let step = self.teller.step(event.step(Speaker::System, String::new()), sink);
        self.told(OutputOf::Step(step), text, true, event.at, sink);
    }

    fn decision(&mut self, mut event: Told, sink: &mut dyn Sink) {
        let mut text = format!(
            "Decision: {} → {}",
            chat::take_words(&mut event.data, &["what"]),
            chat::take_words(&mut event.data, &["chosen"])
        );
        let rationale = chat::take_words(&mut event.data, &["rationale"]);
        if !rationale.is_empty() {
            text.push('\n');
            text.push_str(&rationale);
        }
        for alternative in pick::take_array(&mut event.data, "alternatives") {
            text.push_str("\nNot: ");
            text.push_str(&match alternative {
                Value::Object(mut alternative) => ["label", "id", "reason_rejected"]
                    .iter()
                    .map(|key| chat::take_words(&mut alternative, &[key]))
                    .filter(|words| !words.is_empty())
                    .collect::<Vec<_>>()
                    .join(", "),
                other => pick::words(other),
            });
        }
        self.teller.step(event.step(Speaker::Agent, text), sink);
    }

    fn decision_point(&mut self, mut event: Told, sink: &mut dyn Sink) {
        let text = sentence("Decision", &mut event.data, &["decision", "input", "confidence"]);
        self.teller.step(event.step(Speaker::Agent, text), sink);
    }

    fn verdict(&mut self, mut event: Told, sink: &mut dyn Sink) {
        let verdict = chat::take_words(&mut event.data, &["verdict"]);
        let findings: Vec<Finding> =
            pick::take_array(&mut event.data, "findings").into_iter().map(Finding::of).collect();
        let mut text = format!("{}: {}", event.name(), if verdict.is_empty() { "no verdict" } else { &verdict });
        for finding in &findings {
            text.push('\n');
            text.push_str(&finding.line());
        }
        let mut step = event.step(Speaker::OtherAgent, text);
        let described = findings.iter().map(|finding| Value::from(finding.description.clone())).collect();
        step.extra.insert(FINDINGS.to_owned(), Value::Array(described));
        let step = self.teller.step(step, sink);
        for finding in findings.iter().filter(|finding| finding.is_fault()) {
            self.told(OutputOf::Step(step), finding.fault(), true, event.at, sink);
        }
    }

    fn fix(&mut self, event: Told, sink: &mut dyn Sink) {
        let mut finding = ["finding", "description"]
            .iter()
            .find_map(|key| pick::str(&event.data, key))
            .map_or_else(|| "a finding".to_owned(), chat::one_line);
        if let Some(place) = place(&event.data) {
            finding.push_str(&format!(" ({place})"));
        }
        let step = self.teller.step(event.step(Speaker::Agent, format!("Fixed: {finding}")), sink);
        let id = format!("fix-{step}");
        let arguments = Value::Object(event.data);
        sink.hear(Event::Call(step, Call { id: id.clone(), tool: "fix".to_owned(), arguments, output: None }));
        self.told(OutputOf::Call(id), format!("fixed: {finding}"), false, event.at, sink);
    }

    fn told(&self, of: OutputOf, text: String, failed: bool, at: Option<Timestamp>, sink: &mut dyn Sink) {
        sink.hear(Event::Output(of, Output { text, failed: Some(failed), at, ..Output::default() }));
    }
}

fn finish(mut event: Told, sink: &mut dyn Sink) {
    let usage = chat::usage(&event.data);
    if !usage.is_unknown() {
        sink.hear(Event::Total(usage));
    }
    let error = chat::take_words(&mut event.data, &["error", "reason"]);
    if let Ok(status) = EpisodeStatus::from_outcome(pick::str(&event.data, "status").unwrap_or_default()) {
        sink.hear(Event::Outcome(Outcome {
            status,
            reward: None,
            error: Some(error).filter(|error| !error.is_empty()),
            from: "run.complete".to_owned(),
        }));
    }
}

/// What a reviewer found.
struct Finding {
    severity: Option<String>,
    category: Option<String>,
    description: String,
    place: Option<String>,
}

impl Finding {
    fn of(value: Value) -> Self {
        let Value::Object(mut finding) = value else {
            let description = chat::one_line(&pick::words(value));
            return Self { severity: None, category: None, description, place: None };
        };
        Self {
            severity: pick::str(&finding, "severity").map(chat::one_line),
            category: pick::str(&finding, "category").map(chat::one_line),
            place: place(&finding),
            description: chat::one_line(&chat::take_words(&mut finding, &["description", "message", "title"])),
        }
    }

    fn is_fault(&self) -> bool {
        !self.severity.as_deref().is_some_and(|severity| ADVICE.contains(&severity.to_lowercase().as_str()))
    }

    fn shout(&self) -> Option<String> {
        self.severity.as_deref().map(str::to_uppercase)
    }

    /// `SEVERITY category: description (file:line)`.
    fn line(&self) -> String {
        let head = [self.shout(), self.category.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let head = if head.is_empty() { head } else { format!("{head}: ") };
        let place = self.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        format!("{head}{}{place}", self.description)
    }

    fn fault(&self) -> String {
        let severity = self.shout().map(|severity| format!("{severity}: ")).unwrap_or_default();
        format!("{severity}{}", self.description)
    }
}

/// `file:line`, as far as it is known.
fn place(object: &Object) -> Option<String> {
    let Some(file) = pick::str(object, "file") else { return pick::str(object, "location").map(chat::one_line) };
    let line = pick::count(object, "line").map(|line| format!(":{line}")).unwrap_or_default();
    Some(format!("{}{line}", chat::one_line(file)))
}

/// A head, and what is known of these keys behind it.
fn sentence(head: &str, data: &mut Object, keys: &[&str]) -> String {
    let mut parts = Vec::new();
    for key in keys {
        let words = chat::take_words(data, &[key]);
        if !words.is_empty() {
            parts.push(format!("{} {}", key.replace('_', " "), chat::one_line(&words)));
        }
    }
    if parts.is_empty() { head.to_owned() } else { format!("{head}: {}", parts.join(", ")) }
}
