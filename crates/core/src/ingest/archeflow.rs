//! Reader for ArcheFlow's run events: `.archeflow/events/<run>.jsonl`.

use serde_json::Value;

use super::LogReader;
use super::chat_messages::{self, ChatEventEmitter};
use super::json_fields::{self, Object};
use super::unknown_lines::UnknownKinds;
use crate::domain::{
    EpisodeStatus, EventSink, OutputOwner, SessionDetails, SessionOutcome, Speaker, Step, Timestamp, TokenUsage,
    ToolCall, ToolOutput, TrajectoryEvent,
};

#[cfg(test)]
#[path = "archeflow_tests.rs"]
mod tests;

/// The severities of findings that are recommendations; any other severity marks a fault.
const ADVICE: &[&str] = &["info", "recommendation", "low", "minor", "nit", "note", "suggestion", "trivial"];

/// The key under which a step with a reviewer's verdict lists the findings.
pub const FINDINGS: &str = "findings";

/// Reads the run events of an ArcheFlow log.
#[derive(Debug, Default)]
pub(super) struct ArcheFlowReader {
    teller: ChatEventEmitter,
    unknown: UnknownKinds,
    run: Option<u64>,
    last_sign: Option<Timestamp>,
}

impl LogReader for ArcheFlowReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let mut line = json_fields::into_object(line);
        let at = json_fields::get_time(&line, "ts").or_else(|| json_fields::get_time(&line, "timestamp"));
        self.switch_run(&line, at, sink);
        let agent = json_fields::get_string(&line, "agent");
        let data = json_fields::take_object(&mut line, "data").unwrap_or_default();
        let mut event = ArcheFlowEvent { who: json_fields::get_string(&data, "archetype").or(agent), data, at };
        match json_fields::get_str(&line, "type").unwrap_or_default() {
            "run.start" => self.emit_run_start(event, sink),
            "agent.start" => {
                let order = chat_messages::take_first_text(&mut event.data, &["prompt_summary", "prompt"]);
                if !order.is_empty() {
                    self.teller.emit_step(event.to_step(Speaker::OtherAgent, order), sink);
                }
            }
            "agent.complete" => self.emit_agent_completion(event, sink),
            "agent.failed" => self.emit_agent_failure(event, "failed", sink),
            "agent.timeout" => self.emit_agent_failure(event, "timed out", sink),
            "wiggum.break" => self.emit_agent_failure(event, "was stopped by the circuit breaker", sink),
            "decision" => self.emit_decision(event, sink),
            "decision.point" => self.emit_decision_point(event, sink),
            "review.verdict" => self.emit_review_verdict(event, sink),
            "fix.applied" => self.emit_applied_fix(event, sink),
            "shadow.detected" => {
                let text = describe_fields("Shadow detected", &mut event.data, &["archetype", "shadow", "action"]);
                self.teller.emit_message(Speaker::System, text, at, sink);
            }
            "cycle.boundary" => {
                let keys = ["cycle", "max_cycles", "exit_condition", "next_action", "convergence"];
                let text = describe_fields("Cycle ends", &mut event.data, &keys);
                self.teller.emit_message(Speaker::System, text, at, sink);
            }
            "run.complete" => emit_run_end(event, sink),
            "phase.transition" => {}
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
    }
}

/// The payload of an ArcheFlow event, with its author and time.
struct ArcheFlowEvent {
    who: Option<String>,
    data: Object,
    at: Option<Timestamp>,
}

impl ArcheFlowEvent {
    fn to_step(&self, speaker: Speaker, text: String) -> Step {
        Step { speaker, text, at: self.at, subagent: self.who.clone(), ..Step::default() }
    }

    fn author_name(&self) -> &str {
        self.who.as_deref().unwrap_or("somebody")
    }
}

