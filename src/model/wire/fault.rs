//! What a refusal means.

use std::error::Error;
use std::time::Duration;

use async_openai::error::OpenAIError;
use reqwest::StatusCode;
use thiserror::Error;

use super::said::Mask;
use super::words::Words;
use crate::model::ModelError;

/// Said to whoever asks a server that has nothing at that path.
pub(in crate::model) const HINT: &str = "the base URL may lack `/v1`";

/// So much of a message is looked at.
const MAX_LOOKED_AT: usize = 4000;

/// Why there is no answer, as it travels through async-openai.
#[derive(Debug, Error)]
#[error("{error}")]
pub(in crate::model) struct Fault {
    pub(in crate::model) error: ModelError,
    /// The parameter that is not taken, if that is all there is to it.
    pub(in crate::model) refused: Option<Parameter>,
}

/// What some models do not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum Parameter {
    MaxTokens,
    Temperature,
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        Self { error, refused: None }
    }
}

impl From<Fault> for OpenAIError {
    fn from(fault: Fault) -> Self {
        Self::Boxed(Box::new(fault))
    }
}

impl Fault {
    /// Takes a fault back out of async-openai, whose own errors can only come from before the request was sent.
    pub(in crate::model) fn from_client(error: OpenAIError, mask: &Mask) -> Self {
        match error {
            OpenAIError::Boxed(boxed) => match boxed.downcast::<Self>() {
                Ok(fault) => *fault,
                Err(other) => ModelError::Unreadable { why: mask.said(&other.to_string()) }.into(),
            },
            OpenAIError::Reqwest(error) => Self::from_http(error, mask),
            OpenAIError::InvalidArgument(why) => ModelError::Misconfigured { why: mask.said(&why) }.into(),
            other => ModelError::Unreadable { why: mask.said(&other.to_string()) }.into(),
        }
    }

    /// The connection failed. The innermost cause says it best; the URL stays out, since its query may hold a secret.
    pub(in crate::model) fn from_http(error: reqwest::Error, mask: &Mask) -> Self {
        let error = error.without_url();
        let said = mask.said(&root_cause(&error));
        let error = match () {
            () if error.is_builder() => ModelError::Misconfigured { why: said },
            () if error.is_connect() => ModelError::Unreachable { said },
            () => ModelError::Connection { said },
        };
        error.into()
    }

    /// The endpoint answered with a status that is no success.
    pub(in crate::model) fn from_status(
        status: StatusCode,
        retry_after: Option<Duration>,
        body: &str,
        mask: &Mask,
    ) -> Self {
        let mut words = Words::read(body);
        if words.message.is_empty() {
            words.message = status.canonical_reason().unwrap_or("no words").to_owned();
        }
        let is_path = !words.is_json || words.message.eq_ignore_ascii_case("not found");
        if status == StatusCode::NOT_FOUND && is_path {
            words.message = format!("{HINT}: {}", words.message);
        }
        classified(status.as_u16(), retry_after, &words, mask)
    }

    /// The endpoint said 200 and meant an error.
    pub(in crate::model) fn from_words(words: &Words, mask: &Mask) -> Self {
        let labelled = |names: &[&str]| words.labels.iter().any(|label| names.iter().any(|name| label.contains(name)));
        let status = words.status.unwrap_or_else(|| {
            if labelled(&["authentication", "unauthorized", "permission", "invalid_api_key"]) {
                401
            } else if labelled(&["rate_limit", "too_many_requests", "resource_exhausted", "insufficient_quota"]) {
                429
            } else if labelled(&["not_found"]) {
                404
            } else if labelled(&["invalid_request", "invalid_argument", "bad_request", "context_length", "unsupported"])
            {
                400
            } else {
                200
            }
        });
        classified(status, None, words, mask)
    }
}

/// The innermost cause, in its own words.
pub(in crate::model) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

