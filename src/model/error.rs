//! Why there is no answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a model gave no answer. No variant holds a key, and texts from outside are short and in one line.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelError {
    /// The endpoint cannot be asked as it is set up.
    #[error("the endpoint is not set up right: {why}")]
    Misconfigured {
        /// What is wrong, and what to do.
        why: String,
    },
    /// The governor did not let the question out: an outcome, not a fault.
    #[error("not asked: {why}")]
    Refused {
        /// Which cap would have been passed.
        why: String,
    },
    /// The endpoint failed too often of late and is left alone for a while.
    #[error("not asked: the endpoint failed {failures} times in a row and is left alone for {}s", for_.as_secs())]
    Resting {
        /// How often it failed in a row.
        failures: u32,
        /// How much longer.
        for_: Duration,
    },
    /// 401 or 403.
    #[error("the endpoint does not accept the key ({status}): {said}")]
    Unauthorized {
        /// The HTTP status.
        status: u16,
        /// What the endpoint said.
        said: String,
    },
    /// 404, or a 400 that says so: there is no such model or path.
    #[error("the endpoint has no such model or path: {said}")]
    NotFound {
        /// What the endpoint said.
        said: String,
    },
    /// 429.
    #[error("the endpoint asks for patience: {said}")]
    RateLimited {
        /// How long, where it says so.
        retry_after: Option<Duration>,
        /// What the endpoint said.
        said: String,
    },
    /// The question is longer than the model can read.
    #[error("the question is too long for the model, so lower `distill.digestTokens`: {said}")]
    TooLong {
        /// What the endpoint said.
        said: String,
    },
    /// Any other 4xx: the endpoint does not understand the question, often its form.
    #[error("the endpoint refuses the question ({status}): {said}")]
    BadRequest {
        /// The HTTP status.
        status: u16,
        /// What the endpoint said.
        said: String,
    },
    /// 5xx, 408, 409.
    #[error("the endpoint failed ({status}): {said}")]
    Server {
        /// The HTTP status.
        status: u16,
        /// How long to wait, where it says so.
        retry_after: Option<Duration>,
        /// What the endpoint said.
        said: String,
    },
    /// There was no connection, so nothing was sent.
    #[error("the endpoint cannot be reached: {said}")]
    Unreachable {
        /// What went wrong.
        said: String,
    },
    /// The connection broke off before the answer was whole.
    #[error("the connection to the endpoint broke off: {said}")]
    Connection {
        /// What went wrong.
        said: String,
    },
    /// No whole answer in time.
    #[error("no answer within {}s", after.as_secs())]
    TimedOut {
        /// The time it had.
        after: Duration,
    },
    /// More bytes than any answer has.
    #[error("the answer is longer than {max_bytes} bytes")]
    Oversized {
        /// The most that is read.
        max_bytes: u64,
    },
    /// Bytes that are no answer: not UTF-8, not JSON, a stream where none was asked for, no choices.
    #[error("the answer cannot be read: {why}")]
    Unreadable {
        /// What is wrong with it.
        why: String,
    },
    /// A filter objected, or the model declined.
    #[error("the model declined to answer: {said}")]
    Declined {
        /// Its words.
        said: String,
        /// Tokens that it wrote before it did, as the endpoint counts.
        #[serde(default)]
        written: u64,
    },
    /// A recording has no answer to this question.
    #[error("no recorded answer to this question ({key}): record it with `model.cassette` set to `record`")]
    NotRecorded {
        /// The key of the question.
        key: String,
    },
}

impl ModelError {
    /// Whether asking the same again may help. What is not implemented (501) stays so.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Server { status, .. } => *status != 501,
            Self::RateLimited { .. } | Self::Unreachable { .. } | Self::Connection { .. } | Self::TimedOut { .. } => {
                true
            }
            _ => false,
        }
    }

    /// What kind of error it is, in the word that stands in files.
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

    /// How long the endpoint asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
