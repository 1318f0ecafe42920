//! Gemini CLI's chats: one document, or lines in which a message is written again whenever more of it is known.

use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hasher;

use serde_json::Value;

use super::Reader;
use super::pick;
use super::pick::Object;
use super::unknown::Unknown;
use crate::domain::About;
use crate::domain::Call;
use crate::domain::Elsewhere;
use crate::domain::Event;
use crate::domain::Happening;
use crate::domain::Output;
use crate::domain::OutputOf;
use crate::domain::Part;
use crate::domain::Sink;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::Timestamp;
use crate::domain::Usage;

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;

/// How texts begin that the harness sends as the user's.
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

/// Where what a person wrote ends and what the harness read for it begins.
const REFERENCED: &str = "--- Content from referenced files ---";

/// What is known of a message that was told.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    /// 0 if it is no step.
    step: u32,
    has_text: bool,
    has_thoughts: bool,
}

/// Reads a chat.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    line: u64,
    last: u32,
    messages: HashMap<u64, Told>,
    /// Calls told, and whether their output was.
    calls: HashMap<u64, bool>,
    model: Option<String>,
    is_subagent: bool,
    unknown: Unknown,
}

impl Reader for Gemini {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        self.line = number;
        let mut line = pick::object(line);
        if let Some(id) = pick::string(&line, "$rewindTo") {
            return sink.hear(Event::Happened(self.last, Happening::RolledBack, format!("to message {id}")));
        }
        if let Some(mut more) = pick::take_object(&mut line, "$set") {
            return self.chat(&mut more, sink);
        }
        if line.contains_key("type") {
            return self.message(line, sink);
        }
        self.chat(&mut line, sink);
    }
}

impl Gemini {
    /// A whole chat, or a part of what is known about it.
    fn chat(&mut self, chat: &mut Object, sink: &mut dyn Sink) {
        let directories = pick::take_array(chat, "directories");
        let session_id = pick::string(chat, "sessionId");
        self.is_subagent |= pick::str(chat, "kind") == Some("subagent");
        let mut about = About {
            agent: session_id.is_some().then(|| "gemini-cli".to_owned()),
            session_id,
            title: pick::string(chat, "summary"),
            directory: directories.first().and_then(Value::as_str).map(str::to_owned),
            ..About::default()
        };
        about.lived(pick::time(chat, "startTime"));
        about.lived(pick::time(chat, "lastUpdated"));
        if about != About::default() {
            sink.hear(Event::About(Box::new(about)));
        }
        for message in pick::take_array(chat, "messages") {
            self.message(pick::object(message), sink);
        }
    }

    fn message(&mut self, mut message: Object, sink: &mut dyn Sink) {
        let kind = pick::string(&message, "type").unwrap_or_default();
        let at = pick::time(&message, "timestamp");
        let print = pick::str(&message, "id").map(fingerprint);
        let told = print.and_then(|print| self.messages.get(&print).copied());
        let told = match (kind.as_str(), told) {
            ("gemini" | "assistant" | "model", told) => self.agent(message, told, at, sink),
            (_, Some(told)) => told,
            ("user", None) => self.user(message, at, sink),
            ("error", None) => {
                let text = content(&mut message).text();
                sink.hear(Event::Happened(self.last, Happening::ApiError, text));
                Told::default()
            }
            ("info" | "warning" | "system", None) => self.notice(&mut message, at, sink),
            (kind, None) => {
                self.unknown.report(kind, self.line, sink);
                Told::default()
            }
        };
        if let Some(print) = print {
            self.messages.insert(print, told);
        }
    }

