//! Tokens and money, under the names that producers give them.

use crate::domain::Usage;
use crate::ingest::pick;
use crate::ingest::pick::Object;

#[cfg(test)]
#[path = "spent_tests.rs"]
mod tests;

/// What a step cost: its `metrics`, or `usage` in the words of a provider.
pub(super) fn of_step(metrics: &Object) -> Usage {
    read(metrics, "")
}

/// What everything cost, by the log's own count. Nothing but zeros is no count.
pub(super) fn of_all(metrics: &Object) -> Usage {
    let total = read(metrics, "total_");
    let has_tokens = [total.prompt_tokens, total.completion_tokens, total.cached_tokens, total.cache_write_tokens]
        .iter()
        .any(|tokens| tokens.is_some_and(|tokens| tokens > 0));
    if has_tokens || total.cost_usd.is_some_and(|cost| cost > 0.0) { total } else { Usage::default() }
}

/// The figures of a total for which steps gave none.
pub(super) fn missing(total: Usage, steps: Usage) -> Usage {
    let given = |tokens: Option<u64>| tokens.is_some_and(|tokens| tokens > 0);
    Usage {
        prompt_tokens: total.prompt_tokens.filter(|_| !given(steps.prompt_tokens)),
        completion_tokens: total.completion_tokens.filter(|_| !given(steps.completion_tokens)),
        cached_tokens: total.cached_tokens.filter(|_| !given(steps.cached_tokens)),
        cache_write_tokens: total.cache_write_tokens.filter(|_| !given(steps.cache_write_tokens)),
        cost_usd: total.cost_usd.filter(|_| !steps.cost_usd.is_some_and(|cost| cost > 0.0)),
    }
}

fn read(metrics: &Object, prefix: &str) -> Usage {
    let extra = metrics.get("extra").and_then(serde_json::Value::as_object);
    let own = |names: &[&str]| {
        let named =
            |name: &&str| pick::count(metrics, &format!("{prefix}{name}")).or_else(|| pick::count(metrics, name));
        names.iter().find_map(named)
    };
    let also = |names: &[&str]| {
        let named = |extra: &Object, name: &str| {
            pick::count(extra, &format!("{prefix}{name}")).or_else(|| pick::count(extra, name))
        };
        own(names).or_else(|| names.iter().find_map(|name| named(extra?, name)))
    };
    let cached_tokens = also(&["cached_tokens", "cache_read_input_tokens", "cache_read_tokens"]);
    let cache_write_tokens = also(&[
        "cache_creation_input_tokens",
        "cache_write_input_tokens",
        "cache_creation_tokens",
        "cache_write_tokens",
    ]);
    Usage {
        prompt_tokens: own(&["prompt_tokens"]).or_else(|| {
            let input = own(&["input_tokens"])?;
            // A provider that counts cached tokens under this name counts them beside its input.
            let beside = own(&["cache_read_input_tokens"]).unwrap_or_default();
            let written = own(&["cache_creation_input_tokens"]).unwrap_or_default();
            Some(input.saturating_add(beside).saturating_add(written))
        }),
        completion_tokens: own(&["completion_tokens", "output_tokens"]),
        cached_tokens,
        cache_write_tokens,
        cost_usd: ["cost_usd", "cost"].iter().find_map(|name| {
            pick::amount(metrics, &format!("{prefix}{name}"))
                .or_else(|| pick::amount(metrics, name))
                .filter(|cost| *cost == 0.0 || (cost.is_normal() && *cost > 0.0))
        }),
    }
}
