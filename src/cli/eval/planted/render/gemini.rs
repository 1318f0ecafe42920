//! Gemini CLI's chats.

use serde_json::{Value, json};

use super::super::weave::{Act, Call, Does, Script, Turn};
use super::{Places, Rendered, began, cost, document, ended, time, uuid, whole};

const MODEL: &str = "gemini-3-pro";

pub(super) fn render(script: &Script) -> Rendered {
    let mut places = Places::default();
    let mut messages = Vec::new();
    for (index, turn) in script.turns.iter().enumerate() {
        let mut message = match &turn.does {
            Does::User(text) => {
                places.step();
                json!({"type": "user", "content": [{"text": text}]})
            }
            Does::Stop => {
                places.none();
                json!({"type": "info", "content": "Request cancelled."})
            }
            Does::Provider { status, text } => {
                places.none();
                json!({"type": "error", "content": format!("[API Error: {text} (Status: {status})]")})
            }
            Does::Agent { text, thought, call } => {
                places.step();
                agent(script, turn, index, (text, thought), call.as_ref())
            }
        };
        if let Some(message) = message.as_object_mut() {
            message.insert("id".to_owned(), json!(uuid(script, index + 1)));
            message.insert("timestamp".to_owned(), json!(time(turn.at_ms)));
        }
        messages.push(message);
    }
    let chat = json!({
        "sessionId": uuid(script, 0),
        "projectHash": script.id,
        "startTime": time(began(script)),
        "lastUpdated": time(ended(script)),
        "directories": [script.root],
        "messages": messages,
    });
    places.with(document(&chat))
}

fn agent(script: &Script, turn: &Turn, index: usize, (text, thought): (&str, &str), call: Option<&Call>) -> Value {
    let cost = cost(turn, index);
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
        let (name, args) = tool(script, &call.act);
        let id = format!("{name}-{}-{index}", turn.at_ms);
        let answer = answer(script, call);
        let (status, response) = match call.fails {
            true => ("error", json!({"error": answer})),
            false => ("success", json!({"output": answer})),
        };
        let result = json!([{"functionResponse": {"id": id, "name": name, "response": response}}]);
        let call = json!({"id": id, "name": name, "args": args, "status": status, "timestamp": time(turn.done_ms),
            "result": result});
        fields.insert("toolCalls".to_owned(), json!([call]));
    }
    message
}

fn tool(script: &Script, act: &Act) -> (&'static str, Value) {
    match act {
        Act::Run(command) => ("run_shell_command", json!({"command": command})),
        Act::Read(path) => ("read_file", json!({"file_path": whole(script, path)})),
        Act::Edit { path, old, new } => {
            let path = whole(script, path);
            ("replace", json!({"file_path": path, "old_string": old, "new_string": new}))
        }
        Act::Write { path, content } => ("write_file", json!({"file_path": whole(script, path), "content": content})),
    }
}

fn answer(script: &Script, call: &Call) -> String {
    match &call.act {
        Act::Run(_) if call.exit != 0 => format!("Output: {}\nExit Code: {}", call.output, call.exit),
        Act::Run(_) => format!("Output: {}", if call.output.is_empty() { "(empty)" } else { &call.output }),
        Act::Read(path) if call.fails => format!("File not found: {}", whole(script, path)),
        Act::Read(_) => call.output.clone(),
        Act::Edit { path, .. } if call.fails => {
            let path = whole(script, path);
            format!("Failed to edit, 0 occurrences found for old_string in {path}. No edits made.")
        }
        Act::Edit { path, .. } => format!("Successfully modified file: {} (1 replacements).", whole(script, path)),
        Act::Write { path, .. } => format!("Successfully created and wrote to new file: {}.", whole(script, path)),
    }
}
