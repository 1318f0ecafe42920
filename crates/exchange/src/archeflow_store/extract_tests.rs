use proptest::prelude::*;
use serde_json::Value;

use super::super::test_support::{finding, lines, now};
use super::*;

const LESSON: &str = r#"{"id":"m-001","description":"Missing null check in handler","frequency":1,"domain":"code","last_seen_run":"r-1"}"#;

fn planned(lesson: &str, known: &ProcessedRun, run: &str, findings: &[ReviewFinding]) -> (Vec<usize>, Vec<String>) {
    let plan = plan_extraction(&lines(&[lesson]), known, run, findings);
    (plan.seen, plan.new.into_iter().map(|finding| finding.description).collect())
}

#[test]
fn a_finding_is_seen_again_or_new_or_too_small() {
    let nobody = ProcessedRun::default();
    for (severity, text, category, expected) in [
        ("bug", "Null check missing in handler", "code", (vec![0], vec![])),
        ("info", "Null check missing in handler", "code", (vec![0], vec![])),
        ("bug", "Null check missing in handler", "writing", (vec![], vec!["Null check missing in handler".to_owned()])),
        ("warning", "Something else", "code", (vec![], vec!["Something else".to_owned()])),
        ("info", "Something else", "code", (vec![], vec![])),
        ("recommendation", "Something else", "code", (vec![], vec![])),
    ] {
        let found = [finding(severity, text, category)];
        assert_eq!(planned(LESSON, &nobody, "r-2", &found), expected, "{severity} {text} {category}");
    }
}

#[test]
fn a_run_counts_once() {
    let found = [
        finding("bug", "Missing null check in handler", "code"),
        finding("bug", "Null check missing in the handler", "code"),
        finding("bug", "Brand new matter", "code"),
        finding("warning", "Brand new matter, again", "code"),
    ];
    let nobody = ProcessedRun::default();
    assert_eq!(planned(LESSON, &nobody, "r-2", &found), (vec![0], vec!["Brand new matter".to_owned()]));
    // The line says that it was this run which saw it last.
    assert_eq!(planned(LESSON, &nobody, "r-1", &found), (vec![], vec!["Brand new matter".to_owned()]));
    // Or the runs that are known do.
    let mut known = ProcessedRun::default();
    known.lessons.insert("m-001".to_owned());
    assert_eq!(planned(LESSON, &known, "r-0", &found), (vec![], vec!["Brand new matter".to_owned()]));
    // What was looked at is not looked at again.
    let mut known = ProcessedRun::default();
    known.findings.extend(found.iter().map(ReviewFinding::fingerprint));
    assert_eq!(planned(LESSON, &known, "r-0", &found), (vec![], vec![]));
}

