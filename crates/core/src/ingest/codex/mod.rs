//! Reader for Codex's rollouts, in all their versions.
//!
//! A rollout says most things twice: as an item sent to or received from the model, and as an event for the user
//! interface (in paginated files as a typed item). Whichever comes first is emitted. What the model returned between
//! two token counts is one step. Records that a fork or a subagent inherited are emitted as copied and not counted.

mod event_dedup;
mod interface_events;
mod message_author;
mod model_items;
mod rollout_origin;
mod script_literals;
mod script_outputs;
mod scripts;
mod step_numbering;
mod token_totals;
mod tool_outputs;
mod turn_items;
mod user_prompts;
mod wrapped_commands;

use std::collections::BTreeSet;

use serde_json::Value;

use super::LogReader;
use super::json_fields;
use super::json_fields::Object;
use super::unknown_lines::UnknownKinds;
use crate::domain::EventSink;
use crate::domain::Happening;
use crate::domain::LogReference;
use crate::domain::OutputOwner;
use crate::domain::Part;
use crate::domain::SessionDetails;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::Timestamp;
use crate::domain::TrajectoryEvent;
use crate::ingest::chat_messages::fingerprint_trimmed;
use event_dedup::{CodexCallTracker, CodexContentKind, CodexDeduplicator, CodexRecordKind};
use rollout_origin::CodexSessionOrigin;
use token_totals::CodexTokenMeter;
use user_prompts::CodexPromptQueue;
use wrapped_commands::BackgroundCommands;

pub(super) use message_author::{find_sure_non_user_speaker, split_ide_context};
pub(super) use step_numbering::{CodexLineContext, CodexStepEmitter};
pub(super) use token_totals::{has_grown, parse_codex_usage};
pub(super) use turn_items::{TypedItem, error_message, parse_typed_item as typed_item};

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "tale_tests.rs"]
pub(super) mod script;

/// The name that Codex gives the agent that talks to the person. Agent names look like paths; this is not a file.
const MAIN_AGENT: &str = "/root";

/// The maximum number of agents remembered, so that each is emitted once.
const MAX_AGENTS: usize = 8192;

/// Reads a Codex rollout.
#[derive(Debug, Default)]
pub(super) struct CodexRolloutReader {
    line: u64,
    at: Option<Timestamp>,
    /// True if the current line was inherited from a parent.
    copied: bool,
    origin: CodexSessionOrigin,
    steps: CodexStepEmitter,
    prompts: CodexPromptQueue,
    twins: CodexDeduplicator,
    calls: CodexCallTracker,
    background: BackgroundCommands,
    meter: CodexTokenMeter,
    /// True if an output came after the agent's last text or call; bare items have no other sign of a new request.
    is_answered: bool,
    model: Option<String>,
    turn_model: Option<String>,
    directory: Option<String>,
    lived: SessionDetails,
    agents: BTreeSet<u64>,
    unknown: UnknownKinds,
}

impl LogReader for CodexRolloutReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let mut line = json_fields::into_object(line);
        self.line = number;
        self.at = json_fields::get_time(&line, "timestamp");
        let kind = match line.get_mut("type").map(Value::take) {
            Some(Value::String(kind)) => kind,
            _ => String::new(),
        };
        match json_fields::take_object(&mut line, "payload") {
            Some(payload) => self.read_rollout_record(&kind, payload, json_fields::get_count(&line, "ordinal"), sink),
            None => self.read_bare_item(kind, line, sink),
        }
        if !self.copied {
            self.lived.extend_time_span(self.at);
        }
    }

    fn finish_log(&mut self, sink: &mut dyn EventSink) {
        self.flush_pending(sink);
        for (id, output) in self.calls.take_unanswered_ends() {
            sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
        }
        if let Some(total) = self.meter.own_usage() {
            sink.receive_event(TrajectoryEvent::Total(total));
        }
        if self.lived.started_at.is_some() {
            sink.receive_event(TrajectoryEvent::About(Box::new(std::mem::take(&mut self.lived))));
        }
    }
}

