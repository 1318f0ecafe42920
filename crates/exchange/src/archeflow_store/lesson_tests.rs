use proptest::prelude::*;

use super::*;

/// The lines by which ArcheFlow explains its format.
const LINES: [&str; 4] = [
    r#"{"id":"m-001","ts":"2026-04-03T14:00:00Z","run_id":"2026-04-03-der-huster","type":"pattern","source":"guardian","description":"Timeline references must match story start day","frequency":2,"severity":"bug","domain":"writing","tags":["continuity","timeline"],"last_seen_run":"2026-04-03-der-huster","runs_since_last_seen":0}"#,
    r#"{"id":"m-002","ts":"2026-04-03T15:00:00Z","run_id":"2026-04-03-der-huster","type":"preference","source":"user_feedback","description":"User prefers single bundled PR over many small ones","frequency":1,"severity":"info","domain":"general","tags":["workflow"],"last_seen_run":"","runs_since_last_seen":0}"#,
    r#"{"id":"m-003","ts":"2026-04-04T10:00:00Z","run_id":"2026-04-04-auth-fix","type":"archetype_hint","source":"sage","description":"Voice drift most common in long monologue passages","frequency":3,"severity":"warning","domain":"writing","tags":["voice","prose"],"archetype":"story-sage","last_seen_run":"2026-04-04-auth-fix","runs_since_last_seen":0}"#,
    r#"{"id":"m-004","ts":"2026-04-04T11:00:00Z","run_id":"2026-04-04-auth-fix","type":"anti_pattern","source":"maker","description":"Splitting auth middleware into per-route handlers causes duplication","frequency":1,"severity":"warning","domain":"code","tags":["auth","middleware"],"last_seen_run":"2026-04-04-auth-fix","runs_since_last_seen":0}"#,
];

#[test]
fn the_documented_lines_come_back_to_the_byte() {
    for line in LINES {
        assert_eq!(ArcheFlowLesson::parse(line).unwrap().to_line(), line);
    }
}

#[test]
fn an_archetype_is_absent_null_or_a_name() {
    let lesson = |line: &str| ArcheFlowLesson::parse(line).unwrap();
    assert_eq!(lesson(LINES[0]).archetype, None);
    assert_eq!(lesson(LINES[2]).archetype(), Some("story-sage"));
    let null = LINES[2].replace("\"story-sage\"", "null");
    assert_eq!(lesson(&null).archetype, Some(None));
    assert_eq!(lesson(&null).to_line(), null);
}

#[test]
fn odd_values_are_read_as_well_as_they_can_be() {
    for (frequency, read) in [
        ("null", 0),
        ("\"3\"", 0),
        ("-2", 0),
        ("2.9", 2),
        ("-0.5", 0),
        ("1e3", 1000),
        ("7", 7),
        ("[1]", 0),
        ("1e300", u64::MAX),
    ] {
        let lesson = ArcheFlowLesson::parse(&format!("{{\"frequency\":{frequency}}}")).unwrap();
        assert_eq!(lesson.frequency, read, "{frequency}");
    }
    let lesson = ArcheFlowLesson::parse(r#"{"id":7,"description":null,"tags":"alone","archetype":1}"#).unwrap();
    assert_eq!((lesson.id.as_str(), lesson.description.as_str()), ("7", ""));
    assert_eq!(lesson.tags, ["alone"]);
    assert_eq!(lesson.archetype(), Some("1"));
}

#[test]
fn what_is_unknown_survives() {
    let line = LINES[0].replace("}", ",\"note\":{\"a\":[1,null]},\"zeal\":1.5}");
    assert_eq!(ArcheFlowLesson::parse(&line).unwrap().to_line(), line);
}

#[test]
fn only_objects_are_lessons() {
    for line in ["", "null", "7", "[]", "\"text\"", "{\"id\":", "not json", "{} {}"] {
        assert!(ArcheFlowLesson::parse(line).is_err(), "{line}");
    }
    assert!(ArcheFlowLesson::parse("\u{feff}{}\r").is_ok());
    assert_eq!(ArcheFlowLesson::parse(r#"{"id":"m-001","id":"m-002"}"#).unwrap().id, "m-002");
}

proptest! {
    #[test]
    fn a_line_that_we_wrote_reads_back(
        (id, description, domain) in (".*", ".*", ".*"),
        (frequency, runs) in (any::<u64>(), any::<u64>()),
        tags in prop::collection::vec(".*", 0..4),
        archetype in prop::option::of(prop::option::of(".*")),
    ) {
        let lesson = ArcheFlowLesson {
            id, description, domain, frequency, tags, archetype, runs_since_last_seen: runs, ..ArcheFlowLesson::default()
        };
        let line = lesson.to_line();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(ArcheFlowLesson::parse(&line), Ok(lesson));
    }
}
