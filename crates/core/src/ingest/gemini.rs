//! Reads Gemini CLI's chats: one document, or lines in which a message is written again whenever it grows.

use std::collections::HashMap;

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
use crate::domain::TokenUsage;
use crate::domain::ToolCall;
use crate::domain::ToolOutput;
use crate::domain::TrajectoryEvent;
use crate::domain::fingerprint_text;

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;

/// The beginnings of texts that the harness sends in the user's name.
const HARNESS_BEGINNINGS: &[&str] = &[
    "<session_context>",
    "<state_snapshot>",
    "<hook_context>",
    "<system_reminder>",
    "This is the Gemini CLI. We are setting up the context",
    "System: ",
];

/// The tag in which Gemini puts what a hook adds.
const HOOK_CONTEXT: &str = "<hook_context>";
const HOOK_CONTEXT_END: &str = "</hook_context>";

/// The separator between the user's text and the files that the harness read for it.
const REFERENCED: &str = "--- Content from referenced files ---";

/// The parts of a message that were emitted.
#[derive(Debug, Clone, Copy, Default)]
struct GeminiMessageState {
    /// The number of its step; 0 if it has none.
    step: u32,
    has_text: bool,
    has_thoughts: bool,
}

/// Reads a chat of Gemini CLI.
#[derive(Debug, Default)]
pub(super) struct GeminiReader {
    line: u64,
    last: u32,
    messages: HashMap<u64, GeminiMessageState>,
    /// The calls that were emitted, and whether their output was.
    calls: HashMap<u64, bool>,
    model: Option<String>,
    is_subagent: bool,
    unknown: UnknownKinds,
}

impl LogReader for GeminiReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        self.line = number;
        let mut line = json_fields::into_object(line);
        if let Some(id) = json_fields::get_string(&line, "$rewindTo") {
            return sink.receive_event(TrajectoryEvent::Happened(
                self.last,
                Happening::RolledBack,
                format!("to message {id}"),
            ));
        }
        if let Some(mut more) = json_fields::take_object(&mut line, "$set") {
            return self.read_chat(&mut more, sink);
        }
        if line.contains_key("type") {
            return self.read_message(line, sink);
        }
        self.read_chat(&mut line, sink);
    }
}

impl GeminiReader {
    /// Reads a whole chat, or an update of its properties.
    fn read_chat(&mut self, chat: &mut Object, sink: &mut dyn EventSink) {
        let directories = json_fields::take_array(chat, "directories");
        let session_id = json_fields::get_string(chat, "sessionId");
        self.is_subagent |= json_fields::get_str(chat, "kind") == Some("subagent");
        let mut about = SessionDetails {
            agent: session_id.is_some().then(|| "gemini-cli".to_owned()),
            session_id,
            title: json_fields::get_string(chat, "summary"),
            directory: directories.first().and_then(Value::as_str).map(str::to_owned),
            ..SessionDetails::default()
        };
        about.extend_time_span(json_fields::get_time(chat, "startTime"));
        about.extend_time_span(json_fields::get_time(chat, "lastUpdated"));
        if about != SessionDetails::default() {
            sink.receive_event(TrajectoryEvent::About(Box::new(about)));
        }
        for message in json_fields::take_array(chat, "messages") {
            self.read_message(json_fields::into_object(message), sink);
        }
    }

    fn read_message(&mut self, mut message: Object, sink: &mut dyn EventSink) {
        let kind = json_fields::get_string(&message, "type").unwrap_or_default();
        let at = json_fields::get_time(&message, "timestamp");
        let print = json_fields::get_str(&message, "id").map(fingerprint_text);
        let told = print.and_then(|print| self.messages.get(&print).copied());
        let told = match (kind.as_str(), told) {
            ("gemini" | "assistant" | "model", told) => self.read_agent_message(message, told, at, sink),
            (_, Some(told)) => told,
            ("user", None) => self.read_user_message(message, at, sink),
            ("error", None) => {
                let text = take_content(&mut message).into_text();
                sink.receive_event(TrajectoryEvent::Happened(self.last, Happening::ApiError, text));
                GeminiMessageState::default()
            }
            ("info" | "warning" | "system", None) => self.read_notice(&mut message, at, sink),
            (kind, None) => {
                self.unknown.report_once(kind, self.line, sink);
                GeminiMessageState::default()
            }
        };
        if let Some(print) = print {
            self.messages.insert(print, told);
        }
    }