impl CodexRolloutReader {
    fn read_rollout_record(&mut self, kind: &str, mut payload: Object, ordinal: Option<u64>, sink: &mut dyn EventSink) {
        if kind == "session_meta" {
            return self.read_session_meta(payload, sink);
        }
        if matches!(json_fields::get_str(&payload, "type"), Some("task_started" | "turn_started")) {
            self.origin.note_turn_start(json_fields::get_time(&payload, "started_at"));
        }
        let copied = self.origin.is_inherited(ordinal, self.at);
        if copied != self.copied {
            self.flush_pending(sink);
            self.copied = copied;
        }
        match kind {
            "response_item" => self.read_response_item(payload, sink),
            "event_msg" => self.read_event(payload, sink),
            "turn_context" => self.read_turn_context(&payload, sink),
            "compacted" => {
                let summary =
                    payload.get_mut("message").map(Value::take).map(json_fields::content_text).unwrap_or_default();
                self.emit_compaction(CodexRecordKind::Item, summary, sink);
            }
            "inter_agent_communication" => self.read_agent_message(payload, CodexRecordKind::Event, sink),
            "inter_agent_communication_metadata"
            | "world_state"
            | "security_risk_score"
            | "token_usage_record"
            | "retained_context"
            | "realtime_item"
            | "ghost_snapshot" => {}
            _ if payload.get("type").is_some_and(Value::is_string) => self.read_event(payload, sink),
            kind => self.unknown.report_once(kind, self.line, sink),
        }
    }

    /// Reads a line in the format of 2025, in which items have no envelope.
    fn read_bare_item(&mut self, kind: String, mut line: Object, sink: &mut dyn EventSink) {
        if line.contains_key("record_type") {
            return;
        }
        if !kind.is_empty() {
            if self.is_answered && !kind.ends_with("_output") {
                self.steps.close_step();
            }
            line.insert("type".to_owned(), Value::String(kind));
            self.read_response_item(line, sink);
        } else if line.contains_key("id") {
            self.read_session_meta(line, sink);
        } else {
            self.unknown.report_once("", self.line, sink);
        }
    }

    fn read_session_meta(&mut self, meta: Object, sink: &mut dyn EventSink) {
        self.flush_pending(sink);
        if let Some(about) = self.origin.read_session_meta(meta, self.at) {
            self.model.clone_from(&about.model);
            self.directory.clone_from(&about.directory);
            self.lived.extend_time_span(about.started_at);
            sink.receive_event(TrajectoryEvent::About(Box::new(about)));
        } else {
            // The first line of a parent does not count for this session's time span.
            self.at = None;
        }
    }

    fn read_turn_context(&mut self, turn: &Object, sink: &mut dyn EventSink) {
        self.steps.close_step();
        if self.copied {
            return;
        }
        let mut about = SessionDetails::default();
        let model = json_fields::get_string(turn, "model");
        if self.model.is_none() && model.is_some() {
            self.model.clone_from(&model);
            about.model.clone_from(&model);
        }
        self.turn_model = model.filter(|model| Some(model) != self.model.as_ref());
        if self.directory.is_none() {
            self.directory = json_fields::get_string(turn, "cwd");
            about.directory.clone_from(&self.directory);
        }
        self.emit_about(about, sink);
    }

    /// Emits new details of the session.
    fn emit_about(&self, mut about: SessionDetails, sink: &mut dyn EventSink) {
        if about != SessionDetails::default() {
            if !self.origin.is_known() {
                about.agent = Some("codex".to_owned());
            }
            sink.receive_event(TrajectoryEvent::About(Box::new(about)));
        }
    }

