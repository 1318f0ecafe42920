//! The cost of a call, determined once the call has returned.

use super::money::CallTokens;
use super::token_estimate::{CallSize, count_reply_tokens};
use crate::model::{ModelError, ModelReply};

#[cfg(test)]
#[path = "call_cost_tests.rs"]
mod tests;

/// The cost of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallCost {
    /// The billed amount is unknown, so the reservation stands.
    Unknown,
    /// The billed amount is known.
    Known {
        /// The tokens that count against the caps: what the endpoint reports or what we count, whichever is more, and
        /// never more than the reservation. So an endpoint that reports too little gains nobody a call.
        counted: CallTokens,
        /// The tokens shown to people: what the endpoint reports, or what we count if it reports nothing; never more
        /// than the reservation.
        billed: CallTokens,
        /// The tokens that the endpoint reports, if something else was counted.
        claimed: Option<CallTokens>,
    },
}

impl CallCost {
    /// Returns the cost of a call of this size that ended with this answer.
    pub(super) fn from_answer(size: &CallSize, answer: &Result<ModelReply, ModelError>) -> Self {
        match answer {
            Ok(reply) => Self::from_reply(size, reply),
            Err(error) => Self::from_error(size, error),
        }
    }

    fn from_reply(size: &CallSize, reply: &ModelReply) -> Self {
        let within = |prompt: u64, completion: u64| CallTokens {
            prompt: prompt.min(size.at_most.prompt),
            completion: completion.min(size.at_most.completion),
        };
        let ours = within(size.whole_prompt, count_reply_tokens(reply));
        let said = CallTokens {
            prompt: reply.usage.prompt_tokens.unwrap_or(ours.prompt),
            completion: reply.usage.completion_tokens.unwrap_or(ours.completion),
        };
        let counted = within(said.prompt.max(ours.prompt), said.completion.max(ours.completion));
        let says_something = reply.usage.prompt_tokens.is_some() || reply.usage.completion_tokens.is_some();
        let billed = within(said.prompt, said.completion);
        Self::Known { counted, billed, claimed: (says_something && said != counted).then_some(said) }
    }

    fn from_error(size: &CallSize, error: &ModelError) -> Self {
        match error {
            // Nothing was sent, or the endpoint rejected it before any work.
            ModelError::Misconfigured { .. }
            | ModelError::Refused { .. }
            | ModelError::Resting { .. }
            | ModelError::NotRecorded { .. }
            | ModelError::Unreachable { .. }
            | ModelError::Unauthorized { .. }
            | ModelError::NotFound { .. }
            | ModelError::BadRequest { .. }
            | ModelError::RateLimited { .. }
            | ModelError::TooLong { .. } => Self::free_call(),
            ModelError::Declined { written, .. } => {
                let completion = (*written).min(size.at_most.completion);
                let read = CallTokens { prompt: size.whole_prompt, completion };
                Self::Known { counted: read, billed: read, claimed: None }
            }
            // An answer that never arrived may have been written in full, and may be billed in full.
            ModelError::Server { .. }
            | ModelError::Connection { .. }
            | ModelError::TimedOut { .. }
            | ModelError::Oversized { .. }
            | ModelError::Unreadable { .. } => Self::Unknown,
        }
    }

    fn free_call() -> Self {
        Self::Known { counted: CallTokens::default(), billed: CallTokens::default(), claimed: None }
    }
}

/// Returns true if more is claimed than can have been sent or may have been written.
pub(super) fn exceeds_maximum(claimed: &CallTokens, at_most: &CallTokens) -> bool {
    claimed.prompt > at_most.prompt || claimed.completion > at_most.completion
}