    fn read_user_message(
        &mut self,
        mut message: Object,
        at: Option<Timestamp>,
        sink: &mut dyn EventSink,
    ) -> GeminiMessageState {
        let shown = message.get_mut("displayContent").map(Value::take).map(parse_parts).unwrap_or_default();
        let sent = take_content(&mut message);
        let has_responses = !sent.responses.is_empty();
        for response in sent.responses {
            let output = parse_response_output(response.1, at);
            self.emit_output(response.0, output, sink);
        }
        let mut added: Vec<String> = Vec::new();
        let mut own: Vec<String> = Vec::new();
        // Nothing tells what stands beside a response from the response itself.
        let mut is_quoted = has_responses;
        for mut text in sent.texts {
            added.extend(take_hook_contexts(&mut text));
            let files = split_referenced_files(&mut text);
            let is_added = HARNESS_BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning));
            let texts = if is_quoted || is_added { &mut added } else { &mut own };
            texts.extend(Some(text).filter(|text| !text.is_empty()));
            is_quoted |= files.is_some();
            added.extend(files);
        }
        if !shown.texts.is_empty() && !own.is_empty() {
            own = shown.texts;
        }
        let speaker = if self.is_subagent { Speaker::OtherAgent } else { Speaker::User };
        for (speaker, texts) in [(speaker, own), (Speaker::System, added)] {
            if !texts.is_empty() {
                self.emit_step(Step { speaker, text: texts.join("\n"), at, ..Step::default() }, sink);
            }
        }
        GeminiMessageState { step: self.last, ..GeminiMessageState::default() }
    }

    fn read_notice(
        &mut self,
        message: &mut Object,
        at: Option<Timestamp>,
        sink: &mut dyn EventSink,
    ) -> GeminiMessageState {
        let text = take_content(message).into_text();
        if text.trim_start().to_ascii_lowercase().starts_with("request cancelled") {
            sink.receive_event(TrajectoryEvent::Happened(self.last, Happening::Interrupted, text));
            return GeminiMessageState::default();
        }
        GeminiMessageState {
            step: self.emit_step(Step { speaker: Speaker::System, text, at, ..Step::default() }, sink),
            ..GeminiMessageState::default()
        }
    }

    fn read_agent_message(
        &mut self,
        mut message: Object,
        told: Option<GeminiMessageState>,
        at: Option<Timestamp>,
        sink: &mut dyn EventSink,
    ) -> GeminiMessageState {
        let said = take_content(&mut message);
        let text = said.texts.join("\n");
        let mut thoughts: Vec<String> =
            json_fields::take_array(&mut message, "thoughts").into_iter().map(format_thought).collect();
        thoughts.extend(said.thoughts);
        thoughts.retain(|thought| !thought.is_empty());
        let reasoning = (!thoughts.is_empty()).then(|| thoughts.join("\n\n"));
        let mut told = told.unwrap_or_default();
        if told.step == 0 {
            let model = self.resolve_step_model(json_fields::get_string(&message, "model"), sink);
            told.has_text = !text.is_empty();
            told.has_thoughts = reasoning.is_some();
            let step = Step { speaker: Speaker::Agent, text, reasoning, model, at, ..Step::default() };
            told.step = self.emit_step(step, sink);
        } else {
            let text = if told.has_text { String::new() } else { text };
            let reasoning = reasoning.filter(|_| !told.has_thoughts);
            told.has_text |= !text.is_empty();
            told.has_thoughts |= reasoning.is_some();
            if !text.is_empty() || reasoning.is_some() {
                sink.receive_event(TrajectoryEvent::More(told.step, text, reasoning));
            }
        }
        for (id, name, arguments) in said.calls {
            self.emit_call(told.step, ToolCall { id, tool: name, arguments, output: None }, sink);
        }
        for call in json_fields::take_array(&mut message, "toolCalls") {
            self.read_tool_call(told.step, json_fields::into_object(call), sink);
        }
        if let Some(tokens) = json_fields::take_object(&mut message, "tokens") {
            sink.receive_event(TrajectoryEvent::Spent(told.step, parse_usage(&tokens)));
        }
        told
    }

    fn read_tool_call(&mut self, step: u32, mut call: Object, sink: &mut dyn EventSink) {
        let tool = json_fields::get_string(&call, "name").unwrap_or_default();
        let at = json_fields::get_time(&call, "timestamp");
        let id = json_fields::get_string(&call, "id").unwrap_or_else(|| format!("{tool}-{step}"));
        let arguments = call.get_mut("args").map(Value::take).unwrap_or_default();
        self.emit_call(step, ToolCall { id: id.clone(), tool, arguments, output: None }, sink);
        let result = call.get_mut("result").map(Value::take).filter(|result| !result.is_null());
        let status = json_fields::get_string(&call, "status").unwrap_or_default();
        let is_over = matches!(status.as_str(), "success" | "error" | "cancelled");
        if result.is_none() && !is_over {
            return;
        }
        let mut output = parse_response_output(result.unwrap_or_default(), at);
        if output.text.is_empty()
            && let Some(Value::String(shown)) = call.get_mut("resultDisplay").map(Value::take)
        {
            output.text = shown;
        }
        match status.as_str() {
            "error" => output.failed = Some(true),
            "cancelled" => output.interrupted = true,
            "success" => output.failed = output.failed.or(Some(false)),
            _ => {}
        }
        self.emit_output(id, output, sink);
        if let Some(agent) = json_fields::get_string(&call, "agentId") {
            sink.receive_event(TrajectoryEvent::Elsewhere(LogReference {
                part: Part::Subagent,
                path: None,
                id: Some(agent),
            }));
        }
    }

    /// Emits a call unless it was emitted before.
    fn emit_call(&mut self, step: u32, call: ToolCall, sink: &mut dyn EventSink) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.calls.entry(fingerprint_text(&call.id)) {
            entry.insert(false);
            sink.receive_event(TrajectoryEvent::Call(step, call));
        }
    }

    /// Emits an output unless it was emitted before.
    fn emit_output(&mut self, id: String, output: ToolOutput, sink: &mut dyn EventSink) {
        let is_told = self.calls.entry(fingerprint_text(&id)).or_default();
        if !std::mem::replace(is_told, true) {
            sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
        }
    }

    /// Returns the model of a step if it differs from the chat's; the first model becomes the chat's.
    fn resolve_step_model(&mut self, model: Option<String>, sink: &mut dyn EventSink) -> Option<String> {
        if self.model.is_none() && model.is_some() {
            self.model.clone_from(&model);
            sink.receive_event(TrajectoryEvent::About(Box::new(SessionDetails {
                model: model.clone(),
                ..SessionDetails::default()
            })));
        }
        model.filter(|model| Some(model) != self.model.as_ref())
    }

    fn emit_step(&mut self, mut step: Step, sink: &mut dyn EventSink) -> u32 {
        self.last = self.last.saturating_add(1);
        step.number = self.last;
        sink.receive_event(TrajectoryEvent::Step(Box::new(step)));
        self.last
    }
}

