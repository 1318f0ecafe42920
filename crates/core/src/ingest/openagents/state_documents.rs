//! Reads small documents: run metadata, stream indexes, Healer attempts, and HUD messages about speed and usage.

use serde_json::Value;

use super::AGENT;
use crate::domain::{
    EventSink, Extra, OutputOwner, SessionDetails, Speaker, Step, TokenUsage, ToolCall, ToolOutput, TrajectoryEvent,
};
use crate::ingest::LogReader;
use crate::ingest::chat_messages::{self, ChatEventEmitter};
use crate::ingest::json_fields::{self, Object};
use crate::ingest::unknown_lines::UnknownKinds;

#[cfg(test)]
#[path = "state_documents_tests.rs"]
mod tests;

/// The value in place of a model's name when the orchestrator itself ran.
const NO_MODEL: &str = "orchestrator";

/// Reads one document, or one document per line.
#[derive(Debug, Default)]
pub(in crate::ingest) struct OpenAgentsStateReader {
    teller: ChatEventEmitter,
    unknown: UnknownKinds,
    has_told: bool,
    session: Option<u64>,
}

impl LogReader for OpenAgentsStateReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let document = json_fields::into_object(line);
        let has = |key: &str| document.contains_key(key);
        let kind = json_fields::get_str(&document, "type").unwrap_or_default();
        if has("attempts") {
            self.read_healer_attempts(document, sink);
        } else if kind == "usage_update" {
            self.read_usage_update(document, sink);
        } else if matches!(kind, "apm_snapshot" | "apm_update") || (has("combined") && has("comparison")) {
            self.read_speed_snapshot(document, sink);
        } else if has("session_id") && (has("checkpoint") || has("final_metrics")) {
            self.read_stream_index(document, sink);
        } else if has("taskId") || has("logFilePath") || has("sessionFilePath") || has("totalTurns") {
            self.read_run_metadata(document, sink);
        } else {
            self.unknown.report_once(kind, number, sink);
        }
    }
}

impl OpenAgentsStateReader {
    fn begin_trajectory(&mut self, sink: &mut dyn EventSink) {
        if std::mem::replace(&mut self.has_told, true) {
            self.teller.begin_trajectory(sink);
        }
    }

