//! One trajectory while it is told.

use std::collections::HashSet;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use serde_json::Value;

use super::chat::Chat;
use super::spent;
use super::strict::Strict;
use crate::domain::About;
use crate::domain::Elsewhere;
use crate::domain::EpisodeStatus;
use crate::domain::Event;
use crate::domain::Outcome;
use crate::domain::Output;
use crate::domain::OutputOf;
use crate::domain::Part;
use crate::domain::Sink;
use crate::domain::Usage;
use crate::ingest::pick;
use crate::ingest::pick::Object;

/// Outputs that came before their call wait for it, so many at most.
const MAX_WAITING: usize = 64;

/// So many bytes of them at most.
const MAX_WAITING_BYTES: usize = 1024 * 1024;

/// What is remembered of a trajectory: who it is, numbers, hashes, and outputs that wait for their call.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Its steps so far.
    pub(super) steps: u32,
    pub(super) chat: Chat,
    /// What is known about it and was not told yet.
    pub(super) about: About,
    /// Who it is, to be said again where other trajectories came between.
    pub(super) identity: About,
    /// The model that the agent names as its own.
    pub(super) model: Option<String>,
    /// The first model that a step names.
    pub(super) step_model: Option<String>,
    /// Another agent gives the orders.
    pub(super) is_child: bool,
    /// What its steps cost together.
    pub(super) spent: Usage,
    pub(super) strict: Option<Strict>,
    pub(super) has_skipped: bool,
    total: Usage,
    calls: HashSet<u64>,
    waiting: Vec<Waiting>,
    waiting_bytes: usize,
}

/// An output whose call was not told yet.
#[derive(Debug)]
struct Waiting {
    id: String,
    step: u32,
    output: Output,
}

impl Told {
    pub(super) fn new(strict: Option<Strict>) -> Self {
        Self { strict, ..Self::default() }
    }

    /// A trajectory inside another one.
    pub(super) fn child(parent: &Self, strict: Option<Strict>) -> Self {
        let mut told = Self::new(strict);
        told.is_child = true;
        let parent_id = parent.identity.session_id.as_ref().or(parent.identity.trajectory_id.as_ref());
        told.about.parent_session_id = parent_id.cloned();
        told
    }

    /// A field of the root, apart from its lists.
    pub(super) fn field(&mut self, key: &str, value: Value, sink: &mut dyn Sink) {
        if let Some(strict) = &mut self.strict {
            strict.field(key, &value, sink);
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
            ("parent_session_id", Value::String(id)) => self.parent(Some(id)),
            ("agent", Value::String(name)) => self.about.agent = Some(name),
            ("agent", Value::Object(agent)) => self.agent(&agent),
            ("final_metrics", Value::Object(metrics)) => {
                self.total = spent::of_all(&metrics);
                let verdict = metrics.get("extra").and_then(Value::as_object);
                tell_outcome(verdict.and_then(outcome), "final_metrics.extra", sink);
            }
            ("continued_trajectory_ref", Value::String(path)) if !path.is_empty() => {
                let elsewhere = Elsewhere { part: Part::Continuation, path: Some(path), id: None };
                sink.hear(Event::Elsewhere(elsewhere));
            }
            ("created_at", value) => self.about.started_at = pick::moment(&value),
            ("extra", Value::Object(extra)) => {
                self.about.lived(pick::time(&extra, "start_time"));
                self.about.lived(pick::time(&extra, "end_time"));
                self.place(&extra);
                tell_outcome(outcome(&extra), "extra", sink);
            }
            _ => {}
        }
    }

    fn agent(&mut self, agent: &Object) {
        self.about.agent = pick::string(agent, "name");
        self.about.agent_version = pick::string(agent, "version");
        self.model = pick::string(agent, "model_name").or_else(|| match agent.get("model")? {
            Value::String(model) => Some(model.clone()).filter(|model| !model.is_empty()),
            Value::Object(model) => {
                ["model_name", "name", "model", "id"].iter().find_map(|key| pick::string(model, key))
            }
            _ => None,
        });
        self.about.model.clone_from(&self.model);
        if let Some(extra) = agent.get("extra").and_then(Value::as_object) {
            self.place(extra);
        }
    }

