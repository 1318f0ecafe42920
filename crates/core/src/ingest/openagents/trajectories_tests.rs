use proptest::prelude::*;
use serde_json::json;

use super::TrajectoryRecordReader;
use crate::domain::{EpisodeStatus, TokenUsage, TrajectoryEvent};
use crate::ingest::LogFormat;
use crate::ingest::chat_messages::tests::{calls, damaged, events, json, outputs, read, said, steps};

const RECORDS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs/openagents/trajectories.jsonl"));

#[test]
fn each_record_is_a_trajectory() {
    let (format, events) = read(RECORDS);
    assert_eq!(format, LogFormat::OpenAgentsTrajectories);
    let records: Vec<&[TrajectoryEvent]> = events.split(|event| *event == TrajectoryEvent::Begin).collect();
    assert_eq!(records.len(), 3);

    let TrajectoryEvent::About(about) = &records[0][0] else { panic!("{events:?}") };
    assert_eq!(about.trajectory_id.as_deref(), Some("traj-a1"));
    assert_eq!((about.task_id.as_deref(), about.title.as_deref()), (Some("fm-list"), Some("List the files")));
    assert_eq!(about.started_at.unwrap().to_rfc3339(), "2026-01-08T10:00:00+00:00");
    assert_eq!(about.finished_at.unwrap().to_rfc3339(), "2026-01-08T10:00:04+00:00");
    assert_eq!(said(records[0]), [("system", "List the files"), ("agent", "")]);
    assert_eq!(outputs(records[0]), [("action-2".to_owned(), "outcome: success", Some(false))]);
    let total = TokenUsage { prompt_tokens: Some(123), completion_tokens: Some(0), ..TokenUsage::default() };
    assert!(records[0].contains(&TrajectoryEvent::Total(total)));

    assert_eq!(
        said(records[1]),
        [
            ("system", "Read and echo"),
            ("agent", ""),
            ("agent", ""),
            ("agent", ""),
            ("agent", ""),
            ("agent", "I give up."),
            ("system", "Files modified: out.txt")
        ]
    );
    assert_eq!(steps(records[1])[1].reasoning.as_deref(), Some("Short files first"));
    assert_eq!(calls(records[1]), [(3, "action-3", "bench-task", &json!({"task": "echo"}))]);
    assert_eq!(
        outputs(records[1]),
        [
            ("action-3".to_owned(), "outcome: error", Some(true)),
            ("step 4".to_owned(), "no such file: in.txt", Some(true)),
            ("step 5".to_owned(), "LIMIT is not defined", Some(true)),
        ],
        "each error is told once"
    );
    assert!(!records[1].iter().any(|event| matches!(event, TrajectoryEvent::Total(_))), "all zero is not counted");

    assert_eq!(outputs(records[2]), [("step 2".to_owned(), "no answer after 60 s", Some(true))]);
    let outcome =
        records[2].iter().find_map(|event| if let TrajectoryEvent::Outcome(o) = event { Some(o) } else { None });
    let outcome = outcome.unwrap();
    assert_eq!(
        (outcome.status.clone(), outcome.error.as_deref()),
        (EpisodeStatus::Failed, Some("no answer after 60 s"))
    );
}

#[test]
fn the_records_error_stands_in_the_output_that_failed() {
    let of = |result: &str| {
        let record = json!({"actions": [{"type": "tool_call", "tool": "t", "content": "c", "result": result, "success": false}], "outcome": "failure", "errorMessage": "E is not defined"});
        outputs(&events::<TrajectoryRecordReader>(&[record]))
            .into_iter()
            .map(|output| output.1.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("outcome: failure"), ["outcome: failure\nE is not defined"]);
    assert_eq!(of("outcome: error - E is not defined"), ["outcome: error - E is not defined"]);
    assert_eq!(of(""), ["E is not defined"]);
}

#[test]
fn actions_of_unknown_kinds_are_kept() {
    let record = json!({"outcome": "who knows", "actions": [{"type": "dance", "content": "la la"}, "bare", {"content": "no type"}]});
    let events = events::<TrajectoryRecordReader>(&[record]);
    assert_eq!(said(&events), [("agent", "la la"), ("agent", ""), ("agent", "no type")]);
    assert!(!events.iter().any(|event| matches!(event, TrajectoryEvent::Outcome(_))));
}

#[test]
fn the_real_records_hold_both_great_failures() {
    let Ok(corpus) = std::env::var("ARCHIVIST_CORPUS") else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let log = std::fs::read_to_string(format!("{corpus}/openagents/trajectories.jsonl")).unwrap();
    let (format, events) = read(&log);
    assert_eq!(format, LogFormat::OpenAgentsTrajectories);
    let records: Vec<&[TrajectoryEvent]> = events.split(|event| *event == TrajectoryEvent::Begin).collect();
    assert_eq!(records.len(), 140);
    let outcomes = |status| {
        events
            .iter()
            .filter(|event| matches!(event, TrajectoryEvent::Outcome(outcome) if outcome.status == status))
            .count()
    };
    assert_eq!((outcomes(EpisodeStatus::Failed), outcomes(EpisodeStatus::Success)), (131, 9));
    let outputs = outputs(&events);
    assert_eq!(outputs.iter().filter(|output| output.2 == Some(true)).count(), 131);
    let statement = |words: &str| outputs.iter().filter(|output| output.1.contains(words)).count();
    assert_eq!(statement("Exceeded model context window size"), 85);
    assert_eq!(statement("FM_MAX_CONTEXT_CHARS is not defined"), 20);
    assert!(outputs.iter().all(|output| output.1.matches("FM_MAX_CONTEXT_CHARS").count() <= 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_panic(lines in prop::collection::vec(json(), 0..6), damaged in damaged(RECORDS)) {
        events::<TrajectoryRecordReader>(&lines);
        events::<TrajectoryRecordReader>(&damaged);
    }
}
