//! Reads the stream that `codex exec --json` prints: items, each of which is emitted when it is complete.

use serde_json::Value;

use super::LogReader;
use super::codex::CodexLineContext;
use super::codex::CodexStepEmitter;
use super::codex::TypedItem;
use super::codex::error_message;
use super::codex::has_grown;
use super::codex::parse_codex_usage;
use super::codex::typed_item;
use super::json_fields;
use super::json_fields::Object;
use super::unknown_lines::UnknownKinds;
use crate::domain::EpisodeStatus;
use crate::domain::EventSink;
use crate::domain::Happening;
use crate::domain::LogReference;
use crate::domain::OutputOwner;
use crate::domain::Part;
use crate::domain::SessionDetails;
use crate::domain::SessionOutcome;
use crate::domain::TokenUsage;
use crate::domain::TrajectoryEvent;

#[cfg(test)]
#[path = "codex_exec_tests.rs"]
mod tests;

/// The maximum number of items in progress; beyond it, the oldest is emitted as it is.
const MAX_UNDER_WAY: usize = 64;

/// The maximum number of threads that are remembered; the totals of older ones count from zero again.
const MAX_THREADS: usize = 64;

/// Reads the stream of `codex exec --json`.
#[derive(Debug, Default)]
pub(super) struct CodexExecReader {
    line: u64,
    steps: CodexStepEmitter,
    /// The items in progress by id, each in its last state.
    under_way: Vec<(String, Object)>,
    /// The id of the thread that is active.
    thread: Option<String>,
    /// The last totals of each thread: a turn's figures include those of all earlier turns.
    totals: Vec<(Option<String>, TokenUsage)>,
    spent: TokenUsage,
    /// The outcome of the last turn, if it failed.
    failure: Option<SessionOutcome>,
    unknown: UnknownKinds,
}

impl LogReader for CodexExecReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        self.line = number;
        let mut line = json_fields::into_object(line);
        let kind = json_fields::get_string(&line, "type").unwrap_or_default();
        match kind.as_str() {
            "thread.started" => {
                self.thread = json_fields::get_string(&line, "thread_id");
                sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                    session_id: self.thread.clone(),
                    agent: Some("codex".to_owned()),
                    ..SessionDetails::default()
                })));
            }
            "turn.started" => self.steps.close_step(),
            "turn.completed" => {
                self.steps.close_step();
                self.failure = None;
                if let Some(counts) = json_fields::take_object(&mut line, "usage") {
                    self.add_thread_total(parse_codex_usage(&counts));
                }
            }
            "turn.failed" | "error" => {
                let error = line.get_mut("error").map(Value::take).filter(|error| !error.is_null());
                let text = error.map_or_else(|| error_message(Value::Object(line)), error_message);
                self.record_failure(kind, text, sink);
            }
            "item.started" | "item.updated" => {
                if let Some(item) = json_fields::take_object(&mut line, "item") {
                    self.track_started_item(item, sink);
                }
            }
            "item.completed" => {
                if let Some(item) = json_fields::take_object(&mut line, "item") {
                    let id = json_fields::get_string(&item, "id").unwrap_or_default();
                    self.under_way.retain(|(known, _)| *known != id);
                    self.emit_item(item, sink);
                }
            }
            "item.plan.delta" | "request_user_input" => {}
            kind => self.unknown.report_once(kind, self.line, sink),
        }
    }

    fn finish_log(&mut self, sink: &mut dyn EventSink) {
        for (_, item) in std::mem::take(&mut self.under_way) {
            self.emit_item(item, sink);
        }
        if !self.spent.is_unknown() {
            sink.receive_event(TrajectoryEvent::Total(self.spent));
        }
        if let Some(failure) = self.failure.take() {
            sink.receive_event(TrajectoryEvent::Outcome(failure));
        }
    }
}

impl CodexExecReader {
    /// Adds the totals of the current thread. Totals that shrank were reset.
    fn add_thread_total(&mut self, total: TokenUsage) {
        let at = self.totals.iter().position(|(thread, _)| *thread == self.thread);
        let before = at.map(|at| self.totals.remove(at).1).filter(|before| has_grown(*before, total));
        self.spent = self.spent.add_usage(before.map_or(total, |before| total.subtract_usage(before)));
        self.totals.push((self.thread.clone(), total));
        if self.totals.len() > MAX_THREADS {
            self.totals.remove(0);
        }
    }

    fn record_failure(&mut self, kind: String, text: String, sink: &mut dyn EventSink) {
        // A fatal error is reported twice: by itself and as the end of its turn.
        let is_news = self.failure.as_ref().is_none_or(|failure| failure.error.as_ref() != Some(&text));
        if is_news {
            sink.receive_event(TrajectoryEvent::Happened(self.steps.last_step(), Happening::ApiError, text.clone()));
        }
        self.failure =
            Some(SessionOutcome { status: EpisodeStatus::Failed, reward: None, error: Some(text), from: kind });
    }

    fn track_started_item(&mut self, item: Object, sink: &mut dyn EventSink) {
        let id = json_fields::get_string(&item, "id").unwrap_or_default();
        if let Some((_, known)) = self.under_way.iter_mut().find(|(known, _)| *known == id) {
            *known = item;
            return;
        }
        self.under_way.push((id, item));
        if self.under_way.len() > MAX_UNDER_WAY {
            let (_, oldest) = self.under_way.remove(0);
            self.emit_item(oldest, sink);
        }
    }

    fn emit_item(&mut self, item: Object, sink: &mut dyn EventSink) {
        let kind = json_fields::get_string(&item, "type").unwrap_or_default();
        match typed_item(item) {
            TypedItem::Words(text) if !text.is_empty() => {
                self.close_after_calls();
                self.steps.emit_agent_text(text, None, CodexLineContext::default(), sink);
            }
            TypedItem::Thoughts(thoughts) if !thoughts.is_empty() => {
                self.close_after_calls();
                self.steps.emit_agent_text(
                    String::new(),
                    Some(thoughts.join("\n\n")),
                    CodexLineContext::default(),
                    sink,
                );
            }
            TypedItem::Work(mut call, agents) => {
                let output = call.output.take();
                if call.id.is_empty() {
                    call.id = format!("{}-{}", call.tool, self.line);
                }
                let id = call.id.clone();
                self.steps.emit_call(call, CodexLineContext::default(), sink);
                if let Some(output) = output {
                    sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
                }
                for thread in agents {
                    sink.receive_event(TrajectoryEvent::Elsewhere(LogReference {
                        part: Part::Subagent,
                        path: None,
                        id: Some(thread),
                    }));
                }
            }
            TypedItem::Error(text) => {
                sink.receive_event(TrajectoryEvent::Happened(self.steps.last_step(), Happening::ApiError, text));
            }
            TypedItem::Compaction => {
                sink.receive_event(TrajectoryEvent::Happened(
                    self.steps.last_step(),
                    Happening::Compacted,
                    String::new(),
                ));
            }
            TypedItem::Hook(text) => {
                sink.receive_event(TrajectoryEvent::Happened(self.steps.last_step(), Happening::HookFeedback, text));
            }
            TypedItem::Unknown => self.unknown.report_once(&kind, self.line, sink),
            _ => {}
        }
    }

    /// Closes the step if it has calls: text after calls belongs to another request.
    fn close_after_calls(&mut self) {
        if self.steps.has_calls() {
            self.steps.close_step();
        }
    }
}
