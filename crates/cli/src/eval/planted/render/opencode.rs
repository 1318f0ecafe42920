//! Renders session scripts as exported OpenCode sessions.

use serde_json::{Value, json};

use super::super::session_script::{CallAction, ScriptTurn, ScriptedCall, SessionScript, TurnContent};
use super::{
    RenderedLog, StepCounter, session_end_ms, session_start_ms, to_absolute_path, to_json_document, turn_token_usage,
};

const MODEL: &str = "claude-sonnet-4-5";

pub(super) fn render_log(script: &SessionScript) -> RenderedLog {
    let mut places = StepCounter::default();
    let mut messages = Vec::new();
    for (index, turn) in script.turns.iter().enumerate() {
        let id = format!("msg_{}{index:04}", script.id);
        let (more, parts) = match &turn.does {
            TurnContent::User(text) => {
                places.count_turn_step();
                (json!({"role": "user", "agent": "build"}), vec![json!({"type": "text", "text": text})])
            }
            TurnContent::Stop => {
                places.count_turn_without_step();
                let error = json!({"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}});
                (json!({"role": "assistant", "modelID": MODEL, "error": error}), Vec::new())
            }
            TurnContent::Provider { status, text } => {
                places.count_turn_without_step();
                let data = json!({"message": text, "statusCode": status, "isRetryable": *status != 400});
                let error = json!({"name": "APIError", "data": data});
                (json!({"role": "assistant", "modelID": MODEL, "error": error}), Vec::new())
            }
            TurnContent::Agent { text, thought, call } => {
                places.count_turn_step();
                let more = json!({"role": "assistant", "modelID": MODEL, "providerID": "anthropic", "mode": "build"});
                (more, render_agent_parts(script, turn, index, (text, thought), call.as_ref()))
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
        "time": {"created": session_start_ms(script), "updated": session_end_ms(script)},
    });
    places.into_rendered(to_json_document(&json!({"info": info, "messages": messages})))
}

fn render_agent_parts(
    script: &SessionScript,
    turn: &ScriptTurn,
    index: usize,
    (text, thought): (&str, &str),
    call: Option<&ScriptedCall>,
) -> Vec<Value> {
    let mut parts = vec![json!({"type": "step-start"})];
    if !thought.is_empty() {
        parts.push(json!({"type": "reasoning", "text": thought}));
    }
    if !text.is_empty() {
        parts.push(json!({"type": "text", "text": text}));
    }
    if let Some(call) = call {
        let (tool, input) = map_tool_call(script, &call.act);
        let time = json!({"start": turn.at_ms, "end": turn.done_ms});
        let answer = render_tool_output(script, call);
        let state = match (&call.act, call.fails) {
            (_, true) => json!({"status": "error", "input": input, "error": answer, "time": time}),
            (CallAction::Run(_), false) => json!({"status": "completed", "input": input, "output": answer,
                "metadata": {"exit": call.exit}, "time": time}),
            (_, false) => {
                json!({"status": "completed", "input": input, "output": answer, "metadata": {}, "time": time})
            }
        };
        let id = format!("{}{index:04}", script.id);
        parts.push(json!({"id": format!("prt_{id}"), "type": "tool", "callID": format!("call_{id}"), "tool": tool,
            "state": state}));
    }
    let cost = turn_token_usage(turn, index);
    let tokens = json!({"input": 4, "output": cost.written, "reasoning": 0,
        "cache": {"read": cost.cached, "write": cost.fresh}});
    let reason = if call.is_some() { "tool-calls" } else { "stop" };
    parts.push(json!({"type": "step-finish", "reason": reason, "tokens": tokens}));
    parts
}

fn map_tool_call(script: &SessionScript, act: &CallAction) -> (&'static str, Value) {
    match act {
        CallAction::Run(command) => ("bash", json!({"command": command})),
        CallAction::Read(path) => ("read", json!({"filePath": to_absolute_path(script, path)})),
        CallAction::Edit { path, old, new } => {
            ("edit", json!({"filePath": to_absolute_path(script, path), "oldString": old, "newString": new}))
        }
        CallAction::Write { path, content } => {
            ("write", json!({"filePath": to_absolute_path(script, path), "content": content}))
        }
    }
}

fn render_tool_output(script: &SessionScript, call: &ScriptedCall) -> String {
    match &call.act {
        CallAction::Run(_) => call.output.clone(),
        CallAction::Read(path) if call.fails => format!("File not found: {}", to_absolute_path(script, path)),
        CallAction::Read(_) => {
            let lines = call.output.lines().enumerate().map(|(index, line)| format!("{:05}| {line}\n", index + 1));
            format!("<file>\n{}</file>", lines.collect::<String>())
        }
        CallAction::Edit { .. } if call.fails => "Could not find oldString in the file. It must match exactly, \
            including whitespace, indentation, and line endings."
            .to_owned(),
        CallAction::Edit { .. } => "Edit applied successfully.".to_owned(),
        CallAction::Write { .. } => "Wrote file successfully.".to_owned(),
    }
}
