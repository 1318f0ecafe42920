use proptest::prelude::*;
use serde_json::Value;

use crate::domain::Happening;
use crate::domain::OutputOwner;
use crate::domain::Part;
use crate::domain::SessionDetails;
use crate::domain::TokenUsage;
use crate::domain::TrajectoryEvent;
use crate::ingest::LogFormat;
use crate::ingest::ReaderSettings;
use crate::ingest::SessionReader;

/// Everything that a log tells.
pub(super) fn events(text: &str) -> Vec<TrajectoryEvent> {
    read(text.as_bytes(), ReaderSettings::default()).1
}

pub(super) fn read(mut bytes: &[u8], rules: ReaderSettings) -> (LogFormat, Vec<TrajectoryEvent>) {
    let mut events = Vec::new();
    let format = SessionReader::new(rules).read_log(&mut bytes, &mut events).expect("a format that is known");
    (format, events)
}

/// The events up to the second trajectory.
fn first(events: &[TrajectoryEvent]) -> &[TrajectoryEvent] {
    let end = events.iter().position(|event| *event == TrajectoryEvent::Begin).unwrap_or(events.len());
    &events[..end]
}

fn about(events: &[TrajectoryEvent]) -> SessionDetails {
    let mut known = SessionDetails::default();
    for event in events {
        if let TrajectoryEvent::About(about) = event {
            known.fill_from((**about).clone());
        }
    }
    known
}

#[test]
fn corpus_agrees_with_what_others_counted() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS").map(std::path::PathBuf::from) else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let expected = std::fs::read(corpus.join("expected.json")).expect("the corpus has its figures");
    let expected: serde_json::Map<String, Value> = serde_json::from_slice(&expected).expect("JSON");
    let mut files = 0;
    for (path, expected) in expected.iter().filter(|(_, figures)| figures.get("harborValid").is_some()) {
        files += 1;
        let bytes = std::fs::read(corpus.join(path)).expect("the file is there");
        let (format, all) = read(&bytes, ReaderSettings { strict: true });
        assert_eq!(format, LogFormat::Atif, "{path}");
        let events = first(&all);
        let count = |wanted: fn(&TrajectoryEvent) -> bool| events.iter().filter(|event| wanted(event)).count() as u64;
        let sum = |figure: fn(&crate::domain::TokenUsage) -> Option<u64>| {
            events
                .iter()
                .filter_map(|event| match event {
                    TrajectoryEvent::Spent(_, usage) => figure(usage),
                    _ => None,
                })
                .fold(None, |sum: Option<u64>, tokens| Some(sum.unwrap_or_default() + tokens))
        };
        let figures = serde_json::json!({
            "steps": count(|event| matches!(event, TrajectoryEvent::Step(_))),
            "copiedSteps": count(|event| matches!(event, TrajectoryEvent::Step(step) if step.copied)),
            "toolCalls": count(|event| matches!(event, TrajectoryEvent::Call(..))),
            "promptTokensOverSteps": sum(|usage| usage.prompt_tokens),
            "completionTokensOverSteps": sum(|usage| usage.completion_tokens),
            "schemaVersion": about(events).schema_version,
            "harborValid": !all.iter().any(|event| matches!(event, TrajectoryEvent::Breach(_))),
        });
        for (key, figure) in figures.as_object().expect("an object") {
            let expected = expected.get(key).unwrap_or(&Value::Null);
            assert_eq!(figure, expected, "{key} of {path}");
        }
    }
    assert!(files > 20, "only {files} files were found");
}

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/atif/", $name))
    };
}

const DOCUMENTS: [&str; 4] =
    [fixture!("claude-code.json"), fixture!("terminus-2.json"), fixture!("chat-style.json"), fixture!("embedded.json")];

fn speakers(events: &[TrajectoryEvent]) -> Vec<&str> {
    let mut speakers = Vec::new();
    for event in events {
        if let TrajectoryEvent::Step(step) = event {
            speakers.push(step.speaker.as_str());
        }
    }
    speakers
}

