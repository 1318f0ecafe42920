use serde_json::Value;
use serde_json::json;

use super::read_step_usage;
use super::read_total_usage;
use super::select_missing_figures;
use crate::domain::TokenUsage;
use crate::ingest::json_fields::into_object;

fn usage(figures: [Option<u64>; 4], cost_usd: Option<f64>) -> TokenUsage {
    let [prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens] = figures;
    TokenUsage { prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, cost_usd }
}

fn step(metrics: Value) -> TokenUsage {
    read_step_usage(&into_object(metrics))
}

#[test]
fn figures_have_many_names() {
    let harbor = json!({"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 7, "cost_usd": 0.5,
        "extra": {"cache_creation_input_tokens": 1}});
    assert_eq!(step(harbor), usage([Some(10), Some(2), Some(7), Some(1)], Some(0.5)));
    let anthropic = json!({"input_tokens": 2, "output_tokens": 3, "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 1});
    assert_eq!(step(anthropic), usage([Some(10), Some(3), Some(7), Some(1)], None));
    let codex = json!({"prompt_tokens": 10, "cached_tokens": 7, "extra": {"cache_write_input_tokens": 1}});
    assert_eq!(step(codex), usage([Some(10), None, Some(7), Some(1)], None));
    let in_extra = json!({"prompt_tokens": 10, "extra": {"cache_read_input_tokens": 7}});
    assert_eq!(step(in_extra), usage([Some(10), None, Some(7), None], None));
}

#[test]
fn what_is_no_figure_is_unknown() {
    for metrics in [
        json!({}),
        json!({"prompt_tokens": null, "cost_usd": null}),
        json!({"prompt_tokens": -5, "completion_tokens": [1], "cost_usd": -5e-324, "extra": 7}),
    ] {
        assert!(step(metrics).is_unknown());
    }
}

#[test]
fn totals_of_zeros_are_no_totals() {
    let total = |metrics| read_total_usage(&into_object(metrics));
    assert!(total(json!({"total_prompt_tokens": 0, "total_completion_tokens": 0, "total_steps": 8})).is_unknown());
    assert!(total(json!({"total_cost_usd": 0})).is_unknown());
    let some = json!({"total_prompt_tokens": 5, "total_cached_tokens": 0, "total_cost_usd": 0});
    assert_eq!(total(some), usage([Some(5), None, Some(0), None], Some(0.0)));
    assert_eq!(total(json!({"total_input_tokens": 5})).prompt_tokens, Some(5));
    assert_eq!(total(json!({"prompt_tokens": 5})).prompt_tokens, Some(5));
    let claude = json!({"total_prompt_tokens": 5, "extra": {"total_cache_creation_input_tokens": 3}});
    assert_eq!(total(claude).cache_write_tokens, Some(3));
}

#[test]
fn steps_come_before_totals() {
    let total = usage([Some(9), Some(9), Some(9), None], Some(9.0));
    let steps = usage([Some(5), None, Some(0), Some(1)], None);
    assert_eq!(select_missing_figures(total, steps), usage([None, Some(9), Some(9), None], Some(9.0)));
}
