//! Tracks Codex's token totals, which only grow within a session and which a fork inherits from its parent.

use crate::domain::TokenUsage;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

#[cfg(test)]
#[path = "token_totals_tests.rs"]
mod tests;

/// Adds up the tokens that were spent in this file.
#[derive(Debug, Default)]
pub(super) struct CodexTokenMeter {
    /// The last totals that were read, including those of a parent.
    total: Option<TokenUsage>,
    /// The last figures that were read from a record without totals.
    single: Option<TokenUsage>,
    own: TokenUsage,
}

/// The session that a token count belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenCountOwner {
    /// The count belongs to this session, which has no parent.
    This,
    /// The count belongs to this session, which was forked from a parent.
    Fork,
    /// The count belongs to the parent and was copied into this file.
    Parent,
}

impl CodexTokenMeter {
    /// Records one count and returns the usage of the last request; `None` if the count is a repetition.
    pub(super) fn record_count(&mut self, mut info: Object, owner: TokenCountOwner) -> Option<TokenUsage> {
        let last = json_fields::take_object(&mut info, "last_token_usage").map(|usage| self::parse_codex_usage(&usage));
        let total =
            json_fields::take_object(&mut info, "total_token_usage").map(|usage| self::parse_codex_usage(&usage));
        let last = last.filter(|usage| !usage.is_unknown());
        let spent = match (total.filter(|usage| !usage.is_unknown()), self.total) {
            (Some(total), Some(before)) if total == before => return None,
            // The last request equals the total, so the count is new, however large it is.
            (Some(total), Some(_)) if last == Some(total) => total,
            (Some(total), Some(before)) if has_grown(before, total) => total.subtract_usage(before),
            // The totals were reset, or they continue those of a parent whose records are in another file.
            (Some(total), Some(_)) => last.unwrap_or(total),
            (Some(total), None) if owner == TokenCountOwner::Fork => last.unwrap_or(total),
            (Some(total), None) => total,
            (None, _) if last == self.single => return None,
            (None, _) => last?,
        };
        match total {
            Some(_) => self.total = total,
            None => self.single = last,
        }
        if owner != TokenCountOwner::Parent {
            self.own = self.own.add_usage(spent);
        }
        Some(last.unwrap_or(spent))
    }

    /// Returns the tokens that were spent in this file, or `None` if none were counted.
    pub(super) fn own_usage(&self) -> Option<TokenUsage> {
        (!self.own.is_unknown()).then_some(self.own)
    }
}

/// Parses usage figures as OpenAI reports them: input includes cached tokens, output includes reasoning.
pub(in crate::ingest) fn parse_codex_usage(usage: &Object) -> TokenUsage {
    TokenUsage {
        prompt_tokens: json_fields::get_count(usage, "input_tokens"),
        completion_tokens: json_fields::get_count(usage, "output_tokens"),
        cached_tokens: json_fields::get_count(usage, "cached_input_tokens"),
        cache_write_tokens: json_fields::get_count(usage, "cache_write_input_tokens"),
        cost_usd: None,
    }
}

/// Returns true if the totals continue from `before`, rather than having been reset.
pub(in crate::ingest) fn has_grown(before: TokenUsage, after: TokenUsage) -> bool {
    after.prompt_tokens >= before.prompt_tokens && after.completion_tokens >= before.completion_tokens
}
