use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

use super::OpenAgentsStateReader;
use crate::domain::{EpisodeStatus, TokenUsage, TrajectoryEvent};
use crate::ingest::LogFormat;
use crate::ingest::chat_messages::tests::{calls, damaged, events, json, outputs, read, said};

const RUN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/openagents/run-metadata.json"));
const HEALER: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/openagents/healer-state.json"));

fn totals(events: &[TrajectoryEvent]) -> Vec<TokenUsage> {
    events
        .iter()
        .filter_map(|event| if let TrajectoryEvent::Total(usage) = event { Some(*usage) } else { None })
        .collect()
}

fn index(metrics: Value, model: &str) -> Value {
    json!({"session_id": "s", "agent": {"name": "mechacoder", "version": "1.0.0", "model_name": model},
        "checkpoint": {"step_id": 8, "timestamp": "2026-01-05T07:46:48Z"}, "status": "in_progress",
        "final_metrics": metrics, "created_at": "2026-01-05T07:45:57Z", "parent_session_id": "p"})
}

#[test]
fn the_metadata_of_a_run_is_read() {
    let (format, events) = read(RUN);
    assert_eq!(format, LogFormat::OpenAgentsState);
    let TrajectoryEvent::About(about) = &events[0] else { panic!("{events:?}") };
    assert_eq!(about.session_id.as_deref(), Some("session-20260107-010000-aa11"), "as the session's file is named");
    assert_eq!(about.trajectory_id.as_deref(), Some("run-1767747600000-x1y2"));
    assert_eq!((about.task_id.as_deref(), about.title.as_deref()), (Some("sh-3b"), Some("Round prices to cents")));
    assert_eq!(said(&events), [("system", "Stopped before the tests ran\nCommits: 9d1e2f3")]);
    let Some(TrajectoryEvent::Outcome(outcome)) = events.last() else { panic!("{events:?}") };
    assert_eq!(
        (outcome.status.clone(), outcome.error.as_deref()),
        (EpisodeStatus::Partial, Some("turn limit reached"))
    );
}

#[test]
fn a_run_without_tasks_has_no_outcome() {
    let events =
        events::<OpenAgentsStateReader>(&[json!({"id": "r", "taskId": null, "status": "no_tasks", "totalTurns": 0})]);
    assert_eq!(events.len(), 1);
}

#[test]
fn an_index_is_not_believed_further_than_it_goes() {
    let zero = json!({"total_prompt_tokens": 0, "total_completion_tokens": 0, "total_steps": 8});
    let told = events::<OpenAgentsStateReader>(&[index(zero, "orchestrator")]);
    let TrajectoryEvent::About(about) = &told[0] else { panic!("{told:?}") };
    assert_eq!((about.session_id.as_deref(), about.parent_session_id.as_deref()), (Some("s"), Some("p")));
    assert_eq!(about.model, None, "the orchestrator is no model");
    assert_eq!(told.len(), 1, "neither a total of zeros nor an outcome");
    assert_eq!(events::<OpenAgentsStateReader>(&[index(Value::Null, "m")]).len(), 1);
    let some = json!({"total_prompt_tokens": 10, "total_completion_tokens": 0, "total_cost_usd": 0.5});
    let told = events::<OpenAgentsStateReader>(&[index(some, "m")]);
    assert!(matches!(&told[0], TrajectoryEvent::About(about) if about.model.as_deref() == Some("m")));
    let usage = TokenUsage {
        prompt_tokens: Some(10),
        completion_tokens: Some(0),
        cost_usd: Some(0.5),
        ..TokenUsage::default()
    };
    assert_eq!(totals(&told), [usage]);
}

