//! Reads token counts and costs under the names that producers use.

use crate::domain::TokenUsage;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;

/// Returns the usage of a step: its `metrics`, or a provider's `usage`.
pub(super) fn read_step_usage(metrics: &Object) -> TokenUsage {
    read_metrics(metrics, "")
}

/// Returns the total that the log itself reports; a total of zeros counts as none.
pub(super) fn read_total_usage(metrics: &Object) -> TokenUsage {
    let total = read_metrics(metrics, "total_");
    let has_tokens = [total.prompt_tokens, total.completion_tokens, total.cached_tokens, total.cache_write_tokens]
        .iter()
        .any(|tokens| tokens.is_some_and(|tokens| tokens > 0));
    if has_tokens || total.cost_usd.is_some_and(|cost| cost > 0.0) { total } else { TokenUsage::default() }
}

/// Returns the figures of a total for which the steps gave none.
pub(super) fn select_missing_figures(total: TokenUsage, steps: TokenUsage) -> TokenUsage {
    let given = |tokens: Option<u64>| tokens.is_some_and(|tokens| tokens > 0);
    TokenUsage {
        prompt_tokens: total.prompt_tokens.filter(|_| !given(steps.prompt_tokens)),
        completion_tokens: total.completion_tokens.filter(|_| !given(steps.completion_tokens)),
        cached_tokens: total.cached_tokens.filter(|_| !given(steps.cached_tokens)),
        cache_write_tokens: total.cache_write_tokens.filter(|_| !given(steps.cache_write_tokens)),
        cost_usd: total.cost_usd.filter(|_| !steps.cost_usd.is_some_and(|cost| cost > 0.0)),
    }
}

fn read_metrics(metrics: &Object, prefix: &str) -> TokenUsage {
    let extra = metrics.get("extra").and_then(serde_json::Value::as_object);
    let own = |names: &[&str]| {
        let named = |name: &&str| {
            json_fields::get_count(metrics, &format!("{prefix}{name}"))
                .or_else(|| json_fields::get_count(metrics, name))
        };
        names.iter().find_map(named)
    };
    let also = |names: &[&str]| {
        let named = |extra: &Object, name: &str| {
            json_fields::get_count(extra, &format!("{prefix}{name}")).or_else(|| json_fields::get_count(extra, name))
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
    TokenUsage {
        prompt_tokens: own(&["prompt_tokens"]).or_else(|| {
            let input = own(&["input_tokens"])?;
            // A provider that counts cached tokens under this name excludes them from its input.
            let beside = own(&["cache_read_input_tokens"]).unwrap_or_default();
            let written = own(&["cache_creation_input_tokens"]).unwrap_or_default();
            Some(input.saturating_add(beside).saturating_add(written))
        }),
        completion_tokens: own(&["completion_tokens", "output_tokens"]),
        cached_tokens,
        cache_write_tokens,
        cost_usd: ["cost_usd", "cost"].iter().find_map(|name| {
            json_fields::get_amount(metrics, &format!("{prefix}{name}"))
                .or_else(|| json_fields::get_amount(metrics, name))
                .filter(|cost| *cost == 0.0 || (cost.is_normal() && *cost > 0.0))
        }),
    }
}
