use serde_json::{Value, json};

use super::super::tests::{agent, events, happenings, user, with};
use crate::domain::{EpisodeStatus, Happening, TokenUsage, TrajectoryEvent};

#[test]
fn a_summary_without_a_boundary_is_a_compaction_too() {
    let summary = with(user(json!("So far: …")), json!({"isCompactSummary": true}));
    let boundary = json!({"type": "system", "subtype": "compact_boundary",
        "compact_metadata": {"trigger": "manual", "pre_tokens": 9}});
    assert_eq!(happenings(&events(vec![summary.clone()])), [(0, Happening::Compacted, String::new())]);
    let told = happenings(&events(vec![boundary, summary]));
    assert_eq!(told, [(0, Happening::Compacted, "manual, 9 tokens before".to_owned())]);
}

#[test]
fn errors_of_the_provider_in_every_shape() {
    let table = [
        (json!({"error": {"message": "Overloaded"}}), "Overloaded"),
        (
            json!({"error": {"cause": {"code": "FailedToOpenSocket"}}, "retryAttempt": 2}),
            "FailedToOpenSocket (retry 2)",
        ),
        (json!({"error": "timeout"}), "timeout"),
        (json!({"content": "upstream timeout"}), "upstream timeout"),
        (json!({"retryAttempt": 1, "maxRetries": 3}), "(retry 1 of 3)"),
    ];
    for (line, expected) in table {
        let line = with(json!({"type": "system", "subtype": "api_error"}), line);
        assert_eq!(happenings(&events(vec![line])), [(0, Happening::ApiError, expected.to_owned())]);
    }
    let limit =
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "rateLimitType": "five_hour"}});
    let told = happenings(&events(vec![limit]));
    assert_eq!(told, [(0, Happening::ApiError, "rate limit reached (five_hour)".to_owned())]);
}

#[test]
fn hooks_that_object_and_hooks_that_do_not() {
    let summary = |more: Value| with(json!({"type": "system", "subtype": "stop_hook_summary"}), more);
    let table = [
        (json!({"hookErrors": [], "preventedContinuation": false}), None),
        (json!({"hookErrors": ["no"]}), Some("no")),
        (json!({"preventedContinuation": true, "stopReason": "enough"}), Some("enough")),
    ];
    for (line, expected) in table {
        let told: Vec<_> = happenings(&events(vec![summary(line)])).into_iter().map(|(_, _, text)| text).collect();
        assert_eq!(told, Vec::from_iter(expected.map(str::to_owned)));
    }
}

#[test]
fn how_a_headless_run_ends() {
    let table = [
        (json!({"subtype": "success", "is_error": false}), Some((EpisodeStatus::Success, None))),
        (json!({"subtype": "success", "is_error": true, "result": "401"}), Some((EpisodeStatus::Failed, Some("401")))),
        (json!({"subtype": "error_max_turns"}), Some((EpisodeStatus::Aborted, Some("error_max_turns")))),
        (
            json!({"subtype": "error_during_execution", "is_error": true, "errors": ["killed"]}),
            Some((EpisodeStatus::Failed, Some("killed"))),
        ),
        (json!({}), None),
    ];
    for (line, expected) in table {
        let line = with(json!({"type": "result", "usage": {"input_tokens": 3, "output_tokens": 4}}), line);
        let events = events(vec![line]);
        let outcome = events.iter().find_map(|event| match event {
            TrajectoryEvent::Outcome(outcome) => Some((outcome.status.clone(), outcome.error.as_deref())),
            _ => None,
        });
        assert_eq!(outcome, expected);
        let total = TokenUsage { prompt_tokens: Some(3), completion_tokens: Some(4), ..TokenUsage::default() };
        assert!(events.contains(&TrajectoryEvent::Total(total)), "nobody else counted");
    }
}

#[test]
fn a_headless_run_knows_better_where_its_messages_know_less() {
    let result = |input: u64, cached: u64, output: u64| {
        json!({"type": "result", "usage": {"input_tokens": input, "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 5, "output_tokens": output}})
    };
    let message = |id: &str, output: u64| agent(id, json!(id), json!(output));
    let completion = |tokens: u64| TokenUsage { completion_tokens: Some(tokens), ..TokenUsage::default() };
    let all = TokenUsage {
        prompt_tokens: Some(305),
        cached_tokens: Some(280),
        completion_tokens: Some(900),
        ..TokenUsage::default()
    };
    for (lines, expected) in [
        (vec![message("a", 1), message("b", 1), result(20, 200, 900)], vec![completion(900)]),
        (vec![message("a", 1), message("a", 2), result(10, 100, 2)], vec![]),
        (vec![message("a", 1), message("b", 1), result(20, 280, 900)], vec![all]),
        (vec![message("a", 1), result(10, 100, 900), message("b", 1), result(20, 200, 950)], vec![completion(950)]),
        (vec![message("a", 1), result(10, 100, 900), message("b", 950)], vec![]),
        (vec![with(message("a", 1), json!({"forkedFrom": {}})), result(10, 100, 900)], vec![]),
        (vec![message("a", 1)], vec![]),
    ] {
        let totals: Vec<TokenUsage> = events(lines.clone())
            .into_iter()
            .filter_map(|event| match event {
                TrajectoryEvent::Total(total) => Some(total),
                _ => None,
            })
            .collect();
        assert_eq!(totals, expected, "{lines:?}");
    }
}