    /// Reads a message from another agent to this one.
    fn read_agent_message(&mut self, mut message: Object, source: CodexRecordKind, sink: &mut dyn EventSink) {
        let content = message.get_mut("content").map(Value::take).unwrap_or_default();
        let text = match content {
            Value::Array(parts) => {
                let is_readable = |part: &Value| part.get("text").is_some_and(Value::is_string);
                json_fields::content_text(Value::Array(parts.into_iter().filter(is_readable).collect()))
            }
            content => json_fields::content_text(content),
        };
        if text.is_empty()
            || self.twins.check_and_remember(CodexContentKind::Message, fingerprint_trimmed(&text), source, self.line)
        {
            return;
        }
        self.flush_pending(sink);
        let subagent = json_fields::get_string(&message, "author").filter(|author| author != MAIN_AGENT);
        let step = Step { text, subagent, ..self.new_step(Speaker::OtherAgent) };
        self.steps.emit_step(step, sink);
    }

    fn emit_compaction(&mut self, source: CodexRecordKind, summary: String, sink: &mut dyn EventSink) {
        if !self.twins.check_and_remember(CodexContentKind::Compaction, 0, source, self.line) {
            self.flush_pending(sink);
            self.emit_session_event(Happening::Compacted, summary, sink);
        }
    }

    fn emit_subagent(&mut self, thread: String, sink: &mut dyn EventSink) {
        if !self.copied && self.agents.insert(fingerprint_trimmed(&thread)) {
            if self.agents.len() > MAX_AGENTS {
                self.agents.pop_first();
            }
            sink.receive_event(TrajectoryEvent::Elsewhere(LogReference {
                part: Part::Subagent,
                path: None,
                id: Some(thread),
            }));
        }
    }

    fn emit_session_event(&mut self, happening: Happening, text: String, sink: &mut dyn EventSink) {
        self.emit_all_prompts(sink);
        if !self.copied {
            sink.receive_event(TrajectoryEvent::Happened(self.steps.last_step(), happening, text));
        }
    }

    /// Reads a prompt from an event of the user interface.
    fn read_prompt_event(&mut self, content: Value, source: CodexRecordKind, sink: &mut dyn EventSink) {
        let step = self.new_step(Speaker::User);
        self.prompts.add_event(content, source, self.line, step);
        self.emit_known_prompts(sink);
    }

    /// Queues a step that is not the agent's behind the prompts that wait.
    fn queue_message(&mut self, speaker: Speaker, text: String, sink: &mut dyn EventSink) {
        if !text.is_empty() {
            self.prompts.push_known_step(Step { text, ..self.new_step(speaker) });
            self.emit_known_prompts(sink);
        }
    }

    fn new_step(&self, speaker: Speaker) -> Step {
        Step { speaker, at: self.at, copied: self.copied, ..Step::default() }
    }

    /// Emits the prompts whose speaker is known.
    fn emit_known_prompts(&mut self, sink: &mut dyn EventSink) {
        while let Some(step) = self.prompts.next() {
            self.emit_prompt(step, sink);
        }
    }

    /// Emits all prompts, as no event will follow for them.
    fn emit_all_prompts(&mut self, sink: &mut dyn EventSink) {
        self.prompts.decide_speakers();
        self.emit_known_prompts(sink);
    }

    fn emit_prompt(&mut self, mut step: Step, sink: &mut dyn EventSink) {
        if step.speaker == Speaker::User {
            self.steps.close_step();
            if self.origin.is_subagent() && !step.copied {
                step.speaker = Speaker::OtherAgent;
            }
        }
        if step.speaker == Speaker::System && self.directory.is_none() && !step.copied {
            self.directory = message_author::parse_working_directory(&step.text);
            self.emit_about(SessionDetails { directory: self.directory.clone(), ..SessionDetails::default() }, sink);
        }
        self.steps.emit_step(step, sink);
    }

    /// Emits all prompts and closes the open step.
    fn flush_pending(&mut self, sink: &mut dyn EventSink) {
        self.emit_all_prompts(sink);
        self.steps.close_step();
    }
}
