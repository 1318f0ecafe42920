//! Codex's rollouts.

use serde_json::{Value, json};

use super::super::weave::{Act, Call, Does, Script, Turn};
use super::{Places, Rendered, began, cost, ended, lines, time, uuid};

const MODEL: &str = "gpt-5.3-codex";

struct Rollout<'s> {
    script: &'s Script,
    lines: Vec<Value>,
    /// Turns of the person.
    asked: usize,
    /// Tokens read, of those cached, and written, all together.
    total: (u64, u64, u64),
}

pub(super) fn render(script: &Script) -> Rendered {
    let mut places = Places::default();
    let mut log = Rollout { script, lines: Vec::new(), asked: 0, total: (0, 0, 0) };
    log.begin();
    // What the harness says before anybody else does.
    places.extra();
    places.extra();
    for (index, turn) in script.turns.iter().enumerate() {
        match &turn.does {
            Does::User(text) => {
                places.step();
                log.user(turn, text);
            }
            Does::Stop => {
                places.none();
                places.extra();
                log.stop(turn);
            }
            Does::Provider { status, text } => {
                places.none();
                let message = format!("stream error: unexpected status {status}: {text}; retrying");
                log.event(turn.at_ms, json!({"type": "stream_error", "message": message}));
            }
            Does::Agent { text, thought, call } => {
                places.step();
                log.agent(turn, index, (text, thought), call.as_ref());
            }
        }
    }
    let end = json!({"type": "task_complete", "turn_id": log.turn_id(), "last_agent_message": null});
    log.event(ended(script), end);
    places.with(lines(&log.lines))
}

