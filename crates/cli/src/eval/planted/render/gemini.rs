//! Renders session scripts as Gemini CLI chats.

use serde_json::{Value, json};

use super::super::session_script::{CallAction, ScriptTurn, ScriptedCall, SessionScript, TurnContent};
use super::{
    RenderedLog, StepCounter, format_timestamp, make_uuid, session_end_ms, session_start_ms, to_absolute_path,
    to_json_document, turn_token_usage,
};

const MODEL: &str = "gemini-3-pro";

pub(super) fn render_log(script: &SessionScript) -> RenderedLog {
    let mut places = StepCounter::default();
    let mut messages = Vec::new();
    for (index, turn) in script.turns.iter().enumerate() {
        let mut message = match &turn.does {
            TurnContent::User(text) => {
                places.count_turn_step();
                json!({"type": "user", "content": [{"text": text}]})
            }
            TurnContent::Stop => {
                places.count_turn_without_step();
                json!({"type": "info", "content": "Request cancelled."})
            }
            TurnContent::Provider { status, text } => {
                places.count_turn_without_step();
                json!({"type": "error", "content": format!("[API Error: {text} (Status: {status})]")})
            }
            TurnContent::Agent { text, thought, call } => {
                places.count_turn_step();
                render_agent_message(script, turn, index, (text, thought), call.as_ref())
            }
        };
        if let Some(message) = message.as_object_mut() {
            message.insert("id".to_owned(), json!(make_uuid(script, index + 1)));
            message.insert("timestamp".to_owned(), json!(format_timestamp(turn.at_ms)));
        }
        messages.push(message);
    }
    let chat = json!({
        "sessionId": make_uuid(script, 0),
        "projectHash": script.id,
        "startTime": format_timestamp(session_start_ms(script)),
        "lastUpdated": format_timestamp(session_end_ms(script)),
        "directories": [script.root],
        "messages": messages,
    });
    places.into_rendered(to_json_document(&chat))
}

fn render_agent_message(
    script: &SessionScript,
    turn: &ScriptTurn,
    index: usize,
    (text, thought): (&str, &str),
    call: Option<&ScriptedCall>,
) -> Value {
    let cost = turn_token_usage(turn, index);
    let read = cost.fresh + cost.cached;
    let mut message = json!({
        "type": "gemini", "content": text, "model": MODEL, "thoughts": [],
        "tokens": {"input": read, "output": cost.written, "cached": cost.cached, "thoughts": 0, "tool": 0,
            "total": read + cost.written},
    });
    let Some(fields) = message.as_object_mut() else { return message };
    if !thought.is_empty() {
        fields.insert("thoughts".to_owned(), json!([{"subject": "Next", "description": thought}]));
    }
    if let Some(call) = call {
        let (name, args) = map_tool_call(script, &call.act);
        let id = format!("{name}-{}-{index}", turn.at_ms);
        let answer = render_tool_output(script, call);
        let (status, response) = match call.fails {
            true => ("error", json!({"error": answer})),
            false => ("success", json!({"output": answer})),
        };
        let result = json!([{"functionResponse": {"id": id, "name": name, "response": response}}]);
        let call = json!({"id": id, "name": name, "args": args, "status": status, "timestamp": format_timestamp(turn.done_ms),
            "result": result});
        fields.insert("toolCalls".to_owned(), json!([call]));
    }
    message
}

fn map_tool_call(script: &SessionScript, act: &CallAction) -> (&'static str, Value) {
    match act {
        CallAction::Run(command) => ("run_shell_command", json!({"command": command})),
        CallAction::Read(path) => ("read_file", json!({"file_path": to_absolute_path(script, path)})),
        CallAction::Edit { path, old, new } => {
            let path = to_absolute_path(script, path);
            ("replace", json!({"file_path": path, "old_string": old, "new_string": new}))
        }
        CallAction::Write { path, content } => {
            ("write_file", json!({"file_path": to_absolute_path(script, path), "content": content}))
        }
    }
}

fn render_tool_output(script: &SessionScript, call: &ScriptedCall) -> String {
    match &call.act {
        CallAction::Run(_) if call.exit != 0 => format!("Output: {}\nExit Code: {}", call.output, call.exit),
        CallAction::Run(_) => format!("Output: {}", if call.output.is_empty() { "(empty)" } else { &call.output }),
        CallAction::Read(path) if call.fails => format!("File not found: {}", to_absolute_path(script, path)),
        CallAction::Read(_) => call.output.clone(),
        CallAction::Edit { path, .. } if call.fails => {
            let path = to_absolute_path(script, path);
            format!("Failed to edit, 0 occurrences found for old_string in {path}. No edits made.")
        }
        CallAction::Edit { path, .. } => {
            format!("Successfully modified file: {} (1 replacements).", to_absolute_path(script, path))
        }
        CallAction::Write { path, .. } => {
            format!("Successfully created and wrote to new file: {}.", to_absolute_path(script, path))
        }
    }
}
