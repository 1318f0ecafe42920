use super::*;
use crate::domain::{Engine, ReflectionSummary, TokenUsage};

fn distilled() -> DistillationResult {
    DistillationResult {
        engine: Engine::Model,
        reflection: ReflectionSummary::default(),
        candidates: Vec::new(),
        dropped: Vec::new(),
        fallback: None,
        model: Some("tiny".to_owned()),
        prompts: None,
        form: None,
        usage: TokenUsage::default(),
        calls: 1,
    }
}

#[test]
fn what_was_asked_is_known_after_a_crash_and_so_is_what_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue/batch.log");
    let logs = [LogStamp { path: "/a.jsonl".to_owned(), bytes: 5 }];
    let id = |name: &str| EpisodeId::parse(name).unwrap();
    let journal = BatchJournal::open(&path).unwrap();
    journal.record_request(&id("ep-1"), &logs).unwrap();
    journal.record_reply(&id("ep-1"), &distilled()).unwrap();
    journal.record_request(&id("ep-2"), &logs).unwrap();
    drop(journal);
    // The process died in the middle of a line.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"answered\":{\"episode\":\"ep-2\"");
    std::fs::write(&path, text).unwrap();

    let journal = BatchJournal::open(&path).unwrap();
    assert_eq!(journal.find_earlier_request(&id("ep-1"), &logs), EarlierRequest::Answered(Box::new(distilled())));
    assert_eq!(journal.find_earlier_request(&id("ep-2"), &logs), EarlierRequest::Asked);
    assert_eq!(journal.find_earlier_request(&id("ep-3"), &logs), EarlierRequest::Nothing);
    let grown = [LogStamp { path: "/a.jsonl".to_owned(), bytes: 6 }];
    assert_eq!(journal.find_earlier_request(&id("ep-1"), &grown), EarlierRequest::Nothing);
    journal.record_request(&id("ep-3"), &logs).unwrap();
    assert_eq!(BatchJournal::open(&path).unwrap().find_earlier_request(&id("ep-3"), &logs), EarlierRequest::Asked);
    journal.record_cancellation(&id("ep-3")).unwrap();
    assert_eq!(BatchJournal::open(&path).unwrap().find_earlier_request(&id("ep-3"), &logs), EarlierRequest::Nothing);
    journal.delete_journal().unwrap();
    assert!(!path.exists());
}
