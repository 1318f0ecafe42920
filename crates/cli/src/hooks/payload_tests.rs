use super::*;
use crate::hooks::HookAgent;

fn payload(text: &str) -> HookPayload {
    HookPayload::parse(text, HookAgent::Generic.dialect()).unwrap()
}

#[test]
fn only_what_the_agent_speaks_of_is_held() {
    let read = payload(r#"{"sessionId": "s", "secret": "hunter2", "logPaths": ["a"]}"#);
    assert_eq!(read.0.keys().collect::<Vec<_>>(), ["logPaths", "sessionId"]);
}

#[test]
fn paths_come_single_or_in_lists_and_each_once() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(payload(text).find_paths(&["logPaths", "transcript_path"]), expected, "{text}");
    };
    check(r#"{"logPaths": "a"}"#, &["a"]);
    check(r#"{"logPaths": ["a", 7, "", "b", "a", "c\nd", "e\u0007f"], "transcript_path": "b"}"#, &["a", "b", "c\nd"]);
    check(r#"{"logPaths": {"a": "b"}}"#, &[]);
    check(r#"{"transcript_path": "C:\\logs\\one.jsonl"}"#, &["C:\\logs\\one.jsonl"]);
}

#[test]
fn a_word_is_a_word_and_no_sentence() {
    let check = |value: &str, expected: Option<&str>| {
        let text = serde_json::json!({ "reason": value }).to_string();
        assert_eq!(payload(&text).find_word(&["reason"]).as_deref(), expected, "{value}");
    };
    check("prompt_input_exit", Some("prompt_input_exit"));
    check(" clear ", Some("clear"));
    check("my key is hunter2", None);
    check("", None);
    check(&"x".repeat(65), None);
}
