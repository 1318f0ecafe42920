//! The most demanding answer format that an endpoint supports.
//!
//! Endpoints that speak the same protocol differ in what they really do: some refuse tools, some accept a schema and
//! ignore it. So each is probed once, from the most demanding format down, and the result is remembered for a while.

use std::fmt;

use serde_json::{Value, json};

use super::{
    AnswerSchema, Finish, LanguageModel, ModelError, ModelMessage, ModelReply, ModelRequest, ModelTool, RequestedFormat,
};
use crate::domain::InvalidValue;
use crate::domain::word_enum::unknown_word_error;

mod known_formats;

pub use known_formats::EndpointCapabilities;

#[cfg(test)]
#[path = "answer_format_tests.rs"]
mod tests;

/// A format of answers, ordered from the most demanding to the simplest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnswerFormat {
    /// The answer calls tools.
    Tools,
    /// The answer is JSON that the endpoint checks against a schema.
    Schema,
    /// The answer is JSON, by the endpoint's own switch.
    Json,
    /// The answer is plain text.
    Text,
}

impl AnswerFormat {
    /// All formats, the most demanding one first.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Schema, Self::Json, Self::Text];

    /// Returns the word for it in files and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Schema => "json_schema",
            Self::Json => "json_object",
            Self::Text => "text",
        }
    }

    /// Parses a known word and rejects any other.
    pub fn parse(word: &str) -> Result<Self, InvalidValue> {
        Self::ALL
            .into_iter()
            .find(|answer_format| answer_format.as_str() == word)
            .ok_or_else(|| unknown_word_error("a form of answer", word, &Self::ALL.map(Self::as_str)))
    }

    /// Returns the next simpler format, or `None` for plain text.
    pub fn next_simpler_format(self) -> Option<Self> {
        match self {
            Self::Tools => Some(Self::Schema),
            Self::Schema => Some(Self::Json),
            Self::Json => Some(Self::Text),
            Self::Text => None,
        }
    }
}

impl fmt::Display for AnswerFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The most tokens of an answer to a trial request, for a model that answers directly.
const ANSWER_TOKENS: u32 = 200;

/// The most tokens for a model that was cut off before it answered, because it may be reasoning.
const THINKING_TOKENS: u32 = 2000;

const SYSTEM: &str = "Answer the question in the form that is asked for, and say nothing else.";
const QUESTION: &str = "How many legs does a spider have?";

/// The tool that the trial offers.
const TOOL: &str = "count_legs";

/// The member that holds the answer. Only the schema names it: a model that was not shown the schema does not guess it.
const MEMBER: &str = "leg_count";

/// The words by which an endpoint says that it rejects the format, whatever the status.
const ABOUT_THE_FORM: &[&str] =
    &["tool", "response_format", "json_schema", "json_object", "structured output", "grammar", "parameter"];

/// Finds the answer format that a model's endpoint supports, by a tiny request in each format from the most demanding
/// down.
///
/// An error that says nothing about the format is returned, and nothing is learned. Plain text is tried only if every
/// other format ended in an error: then it is not yet known whether the endpoint answers at all.
pub async fn probe_answer_format(model: &dyn LanguageModel) -> Result<AnswerFormat, ModelError> {
    let mut max_output_tokens = ANSWER_TOKENS;
    let mut answered = false;
    for answer_format in [AnswerFormat::Tools, AnswerFormat::Schema, AnswerFormat::Json] {
        let mut answer = model.send_request(&trial_request(answer_format, max_output_tokens)).await;
        if max_output_tokens < THINKING_TOKENS && answer.as_ref().is_ok_and(|reply| was_cut_off(answer_format, reply)) {
            max_output_tokens = THINKING_TOKENS;
            answer = model.send_request(&trial_request(answer_format, max_output_tokens)).await;
        }
        match answer {
            Ok(reply) if matches_format(answer_format, &reply) => return Ok(answer_format),
            Ok(_) => answered = true,
            Err(error) if is_about_format(&error, model.name()) => {
                tracing::debug!(model = model.name(), %answer_format, kind = error.kind(), "a form is not understood");
            }
            Err(error) => return Err(error),
        }
    }
    if !answered {
        model.send_request(&trial_request(AnswerFormat::Text, max_output_tokens)).await?;
    }
    Ok(AnswerFormat::Text)
}

