//! Reads and compares the usage of messages.

use super::super::json_fields::{self, Object};
use crate::domain::TokenUsage;

/// Reads a `usage` object, in which input tokens exclude cached ones; null counts as missing.
pub(super) fn read_usage(usage: &Object) -> TokenUsage {
    let new = json_fields::get_count(usage, "input_tokens");
    let cached = json_fields::get_count(usage, "cache_read_input_tokens");
    let written = json_fields::get_count(usage, "cache_creation_input_tokens").or_else(|| {
        let parts = usage.get("cache_creation")?.as_object()?;
        sum_figures(&[
            json_fields::get_count(parts, "ephemeral_5m_input_tokens"),
            json_fields::get_count(parts, "ephemeral_1h_input_tokens"),
        ])
    });
    TokenUsage {
        prompt_tokens: sum_figures(&[new, cached, written]),
        completion_tokens: json_fields::get_count(usage, "output_tokens"),
        cached_tokens: cached,
        cache_write_tokens: written,
        cost_usd: None,
    }
}

fn sum_figures(figures: &[Option<u64>]) -> Option<u64> {
    figures.iter().flatten().copied().reduce(u64::saturating_add)
}

/// Returns the larger figure of each kind.
pub(super) fn larger_figures(a: TokenUsage, b: TokenUsage) -> TokenUsage {
    TokenUsage {
        prompt_tokens: a.prompt_tokens.max(b.prompt_tokens),
        completion_tokens: a.completion_tokens.max(b.completion_tokens),
        cached_tokens: a.cached_tokens.max(b.cached_tokens),
        cache_write_tokens: a.cache_write_tokens.max(b.cache_write_tokens),
        cost_usd: None,
    }
}

/// Returns the figures of a total that are larger than those of a sum.
pub(super) fn figures_exceeding(total: TokenUsage, sum: TokenUsage) -> TokenUsage {
    TokenUsage {
        prompt_tokens: total.prompt_tokens.filter(|_| total.prompt_tokens > sum.prompt_tokens),
        completion_tokens: total.completion_tokens.filter(|_| total.completion_tokens > sum.completion_tokens),
        cached_tokens: total.cached_tokens.filter(|_| total.cached_tokens > sum.cached_tokens),
        cache_write_tokens: total.cache_write_tokens.filter(|_| total.cache_write_tokens > sum.cache_write_tokens),
        cost_usd: None,
    }
}
