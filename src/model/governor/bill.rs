//! What a call counts for once it has come back.

use super::estimate::{Size, written};
use super::money::Tokens;
use crate::model::{ModelError, Reply};

#[cfg(test)]
#[path = "bill_tests.rs"]
mod tests;

/// What a call counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bill {
    /// Nobody knows what was billed: the reservation stands.
    Unknown,
    /// This much.
    Known {
        /// Against the caps: what the endpoint says or what we count, whichever is more, and never more than the
        /// reservation. So an endpoint that says too little buys nobody a call.
        counted: Tokens,
        /// For people: what the endpoint says, and what we count where it says nothing; never more than the reservation.
        billed: Tokens,
        /// What the endpoint says, where something else was counted.
        claimed: Option<Tokens>,
    },
}

impl Bill {
    /// The bill for a call of this size that came back so.
    pub(super) fn of(size: &Size, answer: &Result<Reply, ModelError>) -> Self {
        match answer {
            Ok(reply) => Self::of_reply(size, reply),
            Err(error) => Self::of_error(size, error),
        }
    }

    fn of_reply(size: &Size, reply: &Reply) -> Self {
        let within = |prompt: u64, completion: u64| Tokens {
            prompt: prompt.min(size.at_most.prompt),
            completion: completion.min(size.at_most.completion),
        };
        let ours = within(size.whole_prompt, written(reply));
        let said = Tokens {
            prompt: reply.usage.prompt_tokens.unwrap_or(ours.prompt),
            completion: reply.usage.completion_tokens.unwrap_or(ours.completion),
        };
        let counted = within(said.prompt.max(ours.prompt), said.completion.max(ours.completion));
        let says_something = reply.usage.prompt_tokens.is_some() || reply.usage.completion_tokens.is_some();
        let billed = within(said.prompt, said.completion);
        Self::Known { counted, billed, claimed: (says_something && said != counted).then_some(said) }
    }

    fn of_error(size: &Size, error: &ModelError) -> Self {
        match error {
            // Nothing went out, or it was turned away at the door.
            ModelError::Misconfigured { .. }
            | ModelError::Refused { .. }
            | ModelError::Resting { .. }
            | ModelError::NotRecorded { .. }
            | ModelError::Unreachable { .. }
            | ModelError::Unauthorized { .. }
            | ModelError::NotFound { .. }
            | ModelError::BadRequest { .. }
            | ModelError::RateLimited { .. }
            | ModelError::TooLong { .. } => Self::free(),
            ModelError::Declined { written, .. } => {
                let completion = (*written).min(size.at_most.completion);
                let read = Tokens { prompt: size.whole_prompt, completion };
                Self::Known { counted: read, billed: read, claimed: None }
            }
            // An answer may have been written in full, and may be billed in full, that never got here.
            ModelError::Server { .. }
            | ModelError::Connection { .. }
            | ModelError::TimedOut { .. }
            | ModelError::Oversized { .. }
            | ModelError::Unreadable { .. } => Self::Unknown,
        }
    }

    fn free() -> Self {
        Self::Known { counted: Tokens::default(), billed: Tokens::default(), claimed: None }
    }
}

/// Whether more is claimed than can have been sent or may have been written.
pub(super) fn is_too_much(claimed: &Tokens, at_most: &Tokens) -> bool {
    claimed.prompt > at_most.prompt || claimed.completion > at_most.completion
}
