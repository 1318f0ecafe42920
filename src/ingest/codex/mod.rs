//! Codex's rollouts, of all generations.
//!
//! A rollout says most things twice: as an item that went to the model or came from it, and as an event for the screen
//! (in paginated files as a typed item). Whichever comes first is told. What the model gave between two counts of
//! tokens is one step. Records that a fork or a subagent took over from its parent are told as copied and not counted.

mod background;
mod events;
mod items;
mod origin;
mod outputs;
mod prompts;
mod replies;
mod script_literals;
mod script_outputs;
mod scripts;
mod steps;
mod tokens;
mod twins;
mod voices;

use std::collections::BTreeSet;

use serde_json::Value;

use super::Reader;
use super::pick;
use super::pick::Object;
use super::unknown::Unknown;
use crate::domain::About;
use crate::domain::Elsewhere;
use crate::domain::Event;
use crate::domain::Happening;
use crate::domain::OutputOf;
use crate::domain::Part;
use crate::domain::Sink;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::Timestamp;
use background::BackgroundCommands;
use origin::Origin;
use prompts::Prompts;
use tokens::Meter;
use twins::{Calls, Said, Source, Twins, fingerprint};

pub(super) use items::{Item as TypedItem, item as typed_item, message as error_message};
pub(super) use steps::{Moment, Steps};
pub(super) use tokens::{has_grown, usage};
pub(super) use voices::sure_stranger;

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "tale_tests.rs"]
pub(super) mod tale;

/// What Codex calls the agent that talks to the person. Agents have names like paths; this is none of a file.
const MAIN_AGENT: &str = "/root";

/// So many agents are remembered, so that each is named once.
const MAX_AGENTS: usize = 8192;

/// Reads a rollout.
#[derive(Debug, Default)]
pub(super) struct Codex {
    line: u64,
    at: Option<Timestamp>,
    /// Whether the line is a parent's.
    copied: bool,
    origin: Origin,
    steps: Steps,
    prompts: Prompts,
    twins: Twins,
    calls: Calls,
    background: BackgroundCommands,
    meter: Meter,
    /// Whether an output came since the agent spoke; bare items have no other sign of a new request.
    is_answered: bool,
    model: Option<String>,
    turn_model: Option<String>,
    directory: Option<String>,
    lived: About,
    agents: BTreeSet<u64>,
    unknown: Unknown,
}

impl Reader for Codex {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let mut line = pick::object(line);
        self.line = number;
        self.at = pick::time(&line, "timestamp");
        let kind = match line.get_mut("type").map(Value::take) {
            Some(Value::String(kind)) => kind,
            _ => String::new(),
        };
        match pick::take_object(&mut line, "payload") {
            Some(payload) => self.rollout(&kind, payload, pick::count(&line, "ordinal"), sink),
            None => self.bare(kind, line, sink),
        }
        if !self.copied {
            self.lived.lived(self.at);
        }
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.settle(sink);
        for (id, output) in self.calls.unanswered() {
            sink.hear(Event::Output(OutputOf::Call(id), output));
        }
        if let Some(total) = self.meter.own() {
            sink.hear(Event::Total(total));
        }
        if self.lived.started_at.is_some() {
            sink.hear(Event::About(Box::new(std::mem::take(&mut self.lived))));
        }
    }
}

impl Codex {
    fn rollout(&mut self, kind: &str, mut payload: Object, ordinal: Option<u64>, sink: &mut dyn Sink) {
        if kind == "session_meta" {
            return self.meta(payload, sink);
        }
        if matches!(pick::str(&payload, "type"), Some("task_started" | "turn_started")) {
            self.origin.turn(pick::time(&payload, "started_at"));
        }
        let copied = self.origin.is_inherited(ordinal, self.at);
        if copied != self.copied {
            self.settle(sink);
            self.copied = copied;
        }
        match kind {
            "response_item" => self.item(payload, sink),
            "event_msg" => self.event(payload, sink),
            "turn_context" => self.turn(&payload, sink),
            "compacted" => {
                let summary = payload.get_mut("message").map(Value::take).map(pick::words).unwrap_or_default();
                self.compacted(Source::Item, summary, sink);
            }
            "inter_agent_communication" => self.message(payload, Source::Event, sink),
            "inter_agent_communication_metadata"
            | "world_state"
            | "security_risk_score"
            | "token_usage_record"
            | "retained_context"
            | "realtime_item"
            | "ghost_snapshot" => {}
            _ if payload.get("type").is_some_and(Value::is_string) => self.event(payload, sink),
            kind => self.unknown.report(kind, self.line, sink),
        }
    }

    /// A line of 2025, in which items stand bare.
    fn bare(&mut self, kind: String, mut line: Object, sink: &mut dyn Sink) {
        if line.contains_key("record_type") {
            return;
        }
        if !kind.is_empty() {
            if self.is_answered && !kind.ends_with("_output") {
                self.steps.close();
            }
            line.insert("type".to_owned(), Value::String(kind));
            self.item(line, sink);
        } else if line.contains_key("id") {
            self.meta(line, sink);
        } else {
            self.unknown.report("", self.line, sink);
        }
    }

