use super::*;

fn format(text: &str) -> Result<LogFormat, String> {
    detect_format(&mut text.as_bytes()).map(|detected| detected.format).map_err(|error| error.to_string())
}

#[test]
fn a_format_is_known_by_what_it_holds() {
    use LogFormat::*;
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
        (r#"{"id":"0","msg":{"type":"task_started"}}"#, Codex),
        ("{\n \"session\": {\"id\": \"t\"},\n \"items\": [\n {\"type\": \"message\"}]\n}", Codex),
        (r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#, Codex),
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
        ("{\n \"attempts\": [{\"id\":1}]\n}", OpenAgentsState),
        (
            r#"{"type":"user","uuid":"1","sessionId":"session-2025","message":{"role":"user","content":"do"}}"#,
            OpenAgentsSession,
        ),
        ("{\n \"session_id\": \"s\",\n \"checkpoint\": null\n}", OpenAgentsState),
        ("# Session Progress\n\n## Session Info\n", ProgressNotes),
        (r#"{"ts":"t","run_id":"r","seq":1,"type":"review.verdict","phase":"check","data":{}}"#, ArcheFlow),
        (r#"{"sessionId":"s","projectHash":"h","messages":[]}"#, Gemini),
        (r#"{"info":{"id":"ses"},"messages":[]}"#, OpenCode),
        (r#"{"role":"user","content":"hi"}"#, Generic),
        (r#"{"session":{"id":"s"}}"#, Generic),
        (r#"{"type":"message","role":"user","content":"hi"}"#, Generic),
        (r#"{"type":"message","role":"tool","content":[],"tool_call_id":"c"}"#, Generic),
        (r#"{"type":"message","role":"assistant","content":null,"tool_calls":[]}"#, Generic),
        (r#"{"type":"agent-name","agentName":"x","sessionId":"s"}"#, ClaudeCode),
        (r#"[{"type":"system","subtype":"init","session_id":"x"},{"type":"result"}]"#, ClaudeCode),
        ("[\n  {\"role\": \"user\", \"content\": \"hi\"}\n]", Generic),
        (r#"[{"step_id":1,"source":"user","message":"hi"}]"#, AtifStream),
    ];
    for (text, expected) in table {
        assert_eq!(format(text), Ok(expected), "{text}");
    }
}

const CLAUDE: &str = r#"{"type":"user","message":{"role":"user","content":"hi"},"sessionId":"s"}"#;

fn laid_out(text: &str) -> Option<(LogFormat, LogLayout)> {
    detect_format(&mut text.as_bytes()).ok().map(|detected| (detected.format, detected.layout))
}

#[test]
fn lines_that_tell_nothing_do_not_hide_the_format() {
    let long = "{\"type\":\"agent-name\"}\n".repeat(500);
    let table = [
        format!("{{\"a\":{{\"b\":1\n{{}}\n{CLAUDE}\n"),
        format!("{{\"type\":\"user\",\"text\":\"please f\n{CLAUDE}\n{CLAUDE}\n"),
        format!("{{\"type\":\"user\",\"message\":{{\"content\":\"please f\n{CLAUDE}\n{CLAUDE}\n"),
        format!("{{\"type\":\"user\",\"message\":{{\n{CLAUDE}\n"),
        format!("{{\"type\":\"user\",\"message\":[{{\"a\":1}},\n{CLAUDE}\n{CLAUDE}\n"),
        format!("ser\",\"message\":{{}}}}\n{CLAUDE}\n"),
        format!("Reading prompt from stdin...\n{CLAUDE}\n"),
        format!("[2026-01-01T00:00:00Z] WARN something\n{CLAUDE}\n"),
        format!("\0\0\0{CLAUDE}\n"),
        format!("{long}{CLAUDE}\n"),
    ];
    for text in table {
        assert_eq!(laid_out(&text), Some((LogFormat::ClaudeCode, LogLayout::Lines)), "{text}");
    }
}

#[test]
fn a_document_is_told_from_lines() {
    let step = r#"{"step_id":1,"source":"user","message":"x"}"#;
    let long = "x".repeat(400_000);
    let table = [
        (format!("{{\"steps\": [\n{step},\n{step}\n], \"agent\": {{}}}}"), LogLayout::Document),
        (format!("{{\"steps\": [\n{step}\n], \"agent\": {{}}}}\n"), LogLayout::Document),
        (format!("{{\"steps\": [\n{step},\n{step},\n{long}"), LogLayout::Document),
        (format!("{{\"steps\":[{step}],\"agent\":{{}}}}\n{{\"steps\":[{step}]}}"), LogLayout::Lines),
        (format!("{{\"steps\":[{{\"step_id\":1,\"source\":\"user\",\"message\":\"{long}\"}}]}}"), LogLayout::Lines),
        (
            format!(
                "{{\n \"steps\": [\n  {{\n   \"step_id\": 1,\n   \"source\": \"user\", \"message\": \"{long}\"}}]}}"
            ),
            LogLayout::Document,
        ),
    ];
    for (text, layout) in table {
        assert_eq!(laid_out(&text), Some((LogFormat::Atif, layout)), "{text:.200}");
    }
}

#[test]
fn a_first_line_beyond_what_is_looked_at_is_known() {
    let long = "x".repeat(400_000);
    let line = format!(
        r#"{{"parentUuid":null,"isSidechain":false,"cwd":"/w","message":{{"content":"{long}"}},"type":"user"}}"#
    );
    assert_eq!(laid_out(&line), Some((LogFormat::ClaudeCode, LogLayout::Lines)));
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
        (
            r#"{"type":"error","message":"x"}"#,
            "it is in no format that is known here: none of its first lines is one of a session log",
        ),
        (
            r#"{"attempts":3,"job":"x"}"#,
            "it is in no format that is known here: none of its first lines is one of a session log",
        ),
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
    detect_format(&mut input).unwrap().input.read_to_string(&mut whole).unwrap();
    assert_eq!(whole, text);
}

#[test]
fn a_packed_log_is_unpacked() {
    let text = "{\"role\":\"user\",\"content\":\"hi\"}\n".repeat(5000);
    let packed = ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let mut input = packed.as_slice();
    let mut detected = detect_format(&mut input).unwrap();
    let mut whole = String::new();
    detected.input.read_to_string(&mut whole).unwrap();
    assert_eq!((detected.format, whole), (LogFormat::Generic, text));
}

#[test]
fn a_log_that_cannot_be_unpacked_is_an_error() {
    let error = detect_format(&mut b"\x28\xb5\x2f\xfdxxxxxxxxxx".as_slice()).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "it could not be read: it cannot be unpacked");
}
