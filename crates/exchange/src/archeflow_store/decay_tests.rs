use proptest::prelude::*;

use super::super::test_support::lines;
use super::*;

fn lesson(id: &str, kind: &str, frequency: &str, silent: u64, seen: &str) -> String {
    format!(
        r#"{{"id":"{id}","ts":"old","type":"{kind}","frequency":{frequency},"last_seen_run":"{seen}","runs_since_last_seen":{silent}}}"#
    )
}

/// What is left of a lesson after so many runs that do not show it.
fn after(frequency: u64, unseen: u64) -> Option<(u64, u64)> {
    let mut lessons = lines(&[&lesson("m-001", "pattern", &frequency.to_string(), 0, "")]);
    for _ in 0..unseen {
        age_lessons(&mut lessons, None, &ProcessedRun::default(), "new");
    }
    lessons.lessons().next().map(|lesson| (lesson.frequency, lesson.runs_since_last_seen))
}

#[test]
fn silence_takes_what_the_documents_say() {
    for (frequency, unseen, left) in [
        (1, 9, Some((1, 9))),
        (1, 10, None),
        (2, 19, Some((1, 9))),
        (2, 20, None),
        (5, 49, Some((1, 9))),
        (5, 50, None),
        (3, 25, Some((1, 5))),
    ] {
        assert_eq!(after(frequency, unseen), left, "{frequency} after {unseen}");
    }
}

#[test]
fn odd_numbers_are_read_as_whole_ones() {
    for (frequency, silent, left) in [
        ("null", 0, Some((0, 1))),
        ("\"9\"", 8, Some((0, 9))),
        ("null", 9, None),
        ("2.7", 3, Some((2, 4))),
        ("-4", 9, None),
        ("3", 25, Some((2, 0))),
    ] {
        let mut lessons = lines(&[&lesson("m-001", "pattern", frequency, silent, "")]);
        let aged = age_lessons(&mut lessons, None, &ProcessedRun::default(), "new");
        let found = lessons.lessons().next().map(|lesson| (lesson.frequency, lesson.runs_since_last_seen));
        assert_eq!(found, left, "{frequency} {silent}");
        assert_eq!(aged.over.list.len(), usize::from(left.is_none()));
    }
}

#[test]
fn preferences_strangers_and_what_was_seen_stay_as_they_are() {
    let kept = [
        lesson("m-001", "preference", "1", 9, ""),
        "not json".to_owned(),
        lesson("m-002", "pattern", "1", 9, "r-1"),
        lesson("m-003", "pattern", "1", 9, "r-9"),
    ];
    let texts: Vec<&str> = kept.iter().map(String::as_str).collect();
    let mut known = ProcessedRun::default();
    known.lessons.insert("m-003".to_owned());
    let mut lessons = lines(&texts);
    let aged = age_lessons(&mut lessons, Some("r-1"), &known, "new");
    assert_eq!((aged.decayed, aged.over.list.len()), (0, 0));
    assert_eq!(lessons, lines(&texts));
}

#[test]
fn what_is_over_says_so() {
    let mut lessons = lines(&[&lesson("m-001", "pattern", "1", 9, "r-1")]);
    let aged = age_lessons(&mut lessons, None, &ProcessedRun::default(), "new");
    assert_eq!(lessons.list.len(), 0);
    let expected =
        r#"{"id":"m-001","ts":"new","type":"pattern","frequency":0,"last_seen_run":"r-1","runs_since_last_seen":9}"#;
    assert_eq!(String::from_utf8(aged.over.to_bytes()).unwrap().trim_end(), expected);
    assert_eq!(aged.decayed, 1);
}

#[test]
fn the_index_names_runs() {
    let index =
        b"{\"run_id\":\"r-1\"}\nbroken\n{\"run_id\":null}\n{}\n[]\n{\"run_id\":\"r-2\"}\r\n{\"run_id\":\"r-1\"}";
    assert_eq!(read_indexed_runs(index), ["r-1", "r-2", "r-1"]);
}

proptest! {
    #[test]
    fn step_by_step_is_what_the_engine_counts_at_once(frequency in 1..8_u64, unseen in 0..100_u64) {
        let whole = FrequencyDecay::after_silence(frequency, unseen, DECAY_RUNS);
        let left = (!whole.is_exhausted()).then_some((whole.frequency, whole.silent_runs));
        prop_assert_eq!(after(frequency, unseen), left);
    }
}
