//! Lines in the user's name: words of a person, of the harness and of other agents, and what came back from tools.

use serde_json::Value;

use super::super::pick::{self, Object};
use super::recent::hash;
use super::said::Said;
use super::{Claude, Place, tools};
use crate::domain::{Elsewhere, Event, Happening, Output, OutputOf, Part, Sink, Speaker, Step};

#[cfg(test)]
#[path = "user_tests.rs"]
mod tests;

impl Claude {
    pub(super) fn user(&mut self, place: &Place, line: &mut Object, sink: &mut dyn Sink) {
        let content = match line.get_mut("message").map(Value::take) {
            Some(Value::Object(mut message)) => message.get_mut("content").map(Value::take),
            Some(message @ Value::String(_)) => Some(message),
            _ => line.get_mut("content").map(Value::take),
        };
        let is_of_subagent = place.is_aside || self.log.is_of_subagent == Some(true);
        let voice = &voice(line, is_of_subagent);
        let mut said = Said::default();
        let mut results = Vec::new();
        match content {
            Some(Value::String(text)) => said.hear(text, voice),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    match block {
                        Value::Object(block) => hear_block(block, voice, &mut said, &mut results),
                        Value::String(text) => said.hear(text, voice),
                        _ => {}
                    }
                }
            }
            Some(Value::Object(block)) => hear_block(block, voice, &mut said, &mut results),
            _ => {}
        }

        let mut beside = line.get_mut("toolUseResult").map(Value::take).filter(|_| results.len() == 1);
        let denial = pick::str(line, "toolDenialKind").filter(|_| results.len() == 1);
        if let Some(id) = beside.as_ref().and_then(|beside| beside.get("agentId")).and_then(Value::as_str) {
            let id = Some(id.to_owned());
            sink.hear(Event::Elsewhere(Elsewhere { part: Part::Subagent, path: None, id }));
        }
        for mut result in results {
            let beside = beside.take();
            let id = pick::string(&result, "tool_use_id");
            // The record tells that a person spoke; what stands in an output could have been printed by anything.
            let asks_person = id.as_deref().and_then(|id| self.calls.get(hash(id))).copied();
            let is_refused = match denial {
                Some(denial) => denial == "user-rejected",
                None => asks_person.is_some() && tools::is_refused(&result, beside.as_ref()),
            };
            let is_answered =
                asks_person != Some(false) && tools::is_answered(&result, beside.as_ref(), asks_person == Some(true));
            let output = tools::output(&mut result, beside, place.at);
            if let Some(words) = tools::refusal(&output.text).filter(|_| is_refused && output.failed == Some(true)) {
                // Who declines a question picks a reply that the harness words.
                let speaker = if asks_person == Some(true) { Speaker::System } else { Speaker::User };
                said.push(&speaker, words.to_owned());
            }
            if let Some(words) = tools::answers(&output.text).filter(|_| is_answered) {
                said.push(&Speaker::User, words);
            }
            self.result_of_tool(place, id, output, sink);
        }
        self.tell(place, said, line, sink);
    }

    fn result_of_tool(&mut self, place: &Place, id: Option<String>, output: Output, sink: &mut dyn Sink) {
        match id {
            Some(id) => sink.hear(Event::Output(OutputOf::Call(id), output)),
            None if self.log.agent_step > 0 => {
                sink.hear(Event::Output(OutputOf::Step(self.log.agent_step), output));
            }
            None => {
                self.step(place, Step { speaker: Speaker::Tool, text: output.text, ..Step::default() }, sink);
            }
        }
    }

    /// Tells what was said, and what it tells about the session.
    pub(super) fn tell(&mut self, place: &Place, said: Said, line: &Object, sink: &mut dyn Sink) {
        if let Some(text) = said.interruption {
            self.happened(Happening::Interrupted, text, sink);
        }
        if pick::flag(line, "isCompactSummary") == Some(true) && self.log.compacted_at != Some(self.log.step) {
            self.happened(Happening::Compacted, String::new(), sink);
        }
        if said.pieces.iter().any(|(speaker, _)| *speaker == Speaker::User) && !place.is_aside {
            self.notice_rewind(place, sink);
        }
        for (speaker, text) in said.pieces {
            self.step(place, Step { speaker, text, ..Step::default() }, sink);
        }
        if let Some(text) = said.objection
            && !std::mem::replace(&mut self.log.hook_objected, true)
        {
            self.happened(Happening::HookFeedback, text, sink);
        }
    }

    /// Somebody went back: the line before this one stands before turns that were told already. Results of tools that
    /// ran side by side have such parents too, but no turn lies between them.
    fn notice_rewind(&mut self, place: &Place, sink: &mut dyn Sink) {
        let turn = self.log.turn;
        let Some(kept) = place.parent.and_then(|parent| self.log.places.get(parent)).copied() else { return };
        if kept < turn {
            let text = match kept + 1 {
                first if first == turn => format!("step {turn} was taken back"),
                first => format!("steps {first} to {turn} were taken back"),
            };
            self.happened(Happening::RolledBack, text, sink);
        }
    }
}

/// Who speaks in this line, where its text does not tell.
fn voice(line: &Object, is_of_subagent: bool) -> Speaker {
    let is = |key: &str| pick::flag(line, key) == Some(true);
    let origin = line.get("origin").and_then(Value::as_object).and_then(|origin| pick::str(origin, "kind"));
    if is("isMeta") || is("isCompactSummary") || is("isSynthetic") || is("isVisibleInTranscriptOnly") {
        return Speaker::System;
    }
    match origin {
        Some("task-notification") => Speaker::System,
        Some("peer" | "coordinator") => Speaker::OtherAgent,
        _ if is_of_subagent => Speaker::OtherAgent,
        _ => Speaker::User,
    }
}

fn hear_block(mut block: Object, voice: &Speaker, said: &mut Said, results: &mut Vec<Object>) {
    match pick::str(&block, "type").unwrap_or_default() {
        "tool_result" => results.push(block),
        kind @ ("image" | "document") => {
            let kind = format!("[{kind}]");
            said.push(voice, kind);
        }
        _ => {
            if let Some(Value::String(text)) = block.get_mut("text").map(Value::take) {
                said.hear(text, voice);
            }
        }
    }
}
