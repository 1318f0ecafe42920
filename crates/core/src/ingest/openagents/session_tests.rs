use proptest::prelude::*;
use serde_json::json;

use super::OpenAgentsSessionReader;
use crate::domain::{EpisodeStatus, Happening, TokenUsage, TrajectoryEvent};
use crate::ingest::LogFormat;
use crate::ingest::chat_messages::tests::{calls, damaged, events, json, outputs, read, said, steps};

const FIRST: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/openagents/session-1.jsonl"));
const SECOND: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/openagents/session-2.jsonl"));

#[test]
fn the_first_generation_is_read() {
    let (format, events) = read(FIRST);
    assert_eq!(format, LogFormat::OpenAgentsSession);
    let TrajectoryEvent::About(about) = &events[0] else { panic!("{events:?}") };
    assert_eq!(about.session_id.as_deref(), Some("session-2026-01-05T08-00-00-000Z-abc123"));
    assert_eq!((about.task_id.as_deref(), about.branch.as_deref()), (Some("sh-1f"), Some("main")));
    assert_eq!((about.directory.as_deref(), about.agent_version.as_deref()), (Some("/home/dev/shop"), Some("0.4.0")));
    assert_eq!(
        said(&events),
        [
            ("system", "Task sh-1f: make the checkout test pass."),
            ("agent", "Running the test."),
            ("agent", "The address is never saved; I need the schema."),
            ("user", "No, leave the schema alone."),
            ("system", "Files modified: src/checkout.ts\nCommits: 4f2a9c1"),
        ]
    );
    assert_eq!(steps(&events)[1].model, None);
    assert_eq!(steps(&events)[2].model.as_deref(), Some("small-1"));
    assert_eq!(calls(&events), [(2, "t1", "bash", &json!({"command": "bun test checkout"}))]);
    assert_eq!(outputs(&events), [("t1".to_owned(), "error: checkout.test.ts failed", Some(true))]);
    let usage = TokenUsage {
        prompt_tokens: Some(1012),
        completion_tokens: Some(40),
        cached_tokens: Some(900),
        cache_write_tokens: Some(100),
        cost_usd: Some(0.01),
    };
    assert!(events.contains(&TrajectoryEvent::Spent(2, usage)));
    assert!(
        events.iter().any(|event| matches!(event, TrajectoryEvent::Total(total) if total.prompt_tokens == Some(1017)))
    );
    let outcome =
        events.iter().find_map(|event| if let TrajectoryEvent::Outcome(o) = event { Some(o) } else { None }).unwrap();
    assert_eq!(
        (outcome.status.clone(), outcome.error.as_deref()),
        (EpisodeStatus::Partial, Some("waits for the schema"))
    );
}

#[test]
fn the_second_generation_is_read() {
    let (format, events) = read(SECOND);
    assert_eq!(format, LogFormat::OpenAgentsSession);
    assert_eq!(
        said(&events),
        [
            ("system", "You work on tasks overnight."),
            ("system", "Starting overnight loop"),
            ("agent", ""),
            ("agent", "TASK_COMPLETED: sh-2a - read it"),
            ("system", "Completed 1 task"),
        ],
        "loops write the user messages, so no person speaks"
    );
    assert_eq!(calls(&events), [(3, "k1", "read", &json!({"path": "README.md"}))]);
    assert_eq!(outputs(&events), [("k1".to_owned(), "# Shop\n[image]", Some(false))]);
    let trimmed = TrajectoryEvent::Happened(1, Happening::Trimmed, "dropped 420, kept 1500".to_owned());
    assert!(events.contains(&trimmed));
    assert!(!events.iter().any(|event| matches!(event, TrajectoryEvent::Outcome(_))), "last words are no outcome");
}

#[test]
fn a_person_speaks_only_where_no_loop_does() {
    let line = |extra: serde_json::Value| {
        let mut line = json!({"type": "user", "message": {"role": "user", "content": "x"}});
        line.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        line
    };
    let task = json!({"type": "session_start", "sessionId": "s", "taskId": "t"});
    let none = json!({"type": "session_start", "sessionId": "s"});
    for (start, extra, speaker) in [
        (&task, json!({}), "system"),
        (&task, json!({"userType": "external"}), "user"),
        (&none, json!({}), "user"),
        (&none, json!({"userType": "internal"}), "system"),
    ] {
        assert_eq!(said(&events::<OpenAgentsSessionReader>(&[start.clone(), line(extra)])), [(speaker, "x")]);
    }
}

#[test]
fn figures_of_one_message_are_counted_once() {
    let line = |text: &str, output: u64| json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": text}, "usage": {"inputTokens": 5, "outputTokens": output}});
    let events = events::<OpenAgentsSessionReader>(&[line("a", 1), line("b", 9)]);
    let spent: Vec<_> = events
        .iter()
        .filter_map(
            |event| if let TrajectoryEvent::Spent(step, u) = event { Some((*step, u.completion_tokens)) } else { None },
        )
        .collect();
    assert_eq!(spent, [(1, Some(1)), (1, Some(9))], "the last word counts for the same step");
}

#[test]
fn last_words_are_told_once_and_orphans_are_kept() {
    let told = events::<OpenAgentsSessionReader>(&[
        json!({"type": "turn", "turn": {"role": "assistant", "content": "done"}}),
        json!({"type": "session_end", "finalMessage": "done"}),
    ]);
    assert_eq!(said(&told), [("agent", "done")]);
    let orphan = events::<OpenAgentsSessionReader>(&[
        json!({"type": "message", "message": {"role": "tool", "tool_call_id": "gone", "content": "boom"}}),
    ]);
    assert_eq!(outputs(&orphan), [("step 1".to_owned(), "boom", None)]);
}

#[test]
fn another_session_begins_another_trajectory() {
    let start = |id: &str| json!({"type": "session_start", "sessionId": id, "config": {"systemPrompt": "p"}});
    let events = events::<OpenAgentsSessionReader>(&[start("a"), start("a"), start("b")]);
    let numbers: Vec<_> = steps(&events).iter().map(|step| step.number).collect();
    assert_eq!(numbers, [1, 2, 1]);
}

#[test]
fn the_real_session_is_read() {
    let Ok(corpus) = std::env::var("ARCHIVIST_CORPUS") else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let log = std::fs::read_to_string(format!("{corpus}/openagents/agent-sessions/session-20251202-185110-33ph.jsonl"));
    let log = log.unwrap();
    let (format, events) = read(&log);
    assert_eq!(format, LogFormat::OpenAgentsSession);
    let said = said(&events);
    assert_eq!(said.len(), 4);
    assert!(said[0].1.starts_with("You are an autonomous coding agent"));
    assert_eq!(
        said[1..],
        [
            ("system", "Starting overnight loop"),
            ("agent", "Dry run - no action taken"),
            ("system", "Completed 0 tasks")
        ]
    );
    let TrajectoryEvent::About(about) = &events[0] else { panic!("{events:?}") };
    assert_eq!(about.model.as_deref(), Some("x-ai/grok-4.1-fast"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_panic(
        lines in prop::collection::vec(json(), 0..6),
        first in damaged(FIRST),
        second in damaged(SECOND),
    ) {
        events::<OpenAgentsSessionReader>(&lines);
        events::<OpenAgentsSessionReader>(&first);
        events::<OpenAgentsSessionReader>(&second);
    }
}
