//! Lines that no Claude ever wrote.

use proptest::prelude::*;
use serde_json::Value;

use super::tests::{BASKET, HEADLESS, LINTER, events};
use crate::domain::{OutputOwner, TrajectoryEvent};
use crate::ingest::{LogFormat, ReaderSettings, SessionReader};

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS.to_vec());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        "[a-z<>/\\n\\[\\]-]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(word.clone(), inner, 0..8)
                .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

const WORDS: &[&str] = &[
    "type",
    "user",
    "assistant",
    "system",
    "result",
    "message",
    "content",
    "text",
    "thinking",
    "tool_use",
    "id",
    "name",
    "tool_result",
    "tool_use_id",
    "is_error",
    "usage",
    "output_tokens",
    "toolUseResult",
    "stderr",
    "uuid",
    "parentUuid",
    "isSidechain",
    "isMeta",
    "subtype",
    "compact_boundary",
    "compactMetadata",
    "api_error",
    "error",
    "model",
    "summary",
    "attachment",
    "queued_command",
    "prompt",
    "origin",
    "forkedFrom",
    "timestamp",
    "sessionId",
    "hookErrors",
    "role",
    "<system-reminder>",
    "<command-name>é</command-name>",
    "[Request interrupted by user]",
    "agentId",
    "costUSD",
];

/// Something is wrong with a line of the session.
fn spoilt_lines() -> impl Strategy<Value = String> {
    let lines: Vec<&str> = BASKET.lines().chain(HEADLESS.lines()).chain(LINTER.lines()).collect();
    let line = prop::sample::select(lines);
    prop_oneof![
        (line.clone(), any::<prop::sample::Index>(), any_json()).prop_map(|(line, at, other)| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            spoil(&mut line, at.index(1 << 16), other);
            line.to_string()
        }),
        (line, any::<prop::sample::Index>()).prop_map(|(line, at)| {
            let at = at.index(line.len());
            String::from_utf8_lossy(&line.as_bytes()[..at]).into_owned()
        }),
    ]
}

/// Takes a key away, or puts another value under it, at some depth.
fn spoil(line: &mut Value, at: usize, other: Value) {
    let Some(map) = line.as_object_mut().filter(|map| !map.is_empty()) else {
        *line = other;
        return;
    };
    let key = map.keys().nth(at % map.len()).unwrap().clone();
    match at / 64 % 3 {
        0 => {
            map.remove(&key);
        }
        1 => map[&key] = other,
        _ => spoil(&mut map[&key], at / 7, other),
    }
}

fn assert_steps_rise(events: &[TrajectoryEvent]) {
    let mut last = 0;
    for event in events {
        match event {
            TrajectoryEvent::Step(step) => {
                assert_eq!(step.number, last + 1);
                last = step.number;
            }
            TrajectoryEvent::Call(step, _) | TrajectoryEvent::Spent(step, _) | TrajectoryEvent::More(step, ..) => {
                assert!((1..=last).contains(step));
            }
            TrajectoryEvent::Happened(step, ..) | TrajectoryEvent::Output(OutputOwner::Step(step), _) => {
                assert!(*step <= last);
            }
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn any_lines_do_no_harm(lines in prop::collection::vec(any_json(), 0..20)) {
        assert_steps_rise(&events(lines));
    }

    #[test]
    fn spoilt_lines_do_no_harm(lines in prop::collection::vec(spoilt_lines(), 0..20)) {
        let mut read: Vec<TrajectoryEvent> = Vec::new();
        // What is left may look like another log, or like none.
        let log = format!("{{\"type\":\"last-prompt\"}}\n{}", lines.join("\n"));
        if let Ok(LogFormat::ClaudeCode) = SessionReader::new(ReaderSettings::default()).read_log(&mut log.as_bytes(), &mut read) {
            assert_steps_rise(&read);
        }
    }
}