    fn user(&mut self, mut message: Object, at: Option<Timestamp>, sink: &mut dyn Sink) -> Told {
        let shown = message.get_mut("displayContent").map(Value::take).map(parts).unwrap_or_default();
        let sent = content(&mut message);
        for response in sent.responses {
            let output = response_output(response.1, at);
            self.output(response.0, output, sink);
        }
        let mut added: Vec<String> = Vec::new();
        let mut own: Vec<String> = Vec::new();
        let mut is_referenced = false;
        for mut text in sent.texts {
            added.extend(take_hook_contexts(&mut text));
            if text.is_empty() {
                continue;
            }
            is_referenced |= text.trim_start().starts_with(REFERENCED);
            let is_added = HARNESS_BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning));
            if is_referenced || is_added { added.push(text) } else { own.push(text) }
        }
        if !shown.texts.is_empty() && !own.is_empty() {
            own = shown.texts;
        }
        let speaker = if self.is_subagent { Speaker::OtherAgent } else { Speaker::User };
        for (speaker, texts) in [(speaker, own), (Speaker::System, added)] {
            if !texts.is_empty() {
                self.tell(Step { speaker, text: texts.join("\n"), at, ..Step::default() }, sink);
            }
        }
        Told { step: self.last, ..Told::default() }
    }

    fn notice(&mut self, message: &mut Object, at: Option<Timestamp>, sink: &mut dyn Sink) -> Told {
        let text = content(message).text();
        if text.trim_start().to_ascii_lowercase().starts_with("request cancelled") {
            sink.hear(Event::Happened(self.last, Happening::Interrupted, text));
            return Told::default();
        }
        Told {
            step: self.tell(Step { speaker: Speaker::System, text, at, ..Step::default() }, sink),
            ..Told::default()
        }
    }

    fn agent(&mut self, mut message: Object, told: Option<Told>, at: Option<Timestamp>, sink: &mut dyn Sink) -> Told {
        let said = content(&mut message);
        let text = said.texts.join("\n");
        let mut thoughts: Vec<String> = pick::take_array(&mut message, "thoughts").into_iter().map(thought).collect();
        thoughts.extend(said.thoughts);
        thoughts.retain(|thought| !thought.is_empty());
        let reasoning = (!thoughts.is_empty()).then(|| thoughts.join("\n\n"));
        let mut told = told.unwrap_or_default();
        if told.step == 0 {
            let model = self.model(pick::string(&message, "model"), sink);
            told.has_text = !text.is_empty();
            told.has_thoughts = reasoning.is_some();
            let step = Step { speaker: Speaker::Agent, text, reasoning, model, at, ..Step::default() };
            told.step = self.tell(step, sink);
        } else {
            let text = if told.has_text { String::new() } else { text };
            let reasoning = reasoning.filter(|_| !told.has_thoughts);
            told.has_text |= !text.is_empty();
            told.has_thoughts |= reasoning.is_some();
            if !text.is_empty() || reasoning.is_some() {
                sink.hear(Event::More(told.step, text, reasoning));
            }
        }
        for (id, name, arguments) in said.calls {
            self.call(told.step, Call { id, tool: name, arguments, output: None }, sink);
        }
        for call in pick::take_array(&mut message, "toolCalls") {
            self.tool(told.step, pick::object(call), sink);
        }
        if let Some(tokens) = pick::take_object(&mut message, "tokens") {
            sink.hear(Event::Spent(told.step, usage(&tokens)));
        }
        told
    }

    fn tool(&mut self, step: u32, mut call: Object, sink: &mut dyn Sink) {
        let tool = pick::string(&call, "name").unwrap_or_default();
        let at = pick::time(&call, "timestamp");
        let id = pick::string(&call, "id").unwrap_or_else(|| format!("{tool}-{step}"));
        let arguments = call.get_mut("args").map(Value::take).unwrap_or_default();
        self.call(step, Call { id: id.clone(), tool, arguments, output: None }, sink);
        let result = call.get_mut("result").map(Value::take).filter(|result| !result.is_null());
        let status = pick::string(&call, "status").unwrap_or_default();
        let is_over = matches!(status.as_str(), "success" | "error" | "cancelled");
        if result.is_none() && !is_over {
            return;
        }
        let mut output = response_output(result.unwrap_or_default(), at);
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
        self.output(id, output, sink);
        if let Some(agent) = pick::string(&call, "agentId") {
            sink.hear(Event::Elsewhere(Elsewhere { part: Part::Subagent, path: None, id: Some(agent) }));
        }
    }

    /// Tells a call once.
    fn call(&mut self, step: u32, call: Call, sink: &mut dyn Sink) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.calls.entry(fingerprint(&call.id)) {
            entry.insert(false);
            sink.hear(Event::Call(step, call));
        }
    }

    /// Tells an output once.
    fn output(&mut self, id: String, output: Output, sink: &mut dyn Sink) {
        let is_told = self.calls.entry(fingerprint(&id)).or_default();
        if !std::mem::replace(is_told, true) {
            sink.hear(Event::Output(OutputOf::Call(id), output));
        }
    }

    /// The model of a step, if it is not the chat's.
    fn model(&mut self, model: Option<String>, sink: &mut dyn Sink) -> Option<String> {
        if self.model.is_none() && model.is_some() {
            self.model.clone_from(&model);
            sink.hear(Event::About(Box::new(About { model: model.clone(), ..About::default() })));
        }
        model.filter(|model| Some(model) != self.model.as_ref())
    }

    fn tell(&mut self, mut step: Step, sink: &mut dyn Sink) -> u32 {
        self.last = self.last.saturating_add(1);
        step.number = self.last;
        sink.hear(Event::Step(Box::new(step)));
        self.last
    }
}

/// Takes out what hooks added before and behind a prompt. They cannot write the tag's end: Gemini escapes it.
fn take_hook_contexts(text: &mut String) -> Vec<String> {
    let mut contexts = Vec::new();
    while let Some((context, rest)) =
        text.trim_start().strip_prefix(HOOK_CONTEXT).and_then(|inside| inside.split_once(HOOK_CONTEXT_END))
    {
        contexts.push(format!("{HOOK_CONTEXT}{context}{HOOK_CONTEXT_END}"));
        *text = rest.trim_start().to_owned();
    }
    while let Some((prompt, context)) =
        text.trim_end().strip_suffix(HOOK_CONTEXT_END).and_then(|before| before.rsplit_once(HOOK_CONTEXT))
        && prompt.ends_with('\n')
    {
        contexts.push(format!("{HOOK_CONTEXT}{context}{HOOK_CONTEXT_END}"));
        *text = prompt.trim_end().to_owned();
    }
    contexts
}

