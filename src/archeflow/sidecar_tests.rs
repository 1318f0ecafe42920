use super::*;

fn runs(lines: &[&str]) -> Runs {
    Runs::of(lines.join("\n").as_bytes())
}

#[test]
fn a_line_has_the_documented_keys_in_their_order() {
    let record = Record {
        run_id: "r-1".into(),
        ts: "2026-03-01T12:00:00Z".into(),
        lessons: Some(vec!["m-001".into()]),
        findings: Some(vec!["0f".into()]),
        ..Record::default()
    };
    let expected =
        "{\"run_id\":\"r-1\",\"ts\":\"2026-03-01T12:00:00Z\",\"lessons\":[\"m-001\"],\"findings\":[\"0f\"]}\n";
    assert_eq!(record.line(), expected.as_bytes());
    let decay =
        Record { run_id: "r-1".into(), ts: "t".into(), decayed: true, of: Some("00".into()), ..Record::default() };
    assert_eq!(decay.line(), b"{\"run_id\":\"r-1\",\"ts\":\"t\",\"decayed\":true,\"of\":\"00\"}\n");
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
    assert!(runs.counted("r-1", "m-001") && runs.counted("r-1", "m-002"));
    assert!(!runs.counted("r-2", "m-001") && !runs.counted("r-3", "m-001"));
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
    assert_eq!(runs(&[]).last_without_decay("x"), None);
    assert_eq!(runs(&[first, second]).last_without_decay("x"), Some("r-2"));
    assert_eq!(runs(&[first, second, done]).last_without_decay("x"), Some("r-1"));
    // The mark was made, and then nothing happened: the lessons are what they were.
    assert_eq!(runs(&[first, second, done]).last_without_decay("before"), Some("r-2"));
    assert_eq!(runs(&[alone]).last_without_decay("x"), None);
    assert!(runs(&[alone]).get("r-3").unwrap().is_decayed("x"));
}

#[test]
fn what_a_line_is_about_to_forget_is_kept() {
    let pairs = [("r-2", "m-003"), ("r-1", "m-001"), ("r-2", "m-002")];
    let records = adopted(pairs.map(|(run, lesson)| (run.to_owned(), lesson.to_owned())), &Runs::default(), "t");
    let lines: Vec<u8> = records.iter().flat_map(Record::line).collect();
    let runs = Runs::of(&lines);
    assert!(runs.counted("r-1", "m-001") && runs.counted("r-2", "m-002") && runs.counted("r-2", "m-003"));
    assert_eq!(runs.last_without_decay("x"), None);
}
