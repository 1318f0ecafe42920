use crate::domain::{OutputOwner, Speaker, TrajectoryEvent};
use crate::ingest::{LogFormat, ReaderSettings, SessionReader};

fn read(text: &str) -> Vec<TrajectoryEvent> {
    let mut events = Vec::new();
    let format = SessionReader::new(ReaderSettings::default()).read_log(&mut text.as_bytes(), &mut events).unwrap();
    assert_eq!(format, LogFormat::Codex);
    assert!(!events.iter().any(|event| matches!(event, TrajectoryEvent::Skipped(_))), "{events:?}");
    events
}

fn said(events: &[TrajectoryEvent]) -> Vec<(Speaker, &str)> {
    let said = events.iter().filter_map(|event| match event {
        TrajectoryEvent::Step(step) => Some((step.speaker.clone(), step.text.as_str())),
        _ => None,
    });
    said.collect()
}

#[test]
fn the_stream_of_2025_is_read() {
    let events = read(concat!(
        r#"{"model":"large-1","workdir":"/home/dev/shop","provider":"example","reasoning effort":"none"}"#,
        "\n",
        r#"{"prompt":"fix it"}"#,
        "\n",
        r#"{"id":"0","msg":{"type":"task_started","model_context_window":272000}}"#,
        "\n",
        r#"{"id":"0","msg":{"type":"exec_command_begin","call_id":"c1","command":["ls"],"cwd":"/home/dev/shop"}}"#,
        "\n",
        r#"{"id":"0","msg":{"type":"exec_command_end","call_id":"c1","stdout":"a","stderr":"","exit_code":1}}"#,
        "\n",
        r#"{"id":"0","msg":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5,"output_tokens":2}}}}"#,
        "\n",
        r#"{"id":"0","msg":{"type":"agent_message","message":"done"}}"#,
        "\n",
    ));
    let said = said(&events);
    assert_eq!(said.first(), Some(&(Speaker::User, "fix it")));
    assert_eq!(said.last(), Some(&(Speaker::Agent, "done")));
    let is_output =
        |event: &&TrajectoryEvent| matches!(event, TrajectoryEvent::Output(OutputOwner::Call(id), _) if id == "c1");
    assert_eq!(events.iter().filter(is_output).count(), 1);
    assert!(events.iter().any(|event| matches!(event, TrajectoryEvent::About(about) if about.directory.is_some())));
}

#[test]
fn a_session_in_one_document_is_read() {
    let text = r#"{
  "session": {"timestamp": "2025-05-01T00:00:00.000Z", "id": "abc", "instructions": ""},
  "items": [
    {"role": "user", "content": [{"type": "input_text", "text": "fix"}], "type": "message"},
    {"type": "function_call", "id": "fc", "call_id": "c1", "name": "shell", "arguments": "{\"command\":[\"ls\"]}"},
    {"type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"a\",\"metadata\":{\"exit_code\":1}}"}
  ]
}"#;
    let events = read(text);
    assert_eq!(said(&events).first(), Some(&(Speaker::User, "fix")));
    let is_call = |event: &&TrajectoryEvent| matches!(event, TrajectoryEvent::Call(_, call) if call.id == "c1");
    assert_eq!(events.iter().filter(is_call).count(), 1);
    let is_named = |event: &TrajectoryEvent| matches!(event, TrajectoryEvent::About(about) if about.session_id.as_deref() == Some("abc"));
    assert!(events.iter().any(is_named));
}
