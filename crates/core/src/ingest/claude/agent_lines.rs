//! Reads the agent's lines, which hold parts of the model's messages.

use serde_json::Value;

use super::super::json_fields::{self, Object};
use super::{ClaudeLineContext, ClaudeMessage, ClaudeReader, tool_results, usage};
use crate::domain::{
    EventSink, Happening, OutputOwner, SessionDetails, Speaker, Step, ToolCall, ToolOutput, TrajectoryEvent,
    fingerprint_text,
};

#[cfg(test)]
#[path = "agent_lines_tests.rs"]
mod tests;

/// The model name of messages that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

/// The harness's placeholder for a reply of the agent when nothing was asked.
const NO_RESPONSE: &str = "No response requested.";

/// The new content that one line adds to a message.
#[derive(Default)]
struct ClaudeMessagePart {
    text: String,
    reasoning: String,
    acts: Vec<ClaudeToolActivity>,
}

enum ClaudeToolActivity {
    Call(ToolCall),
    Output(String, ToolOutput),
}

impl ClaudeReader {
    pub(super) fn read_agent_line(&mut self, place: &ClaudeLineContext, line: &mut Object, sink: &mut dyn EventSink) {
        let is_api_error = json_fields::get_flag(line, "isApiErrorMessage") == Some(true);
        let request = json_fields::get_str(line, "requestId").map(fingerprint_text);
        let cost_usd = json_fields::get_amount(line, "costUSD");
        let mut message = json_fields::take_object(line, "message").unwrap_or_else(|| std::mem::take(line));
        let model = match message.get_mut("model").map(Value::take) {
            Some(Value::String(model)) if !model.is_empty() => Some(model),
            _ => None,
        };
        let content = message.get_mut("content").map(Value::take).unwrap_or_default();
        if is_api_error || model.as_deref() == Some(SYNTHETIC) {
            self.emit_synthetic_message(place, is_api_error, json_fields::content_text(content), sink);
            return;
        }
        let mut spent = message.get("usage").and_then(Value::as_object).map(usage::read_usage).unwrap_or_default();
        spent.cost_usd = cost_usd;

        let key = json_fields::get_str(&message, "id").map(fingerprint_text).or(request);
        let known = key.and_then(|key| self.messages.take_entry(key));
        let is_elsewhere = known.as_ref().is_some_and(|known| known.file != self.file);
        let known = known.filter(|_| !is_elsewhere);
        let is_new = known.is_none();
        let mut of_message = known.unwrap_or_else(|| ClaudeMessage {
            file: self.file,
            is_copied: is_elsewhere || place.is_copied,
            ..ClaudeMessage::default()
        });

        let part = read_message_part(content, &mut of_message.parts, place);
        if key.is_none() && part.is_empty() && model.is_none() && spent.is_unknown() {
            return;
        }
        let reasoning = Some(part.reasoning).filter(|reasoning| !reasoning.is_empty());
        if is_new {
            let model = self.record_model(place, model, sink);
            let copied = of_message.is_copied;
            let step = Step { speaker: Speaker::Agent, text: part.text, reasoning, model, copied, ..Step::default() };
            of_message.step = self.emit_step(place, step, sink);
        } else if !part.text.is_empty() || reasoning.is_some() {
            sink.receive_event(TrajectoryEvent::More(of_message.step, part.text, reasoning));
        }
        for act in part.acts {
            if let ClaudeToolActivity::Call(call) = &act {
                self.calls.insert(fingerprint_text(&call.id), tool_results::CalledTool::from_call(call));
            }
            sink.receive_event(match act {
                ClaudeToolActivity::Call(call) => TrajectoryEvent::Call(of_message.step, call),
                ClaudeToolActivity::Output(id, output) => TrajectoryEvent::Output(OutputOwner::Call(id), output),
            });
        }

        let spent = spent.or_usage(of_message.usage);
        if spent != of_message.usage && !of_message.is_copied {
            self.log.spent = self.log.spent.subtract_usage(of_message.usage).add_usage(spent);
            sink.receive_event(TrajectoryEvent::Spent(of_message.step, spent));
        }
        self.log.has_copies |= of_message.is_copied;
        of_message.usage = spent;
        if let Some(key) = key {
            self.messages.insert(key, of_message);
        }
    }