    fn meta(&mut self, meta: Object, sink: &mut dyn Sink) {
        self.settle(sink);
        if let Some(about) = self.origin.meta(meta, self.at) {
            self.model.clone_from(&about.model);
            self.directory.clone_from(&about.directory);
            self.lived.lived(about.started_at);
            sink.hear(Event::About(Box::new(about)));
        } else {
            // A parent's first line is no sign of this session's life.
            self.at = None;
        }
    }

    fn turn(&mut self, turn: &Object, sink: &mut dyn Sink) {
        self.steps.close();
        if self.copied {
            return;
        }
        let mut about = About::default();
        let model = pick::string(turn, "model");
        if self.model.is_none() && model.is_some() {
            self.model.clone_from(&model);
            about.model.clone_from(&model);
        }
        self.turn_model = model.filter(|model| Some(model) != self.model.as_ref());
        if self.directory.is_none() {
            self.directory = pick::string(turn, "cwd");
            about.directory.clone_from(&self.directory);
        }
        self.learn(about, sink);
    }

    /// Tells what is new about the session.
    fn learn(&self, mut about: About, sink: &mut dyn Sink) {
        if about != About::default() {
            if !self.origin.is_known() {
                about.agent = Some("codex".to_owned());
            }
            sink.hear(Event::About(Box::new(about)));
        }
    }

    /// What another agent says to this one.
    fn message(&mut self, mut message: Object, source: Source, sink: &mut dyn Sink) {
        let content = message.get_mut("content").map(Value::take).unwrap_or_default();
        let text = match content {
            Value::Array(parts) => {
                let is_readable = |part: &Value| part.get("text").is_some_and(Value::is_string);
                pick::words(Value::Array(parts.into_iter().filter(is_readable).collect()))
            }
            content => pick::words(content),
        };
        if text.is_empty() || self.twins.heard(Said::Message, fingerprint(&text), source, self.line) {
            return;
        }
        self.settle(sink);
        let subagent = pick::string(&message, "author").filter(|author| author != MAIN_AGENT);
        let step = Step { text, subagent, ..self.step(Speaker::OtherAgent) };
        self.steps.tell(step, sink);
    }

    fn compacted(&mut self, source: Source, summary: String, sink: &mut dyn Sink) {
        if !self.twins.heard(Said::Compaction, 0, source, self.line) {
            self.settle(sink);
            self.happened(Happening::Compacted, summary, sink);
        }
    }

    fn agent(&mut self, thread: String, sink: &mut dyn Sink) {
        if !self.copied && self.agents.insert(fingerprint(&thread)) {
            if self.agents.len() > MAX_AGENTS {
                self.agents.pop_first();
            }
            sink.hear(Event::Elsewhere(Elsewhere { part: Part::Subagent, path: None, id: Some(thread) }));
        }
    }

    fn happened(&mut self, happening: Happening, text: String, sink: &mut dyn Sink) {
        self.hear_all_prompts(sink);
        if !self.copied {
            sink.hear(Event::Happened(self.steps.last(), happening, text));
        }
    }

    /// A prompt, as the screen was told.
    fn prompt(&mut self, content: Value, source: Source, sink: &mut dyn Sink) {
        let step = self.step(Speaker::User);
        self.prompts.event(content, source, self.line, step);
        self.hear_prompts(sink);
    }

    /// A step that is not the agent's, among those that wait.
    fn beside(&mut self, speaker: Speaker, text: String, sink: &mut dyn Sink) {
        if !text.is_empty() {
            self.prompts.beside(Step { text, ..self.step(speaker) });
            self.hear_prompts(sink);
        }
    }

    fn step(&self, speaker: Speaker) -> Step {
        Step { speaker, at: self.at, copied: self.copied, ..Step::default() }
    }

    /// Tells the prompts whose speaker is known.
    fn hear_prompts(&mut self, sink: &mut dyn Sink) {
        while let Some(step) = self.prompts.next() {
            self.tell_prompt(step, sink);
        }
    }

    /// Tells all prompts: nobody will say more about them.
    fn hear_all_prompts(&mut self, sink: &mut dyn Sink) {
        self.prompts.decide();
        self.hear_prompts(sink);
    }

    fn tell_prompt(&mut self, mut step: Step, sink: &mut dyn Sink) {
        if step.speaker == Speaker::User {
            self.steps.close();
            if self.origin.is_subagent() && !step.copied {
                step.speaker = Speaker::OtherAgent;
            }
        }
        if step.speaker == Speaker::System && self.directory.is_none() && !step.copied {
            self.directory = voices::directory(&step.text);
            self.learn(About { directory: self.directory.clone(), ..About::default() }, sink);
        }
        self.steps.tell(step, sink);
    }

    /// What was said so far is whole.
    fn settle(&mut self, sink: &mut dyn Sink) {
        self.hear_all_prompts(sink);
        self.steps.close();
    }
}
