use super::*;
use crate::domain::{Engine, Reflection, Usage};

fn distilled() -> Distilled {
    Distilled {
        engine: Engine::Model,
        reflection: Reflection::default(),
        candidates: Vec::new(),
        dropped: Vec::new(),
        fallback: None,
        model: Some("tiny".to_owned()),
        prompts: None,
        form: None,
        usage: Usage::default(),
        calls: 1,
    }
}

#[test]
fn what_was_asked_is_known_after_a_crash_and_so_is_what_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue/batch.log");
    let logs = [LogStamp { path: "/a.jsonl".to_owned(), bytes: 5 }];
    let id = |name: &str| EpisodeId::parse(name).unwrap();
    let journal = Journal::open(&path).unwrap();
    journal.asking(&id("ep-1"), &logs).unwrap();
    journal.answered(&id("ep-1"), &distilled()).unwrap();
    journal.asking(&id("ep-2"), &logs).unwrap();
    drop(journal);
    // The process died in the middle of a line.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"answered\":{\"episode\":\"ep-2\"");
    std::fs::write(&path, text).unwrap();

    let journal = Journal::open(&path).unwrap();
    assert_eq!(journal.before(&id("ep-1"), &logs), Before::Answered(Box::new(distilled())));
    assert_eq!(journal.before(&id("ep-2"), &logs), Before::Asked);
    assert_eq!(journal.before(&id("ep-3"), &logs), Before::Nothing);
    let grown = [LogStamp { path: "/a.jsonl".to_owned(), bytes: 6 }];
    assert_eq!(journal.before(&id("ep-1"), &grown), Before::Nothing);
    journal.asking(&id("ep-3"), &logs).unwrap();
    assert_eq!(Journal::open(&path).unwrap().before(&id("ep-3"), &logs), Before::Asked);
    journal.not_asked(&id("ep-3")).unwrap();
    assert_eq!(Journal::open(&path).unwrap().before(&id("ep-3"), &logs), Before::Nothing);
    journal.close().unwrap();
    assert!(!path.exists());
}