/// The parts of a content, by what they are.
#[derive(Debug, Default)]
struct Parts {
    texts: Vec<String>,
    thoughts: Vec<String>,
    /// Id, tool and arguments.
    calls: Vec<(String, String, Value)>,
    /// Id of the call, and what came back.
    responses: Vec<(String, Value)>,
}

impl Parts {
    fn text(self) -> String {
        self.texts.join("\n")
    }
}

fn content(message: &mut Object) -> Parts {
    message.get_mut("content").map(Value::take).map(parts).unwrap_or_default()
}

fn parts(content: Value) -> Parts {
    let mut parts = Parts::default();
    let list = match content {
        Value::Array(list) => list,
        other => vec![other],
    };
    for part in list {
        match part {
            Value::Object(mut part) => {
                if let Some(mut call) = pick::take_object(&mut part, "functionCall") {
                    let arguments = call.get_mut("args").map(Value::take).unwrap_or_default();
                    let name = pick::string(&call, "name").unwrap_or_default();
                    if let Some(id) = pick::string(&call, "id") {
                        parts.calls.push((id, name, arguments));
                    }
                } else if let Some(mut response) = pick::take_object(&mut part, "functionResponse") {
                    let id = pick::string(&response, "id").unwrap_or_default();
                    parts.responses.push((id, response.get_mut("response").map(Value::take).unwrap_or_default()));
                } else if part.contains_key("inlineData") || part.contains_key("fileData") {
                    parts.texts.push("[media]".to_owned());
                } else if let Some(Value::String(text)) = part.get_mut("text").map(Value::take) {
                    let is_thought = pick::flag(&part, "thought") == Some(true);
                    if is_thought { parts.thoughts.push(text) } else { parts.texts.push(text) }
                }
            }
            Value::Null => {}
            other => parts.texts.push(pick::words(other)),
        }
    }
    parts.texts.retain(|text| !text.is_empty());
    parts
}

fn thought(thought: Value) -> String {
    match thought {
        Value::Object(thought) => match (pick::string(&thought, "subject"), pick::string(&thought, "description")) {
            (Some(subject), Some(description)) => format!("{subject}: {description}"),
            (subject, description) => subject.or(description).unwrap_or_default(),
        },
        other => pick::words(other),
    }
}

/// What came back: parts with responses, a response itself, or words.
fn response_output(result: Value, at: Option<Timestamp>) -> Output {
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
                    texts.push(pick::words(value));
                }
                None if response.is_empty() => {}
                None => texts.push(Value::Object(response).to_string()),
            }
        }
        other => texts.push(pick::words(other)),
    };
    match result {
        list @ (Value::Array(_) | Value::String(_)) => {
            let parts = parts(list);
            parts.responses.into_iter().for_each(|(_, response)| say(response));
            texts.extend(parts.texts);
        }
        Value::Object(mut one) => match pick::take_object(&mut one, "functionResponse") {
            Some(mut inner) => say(inner.get_mut("response").map(Value::take).unwrap_or_default()),
            None => say(Value::Object(one)),
        },
        other => say(other),
    }
    texts.retain(|text| !text.is_empty());
    let text = texts.join("\n");
    // Hooks add their words behind the output.
    let printed = text.trim_end().strip_suffix(HOOK_CONTEXT_END).and_then(|before| before.rsplit_once(HOOK_CONTEXT));
    let exit_code = printed
        .map_or(text.as_str(), |(printed, _)| printed)
        .lines()
        .rev()
        .take(MAX_TAIL_LINES)
        .find_map(|line| line.trim().strip_prefix("Exit Code: ").and_then(|code| code.trim().parse::<i32>().ok()));
    let failed = exit_code.map(|code| code != 0).or(failed);
    Output { text, failed, exit_code, at, ..Output::default() }
}

/// The exit code of a command stands this near to the end.
const MAX_TAIL_LINES: usize = 8;

/// Figures as Gemini gives them: input includes what was cached, output does not include thoughts.
fn usage(tokens: &Object) -> Usage {
    let sum = |key: &str, more: &str| {
        pick::count(tokens, key).map(|count| count.saturating_add(pick::count(tokens, more).unwrap_or_default()))
    };
    Usage {
        prompt_tokens: sum("input", "tool"),
        completion_tokens: sum("output", "thoughts"),
        cached_tokens: pick::count(tokens, "cached"),
        cache_write_tokens: None,
        cost_usd: None,
    }
}

fn fingerprint(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish()
}
