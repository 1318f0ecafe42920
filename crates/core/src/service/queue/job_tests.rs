use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::service::queue::test_support::{job, sweep};

#[test]
fn a_job_is_read_and_written_with_what_it_does_not_know() {
    let text = json!({
        "errand": {"reflect": {"scenario": "session_complete", "projectRoot": "/shop", "sessionId": "a", "new": 1}},
        "agent": "claude-code", "event": "SessionEnd", "urgency": "over", "logBytes": 10,
        "enqueuedAt": "2026-11-16T12:00:00Z", "notBefore": "2026-11-16T12:01:00Z",
        "attempts": [{"at": "2026-11-16T12:00:30Z", "error": "busy"}], "fromTheFuture": [true],
    });
    let read: Job = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), text);
    let text = json!({
        "errand": {"sweep": {"projectRoot": "/shop"}}, "agent": "codex", "event": "SessionStart",
        "urgency": "sweep", "enqueuedAt": "2026-11-16T12:00:00Z",
    });
    let read: Job = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), text);
}

#[test]
fn a_name_tells_sessions_and_lengths_apart_and_nothing_else() {
    let name = job("a", 10).name();
    assert_eq!(name, Job { event: "Stop".to_owned(), urgency: JobUrgency::Pause, ..job("a", 10) }.name());
    assert_ne!(name, job("a", 11).name());
    assert_ne!(name, job("b", 10).name());
    assert_eq!(name.as_str().len(), "0123456789abcdef-10.json".len());
    let other = Job { kind: JobKind::Sweep { project_root: "/bank".to_owned() }, ..sweep() };
    assert!(sweep().name().as_str().starts_with("sweep-"));
    assert_ne!(sweep().name(), other.name(), "projects that share a memory are swept one by one");
    assert!(Job { log_bytes: None, ..job("a", 10) }.name().as_str().ends_with("-0.json"));
}

#[test]
fn only_plain_names_are_names_of_jobs() {
    let check = |text: &str, expected: bool| assert_eq!(JobName::parse(text).is_ok(), expected, "{text}");
    check("0123456789abcdef-10.json", true);
    check("sweep.json", true);
    for text in ["", ".json", ".hidden.json", "a.json.x", "a.txt", "../a.json", "a/b.json", "ä.json", "a b.json"] {
        check(text, false);
    }
}

proptest! {
    #[test]
    fn every_job_has_a_name_that_can_be_read_back(session in "[a-zA-Z0-9._-]{1,40}", bytes in any::<u64>()) {
        let Ok(id) = crate::domain::SessionId::parse(&session) else { return Ok(()) };
        let name = job(id.as_str(), bytes).name();
        prop_assert_eq!(JobName::parse(name.as_str()).unwrap(), name);
    }
}

#[test]
fn the_name_of_a_job_that_is_stored_stays_the_same() {
    assert_eq!(job("a", 10).name().as_str(), "c37ad3be11587bb2-10.json");
}
