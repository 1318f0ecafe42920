use crate::domain::OutputOwner;
use crate::domain::TrajectoryEvent;
use crate::ingest::LogFormat;
use crate::ingest::ReaderSettings;
use crate::ingest::atif::tests::events;
use crate::ingest::atif::tests::read;

const STREAM: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/atif/openagents.atif.jsonl"));

fn texts(events: &[TrajectoryEvent]) -> Vec<&str> {
    let mut texts = Vec::new();
    for event in events {
        if let TrajectoryEvent::Step(step) = event {
            texts.push(step.text.as_str());
        }
    }
    texts
}

#[test]
fn a_stream_is_read() {
    let (format, events) = read(STREAM.as_bytes(), ReaderSettings::default());
    assert_eq!(format, LogFormat::AtifStream);
    assert_eq!(texts(&events).len(), 5);
    let TrajectoryEvent::About(about) = &events[0] else { panic!("{:?}", events[0]) };
    assert_eq!(about.schema_version.as_deref(), Some("ATIF-v1.4"));
    assert_eq!(about.session_id.as_deref(), Some("session-2025-12-05T10-00-00-000Z-abc123"));
    assert_eq!(about.started_at.map(|at| at.to_rfc3339()).as_deref(), Some("2025-12-05T10:00:00+00:00"));
    let outputs: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            TrajectoryEvent::Output(of, output) => Some((of.clone(), output.text.as_str(), output.failed)),
            _ => None,
        })
        .collect();
    assert_eq!(
        outputs,
        [
            (OutputOwner::Step(2), "$ bun test\n1 fail\n", Some(true)),
            (OutputOwner::Step(4), "the subtask ran out of turns", Some(true)),
        ]
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event, TrajectoryEvent::About(about) if about.task_id.as_deref() == Some("shop-17")))
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event, TrajectoryEvent::Outcome(outcome) if outcome.from == "session_complete"))
    );
    let Some(TrajectoryEvent::Step(failed)) =
        events.iter().find(|event| matches!(event, TrajectoryEvent::Step(step) if step.number == 4))
    else {
        panic!("no step 4")
    };
    assert_eq!(failed.extra["status"], "failed");
}

#[test]
fn a_lost_header_and_lost_steps_are_forgiven() {
    let rest: String = STREAM.lines().skip(3).map(|line| format!("{line}\n")).collect();
    let told = events(&rest);
    assert_eq!(texts(&told), ["Selected task: Fix the cart", "Trying", "Session failed"]);
    assert!(matches!(&told[0], TrajectoryEvent::Step(step) if step.number == 1));
}

#[test]
fn a_document_behind_its_steps_adds_what_they_lack() {
    let lines = concat!(
        r#"{"step_id":2,"source":"agent","message":"two"}"#,
        "\n",
        r#"{"session_id":"s","agent":{"name":"a"},"steps":[{"step_id":1,"source":"user","message":"one"},{"step_id":2,"source":"agent","message":"two"},{"step_id":3,"source":"agent","message":"three"}],"final_metrics":{"total_cost_usd":2}}"#,
    );
    let told = events(lines);
    assert_eq!(texts(&told), ["two", "one", "three"]);
    assert!(matches!(told.last(), Some(TrajectoryEvent::Total(total)) if total.cost_usd == Some(2.0)));
}

#[test]
fn another_session_is_another_trajectory() {
    let header = |id: &str| format!(r#"{{"__header__":true,"session_id":"{id}"}}"#);
    let step = r#"{"step_id":1,"source":"user","message":"x"}"#;
    let (a, b) = (header("a"), header("b"));
    let told = events(&format!("{a}\n{step}\n{a}\n{step}\n{b}\n{step}\n"));
    assert_eq!(told.iter().filter(|event| **event == TrajectoryEvent::Begin).count(), 1);
    let numbers: Vec<u32> = told
        .iter()
        .filter_map(|event| match event {
            TrajectoryEvent::Step(step) => Some(step.number),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, [1, 2, 1]);
}

#[test]
fn strange_lines_are_reported_once() {
    let told = events(&format!("{STREAM}{{\"a\":1}}\n{{\"b\":1}}\nnot json\n"));
    let skipped: Vec<u64> = told
        .iter()
        .filter_map(|event| match event {
            TrajectoryEvent::Skipped(skipped) => Some(skipped.line),
            _ => None,
        })
        .collect();
    assert_eq!(skipped, [7, 9]);
}

#[test]
fn a_stream_is_no_document_to_harbor() {
    let (_, told) = read(STREAM.as_bytes(), ReaderSettings { strict: true });
    let paths: Vec<&str> = told
        .iter()
        .filter_map(|event| match event {
            TrajectoryEvent::Breach(breach) => Some(breach.path.as_str()),
            _ => None,
        })
        .collect();
    assert!(paths.contains(&"trajectory"), "{paths:?}");
    assert!(paths.contains(&"trajectory.steps.1.observation.results.0.content"), "{paths:?}");
    assert!(paths.contains(&"trajectory.steps.3.error"), "{paths:?}");
}
