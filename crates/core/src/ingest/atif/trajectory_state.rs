//! The state of one trajectory while its parts are read.

use std::collections::HashSet;

use serde_json::Value;

use super::strict::AtifValidator;
use super::usage;
use crate::domain::EpisodeStatus;
use crate::domain::EventSink;
use crate::domain::LogReference;
use crate::domain::OutputOwner;
use crate::domain::Part;
use crate::domain::SessionDetails;
use crate::domain::SessionOutcome;
use crate::domain::TokenUsage;
use crate::domain::ToolOutput;
use crate::domain::TrajectoryEvent;
use crate::domain::fingerprint_text;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;
use crate::ingest::user_turns::UserTurnReader;

/// The maximum number of outputs that wait for their call.
const MAX_WAITING: usize = 64;

/// The maximum size of these outputs, in bytes.
const MAX_WAITING_BYTES: usize = 1024 * 1024;

/// Reads one trajectory; keeps its identity, counts, hashes, and outputs that wait for their call.
#[derive(Debug, Default)]
pub(super) struct AtifTrajectoryReader {
    /// The number of steps so far.
    pub(super) steps: u32,
    pub(super) turns: UserTurnReader,
    /// The details that are known but not yet emitted.
    pub(super) about: SessionDetails,
    /// The identity of the trajectory, repeated where other trajectories came between.
    pub(super) identity: SessionDetails,
    /// The model that the agent names as its own.
    pub(super) model: Option<String>,
    /// The first model that a step names.
    pub(super) step_model: Option<String>,
    /// True if another agent gave the task.
    pub(super) is_child: bool,
    /// The sum of the steps' usage.
    pub(super) spent: TokenUsage,
    pub(super) strict: Option<AtifValidator>,
    pub(super) has_skipped: bool,
    total: TokenUsage,
    calls: HashSet<u64>,
    waiting: Vec<EarlyOutput>,
    waiting_bytes: usize,
}

/// An output that came before its call.
#[derive(Debug)]
struct EarlyOutput {
    id: String,
    step: u32,
    output: ToolOutput,
}

impl AtifTrajectoryReader {
    pub(super) fn new(strict: Option<AtifValidator>) -> Self {
        Self { strict, ..Self::default() }
    }

    /// Creates a reader for a trajectory embedded in another one.
    pub(super) fn new_embedded(parent: &Self, strict: Option<AtifValidator>) -> Self {
        let mut told = Self::new(strict);
        told.is_child = true;
        let parent_id = parent.identity.session_id.as_ref().or(parent.identity.trajectory_id.as_ref());
        told.about.parent_session_id = parent_id.cloned();
        told
    }

    /// Reads a field of the root, except its lists.
    pub(super) fn read_field(&mut self, key: &str, value: Value, sink: &mut dyn EventSink) {
        if let Some(strict) = &mut self.strict {
            strict.check_field(key, &value, sink);
        }
        match (key, value) {
            ("schema_version", Value::String(version)) => self.about.schema_version = Some(version),
            ("schema_version", Value::Number(version)) => self.about.schema_version = Some(version.to_string()),
            ("session_id", Value::String(id)) if !id.is_empty() => {
                self.identity.session_id = Some(id.clone());
                self.about.session_id = Some(id);
            }
            ("trajectory_id", Value::String(id)) if !id.is_empty() => {
                self.identity.trajectory_id = Some(id.clone());
                self.about.trajectory_id = Some(id);
            }
            ("parent_session_id", Value::String(id)) => self.set_parent(Some(id)),
            ("agent", Value::String(name)) => self.about.agent = Some(name),
            ("agent", Value::Object(agent)) => self.read_agent(&agent),
            ("final_metrics", Value::Object(metrics)) => {
                self.total = usage::read_total_usage(&metrics);
                let verdict = metrics.get("extra").and_then(Value::as_object);
                emit_outcome(verdict.and_then(read_outcome), "final_metrics.extra", sink);
            }
            ("continued_trajectory_ref", Value::String(path)) if !path.is_empty() => {
                let elsewhere = LogReference { part: Part::Continuation, path: Some(path), id: None };
                sink.receive_event(TrajectoryEvent::Elsewhere(elsewhere));
            }
            ("created_at", value) => self.about.started_at = json_fields::parse_time(&value),
            ("extra", Value::Object(extra)) => {
                self.about.extend_time_span(json_fields::get_time(&extra, "start_time"));
                self.about.extend_time_span(json_fields::get_time(&extra, "end_time"));
                self.read_location(&extra);
                emit_outcome(read_outcome(&extra), "extra", sink);
            }
            _ => {}
        }
    }

    fn read_agent(&mut self, agent: &Object) {
        self.about.agent = json_fields::get_string(agent, "name");
        self.about.agent_version = json_fields::get_string(agent, "version");
        self.model = json_fields::get_string(agent, "model_name").or_else(|| match agent.get("model")? {
            Value::String(model) => Some(model.clone()).filter(|model| !model.is_empty()),
            Value::Object(model) => {
                ["model_name", "name", "model", "id"].iter().find_map(|key| json_fields::get_string(model, key))
            }
            _ => None,
        });
        self.about.model.clone_from(&self.model);
        if let Some(extra) = agent.get("extra").and_then(Value::as_object) {
            self.read_location(extra);
        }
    }

