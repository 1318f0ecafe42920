//! What went to the model and what came from it.

use serde_json::Value;

use super::Codex;
use super::items;
use super::items::Item;
use super::outputs;
use super::steps::Moment;
use super::twins::Said;
use super::twins::Source;
use super::twins::fingerprint;
use crate::domain::Call;
use crate::domain::Event;
use crate::domain::Happening;
use crate::domain::Output;
use crate::domain::OutputOf;
use crate::domain::Sink;
use crate::domain::Speaker;
use crate::ingest::pick;
use crate::ingest::pick::Object;

/// So much is kept of what an event says of a call's end, until the output comes.
const MAX_END_BYTES: usize = 2048;

impl Codex {
    /// Something that went to the model or came from it.
    pub(super) fn item(&mut self, mut item: Object, sink: &mut dyn Sink) {
        let kind = pick::string(&item, "type").unwrap_or_default();
        match kind.as_str() {
            "message" => {
                let content = item.get_mut("content").map(Value::take).unwrap_or_default();
                match pick::str(&item, "role") {
                    Some("assistant") => self.assistant(content, sink),
                    Some("user") => self.prompts.item(content, self.line, self.step(Speaker::User)),
                    _ => self.beside(Speaker::System, pick::words(content), sink),
                }
                self.hear_prompts(sink);
            }
            "reasoning" => {
                if let Item::Thoughts(thoughts) = items::item(item) {
                    self.thoughts(thoughts, Source::Item, sink);
                }
            }
            "agent_message" => self.message(item, Source::Item, sink),
            "web_search_call" => self.search(item, Source::Item, sink),
            "compaction" | "context_compaction" | "compaction_summary" => {
                self.compacted(Source::Typed, String::new(), sink);
            }
            "ghost_snapshot" | "compaction_trigger" | "additional_tools" | "other" => {}
            kind if kind.ends_with("_output") => self.output(item, sink),
            kind if kind.ends_with("_call") => self.call(kind, item, sink),
            kind => self.unknown.report(kind, self.line, sink),
        }
    }

    pub(super) fn assistant(&mut self, content: Value, sink: &mut dyn Sink) {
        let text = pick::words(content);
        // Some versions give the model another agent's message as if it had said it.
        if text.starts_with('{')
            && text.contains("\"trigger_turn\"")
            && let Ok(Value::Object(message)) = serde_json::from_str(&text)
        {
            return self.message(message, Source::Typed, sink);
        }
        self.words(text, Source::Item, sink);
    }

    pub(super) fn words(&mut self, text: String, source: Source, sink: &mut dyn Sink) {
        if text.is_empty() || self.twins.heard(Said::Words, fingerprint(&text), source, self.line) {
            return;
        }
        self.hear_all_prompts(sink);
        self.is_answered = false;
        let Self { steps, turn_model, .. } = self;
        steps.say(text, None, Moment { at: self.at, copied: self.copied, model: turn_model.as_deref() }, sink);
    }

    pub(super) fn thoughts(&mut self, mut thoughts: Vec<String>, source: Source, sink: &mut dyn Sink) {
        thoughts.retain(|thought| {
            !thought.is_empty() && !self.twins.heard(Said::Thought, fingerprint(thought), source, self.line)
        });
        self.is_answered = false;
        if thoughts.is_empty() {
            return;
        }
        self.hear_all_prompts(sink);
        let Self { steps, turn_model, .. } = self;
        let moment = Moment { at: self.at, copied: self.copied, model: turn_model.as_deref() };
        steps.say(String::new(), Some(thoughts.join("\n\n")), moment, sink);
    }

    /// A call, as the model made it.
    pub(super) fn call(&mut self, kind: &str, mut item: Object, sink: &mut dyn Sink) {
        let id = pick::string(&item, "call_id").or_else(|| pick::string(&item, "id"));
        let id = id.unwrap_or_else(|| format!("{kind}-{}", self.line));
        let name = pick::str(&item, "name").or_else(|| kind.strip_suffix("_call")).unwrap_or(kind);
        let tool = items::tool_name(pick::str(&item, "namespace"), name);
        let given = ["arguments", "input", "action", "revised_prompt", "query"]
            .into_iter()
            .find_map(|key| item.get_mut(key).map(Value::take).filter(|value| !value.is_null()));
        let call = Call { id, tool, arguments: arguments(given), output: None };
        if self.calls.is_news(&call.id) {
            for call in self.background.unwrap_call(call) {
                self.tell_call(call, sink);
            }
        }
    }

