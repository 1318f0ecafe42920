use super::*;

fn runs(lines: &[&str]) -> ProcessedRuns {
    ProcessedRuns::from_bytes(lines.join("\n").as_bytes())
}

#[test]
fn a_line_has_the_documented_keys_in_their_order() {
    let record = RunRecord {
        run_id: "r-1".into(),
        ts: "2026-03-01T12:00:00Z".into(),
        lessons: Some(vec!["m-001".into()]),
        findings: Some(vec!["0f".into()]),
        ..RunRecord::default()
    };
    let expected =
        "{\"run_id\":\"r-1\",\"ts\":\"2026-03-01T12:00:00Z\",\"lessons\":[\"m-001\"],\"findings\":[\"0f\"]}\n";
    assert_eq!(record.to_line_bytes(), expected.as_bytes());
    let decay = RunRecord {
        run_id: "r-1".into(),
        ts: "t".into(),
        decayed: true,
        of: Some("00".into()),
        ..RunRecord::default()
    };
    assert_eq!(decay.to_line_bytes(), b"{\"run_id\":\"r-1\",\"ts\":\"t\",\"decayed\":true,\"of\":\"00\"}\n");
}

#[test]
fn lines_of_one_run_add_up() {
    let runs = runs(&[
        r#"{"run_id":"r-1","ts":"t","lessons":["m-001"],"findings":["aa"]}"#,
        "broken",
        r#"{"run_id":7}"#,
        r#"{"run_id":"r-2","lessons":[],"unknown":1}"#,
        r#"{"run_id":"r-1","ts":"t","lessons":["m-002"],"findings":["bb"]}"#,
    ]);
    assert!(runs.is_counted_for("r-1", "m-001") && runs.is_counted_for("r-1", "m-002"));
    assert!(!runs.is_counted_for("r-2", "m-001") && !runs.is_counted_for("r-3", "m-001"));
    assert_eq!(runs.get("r-1").unwrap().findings.len(), 2);
    assert!(runs.get("r-2").unwrap().is_extracted);
    assert_eq!(runs.lesson_ids().count(), 2);
}

#[test]
fn the_last_run_without_decay_is_the_current_one() {
    let first = r#"{"run_id":"r-1","lessons":[]}"#;
    let second = r#"{"run_id":"r-2","lessons":[]}"#;
    let done = r#"{"run_id":"r-2","decayed":true,"of":"before"}"#;
    let alone = r#"{"run_id":"r-3","decayed":true}"#;
    assert_eq!(runs(&[]).find_last_undecayed("x"), None);
    assert_eq!(runs(&[first, second]).find_last_undecayed("x"), Some("r-2"));
    assert_eq!(runs(&[first, second, done]).find_last_undecayed("x"), Some("r-1"));
    // The mark was made, and then nothing happened: the lessons are what they were.
    assert_eq!(runs(&[first, second, done]).find_last_undecayed("before"), Some("r-2"));
    assert_eq!(runs(&[alone]).find_last_undecayed("x"), None);
    assert!(runs(&[alone]).get("r-3").unwrap().is_decayed("x"));
}

#[test]
fn what_a_line_is_about_to_forget_is_kept() {
    let pairs = [("r-2", "m-003"), ("r-1", "m-001"), ("r-2", "m-002")];
    let records = build_missing_records(
        pairs.map(|(run, lesson)| (run.to_owned(), lesson.to_owned())),
        &ProcessedRuns::default(),
        "t",
    );
    let lines: Vec<u8> = records.iter().flat_map(RunRecord::to_line_bytes).collect();
    let runs = ProcessedRuns::from_bytes(&lines);
    assert!(
        runs.is_counted_for("r-1", "m-001")
            && runs.is_counted_for("r-2", "m-002")
            && runs.is_counted_for("r-2", "m-003")
    );
    assert_eq!(runs.find_last_undecayed("x"), None);
}
