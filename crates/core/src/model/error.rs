//! The errors of requests to a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The reason why a model gave no answer. No variant contains a key, and external texts are short and on one line.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelError {
    /// The endpoint's configuration is invalid.
    #[error("the endpoint is not set up right: {why}")]
    Misconfigured {
        /// The problem, and how to fix it.
        why: String,
    },
    /// The spend governor refused the call: an outcome, not a failure.
    #[error("not asked: {why}")]
    Refused {
        /// The cap that would have been exceeded.
        why: String,
    },
    /// The endpoint failed too often recently and gets no requests for a while.
    #[error("not asked: the endpoint failed {failures} times in a row and is left alone for {}s", for_.as_secs())]
    Resting {
        /// The number of failures in a row.
        failures: u32,
        /// The remaining length of the rest.
        for_: Duration,
    },
    /// The endpoint rejected the key, with status 401 or 403.
    #[error("the endpoint does not accept the key ({status}): {said}")]
    Unauthorized {
        /// The HTTP status.
        status: u16,
        /// The endpoint's message.
        said: String,
    },
    /// There is no such model or path: status 404, or a 400 that says so.
    #[error("the endpoint has no such model or path: {said}")]
    NotFound {
        /// The endpoint's message.
        said: String,
    },
    /// The endpoint limits the rate of requests, with status 429.
    #[error("the endpoint asks for patience: {said}")]
    RateLimited {
        /// The requested waiting time, if the endpoint gives one.
        retry_after: Option<Duration>,
        /// The endpoint's message.
        said: String,
    },
    /// The request is longer than the model's context.
    #[error("the question is too long for the model, so lower `distill.digestTokens`: {said}")]
    TooLong {
        /// The endpoint's message.
        said: String,
    },
    /// Any other 4xx status: the endpoint does not understand the request, often its format.
    #[error("the endpoint refuses the question ({status}): {said}")]
    BadRequest {
        /// The HTTP status.
        status: u16,
        /// The endpoint's message.
        said: String,
    },
    /// The endpoint failed, with status 5xx, 408 or 409.
    #[error("the endpoint failed ({status}): {said}")]
    Server {
        /// The HTTP status.
        status: u16,
        /// The requested waiting time, if the endpoint gives one.
        retry_after: Option<Duration>,
        /// The endpoint's message.
        said: String,
    },
    /// There was no connection, so nothing was sent.
    #[error("the endpoint cannot be reached: {said}")]
    Unreachable {
        /// The cause of the failure.
        said: String,
    },
    /// The connection broke off before the answer was complete.
    #[error("the connection to the endpoint broke off: {said}")]
    Connection {
        /// The cause of the failure.
        said: String,
    },
    /// The answer was not complete in time.
    #[error("no answer within {}s", after.as_secs())]
    TimedOut {
        /// The time limit of the request.
        after: Duration,
    },
    /// The answer has more bytes than are read.
    #[error("the answer is longer than {max_bytes} bytes")]
    Oversized {
        /// The most bytes that are read.
        max_bytes: u64,
    },
    /// The body is not an answer: not UTF-8, not JSON, an unrequested stream, or without choices.
    #[error("the answer cannot be read: {why}")]
    Unreadable {
        /// The problem with the body.
        why: String,
    },
    /// A content filter objected, or the model declined.
    #[error("the model declined to answer: {said}")]
    Declined {
        /// The model's or the filter's message.
        said: String,
        /// The tokens written before that, as the endpoint counts them.
        #[serde(default)]
        written: u64,
    },
    /// There is no recorded answer to this request.
    #[error("no recorded answer to this question ({key}): record it with `model.cassette` set to `record`")]
    NotRecorded {
        /// The key of the request.
        key: String,
    },
}

impl ModelError {
    /// Returns true if sending the same request again may help. A 501 (not implemented) is permanent.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Server { status, .. } => *status != 501,
            Self::RateLimited { .. } | Self::Unreachable { .. } | Self::Connection { .. } | Self::TimedOut { .. } => {
                true
            }
            _ => false,
        }
    }

    /// Returns the kind of error as a word, as files store it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Misconfigured { .. } => "misconfigured",
            Self::Refused { .. } => "refused",
            Self::Resting { .. } => "resting",
            Self::Unauthorized { .. } => "unauthorized",
            Self::NotFound { .. } => "not_found",
            Self::RateLimited { .. } => "rate_limited",
            Self::TooLong { .. } => "too_long",
            Self::BadRequest { .. } => "bad_request",
            Self::Server { .. } => "server",
            Self::Unreachable { .. } => "unreachable",
            Self::Connection { .. } => "connection",
            Self::TimedOut { .. } => "timed_out",
            Self::Oversized { .. } => "oversized",
            Self::Unreadable { .. } => "unreadable",
            Self::Declined { .. } => "declined",
            Self::NotRecorded { .. } => "not_recorded",
        }
    }

    /// Returns the waiting time that the endpoint asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