    pub(super) fn tell_call(&mut self, call: Call, sink: &mut dyn Sink) {
        if let Some((id, output)) = self.calls.given_up() {
            sink.hear(Event::Output(OutputOf::Call(id), output));
        }
        self.hear_all_prompts(sink);
        self.is_answered = false;
        let Self { steps, turn_model, .. } = self;
        steps.call(call, Moment { at: self.at, copied: self.copied, model: turn_model.as_deref() }, sink);
    }

    pub(super) fn output(&mut self, mut item: Object, sink: &mut dyn Sink) {
        self.is_answered = true;
        let content = ["output", "tools", "content"].into_iter().find_map(|key| item.get_mut(key).map(Value::take));
        let content = content.unwrap_or_default();
        let has_failed = matches!(pick::str(&item, "status"), Some("failed" | "error"));
        let finish = |output: Output, at| Output { at, failed: output.failed.or(has_failed.then_some(true)), ..output };
        let Some(id) = pick::string(&item, "call_id").or_else(|| pick::string(&item, "id")) else {
            let output = finish(outputs::output(content), self.at);
            if self.steps.last() > 0 {
                sink.hear(Event::Output(OutputOf::Step(self.steps.last()), output));
            } else {
                self.beside(Speaker::Tool, output.text, sink);
            }
            return;
        };
        for (of, output) in self.background.read_output(&id, content) {
            let output = finish(output, self.at);
            let output = if of == id { self.calls.answer(&id, output) } else { Some(output) };
            if let Some(output) = output {
                sink.hear(Event::Output(OutputOf::Call(of), output));
            }
        }
    }

    /// A search, which has no id that all its lines share.
    pub(super) fn search(&mut self, item: Object, source: Source, sink: &mut dyn Sink) {
        let print = fingerprint(&searched(&item));
        if self.twins.heard(Said::Search, print, source, self.line) {
            return;
        }
        match source {
            Source::Item => self.call("web_search_call", item, sink),
            Source::Event | Source::Typed => self.work(item, source, sink),
        }
    }

    /// Something of a turn that has a type of its own.
    pub(super) fn work(&mut self, item: Object, source: Source, sink: &mut dyn Sink) {
        let kind = pick::string(&item, "type").unwrap_or_default();
        match items::item(item) {
            Item::Prompt(content) => self.prompt(content, source, sink),
            Item::Words(text) => self.words(text, source, sink),
            Item::Thoughts(thoughts) => self.thoughts(thoughts, source, sink),
            Item::Compaction => self.compacted(source, String::new(), sink),
            Item::Hook(text) => self.happened(Happening::HookFeedback, text, sink),
            Item::Trouble(text) => self.happened(Happening::ApiError, text, sink),
            Item::Agent(thread) => self.agent(thread, sink),
            Item::Work(mut call, agents) => {
                let output = call.output.take();
                if call.id.is_empty() {
                    call.id = format!("{}-{}", call.tool, self.line);
                }
                let id = call.id.clone();
                if !self.calls.is_known(&id) && self.background.absorb_event(&call.tool, output.as_ref()) {
                    // A script's own call, told where the script stands.
                } else if self.calls.is_unheard_of(&id, source) {
                    self.tell_call(call, sink);
                    if let Some(output) = output {
                        self.calls.completed(&id);
                        sink.hear(Event::Output(OutputOf::Call(id), Output { at: self.at, ..output }));
                    }
                } else if let Some(mut end) = output {
                    end.at = self.at;
                    shorten(&mut end.text);
                    self.calls.ended(id, end);
                }
                for thread in agents {
                    self.agent(thread, sink);
                }
            }
            Item::Nothing => {}
            Item::Unknown => self.unknown.report(&kind, self.line, sink),
        }
    }
}

/// What a call was given.
fn arguments(given: Option<Value>) -> Value {
    match given {
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => Value::Object(arguments),
            _ => Value::Object([("input".to_owned(), Value::String(text))].into_iter().collect()),
        },
        Some(arguments @ Value::Object(_)) => arguments,
        Some(other) => Value::Object([("input".to_owned(), other)].into_iter().collect()),
        None => Value::Object(Object::new()),
    }
}

/// What a search was for.
fn searched(item: &Object) -> String {
    let action = item.get("action").and_then(Value::as_object);
    let found = action.and_then(|action| ["query", "url", "pattern"].iter().find_map(|key| pick::string(action, key)));
    found.or_else(|| pick::string(item, "query")).unwrap_or_default()
}

/// Cuts a text between characters.
fn shorten(text: &mut String) {
    if text.len() > MAX_END_BYTES {
        text.truncate(text.floor_char_boundary(MAX_END_BYTES));
        text.push('…');
    }
}