#[test]
fn each_attempt_of_the_healer_is_a_trajectory() {
    let (format, events) = read(HEALER);
    assert_eq!(format, LogFormat::OpenAgentsState);
    let attempts: Vec<&[TrajectoryEvent]> = events.split(|event| *event == TrajectoryEvent::Begin).collect();
    assert_eq!(attempts.len(), 2);
    let TrajectoryEvent::About(about) = &attempts[0][0] else { panic!("{events:?}") };
    assert_eq!((about.agent.as_deref(), about.title.as_deref()), (Some("healer"), Some("VerificationFailed")));
    assert_eq!(said(attempts[0])[0].1, "1 spell(s) succeeded; 1 spell(s) failed; Last: Reverted 2 files");
    assert_eq!(
        calls(attempts[0]).iter().map(|call| call.2).collect::<Vec<_>>(),
        ["fix_typecheck_errors", "rewind_uncommitted_changes"]
    );
    assert_eq!(
        outputs(attempts[0]),
        [
            ("spell-1".to_owned(), "fix_typecheck_errors failed", Some(true)),
            ("spell-2".to_owned(), "rewind_uncommitted_changes succeeded", Some(false)),
        ]
    );
    assert!(
        matches!(attempts[0].last(), Some(TrajectoryEvent::Outcome(outcome)) if outcome.status == EpisodeStatus::Success)
    );
    let TrajectoryEvent::About(about) = &attempts[1][0] else { panic!("{events:?}") };
    assert_eq!(about.subtask_id.as_deref(), Some("sh-3b-sub-001"));
    assert!(!attempts[1].iter().any(|event| matches!(event, TrajectoryEvent::Outcome(_))), "skipped is no outcome");
}

#[test]
fn speed_is_shown_and_has_no_tokens() {
    let told = events::<OpenAgentsStateReader>(&[
        json!({"type": "apm_snapshot", "combined": {"apm1h": 12.5, "totalActions": 300}, "comparison": {"efficiencyRatio": 2}}),
        json!({"type": "apm_update", "sessionId": "s", "sessionAPM": 20.5, "totalActions": 41}),
    ]);
    assert_eq!(
        said(&told),
        [
            ("system", "Actions per minute: apm1h 12.5, totalActions 300, efficiencyRatio 2"),
            ("system", "Actions per minute: sessionAPM 20.5, totalActions 41"),
        ]
    );
    assert_eq!(totals(&told), []);
    let bare = events::<OpenAgentsStateReader>(&[json!({"combined": {"apm1h": 1}, "comparison": null})]);
    assert_eq!(said(&bare), [("system", "Actions per minute: apm1h 1")]);
}

#[test]
fn use_is_counted_for_the_session_it_names() {
    let update = |id: &str| {
        json!({"type": "usage_update", "usage": {"sessionId": id, "projectId": "shop", "timestamp": "2026-01-05T07:46:48Z",
            "inputTokens": 5, "outputTokens": 7, "cacheReadTokens": 100, "cacheCreationTokens": 20, "totalCostUsd": 0.25, "agent": "claude-code"}})
    };
    let told = events::<OpenAgentsStateReader>(&[update("a"), update("a"), update("b")]);
    assert_eq!(told.iter().filter(|event| **event == TrajectoryEvent::Begin).count(), 1);
    let usage = TokenUsage {
        prompt_tokens: Some(125),
        completion_tokens: Some(7),
        cached_tokens: Some(100),
        cache_write_tokens: Some(20),
        cost_usd: Some(0.25),
    };
    assert_eq!(totals(&told), [usage; 3]);
}

#[test]
fn the_real_documents_are_read() {
    let Ok(corpus) = std::env::var("ARCHIVIST_CORPUS") else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let file = |path: &str| read(&std::fs::read_to_string(format!("{corpus}/openagents/{path}")).unwrap());
    let (format, events) = file("healer-state.json");
    assert_eq!(format, LogFormat::OpenAgentsState);
    assert_eq!(events.iter().filter(|event| **event == TrajectoryEvent::Begin).count(), 6);
    assert_eq!(outputs(&events).iter().filter(|output| output.2 == Some(true)).count(), 1);
    assert_eq!(outputs(&events).len(), 8);
    for name in ["07-45-57-649Z-x8251x", "08-00-23-404Z-ew8gut", "08-07-41-875Z-ebphxk"] {
        let (format, events) = file(&format!("trajectories/20251205/session-2025-12-05T{name}.index.json"));
        assert_eq!(format, LogFormat::OpenAgentsState);
        assert_eq!(events.len(), 1, "{events:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_panic(
        lines in prop::collection::vec(json(), 0..6),
        run in damaged(RUN),
        healer in damaged(HEALER),
    ) {
        events::<OpenAgentsStateReader>(&lines);
        events::<OpenAgentsStateReader>(&run);
        events::<OpenAgentsStateReader>(&healer);
    }
}