#[test]
fn a_run_of_claude_code_is_read() {
    let (format, events) = read(DOCUMENTS[0].as_bytes(), ReaderSettings { strict: true });
    assert_eq!(format, LogFormat::Atif);
    assert!(!events.iter().any(|event| matches!(event, TrajectoryEvent::Breach(_) | TrajectoryEvent::Skipped(_))));
    let known = about(&events);
    assert_eq!(known.directory.as_deref(), Some("/home/dev/shop"));
    assert_eq!(known.branch.as_deref(), Some("fix/cart-total"));
    assert_eq!(known.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(speakers(&events), ["user", "agent", "system", "agent"]);
    let outputs: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            TrajectoryEvent::Output(_, output) => Some((output.failed, output.exit_code, output.duration_ms)),
            _ => None,
        })
        .collect();
    assert_eq!(outputs, [(Some(true), Some(1), None), (None, None, Some(12))]);
    let spent = TokenUsage {
        prompt_tokens: Some(1200),
        completion_tokens: Some(80),
        cached_tokens: Some(1000),
        cache_write_tokens: Some(150),
        cost_usd: None,
    };
    assert!(events.contains(&TrajectoryEvent::Spent(2, spent)));
    // Only the cost is nowhere among the steps.
    assert_eq!(
        events.last(),
        Some(&TrajectoryEvent::Total(TokenUsage { cost_usd: Some(0.031), ..TokenUsage::default() }))
    );
}

