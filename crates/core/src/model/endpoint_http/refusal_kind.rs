//! The meaning of an endpoint's refusal.

use std::error::Error;
use std::time::Duration;

use async_openai::error::OpenAIError;
use reqwest::StatusCode;
use thiserror::Error;

use super::refusal_message::RefusalMessage;
use super::safe_text::KeyMask;
use crate::model::ModelError;

/// The hint for a server that has nothing at the requested path.
pub(in crate::model) const HINT: &str = "the base URL may lack `/v1`";

/// The most characters of a message that are examined.
const MAX_LOOKED_AT: usize = 4000;

/// The reason why there is no answer, as it travels through async-openai.
#[derive(Debug, Error)]
#[error("{error}")]
pub(in crate::model) struct EndpointFailure {
    pub(in crate::model) error: ModelError,
    /// The parameter that the endpoint does not accept, if that is the only problem.
    pub(in crate::model) refused: Option<OptionalParameter>,
}

/// A parameter that some models do not accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum OptionalParameter {
    MaxTokens,
    Temperature,
}

impl From<ModelError> for EndpointFailure {
    fn from(error: ModelError) -> Self {
        Self { error, refused: None }
    }
}

impl From<EndpointFailure> for OpenAIError {
    fn from(fault: EndpointFailure) -> Self {
        Self::Boxed(Box::new(fault))
    }
}

impl EndpointFailure {
    /// Extracts a failure from async-openai, whose own errors can only come from before the request was sent.
    pub(in crate::model) fn from_client(error: OpenAIError, mask: &KeyMask) -> Self {
        match error {
            OpenAIError::Boxed(boxed) => match boxed.downcast::<Self>() {
                Ok(fault) => *fault,
                Err(other) => ModelError::Unreadable { why: mask.sanitize_message(&other.to_string()) }.into(),
            },
            OpenAIError::Reqwest(error) => Self::from_http(error, mask),
            OpenAIError::InvalidArgument(why) => ModelError::Misconfigured { why: mask.sanitize_message(&why) }.into(),
            other => ModelError::Unreadable { why: mask.sanitize_message(&other.to_string()) }.into(),
        }
    }

    /// Creates the failure of a connection from its innermost cause. The URL is left out, because its query may hold a
    /// secret.
    pub(in crate::model) fn from_http(error: reqwest::Error, mask: &KeyMask) -> Self {
        let error = error.without_url();
        let said = mask.sanitize_message(&root_cause(&error));
        let error = match () {
            () if error.is_builder() => ModelError::Misconfigured { why: said },
            () if error.is_connect() => ModelError::Unreachable { said },
            () => ModelError::Connection { said },
        };
        error.into()
    }

    /// Creates the failure for an answer with a status other than success.
    pub(in crate::model) fn from_status(
        status: StatusCode,
        retry_after: Option<Duration>,
        body: &str,
        mask: &KeyMask,
    ) -> Self {
        let mut words = RefusalMessage::from_body(body);
        if words.message.is_empty() {
            words.message = status.canonical_reason().unwrap_or("no words").to_owned();
        }
        let is_path = !words.is_json || words.message.eq_ignore_ascii_case("not found");
        if status == StatusCode::NOT_FOUND && is_path {
            words.message = format!("{HINT}: {}", words.message);
        }
        classify_refusal(status.as_u16(), retry_after, &words, mask)
    }

    /// Creates the failure for an endpoint that answered 200 with an error in the body.
    pub(in crate::model) fn from_refusal(words: &RefusalMessage, mask: &KeyMask) -> Self {
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
        classify_refusal(status, None, words, mask)
    }
}

/// Returns the message of the innermost cause.
pub(in crate::model) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

fn classify_refusal(
    status: u16,
    retry_after: Option<Duration>,
    words: &RefusalMessage,
    mask: &KeyMask,
) -> EndpointFailure {
    let said = mask.sanitize_message(&words.message);
    let looked_at: String = words.message.chars().take(MAX_LOOKED_AT).collect::<String>().to_lowercase();
    let looked_at = looked_at.as_str();
    let labelled = |name: &str| words.labels.iter().any(|label| label == name);
    let error = match status {
        200 | 400 | 422 | 500 if is_too_long(looked_at) || labelled("context_length_exceeded") => {
            ModelError::TooLong { said }
        }
        // More tokens in one request than may be sent in a minute: no wait helps.
        429 if looked_at.contains("request too large") => ModelError::TooLong { said },
        413 => ModelError::TooLong { said },
        // The account has no credit left.
        429 if labelled("insufficient_quota") || looked_at.contains("insufficient_quota") || is_unpaid(looked_at) => {
            ModelError::BadRequest { status, said }
        }
        429 => ModelError::RateLimited { retry_after, said },
        401 | 403 => ModelError::Unauthorized { status, said },
        200 | 400 if is_bad_key(looked_at) => ModelError::Unauthorized { status, said },
        404 => ModelError::NotFound { said },
        200 | 400 | 422 if labelled("model_not_found") || is_unknown_model(looked_at) => ModelError::NotFound { said },
        400 if labelled("content_filter") || labelled("content_policy_violation") => {
            ModelError::Declined { said, written: 0 }
        }
        408 | 409 | 500.. | ..400 => ModelError::Server { status, retry_after, said },
        _ => ModelError::BadRequest { status, said },
    };
    let refused = match error {
        ModelError::BadRequest { status: 400 | 422, .. } => find_refused_parameter(looked_at, &words.labels),
        _ => None,
    };
    EndpointFailure { error, refused }
}

/// Returns true if the message says, in the words of many vendors, that the request exceeds the model's context.
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

fn is_unknown_model(message: &str) -> bool {
    let plainly = ["unknown model", "invalid model", "no such model", "not a valid model", "model_not_found"];
    let missing = ["does not exist", "not found", "not exist", "doesn't exist"];
    plainly.iter().any(|phrase| message.contains(phrase))
        || message.split_once("model").is_some_and(|(_, behind)| missing.iter().any(|phrase| behind.contains(phrase)))
}

/// Returns the parameter that is not accepted at all, as opposed to a value of it that is too large.
fn find_refused_parameter(message: &str, labels: &[String]) -> Option<OptionalParameter> {
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
    let parameters = [("max_tokens", OptionalParameter::MaxTokens), ("temperature", OptionalParameter::Temperature)];
    let labelled = parameters.iter().find(|(name, _)| labels.iter().any(|label| label == name));
    let named = labelled.or_else(|| parameters.iter().find(|(name, _)| message.contains(name)));
    named.filter(|_| is_refused).map(|(_, parameter)| *parameter)
}

#[cfg(test)]
#[path = "refusal_kind_tests.rs"]
mod tests;
