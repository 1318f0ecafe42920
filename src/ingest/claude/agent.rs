//! The agent's lines: parts of the model's answers.

use serde_json::Value;

use super::super::pick::{self, Object};
use super::recent::hash;
use super::{Claude, Message, Place, tools, usage};
use crate::domain::{About, Call, Event, Happening, Output, OutputOf, Sink, Speaker, Step};

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;

/// Messages that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

/// What the harness answers in the agent's name when nothing was asked.
const NO_RESPONSE: &str = "No response requested.";

/// What one line has of a message.
#[derive(Default)]
struct Part {
    text: String,
    reasoning: String,
    acts: Vec<Act>,
}

enum Act {
    Call(Call),
    Output(String, Output),
}

impl Claude {
    pub(super) fn agent(&mut self, place: &Place, line: &mut Object, sink: &mut dyn Sink) {
        let is_api_error = pick::flag(line, "isApiErrorMessage") == Some(true);
        let request = pick::str(line, "requestId").map(hash);
        let cost_usd = pick::amount(line, "costUSD");
        let mut message = pick::take_object(line, "message").unwrap_or_else(|| std::mem::take(line));
        let model = match message.get_mut("model").map(Value::take) {
            Some(Value::String(model)) if !model.is_empty() => Some(model),
            _ => None,
        };
        let content = message.get_mut("content").map(Value::take).unwrap_or_default();
        if is_api_error || model.as_deref() == Some(SYNTHETIC) {
            self.synthetic(place, is_api_error, pick::words(content), sink);
            return;
        }
        let mut spent = message.get("usage").and_then(Value::as_object).map(usage::of).unwrap_or_default();
        spent.cost_usd = cost_usd;

        let key = pick::str(&message, "id").map(hash).or(request);
        let known = key.and_then(|key| self.messages.take(key));
        let is_elsewhere = known.as_ref().is_some_and(|known| known.file != self.file);
        let known = known.filter(|_| !is_elsewhere);
        let is_new = known.is_none();
        let mut of_message = known.unwrap_or_else(|| Message {
            file: self.file,
            is_copied: is_elsewhere || place.is_copied,
            ..Message::default()
        });

        let part = part(content, &mut of_message.parts, place);
        if key.is_none() && part.is_empty() && model.is_none() && spent.is_unknown() {
            return;
        }
        let reasoning = Some(part.reasoning).filter(|reasoning| !reasoning.is_empty());
        if is_new {
            let model = self.model(place, model, sink);
            let copied = of_message.is_copied;
            let step = Step { speaker: Speaker::Agent, text: part.text, reasoning, model, copied, ..Step::default() };
            of_message.step = self.step(place, step, sink);
        } else if !part.text.is_empty() || reasoning.is_some() {
            sink.hear(Event::More(of_message.step, part.text, reasoning));
        }
        for act in part.acts {
            if let Act::Call(call) = &act {
                self.calls.insert(hash(&call.id), call.tool == tools::ASK);
            }
            sink.hear(match act {
                Act::Call(call) => Event::Call(of_message.step, call),
                Act::Output(id, output) => Event::Output(OutputOf::Call(id), output),
            });
        }

        let spent = spent.or(of_message.usage);
        if spent != of_message.usage && !of_message.is_copied {
            self.log.spent = self.log.spent.minus(of_message.usage).plus(spent);
            sink.hear(Event::Spent(of_message.step, spent));
        }
        self.log.has_copies |= of_message.is_copied;
        of_message.usage = spent;
        if let Some(key) = key {
            self.messages.insert(key, of_message);
        }
    }

    /// The model, if it is not that of the trajectory: that is the first one of the main chain.
    fn model(&mut self, place: &Place, model: Option<String>, sink: &mut dyn Sink) -> Option<String> {
        if self.log.model.is_none() && !place.is_aside && model.is_some() {
            sink.hear(Event::About(Box::new(About { model: model.clone(), ..About::default() })));
            self.log.model = model;
            return None;
        }
        model.filter(|model| self.log.model.as_ref() != Some(model))
    }

    fn synthetic(&mut self, place: &Place, is_api_error: bool, text: String, sink: &mut dyn Sink) {
        if is_api_error || text.starts_with("API Error") {
            self.happened(Happening::ApiError, text, sink);
        } else if !text.trim().is_empty() && text.trim() != NO_RESPONSE {
            self.step(place, Step { speaker: Speaker::System, text, ..Step::default() }, sink);
        }
    }
}

fn part(content: Value, told: &mut Vec<u64>, place: &Place) -> Part {
    let mut part = Part::default();
    let blocks = match content {
        Value::String(text) => {
            add(&mut part.text, text, told);
            return part;
        }
        Value::Array(blocks) => blocks,
        block => vec![block],
    };
    for block in blocks {
        match block {
            Value::Object(block) => part.read(block, told, place),
            Value::String(text) => add(&mut part.text, text, told),
            _ => {}
        }
    }
    part
}

impl Part {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty() && self.acts.is_empty()
    }

    fn read(&mut self, mut block: Object, told: &mut Vec<u64>, place: &Place) {
        match pick::str(&block, "type").unwrap_or_default() {
            "thinking" => {
                if let Some(Value::String(text)) = block.get_mut("thinking").map(Value::take) {
                    add(&mut self.reasoning, text, told);
                }
            }
            "redacted_thinking" => {}
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let id = string(&mut block, "id");
                if !id.is_empty() && !is_news(hash(&id), told) {
                    return;
                }
                let tool = string(&mut block, "name");
                let arguments = block.get_mut("input").map(Value::take).unwrap_or_default();
                self.acts.push(Act::Call(Call { id, tool, arguments, output: None }));
            }
            kind if kind.ends_with("tool_result") => {
                let id = string(&mut block, "tool_use_id");
                self.acts.push(Act::Output(id, tools::server_output(&mut block, place.at)));
            }
            _ => {
                if let Some(Value::String(text)) = block.get_mut("text").map(Value::take) {
                    add(&mut self.text, text, told);
                }
            }
        }
    }
}

fn string(block: &mut Object, key: &str) -> String {
    match block.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

/// Adds a block of text that this message did not have yet.
fn add(to: &mut String, text: String, told: &mut Vec<u64>) {
    if text.is_empty() || !is_news(hash(&text), told) {
        return;
    }
    if to.is_empty() {
        *to = text;
    } else {
        to.push_str("\n\n");
        to.push_str(&text);
    }
}

/// A message has so many parts at most whose repetition is noticed.
const REMEMBERED_PARTS: usize = 128;

fn is_news(part: u64, told: &mut Vec<u64>) -> bool {
    if told.contains(&part) {
        return false;
    }
    if told.len() < REMEMBERED_PARTS {
        told.push(part);
    }
    true
}
