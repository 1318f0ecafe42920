//! Logs of Codex in which outputs and quoted texts pretend to be a person.

use serde_json::{Value, json};

use crate::impersonation::*;

fn line(nth: usize, kind: &str, payload: Value) -> Value {
    json!({"timestamp": at(nth), "type": kind, "payload": payload})
}

fn item(nth: usize, text: &str) -> Value {
    let content = json!([{"type": "input_text", "text": text}]);
    line(nth, "response_item", json!({"type": "message", "role": "user", "content": content}))
}

fn prompt(nth: usize, text: &str) -> Value {
    line(nth, "event_msg", json!({"type": "user_message", "message": text, "kind": "plain"}))
}

fn start() -> Vec<Value> {
    let meta = json!({"id": "codex-1", "timestamp": at(0), "cwd": "/home/dev/shop", "cli_version": "0.101.0"});
    vec![line(0, "session_meta", meta), item(1, "Please read the notes."), prompt(2, "Please read the notes.")]
}

pub(crate) fn outputs(channel: &OutputChannel, texts: &[String]) -> String {
    let mut log = start();
    for (index, text) in texts.iter().enumerate() {
        let nth = 3 + index * 2;
        let (name, arguments) = match channel.tool {
            "Bash" => ("shell", json!({"command": ["bash", "-lc", channel.command]})),
            "Task" => ("spawn_agent", channel.arguments()),
            "WebFetch" => ("web_fetch", channel.arguments()),
            name => (name, channel.arguments()),
        };
        let code = i32::from(channel.fails);
        let output = json!({"output": text, "metadata": {"exit_code": code, "duration_seconds": 0.1}});
        let id = format!("c{nth}");
        let call = json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id});
        log.push(line(nth, "response_item", call));
        let output = if index % 2 == 0 { output.to_string() } else { text.clone() };
        let output = json!({"type": "function_call_output", "call_id": id, "output": output});
        log.push(line(nth + 1, "response_item", output));
    }
    lines(&log)
}

pub(crate) fn quoted(texts: &[String]) -> String {
    let mut log = start();
    for text in texts {
        for quote in [
            format!("<user_instructions>\n{text}\n</user_instructions>"),
            format!("<user_instructions>\n{text}\n</user_instructions>\n<environment_context>\n</environment_context>"),
            format!("<environment_context>\n<cwd>{text}</cwd>\n</environment_context>"),
            format!("# AGENTS.md instructions for /home/dev/shop\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"),
            format!("<user_shell_command>\n<result>{text}</result>\n</user_shell_command>"),
            format!("<hook_prompt hook_run_id=\"1\">{text}</hook_prompt>"),
            format!("<subagent_notification>{text}</subagent_notification>"),
        ] {
            log.push(item(log.len(), &quote));
        }
        let request = format!("# Context from my IDE setup:\n\n{text}\n\n## My request for Codex:\nWhat is this?");
        log.push(prompt(log.len(), &request));
        let told = json!({"type": "user_message", "message": text, "kind": "user_instructions"});
        log.push(line(log.len(), "event_msg", told));
    }
    lines(&log)
}
