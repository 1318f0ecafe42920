//! Renders session scripts as ATIF documents.

use serde_json::{Value, json};

use super::super::session_script::{CallAction, ScriptTurn, ScriptedCall, SessionScript, TurnContent};
use super::{
    RenderedLog, StepCounter, format_timestamp, make_uuid, to_absolute_path, to_json_document, turn_token_usage,
};

const MODEL: &str = "qwen3-coder-480b";

pub(super) fn render_log(script: &SessionScript) -> RenderedLog {
    let mut places = StepCounter::default();
    let mut steps = Vec::new();
    let mut total = (0, 0, 0);
    for (index, turn) in script.turns.iter().enumerate() {
        let number = steps.len() + 1;
        let step = match &turn.does {
            TurnContent::User(text) => {
                places.count_turn_step();
                json!({"source": "user", "message": text})
            }
            TurnContent::Stop => {
                places.count_turn_step();
                json!({"source": "user", "message": "[Request interrupted by user]"})
            }
            // ATIF has no step for provider errors.
            TurnContent::Provider { .. } => {
                places.count_turn_without_step();
                continue;
            }
            TurnContent::Agent { text, thought, call } => {
                places.count_turn_step();
                let cost = turn_token_usage(turn, index);
                let read = cost.fresh + cost.cached;
                total = (total.0 + read, total.1 + cost.written, total.2 + cost.cached);
                let metrics = json!({"prompt_tokens": read, "completion_tokens": cost.written,
                    "cached_tokens": cost.cached});
                render_agent_step(script, turn, index, (text, thought), call.as_ref(), &metrics)
            }
        };
        steps.push(add_step_fields(step, number, turn));
    }
    let document_value = json!({
        "schema_version": "ATIF-v1.7",
        "session_id": make_uuid(script, 0),
        "agent": {"name": "openhands", "version": "1.4.0", "model_name": MODEL, "extra": {"cwds": [script.root]}},
        "steps": steps,
        "final_metrics": {"total_prompt_tokens": total.0, "total_completion_tokens": total.1,
            "total_cached_tokens": total.2, "total_steps": places.last},
    });
    places.into_rendered(to_json_document(&document_value))
}

fn add_step_fields(mut step: Value, number: usize, turn: &ScriptTurn) -> Value {
    if let Some(step) = step.as_object_mut() {
        step.insert("step_id".to_owned(), json!(number));
        step.insert("timestamp".to_owned(), json!(format_timestamp(turn.at_ms)));
    }
    step
}

fn render_agent_step(
    script: &SessionScript,
    turn: &ScriptTurn,
    index: usize,
    (text, thought): (&str, &str),
    call: Option<&ScriptedCall>,
    metrics: &Value,
) -> Value {
    let mut step = json!({"source": "agent", "message": text, "metrics": metrics});
    let Some(fields) = step.as_object_mut() else { return step };
    if !thought.is_empty() {
        fields.insert("reasoning_content".to_owned(), json!(thought));
    }
    if let Some(call) = call {
        let (name, arguments) = map_tool_call(script, &call.act);
        let id = format!("call_{}{index:04}", script.id);
        let mut extra = json!({"duration_ms": turn.done_ms.saturating_sub(turn.at_ms)});
        if let Some(extra) = extra.as_object_mut() {
            match &call.act {
                CallAction::Run(_) => extra.insert("exit_code".to_owned(), json!(call.exit)),
                _ => extra.insert("is_error".to_owned(), json!(call.fails)),
            };
        }
        let result = json!({"source_call_id": id, "content": render_tool_output(script, call), "extra": extra});
        let called = json!({"tool_call_id": id, "function_name": name, "arguments": arguments});
        fields.insert("tool_calls".to_owned(), json!([called]));
        fields.insert("observation".to_owned(), json!({"results": [result]}));
    }
    step
}

fn map_tool_call(script: &SessionScript, act: &CallAction) -> (&'static str, Value) {
    const EDITOR: &str = "str_replace_editor";
    match act {
        CallAction::Run(command) => ("execute_bash", json!({"command": command})),
        CallAction::Read(path) => (EDITOR, json!({"command": "view", "path": to_absolute_path(script, path)})),
        CallAction::Edit { path, old, new } => {
            let path = to_absolute_path(script, path);
            (EDITOR, json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new}))
        }
        CallAction::Write { path, content } => {
            (EDITOR, json!({"command": "create", "path": to_absolute_path(script, path), "file_text": content}))
        }
    }
}

fn render_tool_output(script: &SessionScript, call: &ScriptedCall) -> String {
    match &call.act {
        CallAction::Run(_) => call.output.clone(),
        CallAction::Read(path) if call.fails => {
            format!("Invalid `path` parameter: {}. The path does not exist.", to_absolute_path(script, path))
        }
        CallAction::Read(path) => {
            format!("Here's the result of running `cat -n` on {}:\n{}", to_absolute_path(script, path), call.output)
        }
        CallAction::Edit { path, old, .. } if call.fails => {
            let path = to_absolute_path(script, path);
            format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        }
        CallAction::Edit { path, .. } => format!("The file {} has been edited.", to_absolute_path(script, path)),
        CallAction::Write { path, .. } => format!("File created successfully at: {}", to_absolute_path(script, path)),
    }
}
