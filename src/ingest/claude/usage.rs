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

/// The larger figure of each kind.
pub(super) fn larger(a: Usage, b: Usage) -> Usage {
    Usage {
        prompt_tokens: a.prompt_tokens.max(b.prompt_tokens),
        completion_tokens: a.completion_tokens.max(b.completion_tokens),
        cached_tokens: a.cached_tokens.max(b.cached_tokens),
        cache_write_tokens: a.cache_write_tokens.max(b.cache_write_tokens),
        cost_usd: None,
    }
}

/// The figures of a total that are larger than those of a sum.
pub(super) fn beyond(total: Usage, sum: Usage) -> Usage {
    Usage {
        prompt_tokens: total.prompt_tokens.filter(|_| total.prompt_tokens > sum.prompt_tokens),
        completion_tokens: total.completion_tokens.filter(|_| total.completion_tokens > sum.completion_tokens),
        cached_tokens: total.cached_tokens.filter(|_| total.cached_tokens > sum.cached_tokens),
        cache_write_tokens: total.cache_write_tokens.filter(|_| total.cache_write_tokens > sum.cache_write_tokens),
        cost_usd: None,
    }
}
