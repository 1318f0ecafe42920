use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

use super::GenericReader;
use crate::domain::{EpisodeStatus, Speaker, TokenUsage, TrajectoryEvent};
use crate::ingest::LogFormat;
use crate::ingest::chat_messages::tests::{calls, damaged, events, json, outputs, read, said, steps};

const SESSION: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/generic/session.jsonl"));

#[test]
fn a_whole_session_is_read() {
    let (format, events) = read(SESSION);
    assert_eq!(format, LogFormat::Generic);
    let TrajectoryEvent::About(about) = &events[0] else { panic!("{events:?}") };
    assert_eq!(about.session_id.as_deref(), Some("shop-2026-02-11"));
    assert_eq!(about.agent_version.as_deref(), Some("2.3.0"));
    assert_eq!(about.repository.as_deref(), Some("example/shop"));
    assert_eq!(about.task_id.as_deref(), Some("SHOP-12"));
    assert!(about.started_at.is_some());
    assert_eq!(
        said(&events),
        [
            ("system", "You are a careful engineer."),
            ("user", "The cart loses its discount when a line is removed. Please fix it."),
            ("agent", "I shall run the cart's tests first."),
            ("agent", ""),
            ("agent", "Fixed: the discount is computed again."),
        ]
    );
    assert_eq!(steps(&events)[2].reasoning.as_deref(), Some("A failing test would show where it is lost."));
    assert_eq!(steps(&events)[4].model.as_deref(), Some("small-1"));
    let calls = calls(&events);
    assert_eq!(
        calls.iter().map(|call| (call.0, call.1, call.2)).collect::<Vec<_>>(),
        [(3, "c1", "shell"), (4, "c2", "edit"), (4, "c3", "shell")]
    );
    assert_eq!(calls[1].3["file"], "src/cart.ts");
    assert_eq!(
        outputs(&events),
        [
            ("c1".to_owned(), "1 failing: keeps the discount", Some(true)),
            ("c2".to_owned(), "1 replacement", None),
            ("c3".to_owned(), "12 passing", Some(false)),
        ]
    );
    let spent: Vec<&TokenUsage> = events
        .iter()
        .filter_map(|event| if let TrajectoryEvent::Spent(_, usage) = event { Some(usage) } else { None })
        .collect();
    assert_eq!(spent[0].prompt_tokens, Some(1200));
    assert_eq!(spent[1].prompt_tokens, Some(1600));
    let Some(TrajectoryEvent::Outcome(outcome)) = events.last() else { panic!("{events:?}") };
    assert_eq!((outcome.status.clone(), outcome.reward), (EpisodeStatus::Success, Some(1.0)));
}

#[test]
fn roles_say_who_speaks() {
    for (role, speaker) in [
        ("user", Speaker::User),
        ("assistant", Speaker::Agent),
        ("system", Speaker::System),
        ("developer", Speaker::System),
        ("other_agent", Speaker::OtherAgent),
        ("critic", Speaker::System),
    ] {
        let events = events::<GenericReader>(&[json!({"role": role, "content": "x"})]);
        assert_eq!(steps(&events)[0].speaker, speaker, "{role}");
    }
}

#[test]
fn anthropic_blocks_are_understood() {
    let events = events::<GenericReader>(&[
        json!({"role": "assistant", "content": [{"type": "text", "text": "look"}, {"type": "tool_use", "id": "t", "name": "ls", "input": {}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "gone"}, {"type": "text", "text": "stop"}]}),
    ]);
    assert_eq!(said(&events), [("agent", "look"), ("system", "stop")], "nothing tells a text beside a result from it");
    assert_eq!(outputs(&events), [("t".to_owned(), "gone", Some(true))]);
}

#[test]
fn outputs_find_their_calls_without_ids_and_are_never_lost() {
    let events = events::<GenericReader>(&[
        json!({"role": "assistant", "tool_calls": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}),
        json!({"role": "tool", "name": "b", "content": "of b"}),
        json!({"role": "tool", "content": "of the first a"}),
        json!({"role": "function", "name": "a", "content": "of the second a"}),
        json!({"role": "tool", "tool_call_id": "nobody's", "content": "lost", "exit_code": 2}),
    ]);
    assert_eq!(
        outputs(&events),
        [
            ("unnamed-2".to_owned(), "of b", None),
            ("unnamed-1".to_owned(), "of the first a", None),
            ("unnamed-3".to_owned(), "of the second a", None),
            ("step 2".to_owned(), "lost", Some(true)),
        ]
    );
}

#[test]
fn the_first_model_is_the_sessions() {
    let events = events::<GenericReader>(&[
        json!({"role": "assistant", "content": "a", "model": "m1"}),
        json!({"role": "assistant", "content": "b", "model": "m1"}),
        json!({"role": "assistant", "content": "c", "model": "m2"}),
    ]);
    assert!(matches!(&events[0], TrajectoryEvent::About(about) if about.model.as_deref() == Some("m1")));
    let models: Vec<_> = steps(&events).iter().map(|step| step.model.clone()).collect();
    assert_eq!(models, [None, None, Some("m2".to_owned())]);
}

#[test]
fn another_session_line_begins_another_trajectory() {
    let events = events::<GenericReader>(&[
        json!({"session": {"id": "1"}}),
        json!({"role": "user", "content": "a"}),
        json!({"session": {"id": "2"}}),
        json!({"role": "user", "content": "b"}),
    ]);
    assert_eq!(events.iter().filter(|event| **event == TrajectoryEvent::Begin).count(), 1);
    assert_eq!(steps(&events)[1].number, 1);
}

#[test]
fn outcomes_of_all_shapes() {
    let of = |value: Value| {
        events::<GenericReader>(&[json!({ "outcome": value })]).into_iter().find_map(|event| {
            if let TrajectoryEvent::Outcome(outcome) = event {
                Some((outcome.status.clone(), outcome.error))
            } else {
                None
            }
        })
    };
    assert_eq!(of(json!("passed")), Some((EpisodeStatus::Success, None)));
    assert_eq!(
        of(json!({"status": "timeout", "error": "60 s"})),
        Some((EpisodeStatus::Failed, Some("60 s".to_owned())))
    );
    assert_eq!(of(json!({"reward": 1})), Some((EpisodeStatus::Success, None)));
    assert_eq!(of(json!({"reward": 0.5})), Some((EpisodeStatus::Partial, None)));
    assert_eq!(of(json!({"reward": 0})), Some((EpisodeStatus::Failed, None)));
    assert_eq!(of(json!({"status": "who knows"})), None);
    assert_eq!(of(json!(7)), None);
}

#[test]
fn unknown_lines_are_reported_once_a_kind() {
    let events =
        events::<GenericReader>(&[json!({"type": "ping"}), json!({"type": "ping"}), json!({"x": 1}), json!({})]);
    let why: Vec<_> =
        events
            .iter()
            .map(|event| {
                if let TrajectoryEvent::Skipped(skipped) = event {
                    (skipped.line, skipped.why.as_str())
                } else {
                    (0, "")
                }
            })
            .collect();
    assert_eq!(why, [(1, "unknown type `ping`"), (3, "no type")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_panic(lines in prop::collection::vec(json(), 0..6), damaged in damaged(SESSION)) {
        events::<GenericReader>(&lines);
        events::<GenericReader>(&damaged);
    }
}