impl ArcheFlowReader {
    /// Reports a new run's details; a second run in the same log begins another trajectory.
    fn switch_run(&mut self, line: &Object, at: Option<Timestamp>, sink: &mut dyn EventSink) {
        let Some(id) = json_fields::get_string(line, "run_id").or_else(|| json_fields::get_string(line, "runId"))
        else {
            return;
        };
        let known = Some(chat_messages::fingerprint_trimmed(&id));
        if self.run == known {
            return;
        }
        if self.run.is_some() {
            self.finish_log(sink);
            self.teller.begin_trajectory(sink);
        }
        self.run = known;
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            session_id: Some(id.clone()),
            trajectory_id: Some(id),
            agent: Some("archeflow".to_owned()),
            started_at: at,
            ..SessionDetails::default()
        })));
    }

    fn emit_run_start(&mut self, mut event: ArcheFlowEvent, sink: &mut dyn EventSink) {
        let task = chat_messages::take_first_text(&mut event.data, &["task"]);
        if task.is_empty() {
            return;
        }
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            title: Some(task.clone()),
            ..SessionDetails::default()
        })));
        self.teller.emit_message(Speaker::System, task, event.at, sink);
    }

    fn emit_agent_completion(&mut self, mut event: ArcheFlowEvent, sink: &mut dyn EventSink) {
        let text = chat_messages::take_first_text(&mut event.data, &["summary"]);
        let mut step = event.to_step(Speaker::Agent, text);
        step.model = json_fields::get_string(&event.data, "model");
        let step = self.teller.emit_step(step, sink);
        let tokens =
            event.data.get("tokens").and_then(Value::as_object).map_or(TokenUsage::default(), |tokens| TokenUsage {
                prompt_tokens: json_fields::get_count(tokens, "input"),
                completion_tokens: json_fields::get_count(tokens, "output"),
                ..TokenUsage::default()
            });
        let cost_usd = json_fields::get_amount(&event.data, "estimated_cost_usd");
        let usage = chat_messages::parse_usage(&event.data)
            .or_usage(tokens)
            .or_usage(TokenUsage { cost_usd, ..TokenUsage::default() });
        if !usage.is_unknown() {
            sink.receive_event(TrajectoryEvent::Spent(step, usage));
        }
    }

    fn emit_agent_failure(&mut self, mut event: ArcheFlowEvent, how: &str, sink: &mut dyn EventSink) {
        let mut text = format!("{} {how}", event.author_name());
        let reason = chat_messages::take_first_text(&mut event.data, &["reason", "error", "message", "trigger"]);
        if !reason.is_empty() {
            text.push_str(": ");
            text.push_str(&reason);
        }
        let step = self.teller.emit_step(event.to_step(Speaker::System, String::new()), sink);
        self.emit_output(OutputOwner::Step(step), text, true, event.at, sink);
    }

    fn emit_decision(&mut self, mut event: ArcheFlowEvent, sink: &mut dyn EventSink) {
        let mut text = format!(
            "Decision: {} → {}",
            chat_messages::take_first_text(&mut event.data, &["what"]),
            chat_messages::take_first_text(&mut event.data, &["chosen"])
        );
        let rationale = chat_messages::take_first_text(&mut event.data, &["rationale"]);
        if !rationale.is_empty() {
            text.push('\n');
            text.push_str(&rationale);
        }
        for alternative in json_fields::take_array(&mut event.data, "alternatives") {
            text.push_str("\nNot: ");
            text.push_str(&match alternative {
                Value::Object(mut alternative) => ["label", "id", "reason_rejected"]
                    .iter()
                    .map(|key| chat_messages::take_first_text(&mut alternative, &[key]))
                    .filter(|words| !words.is_empty())
                    .collect::<Vec<_>>()
                    .join(", "),
                other => json_fields::content_text(other),
            });
        }
        self.teller.emit_step(event.to_step(Speaker::Agent, text), sink);
    }

    fn emit_decision_point(&mut self, mut event: ArcheFlowEvent, sink: &mut dyn EventSink) {
        let text = describe_fields("Decision", &mut event.data, &["decision", "input", "confidence"]);
        self.teller.emit_step(event.to_step(Speaker::Agent, text), sink);
    }

    fn emit_review_verdict(&mut self, mut event: ArcheFlowEvent, sink: &mut dyn EventSink) {
        let verdict = chat_messages::take_first_text(&mut event.data, &["verdict"]);
        let findings: Vec<VerdictFinding> =
            json_fields::take_array(&mut event.data, "findings").into_iter().map(VerdictFinding::from_value).collect();
        let mut text = format!("{}: {}", event.author_name(), if verdict.is_empty() { "no verdict" } else { &verdict });
        for finding in &findings {
            text.push('\n');
            text.push_str(&finding.summary_line());
        }
        let mut step = event.to_step(Speaker::OtherAgent, text);
        let described = findings.iter().map(|finding| Value::from(finding.description.clone())).collect();
        step.extra.insert(FINDINGS.to_owned(), Value::Array(described));
        let step = self.teller.emit_step(step, sink);
        for finding in findings.iter().filter(|finding| finding.is_fault()) {
            self.emit_output(OutputOwner::Step(step), finding.fault_text(), true, event.at, sink);
        }
    }

    fn emit_applied_fix(&mut self, event: ArcheFlowEvent, sink: &mut dyn EventSink) {
        let mut finding = ["finding", "description"]
            .iter()
            .find_map(|key| json_fields::get_str(&event.data, key))
            .map_or_else(|| "a finding".to_owned(), chat_messages::collapse_whitespace);
        if let Some(place) = format_location(&event.data) {
            finding.push_str(&format!(" ({place})"));
        }
        let step = self.teller.emit_step(event.to_step(Speaker::Agent, format!("Fixed: {finding}")), sink);
        let id = format!("fix-{step}");
        let arguments = Value::Object(event.data);
        sink.receive_event(TrajectoryEvent::Call(
            step,
            ToolCall { id: id.clone(), tool: "fix".to_owned(), arguments, output: None },
        ));
        self.emit_output(OutputOwner::Call(id), format!("fixed: {finding}"), false, event.at, sink);
    }

    fn emit_output(
        &self,
        of: OutputOwner,
        text: String,
        failed: bool,
        at: Option<Timestamp>,
        sink: &mut dyn EventSink,
    ) {
        sink.receive_event(TrajectoryEvent::Output(
            of,
            ToolOutput { text, failed: Some(failed), at, ..ToolOutput::default() },
        ));
    }
}

