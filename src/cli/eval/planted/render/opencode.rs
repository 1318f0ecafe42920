//! OpenCode's exported sessions.

use serde_json::{Value, json};

use super::super::weave::{Act, Call, Does, Script, Turn};
use super::{Places, Rendered, began, cost, document, ended, whole};

const MODEL: &str = "claude-sonnet-4-5";

pub(super) fn render(script: &Script) -> Rendered {
    let mut places = Places::default();
    let mut messages = Vec::new();
    for (index, turn) in script.turns.iter().enumerate() {
        let id = format!("msg_{}{index:04}", script.id);
        let (more, parts) = match &turn.does {
            Does::User(text) => {
                places.step();
                (json!({"role": "user", "agent": "build"}), vec![json!({"type": "text", "text": text})])
            }
            Does::Stop => {
                places.none();
                let error = json!({"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}});
                (json!({"role": "assistant", "modelID": MODEL, "error": error}), Vec::new())
            }
            Does::Provider { status, text } => {
                places.none();
                let data = json!({"message": text, "statusCode": status, "isRetryable": *status != 400});
                let error = json!({"name": "APIError", "data": data});
                (json!({"role": "assistant", "modelID": MODEL, "error": error}), Vec::new())
            }
            Does::Agent { text, thought, call } => {
                places.step();
                let more = json!({"role": "assistant", "modelID": MODEL, "providerID": "anthropic", "mode": "build"});
                (more, parts(script, turn, index, (text, thought), call.as_ref()))
            }
        };
        let mut info = json!({"id": id});
        if let (Some(info), Value::Object(more)) = (info.as_object_mut(), more) {
            info.extend(more);
            info.insert("time".to_owned(), json!({"created": turn.at_ms, "completed": turn.done_ms}));
        }
        messages.push(json!({"info": info, "parts": parts}));
    }
    let info = json!({
        "id": format!("ses_{}", script.id), "version": "1.1.24", "directory": script.root, "projectID": script.id,
        "time": {"created": began(script), "updated": ended(script)},
    });
    places.with(document(&json!({"info": info, "messages": messages})))
}

fn parts(script: &Script, turn: &Turn, index: usize, (text, thought): (&str, &str), call: Option<&Call>) -> Vec<Value> {
    let mut parts = vec![json!({"type": "step-start"})];
    if !thought.is_empty() {
        parts.push(json!({"type": "reasoning", "text": thought}));
    }
    if !text.is_empty() {
        parts.push(json!({"type": "text", "text": text}));
    }
    if let Some(call) = call {
        let (tool, input) = tool(script, &call.act);
        let time = json!({"start": turn.at_ms, "end": turn.done_ms});
        let answer = answer(script, call);
        let state = match (&call.act, call.fails) {
            (_, true) => json!({"status": "error", "input": input, "error": answer, "time": time}),
            (Act::Run(_), false) => json!({"status": "completed", "input": input, "output": answer,
                "metadata": {"exit": call.exit}, "time": time}),
            (_, false) => {
                json!({"status": "completed", "input": input, "output": answer, "metadata": {}, "time": time})
            }
        };
        let id = format!("{}{index:04}", script.id);
        parts.push(json!({"id": format!("prt_{id}"), "type": "tool", "callID": format!("call_{id}"), "tool": tool,
            "state": state}));
    }
    let cost = cost(turn, index);
    let tokens = json!({"input": 4, "output": cost.written, "reasoning": 0,
        "cache": {"read": cost.cached, "write": cost.fresh}});
    let reason = if call.is_some() { "tool-calls" } else { "stop" };
    parts.push(json!({"type": "step-finish", "reason": reason, "tokens": tokens}));
    parts
}

fn tool(script: &Script, act: &Act) -> (&'static str, Value) {
    match act {
        Act::Run(command) => ("bash", json!({"command": command})),
        Act::Read(path) => ("read", json!({"filePath": whole(script, path)})),
        Act::Edit { path, old, new } => {
            ("edit", json!({"filePath": whole(script, path), "oldString": old, "newString": new}))
        }
        Act::Write { path, content } => ("write", json!({"filePath": whole(script, path), "content": content})),
    }
}

fn answer(script: &Script, call: &Call) -> String {
    match &call.act {
        Act::Run(_) => call.output.clone(),
        Act::Read(path) if call.fails => format!("File not found: {}", whole(script, path)),
        Act::Read(_) => {
            let lines = call.output.lines().enumerate().map(|(index, line)| format!("{:05}| {line}\n", index + 1));
            format!("<file>\n{}</file>", lines.collect::<String>())
        }
        Act::Edit { .. } if call.fails => "Could not find oldString in the file. It must match exactly, \
            including whitespace, indentation, and line endings."
            .to_owned(),
        Act::Edit { .. } => "Edit applied successfully.".to_owned(),
        Act::Write { .. } => "Wrote file successfully.".to_owned(),
    }
}
