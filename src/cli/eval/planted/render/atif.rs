//! ATIF documents.

use serde_json::{Value, json};

use super::super::weave::{Act, Call, Does, Script, Turn};
use super::{Places, Rendered, cost, document, time, uuid, whole};

const MODEL: &str = "qwen3-coder-480b";

pub(super) fn render(script: &Script) -> Rendered {
    let mut places = Places::default();
    let mut steps = Vec::new();
    let mut total = (0, 0, 0);
    for (index, turn) in script.turns.iter().enumerate() {
        let number = steps.len() + 1;
        let step = match &turn.does {
            Does::User(text) => {
                places.step();
                json!({"source": "user", "message": text})
            }
            Does::Stop => {
                places.step();
                json!({"source": "user", "message": "[Request interrupted by user]"})
            }
            // The format has no place for it.
            Does::Provider { .. } => {
                places.none();
                continue;
            }
            Does::Agent { text, thought, call } => {
                places.step();
                let cost = cost(turn, index);
                let read = cost.fresh + cost.cached;
                total = (total.0 + read, total.1 + cost.written, total.2 + cost.cached);
                let metrics = json!({"prompt_tokens": read, "completion_tokens": cost.written,
                    "cached_tokens": cost.cached});
                agent(script, turn, index, (text, thought), call.as_ref(), &metrics)
            }
        };
        steps.push(numbered(step, number, turn));
    }
    let document_value = json!({
        "schema_version": "ATIF-v1.7",
        "session_id": uuid(script, 0),
        "agent": {"name": "openhands", "version": "1.4.0", "model_name": MODEL, "extra": {"cwds": [script.root]}},
        "steps": steps,
        "final_metrics": {"total_prompt_tokens": total.0, "total_completion_tokens": total.1,
            "total_cached_tokens": total.2, "total_steps": places.last},
    });
    places.with(document(&document_value))
}

fn numbered(mut step: Value, number: usize, turn: &Turn) -> Value {
    if let Some(step) = step.as_object_mut() {
        step.insert("step_id".to_owned(), json!(number));
        step.insert("timestamp".to_owned(), json!(time(turn.at_ms)));
    }
    step
}

fn agent(
    script: &Script,
    turn: &Turn,
    index: usize,
    (text, thought): (&str, &str),
    call: Option<&Call>,
    metrics: &Value,
) -> Value {
    let mut step = json!({"source": "agent", "message": text, "metrics": metrics});
    let Some(fields) = step.as_object_mut() else { return step };
    if !thought.is_empty() {
        fields.insert("reasoning_content".to_owned(), json!(thought));
    }
    if let Some(call) = call {
        let (name, arguments) = tool(script, &call.act);
        let id = format!("call_{}{index:04}", script.id);
        let mut extra = json!({"duration_ms": turn.done_ms.saturating_sub(turn.at_ms)});
        if let Some(extra) = extra.as_object_mut() {
            match &call.act {
                Act::Run(_) => extra.insert("exit_code".to_owned(), json!(call.exit)),
                _ => extra.insert("is_error".to_owned(), json!(call.fails)),
            };
        }
        let result = json!({"source_call_id": id, "content": answer(script, call), "extra": extra});
        let called = json!({"tool_call_id": id, "function_name": name, "arguments": arguments});
        fields.insert("tool_calls".to_owned(), json!([called]));
        fields.insert("observation".to_owned(), json!({"results": [result]}));
    }
    step
}

fn tool(script: &Script, act: &Act) -> (&'static str, Value) {
    const EDITOR: &str = "str_replace_editor";
    match act {
        Act::Run(command) => ("execute_bash", json!({"command": command})),
        Act::Read(path) => (EDITOR, json!({"command": "view", "path": whole(script, path)})),
        Act::Edit { path, old, new } => {
            let path = whole(script, path);
            (EDITOR, json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new}))
        }
        Act::Write { path, content } => {
            (EDITOR, json!({"command": "create", "path": whole(script, path), "file_text": content}))
        }
    }
}

fn answer(script: &Script, call: &Call) -> String {
    match &call.act {
        Act::Run(_) => call.output.clone(),
        Act::Read(path) if call.fails => {
            format!("Invalid `path` parameter: {}. The path does not exist.", whole(script, path))
        }
        Act::Read(path) => {
            format!("Here's the result of running `cat -n` on {}:\n{}", whole(script, path), call.output)
        }
        Act::Edit { path, old, .. } if call.fails => {
            let path = whole(script, path);
            format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        }
        Act::Edit { path, .. } => format!("The file {} has been edited.", whole(script, path)),
        Act::Write { path, .. } => format!("File created successfully at: {}", whole(script, path)),
    }
}
