//! Counts of tokens that only ever grow, and that a fork takes over from its parent.

use crate::domain::Usage;
use crate::ingest::pick;
use crate::ingest::pick::Object;

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;

/// Counts what was spent in this file.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// The last totals heard, also of a parent.
    total: Option<Usage>,
    /// The last figures heard where there are no totals.
    single: Option<Usage>,
    own: Usage,
}

/// Whose tokens they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// This session's, and it has no parent.
    This,
    /// This session's, which began where a parent was.
    Fork,
    /// The parent's, copied.
    Parent,
}

impl Meter {
    /// Hears one count and says what the last request cost; nothing if the count is a repetition.
    pub(super) fn hear(&mut self, mut info: Object, owner: Owner) -> Option<Usage> {
        let last = pick::take_object(&mut info, "last_token_usage").map(|usage| self::usage(&usage));
        let total = pick::take_object(&mut info, "total_token_usage").map(|usage| self::usage(&usage));
        let last = last.filter(|usage| !usage.is_unknown());
        let spent = match (total.filter(|usage| !usage.is_unknown()), self.total) {
            (Some(total), Some(before)) if total == before => return None,
            // The request is all that was counted: the count is new, however large.
            (Some(total), Some(_)) if last == Some(total) => total,
            (Some(total), Some(before)) if has_grown(before, total) => total.minus(before),
            // Totals began anew, or stand on those of a parent whose records are elsewhere.
            (Some(total), Some(_)) => last.unwrap_or(total),
            (Some(total), None) if owner == Owner::Fork => last.unwrap_or(total),
            (Some(total), None) => total,
            (None, _) if last == self.single => return None,
            (None, _) => last?,
        };
        match total {
            Some(_) => self.total = total,
            None => self.single = last,
        }
        if owner != Owner::Parent {
            self.own = self.own.plus(spent);
        }
        Some(last.unwrap_or(spent))
    }

    /// Everything that was spent in this file.
    pub(super) fn own(&self) -> Option<Usage> {
        (!self.own.is_unknown()).then_some(self.own)
    }
}

/// Figures as OpenAI gives them: input includes what was cached, output includes reasoning.
pub(in crate::ingest) fn usage(usage: &Object) -> Usage {
    Usage {
        prompt_tokens: pick::count(usage, "input_tokens"),
        completion_tokens: pick::count(usage, "output_tokens"),
        cached_tokens: pick::count(usage, "cached_input_tokens"),
        cache_write_tokens: pick::count(usage, "cache_write_input_tokens"),
        cost_usd: None,
    }
}

/// Whether totals go on where they were, rather than anew.
pub(in crate::ingest) fn has_grown(before: Usage, after: Usage) -> bool {
    after.prompt_tokens >= before.prompt_tokens && after.completion_tokens >= before.completion_tokens
}
