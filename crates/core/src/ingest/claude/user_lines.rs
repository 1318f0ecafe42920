//! Reads lines labelled as the user's: texts of people, the harness and other agents, and tool results.

use serde_json::Value;

use super::super::json_fields::{self, Object};
use super::speaker_split::AttributedText;
use super::tool_results::{self, CalledTool};
use super::{ClaudeLineContext, ClaudeReader};
use crate::domain::{
    EventSink, Happening, LogReference, OutputOwner, Part, Speaker, Step, ToolOutput, TrajectoryEvent, fingerprint_text,
};

#[cfg(test)]
#[path = "user_lines_tests.rs"]
mod tests;

impl ClaudeReader {
    pub(super) fn read_user_line(&mut self, place: &ClaudeLineContext, line: &mut Object, sink: &mut dyn EventSink) {
        let content = match line.get_mut("message").map(Value::take) {
            Some(Value::Object(mut message)) => message.get_mut("content").map(Value::take),
            Some(message @ Value::String(_)) => Some(message),
            _ => line.get_mut("content").map(Value::take),
        };
        let is_of_subagent = place.is_aside || self.log.is_of_subagent == Some(true);
        // Nothing tells what stands beside a result from the result itself.
        let voice =
            &if has_results(content.as_ref()) { Speaker::System } else { default_speaker(line, is_of_subagent) };
        let mut said = AttributedText::default();
        let mut results = Vec::new();
        match content {
            Some(Value::String(text)) => said.add_text(text, voice),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    match block {
                        Value::Object(block) => read_user_block(block, voice, &mut said, &mut results),
                        Value::String(text) => said.add_text(text, voice),
                        _ => {}
                    }
                }
            }
            Some(Value::Object(block)) => read_user_block(block, voice, &mut said, &mut results),
            _ => {}
        }

        let mut beside = line.get_mut("toolUseResult").map(Value::take).filter(|_| results.len() == 1);
        let denial = json_fields::get_str(line, "toolDenialKind").filter(|_| results.len() == 1);
        if let Some(id) = beside.as_ref().and_then(|beside| beside.get("agentId")).and_then(Value::as_str) {
            let id = Some(id.to_owned());
            sink.receive_event(TrajectoryEvent::Elsewhere(LogReference { part: Part::Subagent, path: None, id }));
        }
        for mut result in results {
            let beside = beside.take();
            let id = json_fields::get_string(&result, "tool_use_id");
            // Only the record proves that a person spoke; the output's text could have been printed by anything.
            let called = id.as_deref().and_then(|id| self.calls.get(fingerprint_text(id))).copied();
            let is_refused = tool_results::is_refused(&result, beside.as_ref(), denial, called);
            let recorded = beside.as_ref().map(tool_results::read_answers);
            let output = tool_results::read_tool_output(&mut result, beside, place.at);
            if let Some(words) = tool_results::extract_refusal_comment(&output.text).filter(|_| is_refused) {
                // A person who declines a question picks a reply worded by the harness.
                let is_question = matches!(called, Some(CalledTool::Question(_)));
                let speaker = if is_question { Speaker::System } else { Speaker::User };
                said.push(&speaker, words.to_owned());
            }
            if let Some(CalledTool::Question(questions)) = called
                && output.failed != Some(true)
                && tool_results::holds_spoken_answers(&output.text)
            {
                // Streams have no record of the answers.
                let answers = recorded.unwrap_or_else(|| tool_results::parse_answers(&output.text, questions));
                answers.into_iter().for_each(|words| said.push(&Speaker::User, words));
            }
            self.emit_tool_result(place, id, output, sink);
        }
        self.emit_attributed_text(place, said, line, sink);
    }

    fn emit_tool_result(
        &mut self,
        place: &ClaudeLineContext,
        id: Option<String>,
        output: ToolOutput,
        sink: &mut dyn EventSink,
    ) {
        match id {
            Some(id) => sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output)),
            None if self.log.agent_step > 0 => {
                sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(self.log.agent_step), output));
            }
            None => {
                self.emit_step(place, Step { speaker: Speaker::Tool, text: output.text, ..Step::default() }, sink);
            }
        }
    }

    /// Emits the pieces of a text as steps, and the session events that they show.
    pub(super) fn emit_attributed_text(
        &mut self,
        place: &ClaudeLineContext,
        said: AttributedText,
        line: &Object,
        sink: &mut dyn EventSink,
    ) {
        if let Some(text) = said.interruption {
            self.emit_session_event(Happening::Interrupted, text, sink);
        }
        if json_fields::get_flag(line, "isCompactSummary") == Some(true) && self.log.compacted_at != Some(self.log.step)
        {
            self.emit_session_event(Happening::Compacted, String::new(), sink);
        }
        if said.pieces.iter().any(|(speaker, _)| *speaker == Speaker::User) && !place.is_aside {
            self.notice_rewind(place, sink);
        }
        for (speaker, text) in said.pieces {
            self.emit_step(place, Step { speaker, text, ..Step::default() }, sink);
        }
        if let Some(text) = said.objection
            && !std::mem::replace(&mut self.log.hook_objected, true)
        {
            self.emit_session_event(Happening::HookFeedback, text, sink);
        }
    }

    /// Emits an event if someone went back: the parent of this line stands before turns that were already emitted.
    /// Results of parallel tools have such parents too, but no turn lies between them.
    fn notice_rewind(&mut self, place: &ClaudeLineContext, sink: &mut dyn EventSink) {
        let turn = self.log.turn;
        let Some(kept) = place.parent.and_then(|parent| self.log.places.get(parent)).copied() else { return };
        if kept < turn {
            let text = match kept + 1 {
                first if first == turn => format!("step {turn} was taken back"),
                first => format!("steps {first} to {turn} were taken back"),
            };
            self.emit_session_event(Happening::RolledBack, text, sink);
        }
    }
}