#[test]
fn what_a_line_says_of_its_run_is_kept_before_it_says_something_else() {
    let lessons =
        lines(&[LESSON, r#"{"id":"m-002","last_seen_run":""}"#, r#"{"id":"m-003","last_seen_run":"r-2"}"#, "not json"]);
    let runs = ProcessedRuns::from_bytes(br#"{"run_id":"r-2","lessons":["m-003"]}"#);
    let pairs = find_unrecorded_runs(&lessons, &[0, 1, 2, 3, 9], &runs);
    assert_eq!(pairs, [("r-1".to_owned(), "m-001".to_owned())]);
}

#[test]
fn a_candidate_has_all_fields_in_their_order() {
    let found = finding("CRITICAL", "Die Größe des Puffers wird nie wirklich geprüft, nie", "code");
    let line = build_candidate_lesson(found, "m-007".into(), "r-1", "2026-03-01T12:00:00Z").to_line();
    let expected = concat!(
        r#"{"id":"m-007","ts":"2026-03-01T12:00:00Z","run_id":"r-1","type":"pattern","source":"guardian","#,
        r#""description":"Die Größe des Puffers wird nie wirklich geprüft, nie","frequency":1,"severity":"bug","#,
        r#""domain":"code","tags":["größe","puffers","wird","wirklich","geprüft"],"archetype":null,"#,
        r#""last_seen_run":"r-1","runs_since_last_seen":0}"#
    );
    assert_eq!(line, expected);
}

#[test]
fn seeing_again_changes_four_fields() {
    let mut line =
        lines(&[r#"{"note":1.50,"id":"m-001","ts":"old","run_id":"r-1","frequency":null,"runs_since_last_seen":7}"#]);
    add_sighting(&mut line.list[0], "r-2", "new").unwrap();
    let text = String::from_utf8(line.to_bytes()).unwrap();
    assert_eq!(
        text.trim_end(),
        r#"{"note":1.50,"id":"m-001","ts":"new","run_id":"r-1","frequency":1,"runs_since_last_seen":0,"last_seen_run":"r-2"}"#
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["run_id"], "r-1");
}

#[test]
fn wherever_a_writer_is_cut_off_the_next_one_completes_it() {
    let world = tempfile::tempdir().unwrap();
    let folder = ArcheFlowFolder::in_directory(world.path());
    let write = |run: &str| {
        let log = world.path().join(format!("{run}.jsonl"));
        let event = format!(
            r#"{{"run_id":"{run}","type":"review.verdict","data":{{"findings":[{{"severity":"bug","description":"Shared trouble here"}},{{"severity":"bug","description":"{run}a {run}b {run}c"}}]}}}}"#
        );
        std::fs::write(&log, event).unwrap();
        log
    };
    let [first, second] = ["uno", "duo"].map(write);
    let frequency = || {
        let lines = folder.read_lesson_lines(LESSONS).unwrap().unwrap();
        lines.lessons().map(|lesson| (lesson.id.clone(), lesson.frequency)).collect::<Vec<_>>()
    };
    extract_lessons(&folder, &first, "first", now()).unwrap();
    let whole = frequency();
    // Cut off before the run was noted, then somebody else comes, then it is tried again.
    std::fs::remove_file(folder.path(RUNS)).unwrap();
    extract_lessons(&folder, &first, "first", now()).unwrap();
    assert_eq!(frequency(), whole);
    std::fs::remove_file(folder.path(RUNS)).unwrap();
    extract_lessons(&folder, &second, "second", now()).unwrap();
    let both = frequency();
    assert_eq!(both, [("m-001".into(), 2), ("m-002".into(), 1), ("m-003".into(), 1)]);
    for log in [&first, &second, &first] {
        extract_lessons(&folder, log, "again", now()).unwrap();
        assert_eq!(frequency(), both);
    }
}

const SEVERITIES: [&str; 3] = ["bug", "warning", "info"];

proptest! {
    // Every case writes and syncs files.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_run_that_is_read_again_changes_nothing(
        runs in prop::collection::vec(prop::collection::vec((0..3_usize, "(aaa |bbb |ccc |ddd |eee ){1,3}"), 0..4), 1..4),
        again in prop::collection::vec(0..4_usize, 1..5),
    ) {
        let world = tempfile::tempdir().unwrap();
        let folder = ArcheFlowFolder::in_directory(world.path());
        let mut logs = Vec::new();
        for (number, findings) in runs.iter().enumerate() {
            let findings: Vec<Value> = findings
                .iter()
                .map(|(severity, text)| json!({"severity": SEVERITIES[*severity], "description": text}))
                .collect();
            let event = json!({"run_id": format!("r-{number}"), "type": "review.verdict", "data": {"findings": findings}});
            let log = world.path().join(format!("{number}.jsonl"));
            std::fs::write(&log, event.to_string()).unwrap();
            extract_lessons(&folder, &log, "log", now()).unwrap();
            logs.push(log);
        }
        let [lessons, known] = [LESSONS, RUNS].map(|name| folder.read_bytes(name).unwrap());
        let lines = LessonLines::from_bytes(&lessons.clone().unwrap_or_default());
        prop_assert!(lines.lessons().all(|lesson| lesson.frequency <= runs.len() as u64));
        for number in again {
            let done = extract_lessons(&folder, &logs[number % logs.len()], "log", now()).unwrap();
            prop_assert!(done.updated.is_empty() && done.added.is_empty());
        }
        prop_assert_eq!([LESSONS, RUNS].map(|name| folder.read_bytes(name).unwrap()), [lessons, known]);
    }
}
