use proptest::prelude::*;
use serde_json::json;

use super::RunLogReader;
use crate::domain::{EpisodeStatus, Happening, SessionOutcome, TrajectoryEvent};
use crate::ingest::LogFormat;
use crate::ingest::chat_messages::tests::{calls, damaged, events, json, outputs, read, said, steps};

const RUN: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/openagents/run.jsonl"));

fn outcome(events: &[TrajectoryEvent]) -> Option<&SessionOutcome> {
    events.iter().find_map(|event| if let TrajectoryEvent::Outcome(outcome) = event { Some(outcome) } else { None })
}

#[test]
fn a_whole_run_is_read() {
    let (format, events) = read(RUN);
    assert_eq!(format, LogFormat::OpenAgentsRunLog);
    assert_eq!(
        said(&events),
        [
            ("system", "Task: sh-3b - Round prices to cents"),
            ("system", "You are MechaCoder."),
            ("system", "Focus ONLY on sh-3b."),
            ("agent", "Looking at the prices."),
            ("agent", ""),
            ("system", "Verification: bun run typecheck"),
            ("system", "Verification failed, fix it"),
            ("agent", "TASK_COMPLETED: sh-3b - rounded"),
            ("system", "Verification: bun run typecheck"),
            ("system", "Pushed commit 9d1e2f3"),
            ("system", "Closed task sh-3b"),
        ],
        "requests repeat what was said, and last words are told once"
    );
    let command = json!({"command": "bun run typecheck"});
    assert_eq!(
        calls(&events),
        [
            (4, "a1", "bash", &json!({"command": "bun test prices"})),
            (5, "a2", "edit", &json!({"path": "src/price.ts"})),
            (6, "verify-1", "verify", &command),
            (9, "verify-2", "verify", &command),
        ],
        "a call stands in the response and in a line of its own, and is one"
    );
    assert_eq!(
        outputs(&events),
        [
            ("a1".to_owned(), "expected 1.10, got 1.1000000000000001", Some(true)),
            ("a2".to_owned(), "edited", Some(false)),
            ("verify-1".to_owned(), "src/price.ts(3,1): error TS2304: Cannot find name 'round'.", Some(true)),
            ("verify-2".to_owned(), "", Some(false)),
        ]
    );
    assert_eq!(outcome(&events).unwrap().status, EpisodeStatus::Success);
    let TrajectoryEvent::About(about) = &events[0] else { panic!("{events:?}") };
    assert_eq!(about.session_id.as_deref(), Some("run-20260107-010000-k3ab"));
    assert!(
        events
            .iter()
            .any(|event| matches!(event, TrajectoryEvent::About(about) if about.task_id.as_deref() == Some("sh-3b")))
    );
}

#[test]
fn what_was_trimmed_leaves_the_rest_whole() {
    let events = events::<RunLogReader>(&[
        json!({"type": "run_start", "ts": "t0", "runId": "r"}),
        json!({"type": "log_trimmed", "ts": "t", "dropped": 6, "kept": 4}),
        json!({"type": "tool_call", "toolCallId": "b", "tool": "read", "args": {"path": "x"}}),
        json!({"type": "tool_result", "toolCallId": "a", "tool": "bash", "ok": false, "result": "boom"}),
        json!({"type": "tool_result", "toolCallId": "b", "tool": "read", "ok": true, "result": "text"}),
        json!({"type": "verify_fail", "stderr": "no start"}),
    ]);
    assert!(events.contains(&TrajectoryEvent::Happened(0, Happening::Trimmed, "dropped 6, kept 4".to_owned())));
    let calls: Vec<_> = calls(&events).into_iter().map(|call| (call.0, call.1, call.2)).collect();
    assert_eq!(calls, [(1, "b", "read"), (1, "a", "bash"), (2, "verify-1", "verify")]);
    assert_eq!(
        outputs(&events),
        [
            ("a".to_owned(), "boom", Some(true)),
            ("b".to_owned(), "text", Some(false)),
            ("verify-1".to_owned(), "no start", Some(true)),
        ]
    );
}

#[test]
fn a_run_that_ends_with_a_timeout_failed() {
    let timeout = json!({"type": "timeout", "reason": "no output for 10 minutes"});
    let events_of = |lines: &[serde_json::Value]| events::<RunLogReader>(lines);
    let events = events_of(std::slice::from_ref(&timeout));
    let expected = Some("timeout: no output for 10 minutes");
    let end = outcome(&events).unwrap();
    assert_eq!((end.status.clone(), end.error.as_deref()), (EpisodeStatus::Failed, expected));
    let events = events_of(&[
        timeout.clone(),
        json!({"type": "run_end", "status": "failed", "finalMessage": "", "error": null}),
    ]);
    assert_eq!(outcome(&events).unwrap().error.as_deref(), expected);
    let events = events_of(&[timeout, json!({"type": "run_end", "status": "success", "finalMessage": "went on"})]);
    let end = outcome(&events).unwrap();
    assert_eq!((end.status.clone(), end.error.as_deref()), (EpisodeStatus::Success, None));
}

#[test]
fn ends_of_all_kinds() {
    for (status, expected) in [
        ("success", Some(EpisodeStatus::Success)),
        ("incomplete", Some(EpisodeStatus::Partial)),
        ("failed", Some(EpisodeStatus::Failed)),
        ("no_tasks", None),
    ] {
        let events = events::<RunLogReader>(&[json!({"type": "run_end", "status": status, "error": "e"})]);
        assert_eq!(outcome(&events).map(|outcome| outcome.status.clone()), expected, "{status}");
    }
}

#[test]
fn another_run_begins_another_trajectory_and_unknown_types_are_told_once() {
    let start = |id: &str| json!({"type": "run_start", "runId": id});
    let events = events::<RunLogReader>(&[
        start("a"),
        json!({"type": "retry_prompt", "reason": "x"}),
        start("b"),
        json!({"type": "retry_prompt", "reason": "y"}),
        json!({"type": "new_thing"}),
        json!({"type": "new_thing"}),
    ]);
    assert_eq!(steps(&events).iter().map(|step| step.number).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(events.iter().filter(|event| matches!(event, TrajectoryEvent::Skipped(_))).count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_panic(lines in prop::collection::vec(json(), 0..6), damaged in damaged(RUN)) {
        events::<RunLogReader>(&lines);
        events::<RunLogReader>(&damaged);
    }
}