fn classified(status: u16, retry_after: Option<Duration>, words: &Words, mask: &Mask) -> Fault {
    let said = mask.said(&words.message);
    let looked_at: String = words.message.chars().take(MAX_LOOKED_AT).collect::<String>().to_lowercase();
    let looked_at = looked_at.as_str();
    let labelled = |name: &str| words.labels.iter().any(|label| label == name);
    let error = match status {
        200 | 400 | 422 | 500 if is_too_long(looked_at) || labelled("context_length_exceeded") => {
            ModelError::TooLong { said }
        }
        // More tokens in one question than may be sent in a minute: no patience helps.
        429 if looked_at.contains("request too large") => ModelError::TooLong { said },
        413 => ModelError::TooLong { said },
        // Somebody has to pay first.
        429 if labelled("insufficient_quota") || looked_at.contains("insufficient_quota") || is_unpaid(looked_at) => {
            ModelError::BadRequest { status, said }
        }
        429 => ModelError::RateLimited { retry_after, said },
        401 | 403 => ModelError::Unauthorized { status, said },
        200 | 400 if is_bad_key(looked_at) => ModelError::Unauthorized { status, said },
        404 => ModelError::NotFound { said },
        200 | 400 | 422 if labelled("model_not_found") || is_no_model(looked_at) => ModelError::NotFound { said },
        400 if labelled("content_filter") || labelled("content_policy_violation") => {
            ModelError::Declined { said, written: 0 }
        }
        408 | 409 | 500.. | ..400 => ModelError::Server { status, retry_after, said },
        _ => ModelError::BadRequest { status, said },
    };
    let refused = match error {
        ModelError::BadRequest { status: 400 | 422, .. } => refused_parameter(looked_at, &words.labels),
        _ => None,
    };
    Fault { error, refused }
}

/// Longer than the model can read, in the words of many vendors.
fn is_too_long(message: &str) -> bool {
    const PLAINLY: &[&str] = &[
        "context_length_exceeded",
        "exceed_context_size",
        "exceeds the available context",
        "maximum context length",
        "maximum model length",
        "maximum prompt length",
        "maximum input length",
        "prompt is too long",
        "input is too long",
        "request too large",
        "too large for model",
        "too many tokens",
        "context the overflows",
        "reduce the length of",
        "exceeds the maximum number of tokens",
        "tokens + `max_new_tokens` must be",
    ];
    const CONTEXT: &[&str] = &["context window", "context length", "context size"];
    const PASSED: &[&str] =
        &["exceed", "too long", "too large", "longer than", "greater than", "larger than", "overflow"];
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    has(PLAINLY) || (has(CONTEXT) && has(PASSED))
}

fn is_unpaid(message: &str) -> bool {
    ["exceeded your current quota", "insufficient balance", "insufficient credits", "out of credits"]
        .iter()
        .any(|phrase| message.contains(phrase))
}

fn is_bad_key(message: &str) -> bool {
    ["api key not valid", "invalid api key", "incorrect api key"].iter().any(|phrase| message.contains(phrase))
}

fn is_no_model(message: &str) -> bool {
    let plainly = ["unknown model", "invalid model", "no such model", "not a valid model", "model_not_found"];
    let missing = ["does not exist", "not found", "not exist", "doesn't exist"];
    plainly.iter().any(|phrase| message.contains(phrase))
        || message.split_once("model").is_some_and(|(_, behind)| missing.iter().any(|phrase| behind.contains(phrase)))
}

/// A parameter that is not taken at all, as opposed to a value of it that is too large.
fn refused_parameter(message: &str, labels: &[String]) -> Option<Parameter> {
    const REFUSED: &[&str] = &[
        "unsupported",
        "not supported",
        "does not support",
        "doesn't support",
        "deprecated",
        "unrecognized",
        "unknown",
        "unexpected",
        "not permitted",
        "not allowed",
        "instead",
    ];
    let is_refused =
        REFUSED.iter().any(|word| message.contains(word) || labels.iter().any(|label| label.contains(word)));
    let parameters = [("max_tokens", Parameter::MaxTokens), ("temperature", Parameter::Temperature)];
    let labelled = parameters.iter().find(|(name, _)| labels.iter().any(|label| label == name));
    let named = labelled.or_else(|| parameters.iter().find(|(name, _)| message.contains(name)));
    named.filter(|_| is_refused).map(|(_, parameter)| *parameter)
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