    /// Reads the directory, branch, repository and task from an `extra`.
    pub(super) fn read_location(&mut self, extra: &Object) {
        let first = |key: &str| extra.get(key)?.as_array()?.first()?.as_str().map(str::to_owned);
        let either = |many: &str, one: &str| first(many).or_else(|| json_fields::get_string(extra, one));
        let more = SessionDetails {
            directory: either("cwds", "cwd"),
            branch: either("git_branches", "git_branch"),
            repository: json_fields::get_string(extra, "repository")
                .or_else(|| json_fields::get_string(extra, "repository_url")),
            task_id: json_fields::get_string(extra, "task_id").or_else(|| json_fields::get_string(extra, "task")),
            ..SessionDetails::default()
        };
        self.set_parent(json_fields::get_string(extra, "parent_session_id"));
        self.record_new_details(more);
    }

    fn set_parent(&mut self, id: Option<String>) {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            self.is_child = true;
            self.about.parent_session_id.get_or_insert(id);
        }
    }

    /// Records details that were neither emitted nor recorded before.
    fn record_new_details(&mut self, more: SessionDetails) {
        fn record_if_new(known: &mut Option<String>, told: &mut Option<String>, more: Option<String>) {
            if told.is_none() && more.is_some() {
                told.clone_from(&more);
                *known = more;
            }
        }
        record_if_new(&mut self.about.directory, &mut self.identity.directory, more.directory);
        record_if_new(&mut self.about.branch, &mut self.identity.branch, more.branch);
        record_if_new(&mut self.about.repository, &mut self.identity.repository, more.repository);
        record_if_new(&mut self.about.task_id, &mut self.identity.task_id, more.task_id);
    }

    /// Emits the details that are known and not yet emitted.
    pub(super) fn emit_about(&mut self, sink: &mut dyn EventSink) {
        if self.about != SessionDetails::default() {
            sink.receive_event(TrajectoryEvent::About(Box::new(std::mem::take(&mut self.about))));
        }
    }

    /// Records a call, and emits the outputs that came before it.
    pub(super) fn record_call(&mut self, id: &str, sink: &mut dyn EventSink) {
        if id.is_empty() {
            return;
        }
        self.calls.insert(fingerprint_text(id));
        while let Some(at) = self.waiting.iter().position(|waiting| waiting.id == id) {
            let EarlyOutput { id, output, .. } = self.waiting.remove(at);
            self.waiting_bytes = self.waiting_bytes.saturating_sub(output.text.len());
            sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
        }
    }

    pub(super) fn is_known_call(&self, id: &str) -> bool {
        self.calls.contains(&fingerprint_text(id))
    }

    /// Keeps an output until its call is read.
    pub(super) fn defer_output(&mut self, id: String, output: ToolOutput, sink: &mut dyn EventSink) {
        self.waiting_bytes += output.text.len();
        self.waiting.push(EarlyOutput { id, step: self.steps, output });
        while self.waiting.len() > MAX_WAITING || self.waiting_bytes > MAX_WAITING_BYTES {
            self.release_oldest_output(sink);
        }
    }

    /// Assigns the oldest waiting output to its step, as its call is missing.
    fn release_oldest_output(&mut self, sink: &mut dyn EventSink) {
        if self.waiting.is_empty() {
            self.waiting_bytes = 0;
            return;
        }
        let EarlyOutput { step, output, .. } = self.waiting.remove(0);
        self.waiting_bytes = self.waiting_bytes.saturating_sub(output.text.len());
        sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(step), output));
    }

    /// Emits everything that waits, as no more steps follow.
    pub(super) fn finish_steps(&mut self, sink: &mut dyn EventSink) {
        while !self.waiting.is_empty() {
            self.release_oldest_output(sink);
        }
        self.emit_about(sink);
    }

    /// Emits what is left at the end of the trajectory.
    pub(super) fn finish_trajectory(&mut self, sink: &mut dyn EventSink) {
        if self.model.is_none() {
            self.about.model = self.step_model.take();
        }
        self.finish_steps(sink);
        let total = usage::select_missing_figures(self.total, self.spent);
        if !total.is_unknown() {
            sink.receive_event(TrajectoryEvent::Total(total));
        }
        if let Some(strict) = &self.strict {
            strict.check_required_fields(sink);
        }
    }
}

/// Returns the outcome in a producer's `extra`; the format itself has no field for it.
pub(super) fn read_outcome(extra: &Object) -> Option<SessionOutcome> {
    let status = match json_fields::get_flag(extra, "success") {
        Some(true) => EpisodeStatus::Success,
        Some(false) => EpisodeStatus::Failed,
        None => ["outcome", "verdict"]
            .iter()
            .find_map(|key| EpisodeStatus::from_outcome(json_fields::get_str(extra, key)?).ok())?,
    };
    Some(SessionOutcome {
        status,
        reward: json_fields::get_amount(extra, "reward"),
        error: json_fields::get_string(extra, "error"),
        from: String::new(),
    })
}

pub(super) fn emit_outcome(outcome: Option<SessionOutcome>, from: &str, sink: &mut dyn EventSink) {
    if let Some(outcome) = outcome {
        sink.receive_event(TrajectoryEvent::Outcome(SessionOutcome { from: from.to_owned(), ..outcome }));
    }
}
