//! Reads the items that were sent to the model or received from it.

use serde_json::Value;

use super::CodexRolloutReader;
use super::event_dedup::CodexContentKind;
use super::event_dedup::CodexRecordKind;
use super::step_numbering::CodexLineContext;
use super::tool_outputs;
use super::turn_items;
use super::turn_items::TypedItem;
use crate::domain::EventSink;
use crate::domain::Happening;
use crate::domain::OutputOwner;
use crate::domain::Speaker;
use crate::domain::ToolCall;
use crate::domain::ToolOutput;
use crate::domain::TrajectoryEvent;
use crate::ingest::chat_messages::fingerprint_trimmed;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

/// The maximum length of a call's end as reported by an event, which is kept until the output comes.
const MAX_END_BYTES: usize = 2048;

impl CodexRolloutReader {
    /// Reads an item that was sent to the model or received from it.
    pub(super) fn read_response_item(&mut self, mut item: Object, sink: &mut dyn EventSink) {
        let kind = json_fields::get_string(&item, "type").unwrap_or_default();
        match kind.as_str() {
            "message" => {
                let content = item.get_mut("content").map(Value::take).unwrap_or_default();
                match json_fields::get_str(&item, "role") {
                    Some("assistant") => self.read_assistant_message(content, sink),
                    Some("user") => self.prompts.add_item(content, self.line, self.new_step(Speaker::User)),
                    _ => self.queue_message(Speaker::System, json_fields::content_text(content), sink),
                }
                self.emit_known_prompts(sink);
            }
            "reasoning" => {
                if let TypedItem::Thoughts(thoughts) = turn_items::parse_typed_item(item) {
                    self.emit_reasoning(thoughts, CodexRecordKind::Item, sink);
                }
            }
            "agent_message" => self.read_agent_message(item, CodexRecordKind::Item, sink),
            "web_search_call" => self.read_search(item, CodexRecordKind::Item, sink),
            "compaction" | "context_compaction" | "compaction_summary" => {
                self.emit_compaction(CodexRecordKind::Typed, String::new(), sink);
            }
            "ghost_snapshot" | "compaction_trigger" | "additional_tools" | "other" => {}
            kind if kind.ends_with("_output") => self.read_call_output(item, sink),
            kind if kind.ends_with("_call") => self.read_call(kind, item, sink),
            kind => self.unknown.report_once(kind, self.line, sink),
        }
    }

    pub(super) fn read_assistant_message(&mut self, content: Value, sink: &mut dyn EventSink) {
        let text = json_fields::content_text(content);
        // Some versions give the model another agent's message as if it were its own.
        if text.starts_with('{')
            && text.contains("\"trigger_turn\"")
            && let Ok(Value::Object(message)) = serde_json::from_str(&text)
        {
            return self.read_agent_message(message, CodexRecordKind::Typed, sink);
        }
        self.emit_agent_text(text, CodexRecordKind::Item, sink);
    }

    pub(super) fn emit_agent_text(&mut self, text: String, source: CodexRecordKind, sink: &mut dyn EventSink) {
        if text.is_empty()
            || self.twins.check_and_remember(CodexContentKind::Words, fingerprint_trimmed(&text), source, self.line)
        {
            return;
        }
        self.emit_all_prompts(sink);
        self.is_answered = false;
        let Self { steps, turn_model, .. } = self;
        steps.emit_agent_text(
            text,
            None,
            CodexLineContext { at: self.at, copied: self.copied, model: turn_model.as_deref() },
            sink,
        );
    }

    pub(super) fn emit_reasoning(
        &mut self,
        mut thoughts: Vec<String>,
        source: CodexRecordKind,
        sink: &mut dyn EventSink,
    ) {
        thoughts.retain(|thought| {
            !thought.is_empty()
                && !self.twins.check_and_remember(
                    CodexContentKind::Thought,
                    fingerprint_trimmed(thought),
                    source,
                    self.line,
                )
        });
        self.is_answered = false;
        if thoughts.is_empty() {
            return;
        }
        self.emit_all_prompts(sink);
        let Self { steps, turn_model, .. } = self;
        let moment = CodexLineContext { at: self.at, copied: self.copied, model: turn_model.as_deref() };
        steps.emit_agent_text(String::new(), Some(thoughts.join("\n\n")), moment, sink);
    }

    /// Reads a call as the model made it.
    pub(super) fn read_call(&mut self, kind: &str, mut item: Object, sink: &mut dyn EventSink) {
        let id = json_fields::get_string(&item, "call_id").or_else(|| json_fields::get_string(&item, "id"));
        let id = id.unwrap_or_else(|| format!("{kind}-{}", self.line));
        let name = json_fields::get_str(&item, "name").or_else(|| kind.strip_suffix("_call")).unwrap_or(kind);
        let tool = turn_items::qualified_tool_name(json_fields::get_str(&item, "namespace"), name);
        let given = ["arguments", "input", "action", "revised_prompt", "query"]
            .into_iter()
            .find_map(|key| item.get_mut(key).map(Value::take).filter(|value| !value.is_null()));
        let call = ToolCall { id, tool, arguments: normalize_arguments(given), output: None };
        if self.calls.register_item_call(&call.id) {
            for call in self.background.unwrap_call(call) {
                self.emit_call(call, sink);
            }
        }
    }

