//! How many tokens a call will take, and how many it can take at most.
//!
//! What is expected is counted as a chat template writes it: every message in its frame, tools as JSON in the system
//! prompt. Tokens are counted with one vocabulary and billed by another. They differ most in digits, which some write
//! one by one and others in threes, so that something between is expected; in scripts that a vocabulary hardly knows,
//! where at worst every byte is a token; and in long rows of one character, which few know as a whole.
//!
//! A schema is not expected to cost anything: endpoints that hold an answer against it by a grammar do not bill it.
//! Others do. So it is part of the most that can be billed, and counts wherever an endpoint does not say what it billed.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Value, json};

use super::money::Tokens;
use crate::model::{Form, Message, Reply, Request, Tool, ToolCall};
use crate::text::Tokenizer;

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;

/// The marks around a message and the name of its speaker.
const PER_MESSAGE: u64 = 5;

/// The beginning of the answer, which the template writes.
const BEFORE_ANSWER: u64 = 3;

/// What templates say about tools before and behind their list.
const AROUND_TOOLS: u64 = 100;

/// The marks around a call or what it gave back.
const AROUND_CALL: u64 = 12;

/// What a template may add of its own: a system prompt where there is none, a date, rules for tools.
const SLACK: u64 = 1024;

/// How many tokens the prompt is expected to take, a schema not counted.
pub fn estimate(request: &Request) -> u64 {
    Size::of(request).expected_prompt
}

/// The most tokens that can be billed for a request by an endpoint that is honest.
pub fn reservation(request: &Request) -> Tokens {
    Size::of(request).at_most
}

/// How large a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// The prompt, as a grammar's endpoint bills it.
    pub(super) expected_prompt: u64,
    /// The prompt with everything that was sent: what counts if the endpoint does not say more.
    pub(super) whole_prompt: u64,
    /// The most that can be billed.
    pub(super) at_most: Tokens,
}

impl Size {
    pub(super) fn of(request: &Request) -> Self {
        let mut count = Count { tokens: BEFORE_ANSWER, extra: SLACK };
        for message in &request.messages {
            count.message(message);
        }
        if let Form::Tools(tools) = &request.form {
            count.tokens += AROUND_TOOLS;
            for tool in tools {
                count.tool(tool);
            }
        }
        let expected_prompt = count.tokens;
        if let Form::Schema(schema) = &request.form {
            count.text(&schema.name);
            count.json(&schema.schema);
        }
        let prompt = count.tokens + count.tokens / 2 + count.extra;
        let at_most = Tokens { prompt, completion: request.max_output_tokens.into() };
        Self { expected_prompt, whole_prompt: count.tokens, at_most }
    }
}

/// What an answer took to write, as far as it can be seen.
pub(super) fn written(reply: &Reply) -> u64 {
    let mut count = Count { tokens: 0, extra: 0 };
    count.text(&reply.text);
    for call in &reply.calls {
        count.call(call);
    }
    count.tokens
}

/// Counts texts.
struct Count {
    tokens: u64,
    /// What other vocabularies may need on top of one and a half times as much.
    extra: u64,
}

impl Count {
    fn message(&mut self, message: &Message) {
        self.tokens += PER_MESSAGE;
        match message {
            Message::System { text } | Message::User { text } => self.text(text),
            Message::Assistant { text, calls } => {
                self.text(text);
                for call in calls {
                    self.call(call);
                    self.unexpected(&call.id);
                }
            }
            Message::ToolResult { call_id, text } => {
                self.tokens += AROUND_CALL;
                self.text(text);
                self.unexpected(call_id);
            }
        }
    }

    fn call(&mut self, call: &ToolCall) {
        self.tokens += AROUND_CALL;
        self.text(&call.name);
        self.text(&call.arguments);
    }

    fn tool(&mut self, tool: &Tool) {
        let Tool { name, description, parameters } = tool;
        let function = json!({ "name": name, "description": description, "parameters": parameters });
        self.json(&json!({ "type": "function", "function": function }));
    }

    fn json(&mut self, value: &Value) {
        let mut written = serde_json::Serializer::with_formatter(Vec::new(), Spaced);
        // A `Value` can always be written into memory; were it not so, nothing would be sent either.
        if value.serialize(&mut written).is_ok() {
            self.text(&String::from_utf8_lossy(&written.into_inner()));
        }
    }

    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let digits = to_u64(bytes.iter().filter(|byte| byte.is_ascii_digit()).count());
        let foreign = to_u64(bytes.iter().filter(|byte| !byte.is_ascii()).count());
        let repeated = to_u64(bytes.iter().zip(bytes.iter().skip(1)).filter(|(byte, next)| byte == next).count());
        self.tokens += to_u64(Tokenizer::new().count(text)) + digits / 4;
        // A digit is a third of a token, a quarter was added, and an eighth makes half as much again a whole one.
        self.extra += digits / 8 + 1 + foreign + repeated / 8;
    }

    /// What most templates leave out: it may cost a token a byte, or nothing.
    fn unexpected(&mut self, text: &str) {
        self.extra += to_u64(text.len());
    }
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Writes JSON as templates do: with a space behind every colon and comma.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}
