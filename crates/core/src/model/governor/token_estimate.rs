//! An estimate of the tokens that a call will take, and of the most that it can take.
//!
//! The expected tokens are counted as a chat template writes the request: every message in its frame, tools as JSON in
//! the system prompt. Tokens are counted with one vocabulary and billed by another. The vocabularies differ most in
//! digits, which some write one by one and others in threes, so that a value in between is expected; in scripts that a
//! vocabulary hardly covers, where at worst every byte is a token; and in long rows of one character, which few cover
//! as a whole.
//!
//! A schema is not expected to cost anything: endpoints that enforce it by a grammar do not bill it. Others do. So it
//! is part of the most that can be billed, and counts wherever an endpoint does not report what it billed.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Value, json};

use super::money::CallTokens;
use crate::model::{ModelMessage, ModelReply, ModelRequest, ModelTool, ModelToolCall, RequestedFormat};
use crate::text::Tokenizer;

#[cfg(test)]
#[path = "token_estimate_tests.rs"]
mod tests;

/// The tokens of the marks around a message and of its role.
const PER_MESSAGE: u64 = 5;

/// The tokens of the beginning of the answer, which the template writes.
const BEFORE_ANSWER: u64 = 3;

/// The tokens of the text that templates put around the list of tools.
const AROUND_TOOLS: u64 = 100;

/// The tokens of the marks around a call or its result.
const AROUND_CALL: u64 = 12;

/// The tokens a template may add of its own: a default system prompt, a date, rules for tools.
const SLACK: u64 = 1024;

/// Returns the tokens that the prompt is expected to take, without a schema.
pub fn estimate_prompt_tokens(request: &ModelRequest) -> u64 {
    CallSize::from_request(request).expected_prompt
}

/// Returns the most tokens that an honest endpoint can bill for a request.
pub fn max_billable_tokens(request: &ModelRequest) -> CallTokens {
    CallSize::from_request(request).at_most
}

/// The size of a call in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallSize {
    /// The prompt as an endpoint with a grammar bills it.
    pub(super) expected_prompt: u64,
    /// The prompt with everything that was sent, which counts if the endpoint does not report more.
    pub(super) whole_prompt: u64,
    /// The most tokens that can be billed.
    pub(super) at_most: CallTokens,
}

impl CallSize {
    pub(super) fn from_request(request: &ModelRequest) -> Self {
        let mut count = CallTokenCounter { tokens: BEFORE_ANSWER, extra: SLACK };
        for message in &request.messages {
            count.add_message(message);
        }
        if let RequestedFormat::Tools(tools) = &request.form {
            count.tokens += AROUND_TOOLS;
            for tool in tools {
                count.add_tool(tool);
            }
        }
        let expected_prompt = count.tokens;
        if let RequestedFormat::Schema(schema) = &request.form {
            count.add_text(&schema.name);
            count.add_json(&schema.schema);
        }
        let prompt = count.tokens + count.tokens / 2 + count.extra;
        let at_most = CallTokens { prompt, completion: request.max_output_tokens.into() };
        Self { expected_prompt, whole_prompt: count.tokens, at_most }
    }
}

/// Returns the tokens of an answer, as far as they are visible.
pub(super) fn count_reply_tokens(reply: &ModelReply) -> u64 {
    let mut count = CallTokenCounter { tokens: 0, extra: 0 };
    count.add_text(&reply.text);
    for call in &reply.calls {
        count.add_call(call);
    }
    count.tokens
}

/// A counter for the tokens of a request or a reply.
struct CallTokenCounter {
    tokens: u64,
    /// The tokens that other vocabularies may need beyond one and a half times the count.
    extra: u64,
}

impl CallTokenCounter {
    fn add_message(&mut self, message: &ModelMessage) {
        self.tokens += PER_MESSAGE;
        match message {
            ModelMessage::System { text } | ModelMessage::User { text } => self.add_text(text),
            ModelMessage::Assistant { text, calls } => {
                self.add_text(text);
                for call in calls {
                    self.add_call(call);
                    self.add_unexpected(&call.id);
                }
            }
            ModelMessage::ToolResult { call_id, text } => {
                self.tokens += AROUND_CALL;
                self.add_text(text);
                self.add_unexpected(call_id);
            }
        }
    }

    fn add_call(&mut self, call: &ModelToolCall) {
        self.tokens += AROUND_CALL;
        self.add_text(&call.name);
        self.add_text(&call.arguments);
    }

    fn add_tool(&mut self, tool: &ModelTool) {
        let ModelTool { name, description, parameters } = tool;
        let function = json!({ "name": name, "description": description, "parameters": parameters });
        self.add_json(&json!({ "type": "function", "function": function }));
    }

    fn add_json(&mut self, value: &Value) {
        let mut written = serde_json::Serializer::with_formatter(Vec::new(), SpacedJsonFormatter);
        // A `Value` can always be written into memory; if it could not, nothing would be sent either.
        if value.serialize(&mut written).is_ok() {
            self.add_text(&String::from_utf8_lossy(&written.into_inner()));
        }
    }

    fn add_text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let digits = to_u64(bytes.iter().filter(|byte| byte.is_ascii_digit()).count());
        let foreign = to_u64(bytes.iter().filter(|byte| !byte.is_ascii()).count());
        let repeated = to_u64(bytes.iter().zip(bytes.iter().skip(1)).filter(|(byte, next)| byte == next).count());
        self.tokens += to_u64(Tokenizer::new().count_tokens(text)) + digits / 4;
        // A digit is a third of a token, a quarter was added, and an eighth makes half as much again a whole one.
        self.extra += digits / 8 + 1 + foreign + repeated / 8;
    }

    /// Adds a text that most templates leave out: it may cost one token for each byte, or nothing.
    fn add_unexpected(&mut self, text: &str) {
        self.extra += to_u64(text.len());
    }
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// A JSON formatter that writes as templates do: with a space after every colon and comma.
struct SpacedJsonFormatter;

impl Formatter for SpacedJsonFormatter {
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