    pub(super) fn emit_call(&mut self, call: ToolCall, sink: &mut dyn EventSink) {
        if let Some((id, output)) = self.calls.take_forgotten_end() {
            sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
        }
        self.emit_all_prompts(sink);
        self.is_answered = false;
        let Self { steps, turn_model, .. } = self;
        steps.emit_call(
            call,
            CodexLineContext { at: self.at, copied: self.copied, model: turn_model.as_deref() },
            sink,
        );
    }

    pub(super) fn read_call_output(&mut self, mut item: Object, sink: &mut dyn EventSink) {
        self.is_answered = true;
        let content = ["output", "tools", "content"].into_iter().find_map(|key| item.get_mut(key).map(Value::take));
        let content = content.unwrap_or_default();
        let has_failed = matches!(json_fields::get_str(&item, "status"), Some("failed" | "error"));
        let finish =
            |output: ToolOutput, at| ToolOutput { at, failed: output.failed.or(has_failed.then_some(true)), ..output };
        let Some(id) = json_fields::get_string(&item, "call_id").or_else(|| json_fields::get_string(&item, "id"))
        else {
            let output = finish(tool_outputs::parse_output(content), self.at);
            if self.steps.last_step() > 0 {
                sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(self.steps.last_step()), output));
            } else {
                self.queue_message(Speaker::Tool, output.text, sink);
            }
            return;
        };
        for (of, output) in self.background.read_output(&id, content) {
            let output = finish(output, self.at);
            let output = if of == id { self.calls.merge_output(&id, output) } else { Some(output) };
            if let Some(output) = output {
                sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(of), output));
            }
        }
    }

    /// Reads a search, whose lines share no id.
    pub(super) fn read_search(&mut self, item: Object, source: CodexRecordKind, sink: &mut dyn EventSink) {
        let print = fingerprint_trimmed(&search_subject(&item));
        if self.twins.check_and_remember(CodexContentKind::Search, print, source, self.line) {
            return;
        }
        match source {
            CodexRecordKind::Item => self.read_call("web_search_call", item, sink),
            CodexRecordKind::Event | CodexRecordKind::Typed => self.read_typed_item(item, source, sink),
        }
    }

    /// Reads a typed item of a turn.
    pub(super) fn read_typed_item(&mut self, item: Object, source: CodexRecordKind, sink: &mut dyn EventSink) {
        let kind = json_fields::get_string(&item, "type").unwrap_or_default();
        match turn_items::parse_typed_item(item) {
            TypedItem::Prompt(content) => self.read_prompt_event(content, source, sink),
            TypedItem::Words(text) => self.emit_agent_text(text, source, sink),
            TypedItem::Thoughts(thoughts) => self.emit_reasoning(thoughts, source, sink),
            TypedItem::Compaction => self.emit_compaction(source, String::new(), sink),
            TypedItem::Hook(text) => self.emit_session_event(Happening::HookFeedback, text, sink),
            TypedItem::Error(text) => self.emit_session_event(Happening::ApiError, text, sink),
            TypedItem::Agent(thread) => self.emit_subagent(thread, sink),
            TypedItem::Work(mut call, agents) => {
                let output = call.output.take();
                if call.id.is_empty() {
                    call.id = format!("{}-{}", call.tool, self.line);
                }
                let id = call.id.clone();
                if !self.calls.is_tracked(&id) && self.background.absorb_event(&call.tool, output.as_ref()) {
                    // The call belongs to a script and was emitted there.
                } else if self.calls.register_if_unknown(&id, source) {
                    self.emit_call(call, sink);
                    if let Some(output) = output {
                        self.calls.mark_completed(&id);
                        sink.receive_event(TrajectoryEvent::Output(
                            OutputOwner::Call(id),
                            ToolOutput { at: self.at, ..output },
                        ));
                    }
                } else if let Some(mut end) = output {
                    end.at = self.at;
                    truncate_text(&mut end.text);
                    self.calls.store_end(id, end);
                }
                for thread in agents {
                    self.emit_subagent(thread, sink);
                }
            }
            TypedItem::Nothing => {}
            TypedItem::Unknown => self.unknown.report_once(&kind, self.line, sink),
        }
    }
}

/// Returns the arguments of a call as an object.
fn normalize_arguments(given: Option<Value>) -> Value {
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

/// Returns the query, address or pattern of a search.
fn search_subject(item: &Object) -> String {
    let action = item.get("action").and_then(Value::as_object);
    let found = action
        .and_then(|action| ["query", "url", "pattern"].iter().find_map(|key| json_fields::get_string(action, key)));
    found.or_else(|| json_fields::get_string(item, "query")).unwrap_or_default()
}

/// Truncates a text at a character boundary.
fn truncate_text(text: &mut String) {
    if text.len() > MAX_END_BYTES {
        text.truncate(text.floor_char_boundary(MAX_END_BYTES));
        text.push('…');
    }
}