/// Removes and returns what hooks added before and after a prompt. What they add may hold such tags itself, unless
/// Gemini escaped them, so it ends at the last closing tag and begins at the first opening one on a line.
fn take_hook_contexts(text: &mut String) -> Vec<String> {
    let mut contexts = Vec::new();
    if text.trim_start().starts_with(HOOK_CONTEXT)
        && let Some(end) = text.rfind(HOOK_CONTEXT_END).map(|at| at + HOOK_CONTEXT_END.len())
    {
        let rest = text.split_off(end);
        contexts.push(std::mem::replace(text, rest.trim_start().to_owned()).trim_start().to_owned());
    }
    if text.trim_end().ends_with(HOOK_CONTEXT_END)
        && let Some(at) = text.match_indices(HOOK_CONTEXT).map(|(at, _)| at).find(|at| is_line_start(text, *at))
    {
        contexts.push(text.split_off(at).trim_end().to_owned());
        text.truncate(text.trim_end().len());
    }
    contexts
}

/// Removes and returns the files that the harness read for a prompt, which older versions write into the same text.
fn split_referenced_files(text: &mut String) -> Option<String> {
    let at = text.match_indices(REFERENCED).map(|(at, _)| at).find(|at| is_line_start(text, *at))?;
    // The line end before the mark belongs to it.
    let at = text.get(..at)?.strip_suffix('\n').map_or(at, str::len);
    Some(text.split_off(at))
}

fn is_line_start(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}

/// The parts of a content, sorted by kind.
#[derive(Debug, Default)]
struct GeminiParts {
    texts: Vec<String>,
    thoughts: Vec<String>,
    /// The id, tool and arguments of each call.
    calls: Vec<(String, String, Value)>,
    /// The id of the call and its response.
    responses: Vec<(String, Value)>,
}

impl GeminiParts {
    fn into_text(self) -> String {
        self.texts.join("\n")
    }
}

fn take_content(message: &mut Object) -> GeminiParts {
    message.get_mut("content").map(Value::take).map(parse_parts).unwrap_or_default()
}