/// Returns the trial request for a format.
fn trial_request(answer_format: AnswerFormat, max_output_tokens: u32) -> ModelRequest {
    let schema = json!({
        "type": "object",
        "properties": { MEMBER: { "type": "integer" } },
        "required": [MEMBER],
        "additionalProperties": false,
    });
    let (form, how) = match answer_format {
        AnswerFormat::Tools => {
            let description = "Takes the answer to a question about legs.".to_owned();
            let tool = ModelTool { name: TOOL.to_owned(), description, parameters: schema };
            (RequestedFormat::Tools(vec![tool]), " Answer by calling the tool.")
        }
        AnswerFormat::Schema => (RequestedFormat::Schema(AnswerSchema { name: "answer".to_owned(), schema }), ""),
        // Endpoints refuse this switch if the prompt does not mention JSON.
        AnswerFormat::Json => (RequestedFormat::Json, " Answer with a JSON object."),
        AnswerFormat::Text => (RequestedFormat::Text, ""),
    };
    ModelRequest {
        messages: vec![
            ModelMessage::System { text: SYSTEM.to_owned() },
            ModelMessage::User { text: format!("{QUESTION}{how}") },
        ],
        form,
        max_output_tokens,
    }
}

/// Tells whether an answer has the requested format; it need not be correct.
fn matches_format(answer_format: AnswerFormat, reply: &ModelReply) -> bool {
    match answer_format {
        // Text beside the call does not matter.
        AnswerFormat::Tools => reply.calls.iter().any(|call| {
            call.name == TOOL && parse_object(&call.arguments).is_some_and(|arguments| arguments.contains_key(MEMBER))
        }),
        // A schema leaves no room for visible reasoning; where there is some, the endpoint did not enforce it.
        AnswerFormat::Schema => parse_object(&reply.text)
            .and_then(|answer| answer.get(MEMBER).and_then(Value::as_f64))
            .is_some_and(|legs| legs.fract() == 0.0),
        AnswerFormat::Json => parse_object(strip_thoughts(&reply.text)).is_some(),
        AnswerFormat::Text => true,
    }
}

/// Parses a text that is a JSON object and nothing else.
fn parse_object(text: &str) -> Option<serde_json::Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// Returns the text after the reasoning that some models put before their answer.
fn strip_thoughts(text: &str) -> &str {
    let text = text.trim_start();
    ["think", "thinking", "thought", "reasoning"]
        .iter()
        .find_map(|name| text.strip_prefix(&format!("<{name}>"))?.split_once(&format!("</{name}>")))
        .map_or(text, |(_, answer)| answer)
}

fn was_cut_off(answer_format: AnswerFormat, reply: &ModelReply) -> bool {
    reply.finish == Finish::Length && !matches_format(answer_format, reply)
}

/// Returns true if this status may reject the format, not the account, the method or the rate.
pub fn is_format_status(status: u16) -> bool {
    matches!(status, 400 | 415 | 422)
}

/// Returns true if an error may be caused by the format of the request, so that another format may work.
fn is_about_format(error: &ModelError, model: &str) -> bool {
    match error {
        ModelError::BadRequest { status, .. } => is_format_status(*status),
        ModelError::Unreadable { .. } | ModelError::Oversized { .. } => true,
        ModelError::Server { status: 501, .. } => true,
        ModelError::Server { said, .. } | ModelError::NotFound { said } => {
            // A model may be called `toolmaker` and still not be there.
            let said = said.to_lowercase().replace(&model.to_lowercase(), "");
            ABOUT_THE_FORM.iter().any(|word| said.contains(word))
        }
        _ => false,
    }
}