impl Rollout<'_> {
    fn line(&mut self, at_ms: u64, kind: &str, payload: Value) {
        self.lines.push(json!({"timestamp": time(at_ms), "type": kind, "payload": payload}));
    }

    fn item(&mut self, at_ms: u64, payload: Value) {
        self.line(at_ms, "response_item", payload);
    }

    fn event(&mut self, at_ms: u64, payload: Value) {
        self.line(at_ms, "event_msg", payload);
    }

    fn turn_id(&self) -> String {
        uuid(self.script, 900 + self.asked)
    }

    fn begin(&mut self) {
        let at_ms = began(self.script);
        let id = uuid(self.script, 0);
        let root = &self.script.root;
        let meta = json!({"id": id, "timestamp": time(at_ms), "cwd": root, "originator": "codex_cli_rs",
            "cli_version": "0.104.0", "source": "cli", "model_provider": "openai",
            "git": {"branch": self.script.branch}});
        let context =
            format!("<environment_context>\n  <cwd>{root}</cwd>\n  <shell>bash</shell>\n</environment_context>");
        self.line(at_ms, "session_meta", meta);
        let rules = "<permissions instructions>\nCommands run in a sandbox.\n</permissions instructions>";
        let said = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
        self.item(at_ms, said("developer", rules));
        self.item(at_ms, said("user", &context));
    }

    fn user(&mut self, turn: &Turn, text: &str) {
        self.asked += 1;
        let started = json!({"type": "task_started", "turn_id": self.turn_id(), "model_context_window": 258_400});
        self.event(turn.at_ms, started);
        let context = json!({"turn_id": self.turn_id(), "cwd": self.script.root, "model": MODEL,
            "approval_policy": "on-request"});
        self.line(turn.at_ms, "turn_context", context);
        let content = json!([{"type": "input_text", "text": text}]);
        self.item(turn.at_ms, json!({"type": "message", "role": "user", "content": content}));
        self.event(turn.at_ms, json!({"type": "user_message", "message": text, "images": []}));
    }

    fn stop(&mut self, turn: &Turn) {
        let aborted = json!({"type": "turn_aborted", "turn_id": self.turn_id(), "reason": "interrupted"});
        self.event(turn.at_ms, aborted);
        let text = "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>";
        let content = json!([{"type": "input_text", "text": text}]);
        self.item(turn.at_ms, json!({"type": "message", "role": "user", "content": content}));
    }

    fn agent(&mut self, turn: &Turn, index: usize, (text, thought): (&str, &str), call: Option<&Call>) {
        if !thought.is_empty() {
            self.event(turn.at_ms, json!({"type": "agent_reasoning", "text": thought}));
            let summary = json!([{"type": "summary_text", "text": thought}]);
            self.item(turn.at_ms, json!({"type": "reasoning", "summary": summary, "content": null}));
        }
        if !text.is_empty() {
            self.event(turn.at_ms, json!({"type": "agent_message", "message": text}));
            let content = json!([{"type": "output_text", "text": text}]);
            self.item(turn.at_ms, json!({"type": "message", "role": "assistant", "content": content}));
        }
        if let Some(call) = call {
            self.call(turn, &format!("call_{}{index:04}", self.script.id), call);
        }
        let cost = cost(turn, index);
        let read = cost.fresh + cost.cached;
        self.total = (self.total.0 + read, self.total.1 + cost.cached, self.total.2 + cost.written);
        let tokens = |(read, cached, written): (u64, u64, u64)| {
            json!({"input_tokens": read, "cached_input_tokens": cached, "output_tokens": written,
                "reasoning_output_tokens": 0, "total_tokens": read + written})
        };
        let last = tokens((read, cost.cached, cost.written));
        let info = json!({"total_token_usage": tokens(self.total), "last_token_usage": last,
            "model_context_window": 258_400});
        self.event(turn.done_ms, json!({"type": "token_count", "info": info, "rate_limits": null}));
    }

    fn call(&mut self, turn: &Turn, id: &str, call: &Call) {
        let shell = |command: &str| json!({"cmd": command, "workdir": self.script.root}).to_string();
        let (called, output) = match &call.act {
            Act::Run(command) => (
                json!({"type": "function_call", "name": "exec_command", "arguments": shell(command), "call_id": id}),
                printed(turn, call.exit, &call.output),
            ),
            Act::Read(path) => {
                let missing = format!("cat: {path}: No such file or directory");
                let (exit, text) = if call.fails { (1, missing.as_str()) } else { (0, call.output.as_str()) };
                let arguments = shell(&format!("cat {path}"));
                (
                    json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id}),
                    printed(turn, exit, text),
                )
            }
            Act::Edit { path, old, new } => {
                let patch = format!(
                    "*** Begin Patch\n*** Update File: {path}\n@@\n{}{}*** End Patch",
                    prefixed('-', old),
                    prefixed('+', new)
                );
                let output = match call.fails {
                    true => format!("apply_patch verification failed: Failed to find expected lines in {path}:\n{old}"),
                    false => patched('M', path),
                };
                (patch_call(id, &patch), output)
            }
            Act::Write { path, content } => {
                let patch = format!("*** Begin Patch\n*** Add File: {path}\n{}*** End Patch", prefixed('+', content));
                (patch_call(id, &patch), patched('A', path))
            }
        };
        let kind = match called.get("type").and_then(Value::as_str) {
            Some("custom_tool_call") => "custom_tool_call_output",
            _ => "function_call_output",
        };
        self.item(turn.at_ms, called);
        self.item(turn.done_ms, json!({"type": kind, "call_id": id, "output": output}));
    }
}

fn patch_call(id: &str, patch: &str) -> Value {
    json!({"type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch", "input": patch})
}

fn patched(letter: char, path: &str) -> String {
    let output = format!("Success. Updated the following files:\n{letter} {path}\n");
    json!({"output": output, "metadata": {"exit_code": 0, "duration_seconds": 0.1}}).to_string()
}

fn printed(turn: &Turn, exit: i32, output: &str) -> String {
    let wall = turn.done_ms.saturating_sub(turn.at_ms);
    let (seconds, rest) = (wall / 1000, wall % 1000);
    let tokens = output.len() / 4;
    format!(
        "Chunk ID: {:06x}\nWall time: {seconds}.{rest:03}0 seconds\nProcess exited with code {exit}\n\
         Original token count: {tokens}\nOutput:\n{output}",
        turn.at_ms % 0x00ff_ffff
    )
}

fn prefixed(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}