    /// Returns the model if it differs from the trajectory's, which is the first one of the main chain.
    fn record_model(
        &mut self,
        place: &ClaudeLineContext,
        model: Option<String>,
        sink: &mut dyn EventSink,
    ) -> Option<String> {
        if self.log.model.is_none() && !place.is_aside && model.is_some() {
            sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                model: model.clone(),
                ..SessionDetails::default()
            })));
            self.log.model = model;
            return None;
        }
        model.filter(|model| self.log.model.as_ref() != Some(model))
    }

    fn emit_synthetic_message(
        &mut self,
        place: &ClaudeLineContext,
        is_api_error: bool,
        text: String,
        sink: &mut dyn EventSink,
    ) {
        if is_api_error || text.starts_with("API Error") {
            self.emit_session_event(Happening::ApiError, text, sink);
        } else if !text.trim().is_empty() && text.trim() != NO_RESPONSE {
            self.emit_step(place, Step { speaker: Speaker::System, text, ..Step::default() }, sink);
        }
    }
}

fn read_message_part(content: Value, told: &mut Vec<u64>, place: &ClaudeLineContext) -> ClaudeMessagePart {
    let mut part = ClaudeMessagePart::default();
    let blocks = match content {
        Value::String(text) => {
            append_new_text(&mut part.text, text, told);
            return part;
        }
        Value::Array(blocks) => blocks,
        block => vec![block],
    };
    for block in blocks {
        match block {
            Value::Object(block) => part.read_block(block, told, place),
            Value::String(text) => append_new_text(&mut part.text, text, told),
            _ => {}
        }
    }
    part
}

impl ClaudeMessagePart {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty() && self.acts.is_empty()
    }

    fn read_block(&mut self, mut block: Object, told: &mut Vec<u64>, place: &ClaudeLineContext) {
        match json_fields::get_str(&block, "type").unwrap_or_default() {
            "thinking" => {
                if let Some(Value::String(text)) = block.get_mut("thinking").map(Value::take) {
                    append_new_text(&mut self.reasoning, text, told);
                }
            }
            "redacted_thinking" => {}
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let id = take_string(&mut block, "id");
                if !id.is_empty() && !is_new_part(fingerprint_text(&id), told) {
                    return;
                }
                let tool = take_string(&mut block, "name");
                let arguments = block.get_mut("input").map(Value::take).unwrap_or_default();
                self.acts.push(ClaudeToolActivity::Call(ToolCall { id, tool, arguments, output: None }));
            }
            kind if kind.ends_with("tool_result") => {
                let id = take_string(&mut block, "tool_use_id");
                self.acts.push(ClaudeToolActivity::Output(id, tool_results::read_server_output(&mut block, place.at)));
            }
            _ => {
                if let Some(Value::String(text)) = block.get_mut("text").map(Value::take) {
                    append_new_text(&mut self.text, text, told);
                }
            }
        }
    }
}

fn take_string(block: &mut Object, key: &str) -> String {
    match block.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

/// Appends a block of text that this message did not have yet.
fn append_new_text(to: &mut String, text: String, told: &mut Vec<u64>) {
    if text.is_empty() || !is_new_part(fingerprint_text(&text), told) {
        return;
    }
    if to.is_empty() {
        *to = text;
    } else {
        to.push_str("\n\n");
        to.push_str(&text);
    }
}

/// The maximum number of parts of a message that are remembered to detect repetitions.
const REMEMBERED_PARTS: usize = 128;

fn is_new_part(part: u64, told: &mut Vec<u64>) -> bool {
    if told.contains(&part) {
        return false;
    }
    if told.len() < REMEMBERED_PARTS {
        told.push(part);
    }
    true
}
