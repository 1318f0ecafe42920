//! The best form of answer that an endpoint understands.
//!
//! Endpoints that speak the same protocol differ in what they really do: some refuse tools, some take a schema and
//! forget it. So each is tried once, from the top of the ladder, and where it stands is remembered for a while.

use std::fmt;

use serde_json::{Value, json};

use super::{Finish, Form, LanguageModel, Message, ModelError, Reply, Request, Schema, Tool};
use crate::domain::Invalid;
use crate::domain::words::unknown;

mod memory;

pub use memory::Ladders;

#[cfg(test)]
#[path = "ladder_tests.rs"]
mod tests;

/// A form of answer, the most demanding one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// Calls of tools.
    Tools,
    /// JSON that the endpoint holds against a schema.
    Schema,
    /// JSON, by the endpoint's own switch.
    Json,
    /// Words.
    Text,
}

impl Rung {
    /// Every rung, from the top.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Schema, Self::Json, Self::Text];

    /// The word as it stands in files and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Schema => "json_schema",
            Self::Json => "json_object",
            Self::Text => "text",
        }
    }

    /// Accepts the known words only.
    pub fn parse(word: &str) -> Result<Self, Invalid> {
        Self::ALL
            .into_iter()
            .find(|rung| rung.as_str() == word)
            .ok_or_else(|| unknown("a form of answer", word, &Self::ALL.map(Self::as_str)))
    }

    /// The next one below; below words there is nothing.
    pub fn step_down(self) -> Option<Self> {
        match self {
            Self::Tools => Some(Self::Schema),
            Self::Schema => Some(Self::Json),
            Self::Json => Some(Self::Text),
            Self::Text => None,
        }
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The most that an answer to a trial takes, for a model that comes to the point.
const ANSWER_TOKENS: u32 = 200;

/// The same for a model that was cut off before it came to the point: it may be thinking.
const THINKING_TOKENS: u32 = 2000;

const SYSTEM: &str = "Answer the question in the form that is asked for, and say nothing else.";
const QUESTION: &str = "How many legs does a spider have?";

/// The tool on offer.
const TOOL: &str = "count_legs";

/// The member that holds the answer. Only the schema names it: a model that was not shown the schema does not guess it.
const MEMBER: &str = "leg_count";

/// Words by which an endpoint says that it is the form it does not like, whatever the status.
const ABOUT_THE_FORM: &[&str] =
    &["tool", "response_format", "json_schema", "json_object", "structured output", "grammar", "parameter"];

/// Finds out which form of answer a model's endpoint understands, by a tiny question on each rung from the top.
///
/// An error that says nothing about the form is handed on, and nothing is learned. Words are not tried, unless every
/// other form ended in an error: then it is not known yet whether anything is answered at all.
pub async fn probe(model: &dyn LanguageModel) -> Result<Rung, ModelError> {
    let mut max_output_tokens = ANSWER_TOKENS;
    let mut answered = false;
    for rung in [Rung::Tools, Rung::Schema, Rung::Json] {
        let mut answer = model.ask(&trial(rung, max_output_tokens)).await;
        if max_output_tokens < THINKING_TOKENS && answer.as_ref().is_ok_and(|reply| was_cut_off(rung, reply)) {
            max_output_tokens = THINKING_TOKENS;
            answer = model.ask(&trial(rung, max_output_tokens)).await;
        }
        match answer {
            Ok(reply) if holds(rung, &reply) => return Ok(rung),
            Ok(_) => answered = true,
            Err(error) if is_about_the_form(&error, model.name()) => {
                tracing::debug!(model = model.name(), %rung, kind = error.kind(), "a form is not understood");
            }
            Err(error) => return Err(error),
        }
    }
    if !answered {
        model.ask(&trial(Rung::Text, max_output_tokens)).await?;
    }
    Ok(Rung::Text)
}

/// The question as it is asked on a rung.
fn trial(rung: Rung, max_output_tokens: u32) -> Request {
    let schema = json!({
        "type": "object",
        "properties": { MEMBER: { "type": "integer" } },
        "required": [MEMBER],
        "additionalProperties": false,
    });
    let (form, how) = match rung {
        Rung::Tools => {
            let description = "Takes the answer to a question about legs.".to_owned();
            let tool = Tool { name: TOOL.to_owned(), description, parameters: schema };
            (Form::Tools(vec![tool]), " Answer by calling the tool.")
        }
        Rung::Schema => (Form::Schema(Schema { name: "answer".to_owned(), schema }), ""),
        // Endpoints refuse this switch where the word is not said.
        Rung::Json => (Form::Json, " Answer with a JSON object."),
        Rung::Text => (Form::Text, ""),
    };
    Request {
        messages: vec![Message::System { text: SYSTEM.to_owned() }, Message::User { text: format!("{QUESTION}{how}") }],
        form,
        max_output_tokens,
    }
}

/// Whether an answer has the form that was asked for. Being right is not asked for.
fn holds(rung: Rung, reply: &Reply) -> bool {
    match rung {
        // What it says beside the call is its own affair.
        Rung::Tools => reply.calls.iter().any(|call| {
            call.name == TOOL && object(&call.arguments).is_some_and(|arguments| arguments.contains_key(MEMBER))
        }),
        // A schema leaves no room for thinking aloud; where there is some, nobody held the answer against it.
        Rung::Schema => object(&reply.text)
            .and_then(|answer| answer.get(MEMBER).and_then(Value::as_f64))
            .is_some_and(|legs| legs.fract() == 0.0),
        Rung::Json => object(after_thoughts(&reply.text)).is_some(),
        Rung::Text => true,
    }
}

/// A whole text that is a JSON object and nothing else.
fn object(text: &str) -> Option<serde_json::Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// What follows the thoughts that some models put before their answer.
fn after_thoughts(text: &str) -> &str {
    let text = text.trim_start();
    ["think", "thinking", "thought", "reasoning"]
        .iter()
        .find_map(|name| text.strip_prefix(&format!("<{name}>"))?.split_once(&format!("</{name}>")))
        .map_or(text, |(_, answer)| answer)
}

fn was_cut_off(rung: Rung, reply: &Reply) -> bool {
    reply.finish == Finish::Length && !holds(rung, reply)
}

/// Whether a refusal may be one of the form: not of the account, the method or the time of day.
pub fn is_form_status(status: u16) -> bool {
    matches!(status, 400 | 415 | 422)
}

/// Whether an error may be owed to the form of the question, so that another form may do.
fn is_about_the_form(error: &ModelError, model: &str) -> bool {
    match error {
        ModelError::BadRequest { status, .. } => is_form_status(*status),
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