#[test]
fn a_run_of_terminus_is_read() {
    let (_, events) = read(DOCUMENTS[1].as_bytes(), ReaderSettings { strict: true });
    assert!(!events.iter().any(|event| matches!(event, TrajectoryEvent::Breach(_) | TrajectoryEvent::Skipped(_))));
    assert_eq!(speakers(&events), ["user", "agent", "system", "other_agent", "agent"]);
    assert!(events.contains(&TrajectoryEvent::Happened(3, Happening::Compacted, "compaction, replace".to_owned())));
    let elsewhere: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            TrajectoryEvent::Elsewhere(elsewhere) => Some((elsewhere.part.clone(), elsewhere.path.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(
        elsewhere,
        [
            (Part::Subagent, Some("trajectory.summarization-1-summary.json")),
            (Part::Continuation, Some("trajectory.cont-1.json")),
        ]
    );
    let of: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            TrajectoryEvent::Output(of, _) => Some(of.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(of, [OutputOwner::Step(2), OutputOwner::Call("call_1_task_complete".to_owned())]);
}

#[test]
fn a_chat_has_no_calls_but_a_terminal_that_speaks() {
    let events = events(DOCUMENTS[2]);
    assert_eq!(speakers(&events), ["user", "agent", "tool", "agent", "tool", "agent", "system", "user"]);
    assert!(!events.iter().any(|event| matches!(event, TrajectoryEvent::Call(..))));
    assert_eq!(about(&events).model.as_deref(), Some("glm-4.6"));
}

#[test]
fn an_embedded_run_is_told_apart() {
    let (_, events) = read(DOCUMENTS[3].as_bytes(), ReaderSettings { strict: true });
    assert!(!events.iter().any(|event| matches!(event, TrajectoryEvent::Breach(_))));
    let parent = first(&events);
    assert_eq!(speakers(parent), ["user", "agent"]);
    assert_eq!(
        parent.last(),
        Some(&TrajectoryEvent::Total(TokenUsage { cost_usd: Some(0.75), ..TokenUsage::default() }))
    );
    let child = &events[parent.len() + 1..];
    assert_eq!(about(child).parent_session_id.as_deref(), Some("run-7"));
    assert_eq!(about(child).trajectory_id.as_deref(), Some("searcher"));
    assert_eq!(speakers(child), ["other_agent", "agent"]);
}

#[test]
fn a_corpus_of_chats_has_terminals() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS").map(std::path::PathBuf::from) else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let bytes = std::fs::read(corpus.join("openagents/sample-trajectories.json")).expect("the file is there");
    let (format, events) = read(&bytes, ReaderSettings::default());
    assert_eq!(format, LogFormat::Atif);
    let trajectories: Vec<&[TrajectoryEvent]> = events.split(|event| *event == TrajectoryEvent::Begin).collect();
    assert_eq!(trajectories.len(), 5);
    for trajectory in trajectories {
        let speakers = speakers(trajectory);
        assert_eq!(speakers.iter().filter(|speaker| **speaker == "user").count(), 1, "{speakers:?}");
        assert_eq!(speakers.len() / 2 - 1, speakers.iter().filter(|speaker| **speaker == "tool").count());
    }
}

/// Steps of a trajectory are numbered from 1 without gaps, and calls and costs belong to steps that were told.
fn check(events: &[TrajectoryEvent]) {
    let mut last = 0;
    for event in events {
        match event {
            TrajectoryEvent::Begin => last = 0,
            TrajectoryEvent::Step(step) => {
                assert_eq!(step.number, last + 1);
                last = step.number;
            }
            TrajectoryEvent::Call(step, _) | TrajectoryEvent::Spent(step, _) | TrajectoryEvent::Happened(step, ..) => {
                assert_eq!(*step, last);
            }
            TrajectoryEvent::Output(OutputOwner::Step(step), _) => assert!(*step >= 1 && *step <= last),
            _ => {}
        }
    }
}

fn read_any(mut bytes: &[u8]) {
    for strict in [false, true] {
        let mut told: Vec<TrajectoryEvent> = Vec::new();
        super::read_documents(&mut { bytes }, ReaderSettings { strict }, &mut told).expect("memory does not fail");
        check(&told);
        let mut told: Vec<TrajectoryEvent> = Vec::new();
        let mut stream = super::AtifStreamReader::new(ReaderSettings { strict });
        crate::ingest::json_lines::LogLines::new(&mut bytes)
            .read_all(&mut stream, &mut told)
            .expect("memory does not fail");
        check(&told);
    }
}

/// JSON made of the format's own words, so that it comes close to being right.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z\\PC]{0,8}".prop_map(Value::from),
        proptest::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((proptest::sample::select(WORDS), inner), 0..6)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

const WORDS: &[&str] = &[
    "schema_version",
    "ATIF-v1.7",
    "session_id",
    "trajectory_id",
    "agent",
    "steps",
    "final_metrics",
    "extra",
    "subagent_trajectories",
    "continued_trajectory_ref",
    "step_id",
    "timestamp",
    "2026-01-02T03:04:05Z",
    "source",
    "user",
    "system",
    "message",
    "reasoning_content",
    "tool_calls",
    "tool_call_id",
    "c1",
    "function_name",
    "function",
    "name",
    "arguments",
    "observation",
    "results",
    "source_call_id",
    "content",
    "subagent_trajectory_ref",
    "metrics",
    "usage",
    "prompt_tokens",
    "is_copied_context",
    "llm_call_count",
    "type",
    "text",
    "image",
    "media_type",
    "error",
    "status",
    "failed",
    "__header__",
    "context_management",
    "tool_call_details",
    "passed",
    "output",
    "command",
];

/// Changes one place of a document.
fn spoil(value: &mut Value, path: &[usize], with: Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = with;
        return;
    };
    match value {
        Value::Array(values) if !values.is_empty() => {
            let at = first % values.len();
            spoil(&mut values[at], rest, with);
        }
        Value::Object(object) if !object.is_empty() => {
            let key = object.keys().nth(first % object.len()).cloned().unwrap_or_default();
            if rest.is_empty() && first % 3 == 0 {
                object.remove(&key);
            } else {
                spoil(&mut object[&key], rest, with);
            }
        }
        other => *other = with,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn arbitrary_json_is_read(value in any_json(), steps in proptest::collection::vec(any_json(), 0..4)) {
        read_any(value.to_string().as_bytes());
        read_any(serde_json::json!({"steps": steps, "agent": value}).to_string().as_bytes());
    }

    #[test]
    fn arbitrary_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_any(&bytes);
    }

    #[test]
    fn spoilt_fixtures_are_read(
        which in 0..DOCUMENTS.len(),
        path in proptest::collection::vec(0..40usize, 1..7),
        with in any_json(),
        cut in proptest::option::of(0..1000usize),
        byte in proptest::option::of((0..1000usize, any::<u8>())),
    ) {
        let mut document: Value = serde_json::from_str(DOCUMENTS[which]).expect("JSON");
        spoil(&mut document, &path, with);
        let mut text = document.to_string().into_bytes();
        let at = |share: usize, length: usize| share * length / 1000;
        if let Some((share, byte)) = byte {
            let place = at(share, text.len());
            if let Some(old) = text.get_mut(place) {
                *old = byte;
            }
        }
        if let Some(share) = cut {
            text.truncate(at(share, text.len()));
        }
        read_any(&text);
    }
}
