//! What `codex exec --json` prints: a stream of items, each told when it is complete.

use serde_json::Value;

use super::Reader;
use super::codex::Moment;
use super::codex::Steps;
use super::codex::TypedItem;
use super::codex::error_message;
use super::codex::has_grown;
use super::codex::typed_item;
use super::codex::usage;
use super::pick;
use super::pick::Object;
use super::unknown::Unknown;
use crate::domain::About;
use crate::domain::Elsewhere;
use crate::domain::EpisodeStatus;
use crate::domain::Event;
use crate::domain::Happening;
use crate::domain::Outcome;
use crate::domain::OutputOf;
use crate::domain::Part;
use crate::domain::Sink;
use crate::domain::Usage;

#[cfg(test)]
#[path = "codex_exec_tests.rs"]
mod tests;

/// So many items may be under way; with one more, the oldest is told as it is.
const MAX_UNDER_WAY: usize = 64;

/// So many threads are remembered; the totals of older ones count anew.
const MAX_THREADS: usize = 64;

/// Reads the stream.
#[derive(Debug, Default)]
pub(super) struct CodexExec {
    line: u64,
    steps: Steps,
    /// Items that began, by id, in their last state.
    under_way: Vec<(String, Object)>,
    /// Who is at work.
    thread: Option<String>,
    /// The last totals of each thread: a turn's figures include those of all turns before.
    totals: Vec<(Option<String>, Usage)>,
    spent: Usage,
    /// How the last turn ended, if it went wrong.
    failure: Option<Outcome>,
    unknown: Unknown,
}

impl Reader for CodexExec {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        self.line = number;
        let mut line = pick::object(line);
        let kind = pick::string(&line, "type").unwrap_or_default();
        match kind.as_str() {
            "thread.started" => {
                self.thread = pick::string(&line, "thread_id");
                sink.hear(Event::About(Box::new(About {
                    session_id: self.thread.clone(),
                    agent: Some("codex".to_owned()),
                    ..About::default()
                })));
            }
            "turn.started" => self.steps.close(),
            "turn.completed" => {
                self.steps.close();
                self.failure = None;
                if let Some(counts) = pick::take_object(&mut line, "usage") {
                    self.count(usage(&counts));
                }
            }
            "turn.failed" | "error" => {
                let error = line.get_mut("error").map(Value::take).filter(|error| !error.is_null());
                let text = error.map_or_else(|| error_message(Value::Object(line)), error_message);
                self.failed(kind, text, sink);
            }
            "item.started" | "item.updated" => {
                if let Some(item) = pick::take_object(&mut line, "item") {
                    self.began(item, sink);
                }
            }
            "item.completed" => {
                if let Some(item) = pick::take_object(&mut line, "item") {
                    let id = pick::string(&item, "id").unwrap_or_default();
                    self.under_way.retain(|(known, _)| *known != id);
                    self.item(item, sink);
                }
            }
            "item.plan.delta" | "request_user_input" => {}
            kind => self.unknown.report(kind, self.line, sink),
        }
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        for (_, item) in std::mem::take(&mut self.under_way) {
            self.item(item, sink);
        }
        if !self.spent.is_unknown() {
            sink.hear(Event::Total(self.spent));
        }
        if let Some(failure) = self.failure.take() {
            sink.hear(Event::Outcome(failure));
        }
    }
}

impl CodexExec {
    /// Hears the totals of the current thread. Totals that shrank were begun anew.
    fn count(&mut self, total: Usage) {
        let at = self.totals.iter().position(|(thread, _)| *thread == self.thread);
        let before = at.map(|at| self.totals.remove(at).1).filter(|before| has_grown(*before, total));
        self.spent = self.spent.plus(before.map_or(total, |before| total.minus(before)));
        self.totals.push((self.thread.clone(), total));
        if self.totals.len() > MAX_THREADS {
            self.totals.remove(0);
        }
    }

    fn failed(&mut self, kind: String, text: String, sink: &mut dyn Sink) {
        // A fatal error is told twice: by itself and as the end of its turn.
        let is_news = self.failure.as_ref().is_none_or(|failure| failure.error.as_ref() != Some(&text));
        if is_news {
            sink.hear(Event::Happened(self.steps.last(), Happening::ApiError, text.clone()));
        }
        self.failure = Some(Outcome { status: EpisodeStatus::Failed, reward: None, error: Some(text), from: kind });
    }

    fn began(&mut self, item: Object, sink: &mut dyn Sink) {
        let id = pick::string(&item, "id").unwrap_or_default();
        if let Some((_, known)) = self.under_way.iter_mut().find(|(known, _)| *known == id) {
            *known = item;
            return;
        }
        self.under_way.push((id, item));
        if self.under_way.len() > MAX_UNDER_WAY {
            let (_, oldest) = self.under_way.remove(0);
            self.item(oldest, sink);
        }
    }

    fn item(&mut self, item: Object, sink: &mut dyn Sink) {
        let kind = pick::string(&item, "type").unwrap_or_default();
        match typed_item(item) {
            TypedItem::Words(text) if !text.is_empty() => {
                self.close_after_calls();
                self.steps.say(text, None, Moment::default(), sink);
            }
            TypedItem::Thoughts(thoughts) if !thoughts.is_empty() => {
                self.close_after_calls();
                self.steps.say(String::new(), Some(thoughts.join("\n\n")), Moment::default(), sink);
            }
            TypedItem::Work(mut call, agents) => {
                let output = call.output.take();
                if call.id.is_empty() {
                    call.id = format!("{}-{}", call.tool, self.line);
                }
                let id = call.id.clone();
                self.steps.call(call, Moment::default(), sink);
                if let Some(output) = output {
                    sink.hear(Event::Output(OutputOf::Call(id), output));
                }
                for thread in agents {
                    sink.hear(Event::Elsewhere(Elsewhere { part: Part::Subagent, path: None, id: Some(thread) }));
                }
            }
            TypedItem::Trouble(text) => sink.hear(Event::Happened(self.steps.last(), Happening::ApiError, text)),
            TypedItem::Compaction => {
                sink.hear(Event::Happened(self.steps.last(), Happening::Compacted, String::new()));
            }
            TypedItem::Hook(text) => sink.hear(Event::Happened(self.steps.last(), Happening::HookFeedback, text)),
            TypedItem::Unknown => self.unknown.report(&kind, self.line, sink),
            _ => {}
        }
    }

    /// What is said after calls is another request's.
    fn close_after_calls(&mut self) {
        if self.steps.has_calls() {
            self.steps.close();
        }
    }
}
