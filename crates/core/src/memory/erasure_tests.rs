use super::*;
use crate::domain::{EvidenceLevel, LessonMerge};

fn id(text: &str) -> MemoryId {
    MemoryId::parse(text).unwrap()
}

fn episode_id(text: &str) -> EpisodeId {
    EpisodeId::parse(text).unwrap()
}

fn learned(name: &str, episodes: &[&str]) -> AgentMemory {
    let mut memory = AgentMemory::new(id(name), Timestamp::default(), format!("What {name} says"));
    memory.source = MemorySource::Archivist;
    memory.evidence.episode_ids = episodes.iter().map(|name| episode_id(name)).collect();
    memory
}

fn record(kind: RecordKind, value: &impl Serialize) -> StoredRecord {
    StoredRecord { kind, bytes: serde_json::to_vec(value).unwrap() }
}

fn lesson(memory: &AgentMemory) -> StoredRecord {
    record(RecordKind::Lesson, memory)
}

fn sighting(memory: &str, episode: &str) -> StoredRecord {
    let fact = Fact::Sighting {
        memory: id(memory),
        episode: episode_id(episode),
        at: Timestamp::default(),
        level: EvidenceLevel::Execution,
        context: None,
        quotes: Vec::new(),
        extra: Default::default(),
    };
    record(RecordKind::Fact, &fact)
}

fn episodes(names: &[&str]) -> ErasureSelection {
    ErasureSelection { episodes: names.iter().map(|name| episode_id(name)).collect(), ..Default::default() }
}

fn fates(records: &[StoredRecord], selection: &ErasureSelection) -> String {
    let plan = ErasurePlan::from_records(records, selection);
    // What is written to the disk says the same.
    let plan: ErasurePlan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    let letter = |record: &StoredRecord| match plan.judge_record(record.kind, &record.bytes) {
        RecordFate::Kept => 'k',
        RecordFate::Erased => 'e',
        RecordFate::Rewritten(_) => 'r',
    };
    records.iter().map(letter).collect()
}

#[test]
fn a_lesson_goes_with_the_last_episode_that_it_rests_on() {
    let mut told = learned("told", &["ep-1"]);
    told.source = MemorySource::Manual;
    let records = [
        lesson(&learned("one", &["ep-1"])),
        lesson(&learned("both", &["ep-1", "ep-2"])),
        lesson(&learned("other", &["ep-2"])),
        lesson(&told),
        lesson(&learned("seen", &["ep-1"])),
        sighting("seen", "ep-2"),
        sighting("both", "ep-1"),
    ];
    assert_eq!(fates(&records, &episodes(&["ep-1"])), "erkrrke");
    assert_eq!(fates(&records, &episodes(&["ep-1", "ep-2"])), "eeereee");
    assert_eq!(fates(&records, &episodes(&["ep-3"])), "kkkkkkk");
}

#[test]
fn a_lesson_goes_with_what_was_merged_into_it_and_leaves_no_link() {
    let mut kept = learned("kept", &[]);
    let mut absorbed = learned("absorbed", &[]);
    kept.merges = vec![LessonMerge {
        absorbed: Box::new(absorbed.clone()),
        kept: Box::new(learned("kept", &[])),
        at: Timestamp::default(),
    }];
    absorbed.superseded_by = Some(id("kept"));
    let mut older = learned("older", &[]);
    older.superseded_by = Some(id("kept"));
    let records = [lesson(&kept), lesson(&absorbed), lesson(&older)];
    let of = |name: &str| ErasureSelection { lessons: [id(name)].into(), ..Default::default() };
    assert_eq!(fates(&records, &of("kept")), "eer");
    assert_eq!(fates(&records, &of("absorbed")), "rek");
    let plan = ErasurePlan::from_records(&records, &of("kept"));
    let RecordFate::Rewritten(json) = plan.judge_record(RecordKind::Lesson, &records[2].bytes) else { panic!() };
    let older: AgentMemory = serde_json::from_str(&json).unwrap();
    assert_eq!((older.superseded_by, older.state), (None, Some(MemoryState::Superseded)));
}

#[test]
fn a_text_takes_whole_lessons_and_single_facts() {
    let mut first = learned("one", &[]);
    first.summary = "The Blue Heron sleeps".to_owned();
    let records = [
        lesson(&first),
        lesson(&learned("one", &[])),
        lesson(&learned("two", &[])),
        sighting("two", "ep-heron"),
        StoredRecord { kind: RecordKind::Fact, bytes: b"a torn blue heron".to_vec() },
    ];
    let text = |text: &str| ErasureSelection { text: SearchedText::new(text), ..Default::default() };
    assert_eq!(fates(&records, &text("blue HERON")), "eekke");
    assert_eq!(fates(&records, &text("heron")), "eekee");
    let plan = ErasurePlan::from_records(&records, &text("heron"));
    let counts: Vec<(&str, usize)> = plan.counts.iter().map(|(kind, number)| (kind.as_str(), *number)).collect();
    assert_eq!(counts, [("damaged lines", 1), ("facts", 1), ("lessons", 1), ("versions", 2)]);
    assert!(!serde_json::to_string(&plan).unwrap().to_lowercase().contains("heron"));
}

#[test]
fn records_beside_the_store_go_by_name_and_by_words() {
    let records = [lesson(&learned("a-lesson", &["ep-1"]))];
    let mut selection = episodes(&["ep-1"]);
    selection.sessions = [SessionId::parse("s-1").unwrap()].into();
    let mut plan = ErasurePlan::from_records(&records, &selection);
    for (bytes, goes) in [
        (r#"{"type":"x","sessionId":"s-1"}"#, true),
        (r#"{"type":"x","sessionId":"s-12"}"#, false),
        (r#"{"title":"s-1"}"#, false),
        (r#"{"memoryId":"a-lesson"}"#, true),
        ("{\"a\":1}\n{\"run\":\"s-1\"}\n", true),
    ] {
        assert_eq!(plan.plan_other_record(&selection, "things", bytes.as_bytes()), goes, "{bytes}");
        assert_eq!(plan.erases_other_record(bytes.as_bytes()), goes, "{bytes}");
    }
    assert_eq!(plan.counts["things"], 3);
}

#[test]
fn a_note_knows_its_sessions_and_says_nothing_of_them() {
    let session = SessionId::parse("s-1").unwrap();
    let mut note = ErasureNote {
        id: "k".to_owned(),
        at: Timestamp::default(),
        asked_by: "person".to_owned(),
        erased: ErasureCounts::new(),
        sessions: Vec::new(),
    };
    assert!(!note.covers_session(&session));
    note.sessions.push(note.hash_session(&session));
    assert!(note.covers_session(&session) && !note.covers_session(&SessionId::parse("s-2").unwrap()));
    assert!(!serde_json::to_string(&note).unwrap().contains("s-1"));
}