    fn read_run_metadata(&mut self, mut run: Object, sink: &mut dyn EventSink) {
        self.begin_trajectory(sink);
        let id = json_fields::get_string(&run, "id");
        let session_id = json_fields::get_str(&run, "sessionFilePath").and_then(file_stem).or_else(|| id.clone());
        let finished_at = json_fields::get_time(&run, "finishedAt");
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            session_id,
            trajectory_id: id,
            agent: Some(AGENT.to_owned()),
            directory: json_fields::get_string(&run, "workDir"),
            task_id: json_fields::get_string(&run, "taskId"),
            title: json_fields::get_string(&run, "taskTitle"),
            started_at: json_fields::get_time(&run, "startedAt"),
            finished_at,
            ..SessionDetails::default()
        })));
        let mut parts = vec![chat_messages::take_first_text(&mut run, &["finalMessage"])];
        let commits = chat_messages::take_strings(&mut run, "commits");
        if !commits.is_empty() {
            parts.push(format!("Commits: {}", commits.join(", ")));
        }
        parts.retain(|part| !part.is_empty());
        if !parts.is_empty() {
            self.teller.emit_message(Speaker::System, parts.join("\n"), finished_at, sink);
        }
        let error = Some(chat_messages::take_first_text(&mut run, &["error"])).filter(|error| !error.is_empty());
        if let Some(outcome) = super::parse_outcome(json_fields::get_str(&run, "status"), error, "run metadata") {
            sink.receive_event(TrajectoryEvent::Outcome(outcome));
        }
    }

    /// Reads the index of a stream. Its status says whether the stream was closed, not how the session ended.
    fn read_stream_index(&mut self, mut index: Object, sink: &mut dyn EventSink) {
        self.begin_trajectory(sink);
        let agent = json_fields::take_object(&mut index, "agent").unwrap_or_default();
        let checkpoint = json_fields::take_object(&mut index, "checkpoint").unwrap_or_default();
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            session_id: json_fields::get_string(&index, "session_id"),
            agent: json_fields::get_string(&agent, "name").or_else(|| Some(AGENT.to_owned())),
            agent_version: json_fields::get_string(&agent, "version"),
            model: json_fields::get_string(&agent, "model_name").filter(|model| model != NO_MODEL),
            parent_session_id: json_fields::get_string(&index, "parent_session_id"),
            started_at: json_fields::get_time(&index, "created_at"),
            finished_at: json_fields::get_time(&checkpoint, "timestamp"),
            ..SessionDetails::default()
        })));
        let Some(metrics) = index.get("final_metrics").and_then(Value::as_object) else { return };
        emit_total(
            TokenUsage {
                prompt_tokens: json_fields::get_count(metrics, "total_prompt_tokens"),
                completion_tokens: json_fields::get_count(metrics, "total_completion_tokens"),
                cached_tokens: json_fields::get_count(metrics, "total_cached_tokens"),
                cache_write_tokens: None,
                cost_usd: json_fields::get_amount(metrics, "total_cost_usd"),
            },
            sink,
        );
    }

    fn read_healer_attempts(&mut self, mut state: Object, sink: &mut dyn EventSink) {
        for attempt in json_fields::take_array(&mut state, "attempts") {
            let mut attempt = json_fields::into_object(attempt);
            let at = json_fields::get_time(&attempt, "timestamp");
            self.begin_trajectory(sink);
            sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                trajectory_id: json_fields::get_str(&attempt, "key")
                    .map(|key| format!("{key}@{}", json_fields::get_str(&attempt, "timestamp").unwrap_or_default())),
                agent: Some("healer".to_owned()),
                task_id: json_fields::get_string(&attempt, "taskId"),
                subtask_id: json_fields::get_string(&attempt, "subtaskId"),
                title: json_fields::get_string(&attempt, "scenario"),
                started_at: at,
                ..SessionDetails::default()
            })));
            let tried = chat_messages::take_strings(&mut attempt, "spellsTried");
            let succeeded = chat_messages::take_strings(&mut attempt, "spellsSucceeded");
            let extra: Extra =
                attempt.remove("errorHash").map(|hash| ("errorHash".to_owned(), hash)).into_iter().collect();
            let step = Step {
                speaker: Speaker::Agent,
                text: chat_messages::take_first_text(&mut attempt, &["summary"]),
                at,
                extra,
                ..Step::default()
            };
            let step = self.teller.emit_step(step, sink);
            for (place, spell) in tried.into_iter().enumerate() {
                let id = format!("spell-{}", place + 1);
                let failed = !succeeded.contains(&spell);
                let text = format!("{spell} {}", if failed { "failed" } else { "succeeded" });
                sink.receive_event(TrajectoryEvent::Call(
                    step,
                    ToolCall { id: id.clone(), tool: spell, ..ToolCall::default() },
                ));
                let output = ToolOutput { text, failed: Some(failed), at, ..ToolOutput::default() };
                sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
            }
            if let Some(outcome) = super::parse_outcome(json_fields::get_str(&attempt, "outcome"), None, "healer-state")
            {
                sink.receive_event(TrajectoryEvent::Outcome(outcome));
            }
        }
    }

    fn read_usage_update(&mut self, mut message: Object, sink: &mut dyn EventSink) {
        let usage = json_fields::take_object(&mut message, "usage").unwrap_or(message);
        self.switch_session(json_fields::get_string(&usage, "sessionId"), sink);
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            session_id: json_fields::get_string(&usage, "sessionId"),
            agent: json_fields::get_string(&usage, "agent").or_else(|| Some(AGENT.to_owned())),
            repository: json_fields::get_string(&usage, "projectId"),
            finished_at: json_fields::get_time(&usage, "timestamp"),
            ..SessionDetails::default()
        })));
        emit_total(chat_messages::parse_usage(&usage), sink);
    }

    /// Reads a snapshot of actions per minute, which contains no token figures.
    fn read_speed_snapshot(&mut self, message: Object, sink: &mut dyn EventSink) {
        let session_id = json_fields::get_string(&message, "sessionId");
        self.switch_session(session_id.clone(), sink);
        let agent = Some(AGENT.to_owned());
        sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
            session_id,
            agent,
            ..SessionDetails::default()
        })));
        let mut figures = Vec::new();
        collect_figures(&message, &mut figures);
        let at = json_fields::get_time(&message, "timestamp");
        self.teller.emit_message(Speaker::System, format!("Actions per minute: {}", figures.join(", ")), at, sink);
    }

    /// Begins another trajectory if the session changes; messages about one session are one trajectory.
    fn switch_session(&mut self, id: Option<String>, sink: &mut dyn EventSink) {
        let known = id.as_deref().map(chat_messages::fingerprint_trimmed);
        if !self.has_told || (known.is_some() && self.session.is_some() && known != self.session) {
            self.begin_trajectory(sink);
        }
        self.session = known.or(self.session);
    }
}

/// Collects the numbers of a message and of its direct objects, each with its name.
fn collect_figures(message: &Object, figures: &mut Vec<String>) {
    for (name, value) in message {
        match value {
            Value::Number(number) => figures.push(format!("{name} {number}")),
            Value::Object(inner) => {
                let numbers = inner.iter().filter(|(_, value)| value.is_number());
                figures.extend(numbers.map(|(name, value)| format!("{name} {value}")));
            }
            _ => {}
        }
    }
}

/// Emits the total usage unless all figures are zero, which means that nothing was counted.
fn emit_total(usage: TokenUsage, sink: &mut dyn EventSink) {
    let is_any = [usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens].iter().any(|n| n.unwrap_or(0) > 0);
    if is_any || usage.cost_usd.unwrap_or_default() > 0.0 {
        sink.receive_event(TrajectoryEvent::Total(usage));
    }
}

/// Returns a file's name without folders and extension.
fn file_stem(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    Some(stem.to_owned()).filter(|stem| !stem.is_empty())
}
