use std::fmt::Write;

use proptest::prelude::*;
use serde_json::json;

use super::ArcheFlowReader;
use crate::domain::{EpisodeStatus, Speaker, TrajectoryEvent};
use crate::ingest::LogFormat;
use crate::ingest::chat_messages::tests::{calls, damaged, events, json, outputs, read, said, steps};

const RUN: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/archeflow/run.jsonl"));

#[test]
fn a_whole_run_is_read() {
    let (format, events) = read(RUN);
    assert_eq!(format, LogFormat::ArcheFlow);
    let TrajectoryEvent::About(about) = &events[0] else { panic!("{events:?}") };
    assert_eq!(about.session_id.as_deref(), Some("2026-04-03-cart"));
    assert_eq!(about.agent.as_deref(), Some("archeflow"));
    assert_eq!(
        said(&events),
        [
            ("system", "Keep the discount when a line is removed"),
            ("other_agent", "Design the change"),
            ("agent", "Compute the discount after every change"),
            ("agent", "Decision: where to compute → in the cart\nOne place\nNot: in the view, b, views hold no money"),
            ("agent", "Implemented, with two tests"),
            (
                "other_agent",
                "guardian: needs_changes\n\
                 CRITICAL security: The coupon is taken from the query without a check (src/cart.ts:48)\n\
                 WARNING testing: No test for an empty cart (test/cart.ts:9)\n\
                 INFO quality: A shorter name would do"
            ),
            ("agent", "Fixed: The coupon is taken from the query without a check (src/cart.ts:48)"),
            ("system", "Shadow detected: archetype skeptic, shadow paralysis, action shorten"),
            ("system", ""),
            ("system", "Cycle ends: cycle 1, max cycles 2, exit condition no critical finding"),
        ]
    );
    assert_eq!(
        outputs(&events),
        [
            ("step 6".to_owned(), "CRITICAL: The coupon is taken from the query without a check", Some(true)),
            ("step 6".to_owned(), "WARNING: No test for an empty cart", Some(true)),
            (
                "fix-7".to_owned(),
                "fixed: The coupon is taken from the query without a check (src/cart.ts:48)",
                Some(false)
            ),
            ("step 9".to_owned(), "sage timed out: no answer after 300 s", Some(true)),
        ]
    );
    let calls = calls(&events);
    assert_eq!((calls.len(), calls[0].2, &calls[0].3["source"]), (1, "fix", &json!("guardian")));
    assert_eq!(steps(&events)[5].subagent.as_deref(), Some("guardian"));
    let outcome = events
        .iter()
        .find_map(|event| if let TrajectoryEvent::Outcome(outcome) = event { Some(outcome) } else { None });
    assert_eq!(outcome.unwrap().status, EpisodeStatus::Success);
    let skipped: Vec<_> = events
        .iter()
        .filter_map(|event| if let TrajectoryEvent::Skipped(s) = event { Some(s.line) } else { None })
        .collect();
    assert_eq!(skipped, [6], "the bad line is counted, the rest is read");
}

#[test]
fn severities_count_whatever_their_case() {
    for (severity, is_fault) in [
        (json!("bug"), true),
        (json!("Warning"), true),
        (json!("HIGH"), true),
        (json!("medium"), true),
        (json!("critical"), true),
        (json!(null), true),
        (json!("info"), false),
        (json!("INFO"), false),
        (json!("recommendation"), false),
        (json!("low"), false),
    ] {
        let line = json!({"run_id": "r", "type": "review.verdict", "data": {"findings": [{"severity": severity, "description": "d"}]}});
        let events = events::<ArcheFlowReader>(&[line]);
        assert_eq!(outputs(&events).len(), usize::from(is_fault), "{severity}");
        assert_eq!(steps(&events)[0].speaker, Speaker::OtherAgent);
    }
}

#[test]
fn findings_and_fixes_of_other_shapes() {
    let events = events::<ArcheFlowReader>(&[
        json!({"run_id": "r", "type": "review.verdict", "agent": "sage", "data": {"verdict": "approved", "findings": "none"}}),
        json!({"run_id": "r", "type": "review.verdict", "data": {"findings": ["a bare one"]}}),
        json!({"run_id": "r", "type": "fix.applied", "data": {"source": "guardian"}}),
        json!({"run_id": "r", "type": "fix.applied"}),
    ]);
    assert_eq!(
        said(&events),
        [
            ("other_agent", "sage: approved"),
            ("other_agent", "somebody: no verdict\na bare one"),
            ("agent", "Fixed: a finding"),
            ("agent", "Fixed: a finding"),
        ]
    );
}

#[test]
fn another_run_begins_another_trajectory() {
    let line = |run: &str| json!({"run_id": run, "type": "run.start", "data": {"task": "t"}});
    let events = events::<ArcheFlowReader>(&[line("a"), line("b")]);
    assert_eq!(events.iter().filter(|event| **event == TrajectoryEvent::Begin).count(), 1);
}

#[test]
fn runs_of_any_length_give_their_findings() {
    for length in [200, 2_000, 40_001] {
        let mut log =
            String::from("{\"run_id\":\"r\",\"type\":\"run.start\",\"phase\":\"plan\",\"data\":{\"task\":\"t\"}}\n");
        for seq in 2..length {
            let _ = writeln!(
                log,
                "{{\"run_id\":\"r\",\"seq\":{seq},\"type\":\"agent.complete\",\"phase\":\"do\",\"data\":{{\"summary\":\"s\"}}}}"
            );
        }
        log.push_str("{\"run_id\":\"r\",\"type\":\"review.verdict\",\"phase\":\"check\",\"data\":{\"findings\":[{\"severity\":\"bug\",\"description\":\"d\"}]}}\n");
        let (_, events) = read(&log);
        assert_eq!(steps(&events).len(), length);
        assert_eq!(outputs(&events), [(format!("step {length}"), "BUG: d", Some(true))]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_panic(lines in prop::collection::vec(json(), 0..6), damaged in damaged(RUN)) {
        events::<ArcheFlowReader>(&lines);
        events::<ArcheFlowReader>(&damaged);
    }
}