/// Returns the speaker of a line, unless its text shows another one.
fn default_speaker(line: &Object, is_of_subagent: bool) -> Speaker {
    let is = |key: &str| json_fields::get_flag(line, key) == Some(true);
    let origin = line.get("origin").and_then(Value::as_object).and_then(|origin| json_fields::get_str(origin, "kind"));
    let is_known_kind = matches!(json_fields::get_str(line, "type"), None | Some("" | "user" | "attachment"));
    let is_of_harness = is("isMeta")
        || is("isCompactSummary")
        || is("isSynthetic")
        || is("isVisibleInTranscriptOnly")
        || line.contains_key("sourceToolUseID")
        || json_fields::get_str(line, "promptSource") == Some("system");
    if is_of_harness || !is_known_kind {
        return Speaker::System;
    }
    match origin {
        Some("peer" | "coordinator" | "channel") => Speaker::OtherAgent,
        None | Some("human") if is_of_subagent => Speaker::OtherAgent,
        None | Some("human") => Speaker::User,
        Some(_) => Speaker::System,
    }
}

/// Returns true if a content holds a result of a tool.
fn has_results(content: Option<&Value>) -> bool {
    let is_result = |block: &Value| block.get("type").and_then(Value::as_str) == Some("tool_result");
    match content {
        Some(Value::Array(blocks)) => blocks.iter().any(is_result),
        _ => false,
    }
}

fn read_user_block(mut block: Object, voice: &Speaker, said: &mut AttributedText, results: &mut Vec<Object>) {
    match json_fields::get_str(&block, "type").unwrap_or_default() {
        "tool_result" => results.push(block),
        kind @ ("image" | "document") => {
            let kind = format!("[{kind}]");
            said.push(voice, kind);
        }
        _ => {
            if let Some(Value::String(text)) = block.get_mut("text").map(Value::take) {
                said.add_text(text, voice);
            }
        }
    }
}
