//! What a message cost.

use super::super::pick::{self, Object};
use crate::domain::Usage;

/// The figures of a `usage`. New tokens are counted beside cached ones there; a null is no figure.
pub(super) fn of(usage: &Object) -> Usage {
    let new = pick::count(usage, "input_tokens");
    let cached = pick::count(usage, "cache_read_input_tokens");
    let written = pick::count(usage, "cache_creation_input_tokens").or_else(|| {
        let parts = usage.get("cache_creation")?.as_object()?;
        sum(&[pick::count(parts, "ephemeral_5m_input_tokens"), pick::count(parts, "ephemeral_1h_input_tokens")])
    });
    Usage {
        prompt_tokens: sum(&[new, cached, written]),
        completion_tokens: pick::count(usage, "output_tokens"),
        cached_tokens: cached,
        cache_write_tokens: written,
        cost_usd: None,
    }
}

fn sum(figures: &[Option<u64>]) -> Option<u64> {
    figures.iter().flatten().copied().reduce(u64::saturating_add)
}
