use serde_json::Value;
use serde_json::json;

use super::*;

fn read(bytes: &[u8]) -> (LogFormat, Vec<TrajectoryEvent>) {
    let mut events = Vec::new();
    let format = SessionReader::new(ReaderSettings::default()).read_log(&mut &*bytes, &mut events).unwrap();
    (format, events)
}

fn steps(events: &[TrajectoryEvent]) -> usize {
    events.iter().filter(|event| matches!(event, TrajectoryEvent::Step(_))).count()
}

fn skipped(events: &[TrajectoryEvent]) -> Vec<(u64, &str)> {
    let skipped = events.iter().filter_map(|event| match event {
        TrajectoryEvent::Skipped(skipped) => Some((skipped.line, skipped.why.as_str())),
        _ => None,
    });
    skipped.collect()
}

fn transcript() -> Vec<Value> {
    let line = |n: u32, role: &str| {
        json!({
            "type": role, "uuid": format!("u{n}"), "sessionId": "s", "isSidechain": false, "parentUuid": null,
            "message": {"id": format!("m{n}"), "role": role, "content": [{"type": "text", "text": format!("words {n}")}]},
        })
    };
    (0..6).map(|n| line(n, if n % 2 == 0 { "user" } else { "assistant" })).collect()
}

fn joined(lines: &[Value], show: impl Fn(&Value) -> String) -> String {
    lines.iter().map(|line| show(line) + "\n").collect()
}

#[test]
fn a_transcript_is_read_in_any_layout() {
    let lines = transcript();
    let texts = [
        joined(&lines, Value::to_string),
        joined(&lines, |line| serde_json::to_string_pretty(line).unwrap()),
        json!(lines).to_string(),
        serde_json::to_string_pretty(&lines).unwrap(),
        format!("Reading prompt from stdin...\n{}", joined(&lines, Value::to_string)),
        format!("\0\0\0{}", joined(&lines, Value::to_string)),
    ];
    for text in texts {
        let (format, events) = read(text.as_bytes());
        assert_eq!((format, steps(&events)), (LogFormat::ClaudeCode, 6), "{text}");
    }
}

#[test]
fn a_first_line_that_is_cut_off_costs_nothing_but_itself() {
    let lines = transcript();
    let first = lines[0].to_string();
    for at in ["words", "\"role\"", "\"text\"", "\"content\""] {
        let cut = first.find(at).unwrap() + 2;
        let text = format!("{}\n{}", first.get(..cut).unwrap(), joined(&lines, Value::to_string));
        let (format, events) = read(text.as_bytes());
        assert_eq!((format, steps(&events)), (LogFormat::ClaudeCode, 6), "{text}");
        assert_eq!(skipped(&events).len(), 1, "{text}");
    }
}

#[test]
fn a_packed_log_that_is_damaged_keeps_what_comes_before() {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let text = joined(&transcript(), Value::to_string);
    let packed = ruzstd::encoding::compress_to_vec(text.as_bytes(), level);
    let (_, events) = read(&[packed.as_slice(), b"rubbish"].concat());
    assert_eq!(steps(&events), 6);
    assert_eq!(skipped(&events), [(0, "the packed log is damaged, and ends here")]);
}

fn document(n: u32) -> String {
    let steps =
        json!([{"step_id": 1, "source": "user", "message": "a"}, {"step_id": 2, "source": "agent", "message": "b"}]);
    json!({"schema_version": "ATIF-v1.7", "session_id": format!("s{n}"), "agent": {"name": "x"}, "steps": steps})
        .to_string()
}

#[test]
fn a_broken_document_among_others_costs_nothing_but_itself() {
    let first = document(1);
    for at in ["ATIF", "\"a\"", "source"] {
        let cut = first.get(..first.find(at).unwrap() + 2).unwrap();
        let text = format!("{first}\n{cut}\n\n{}\n{}\n", document(2), document(3));
        let (format, events) = read(text.as_bytes());
        assert_eq!(format, LogFormat::Atif);
        assert!(steps(&events) >= 6, "{text}");
        let lines: Vec<u64> = skipped(&events).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2], "{text}");
    }
}

#[test]
fn steps_in_an_array_are_read() {
    let text = r#"[{"step_id":1,"source":"user","message":"a"},{"step_id":2,"source":"agent","message":"b"}]"#;
    let (format, events) = read(text.as_bytes());
    assert_eq!((format, steps(&events)), (LogFormat::AtifStream, 2));
}

#[test]
fn a_chat_that_is_cut_off_keeps_its_messages() {
    let messages: Vec<Value> = (0..4).map(|n| json!({"id": n.to_string(), "type": "user", "content": "hi"})).collect();
    let messages = serde_json::to_string_pretty(&messages).unwrap();
    let text = format!("{{\n\"sessionId\": \"g\",\n\"projectHash\": \"h\",\n\"messages\": {messages}}}");
    let cut = text.rfind("\"content\"").unwrap();
    let (format, events) = read(&text.as_bytes()[..cut]);
    assert_eq!((format, steps(&events)), (LogFormat::Gemini, 3));
    assert_eq!(skipped(&events), [(0, "the JSON is cut off")]);
}