fn parse_parts(content: Value) -> GeminiParts {
    let mut parts = GeminiParts::default();
    let list = match content {
        Value::Array(list) => list,
        other => vec![other],
    };
    for part in list {
        match part {
            Value::Object(mut part) => {
                if let Some(mut call) = json_fields::take_object(&mut part, "functionCall") {
                    let arguments = call.get_mut("args").map(Value::take).unwrap_or_default();
                    let name = json_fields::get_string(&call, "name").unwrap_or_default();
                    if let Some(id) = json_fields::get_string(&call, "id") {
                        parts.calls.push((id, name, arguments));
                    }
                } else if let Some(mut response) = json_fields::take_object(&mut part, "functionResponse") {
                    let id = json_fields::get_string(&response, "id").unwrap_or_default();
                    parts.responses.push((id, response.get_mut("response").map(Value::take).unwrap_or_default()));
                } else if part.contains_key("inlineData") || part.contains_key("fileData") {
                    parts.texts.push("[media]".to_owned());
                } else if let Some(Value::String(text)) = part.get_mut("text").map(Value::take) {
                    let is_thought = json_fields::get_flag(&part, "thought") == Some(true);
                    if is_thought { parts.thoughts.push(text) } else { parts.texts.push(text) }
                }
            }
            Value::Null => {}
            other => parts.texts.push(json_fields::content_text(other)),
        }
    }
    parts.texts.retain(|text| !text.is_empty());
    parts
}

fn format_thought(thought: Value) -> String {
    match thought {
        Value::Object(thought) => {
            match (json_fields::get_string(&thought, "subject"), json_fields::get_string(&thought, "description")) {
                (Some(subject), Some(description)) => format!("{subject}: {description}"),
                (subject, description) => subject.or(description).unwrap_or_default(),
            }
        }
        other => json_fields::content_text(other),
    }
}

/// Parses a result: parts with responses, a response itself, or plain text.
fn parse_response_output(result: Value, at: Option<Timestamp>) -> ToolOutput {
    let mut texts: Vec<String> = Vec::new();
    let mut failed = None;
    let mut say = |response: Value| match response {
        Value::Object(mut response) => {
            let inner = ["error", "output", "content", "result"].into_iter().find_map(|key| {
                let value = response.get_mut(key).map(Value::take).filter(|value| !value.is_null())?;
                Some((key, value))
            });
            match inner {
                Some((key, value)) => {
                    failed = failed.or((key == "error").then_some(true));
                    texts.push(json_fields::content_text(value));
                }
                None if response.is_empty() => {}
                None => texts.push(Value::Object(response).to_string()),
            }
        }
        other => texts.push(json_fields::content_text(other)),
    };
    match result {
        list @ (Value::Array(_) | Value::String(_)) => {
            let parts = parse_parts(list);
            parts.responses.into_iter().for_each(|(_, response)| say(response));
            texts.extend(parts.texts);
        }
        Value::Object(mut one) => match json_fields::take_object(&mut one, "functionResponse") {
            Some(mut inner) => say(inner.get_mut("response").map(Value::take).unwrap_or_default()),
            None => say(Value::Object(one)),
        },
        other => say(other),
    }
    texts.retain(|text| !text.is_empty());
    let text = texts.join("\n");
    // Hooks append their text to the output.
    let printed = text.trim_end().strip_suffix(HOOK_CONTEXT_END).and_then(|before| before.rsplit_once(HOOK_CONTEXT));
    let exit_code = printed
        .map_or(text.as_str(), |(printed, _)| printed)
        .lines()
        .rev()
        .take(MAX_TAIL_LINES)
        .find_map(|line| line.trim().strip_prefix("Exit Code: ").and_then(|code| code.trim().parse::<i32>().ok()));
    let failed = exit_code.map(|code| code != 0).or(failed);
    ToolOutput { text, failed, exit_code, at, ..ToolOutput::default() }
}

/// The number of lines at the end in which the exit code of a command is searched.
const MAX_TAIL_LINES: usize = 8;

/// Parses token figures as Gemini reports them: input includes cached tokens, output excludes thoughts.
fn parse_usage(tokens: &Object) -> TokenUsage {
    let sum = |key: &str, more: &str| {
        json_fields::get_count(tokens, key)
            .map(|count| count.saturating_add(json_fields::get_count(tokens, more).unwrap_or_default()))
    };
    TokenUsage {
        prompt_tokens: sum("input", "tool"),
        completion_tokens: sum("output", "thoughts"),
        cached_tokens: json_fields::get_count(tokens, "cached"),
        cache_write_tokens: None,
        cost_usd: None,
    }
}