fn emit_run_end(mut event: ArcheFlowEvent, sink: &mut dyn EventSink) {
    let usage = chat_messages::parse_usage(&event.data);
    if !usage.is_unknown() {
        sink.receive_event(TrajectoryEvent::Total(usage));
    }
    let error = chat_messages::take_first_text(&mut event.data, &["error", "reason"]);
    if let Ok(status) = EpisodeStatus::from_outcome(json_fields::get_str(&event.data, "status").unwrap_or_default()) {
        sink.receive_event(TrajectoryEvent::Outcome(SessionOutcome {
            status,
            reward: None,
            error: Some(error).filter(|error| !error.is_empty()),
            from: "run.complete".to_owned(),
        }));
    }
}

/// A finding listed in a reviewer's verdict.
struct VerdictFinding {
    severity: Option<String>,
    category: Option<String>,
    description: String,
    place: Option<String>,
}

impl VerdictFinding {
    fn from_value(value: Value) -> Self {
        let Value::Object(mut finding) = value else {
            let description = chat_messages::collapse_whitespace(&json_fields::content_text(value));
            return Self { severity: None, category: None, description, place: None };
        };
        Self {
            severity: json_fields::get_str(&finding, "severity").map(chat_messages::collapse_whitespace),
            category: json_fields::get_str(&finding, "category").map(chat_messages::collapse_whitespace),
            place: format_location(&finding),
            description: chat_messages::collapse_whitespace(&chat_messages::take_first_text(
                &mut finding,
                &["description", "message", "title"],
            )),
        }
    }

    fn is_fault(&self) -> bool {
        !self.severity.as_deref().is_some_and(|severity| ADVICE.contains(&severity.to_lowercase().as_str()))
    }

    fn uppercase_severity(&self) -> Option<String> {
        self.severity.as_deref().map(str::to_uppercase)
    }

    /// Returns `SEVERITY category: description (file:line)`.
    fn summary_line(&self) -> String {
        let head =
            [self.uppercase_severity(), self.category.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let head = if head.is_empty() { head } else { format!("{head}: ") };
        let place = self.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        format!("{head}{}{place}", self.description)
    }

    fn fault_text(&self) -> String {
        let severity = self.uppercase_severity().map(|severity| format!("{severity}: ")).unwrap_or_default();
        format!("{severity}{}", self.description)
    }
}

/// Returns `file:line`, as far as it is given.
fn format_location(object: &Object) -> Option<String> {
    let Some(file) = json_fields::get_str(object, "file") else {
        return json_fields::get_str(object, "location").map(chat_messages::collapse_whitespace);
    };
    let line = json_fields::get_count(object, "line").map(|line| format!(":{line}")).unwrap_or_default();
    Some(format!("{}{line}", chat_messages::collapse_whitespace(file)))
}

/// Returns a heading followed by the values of those keys that have one.
fn describe_fields(head: &str, data: &mut Object, keys: &[&str]) -> String {
    let mut parts = Vec::new();
    for key in keys {
        let words = chat_messages::take_first_text(data, &[key]);
        if !words.is_empty() {
            parts.push(format!("{} {}", key.replace('_', " "), chat_messages::collapse_whitespace(&words)));
        }
    }
    if parts.is_empty() { head.to_owned() } else { format!("{head}: {}", parts.join(", ")) }
}