    /// Where it ran and for whom, where some `extra` says so.
    pub(super) fn place(&mut self, extra: &Object) {
        let first = |key: &str| extra.get(key)?.as_array()?.first()?.as_str().map(str::to_owned);
        let either = |many: &str, one: &str| first(many).or_else(|| pick::string(extra, one));
        let more = About {
            directory: either("cwds", "cwd"),
            branch: either("git_branches", "git_branch"),
            repository: pick::string(extra, "repository").or_else(|| pick::string(extra, "repository_url")),
            task_id: pick::string(extra, "task_id").or_else(|| pick::string(extra, "task")),
            ..About::default()
        };
        self.parent(pick::string(extra, "parent_session_id"));
        self.learn(more);
    }

    fn parent(&mut self, id: Option<String>) {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            self.is_child = true;
            self.about.parent_session_id.get_or_insert(id);
        }
    }

    /// Takes over what was neither told nor noted yet.
    fn learn(&mut self, more: About) {
        fn fresh(known: &mut Option<String>, told: &mut Option<String>, more: Option<String>) {
            if told.is_none() && more.is_some() {
                told.clone_from(&more);
                *known = more;
            }
        }
        fresh(&mut self.about.directory, &mut self.identity.directory, more.directory);
        fresh(&mut self.about.branch, &mut self.identity.branch, more.branch);
        fresh(&mut self.about.repository, &mut self.identity.repository, more.repository);
        fresh(&mut self.about.task_id, &mut self.identity.task_id, more.task_id);
    }

    /// Tells what is known about the whole.
    pub(super) fn tell_about(&mut self, sink: &mut dyn Sink) {
        if self.about != About::default() {
            sink.hear(Event::About(Box::new(std::mem::take(&mut self.about))));
        }
    }

    /// Notes a call, and says what came back for it before it was told.
    pub(super) fn called(&mut self, id: &str, sink: &mut dyn Sink) {
        if id.is_empty() {
            return;
        }
        self.calls.insert(hash(id));
        while let Some(at) = self.waiting.iter().position(|waiting| waiting.id == id) {
            let Waiting { id, output, .. } = self.waiting.remove(at);
            self.waiting_bytes = self.waiting_bytes.saturating_sub(output.text.len());
            sink.hear(Event::Output(OutputOf::Call(id), output));
        }
    }

    pub(super) fn is_called(&self, id: &str) -> bool {
        self.calls.contains(&hash(id))
    }

    /// Keeps an output until its call is told.
    pub(super) fn wait(&mut self, id: String, output: Output, sink: &mut dyn Sink) {
        self.waiting_bytes += output.text.len();
        self.waiting.push(Waiting { id, step: self.steps, output });
        while self.waiting.len() > MAX_WAITING || self.waiting_bytes > MAX_WAITING_BYTES {
            self.give_up_waiting(sink);
        }
    }

    /// The call of the oldest output will not come: it belongs to its step.
    fn give_up_waiting(&mut self, sink: &mut dyn Sink) {
        if self.waiting.is_empty() {
            self.waiting_bytes = 0;
            return;
        }
        let Waiting { step, output, .. } = self.waiting.remove(0);
        self.waiting_bytes = self.waiting_bytes.saturating_sub(output.text.len());
        sink.hear(Event::Output(OutputOf::Step(step), output));
    }

    /// No step comes any more.
    pub(super) fn end_of_steps(&mut self, sink: &mut dyn Sink) {
        while !self.waiting.is_empty() {
            self.give_up_waiting(sink);
        }
        self.tell_about(sink);
    }

    /// Nothing comes any more.
    pub(super) fn end(&mut self, sink: &mut dyn Sink) {
        if self.model.is_none() {
            self.about.model = self.step_model.take();
        }
        self.end_of_steps(sink);
        let total = spent::missing(self.total, self.spent);
        if !total.is_unknown() {
            sink.hear(Event::Total(total));
        }
        if let Some(strict) = &self.strict {
            strict.end(sink);
        }
    }
}

/// What a producer's `extra` says about how it ended; the format itself has no word for that.
pub(super) fn outcome(extra: &Object) -> Option<Outcome> {
    let status = match pick::flag(extra, "success") {
        Some(true) => EpisodeStatus::Success,
        Some(false) => EpisodeStatus::Failed,
        None => {
            ["outcome", "verdict"].iter().find_map(|key| EpisodeStatus::from_outcome(pick::str(extra, key)?).ok())?
        }
    };
    Some(Outcome {
        status,
        reward: pick::amount(extra, "reward"),
        error: pick::string(extra, "error"),
        from: String::new(),
    })
}

pub(super) fn tell_outcome(outcome: Option<Outcome>, from: &str, sink: &mut dyn Sink) {
    if let Some(outcome) = outcome {
        sink.hear(Event::Outcome(Outcome { from: from.to_owned(), ..outcome }));
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
