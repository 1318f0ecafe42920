use super::*;

fn format(text: &str) -> Result<Format, String> {
    detect(&mut text.as_bytes()).map(|detected| detected.format).map_err(|error| error.to_string())
}

#[test]
fn a_format_is_known_by_what_it_holds() {
    use Format::*;
    let table = [
        (r#"{"schema_version":"ATIF-v1.7","agent":{},"steps":[]}"#, Atif),
        ("{\n  \"session_id\": \"s\",\n  \"steps\": [\n    {\"step_id\": 1}", Atif),
        ("[\n {\"schema_version\": \"ATIF-v1.4\", \"steps\": []}\n]", Atif),
        (r#"{"__header__":true,"schema_version":"ATIF-v1.4"}"#, AtifStream),
        (r#"{"step_id":12,"source":"agent","message":""}"#, AtifStream),
        (r#"{"type":"user","message":{"role":"user","content":"hi"},"uuid":"u","sessionId":"s"}"#, ClaudeCode),
        ("{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"l\"}\n{}", ClaudeCode),
        ("{\"type\":\"file-history-snapshot\"}\n", ClaudeCode),
        (r#"{"type":"system","subtype":"init","session_id":"s"}"#, ClaudeCode),
        (r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"t"}}"#, Codex),
        (r#"{"id":"t","timestamp":"2025-08-06T00:00:00Z","instructions":null}"#, Codex),
        (r#"{"record_type":"state"}"#, Codex),
        (r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#, Codex),
        (r#"{"type":"thread.started","thread_id":"t"}"#, CodexExec),
        (r#"{"type":"item.completed","item":{"id":"i"}}"#, CodexExec),
        (
            r#"{"type":"session_start","timestamp":"2025-12-02T00:00:00Z","sessionId":"s","uuid":"u"}"#,
            OpenAgentsSession,
        ),
        (r#"{"type":"run_start","ts":"2025-12-02T00:00:00Z"}"#, OpenAgentsRunLog),
        (r#"{"id":"traj-1","actions":[],"outcome":"failure"}"#, OpenAgentsTrajectories),
        ("{\n \"attempts\": []\n}", OpenAgentsState),
        ("{\n \"session_id\": \"s\",\n \"checkpoint\": null\n}", OpenAgentsState),
        ("# Session Progress\n\n## Session Info\n", ProgressNotes),
        (r#"{"ts":"t","run_id":"r","seq":1,"type":"review.verdict","phase":"check","data":{}}"#, ArcheFlow),
        (r#"{"sessionId":"s","projectHash":"h","messages":[]}"#, Gemini),
        (r#"{"info":{"id":"ses"},"messages":[]}"#, OpenCode),
        (r#"{"role":"user","content":"hi"}"#, Generic),
        (r#"{"session":{"id":"s"}}"#, Generic),
    ];
    for (text, expected) in table {
        assert_eq!(format(text), Ok(expected), "{text}");
    }
}

#[test]
fn lines_that_tell_nothing_do_not_hide_the_format() {
    let text = "not json\n{\"a\":{\"b\":1\n{\"type\":\"user\",\"message\":{},\"sessionId\":\"s\"}\n";
    assert_eq!(
        format(text),
        Err("it is in no format that is known here: it is neither JSON nor progress notes".to_owned())
    );
    let text = "{\"a\":{\"b\":1\n{}\n{\"type\":\"user\",\"message\":{},\"sessionId\":\"s\"}\n";
    assert_eq!(format(text), Ok(Format::ClaudeCode));
}

#[test]
fn what_is_no_log_is_told_apart() {
    let table = [
        ("", "it is empty"),
        (" \n ", "it is empty"),
        ("\u{0}\u{1}", "it is in no format that is known here: it is not text"),
        ("hello", "it is in no format that is known here: it is neither JSON nor progress notes"),
        ("[1,2]", "it is in no format that is known here: it is a JSON array"),
        (
            r#"{"id":"m","memoryType":"episodic"}"#,
            "it is in no format that is known here: it looks like a memory store; `archivist import` is for those",
        ),
        (r#"{"x":1}"#, "it is in no format that is known here: none of its first lines is one of a session log"),
    ];
    for (text, expected) in table {
        assert_eq!(format(text), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn a_log_is_handed_on_from_its_beginning() {
    let text = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "x".repeat(600_000));
    let mut input = text.as_bytes();
    let mut whole = String::new();
    detect(&mut input).unwrap().input.read_to_string(&mut whole).unwrap();
    assert_eq!(whole, text);
}

#[test]
fn a_packed_log_is_unpacked() {
    let text = "{\"role\":\"user\",\"content\":\"hi\"}\n".repeat(5000);
    let packed = ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let mut input = packed.as_slice();
    let mut detected = detect(&mut input).unwrap();
    let mut whole = String::new();
    detected.input.read_to_string(&mut whole).unwrap();
    assert_eq!((detected.format, whole), (Format::Generic, text));
}
