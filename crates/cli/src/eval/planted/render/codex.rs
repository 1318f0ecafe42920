//! Renders session scripts as Codex rollouts.

use serde_json::{Value, json};

use super::super::session_script::{CallAction, ScriptTurn, ScriptedCall, SessionScript, TurnContent};
use super::{
    RenderedLog, StepCounter, format_timestamp, make_uuid, session_end_ms, session_start_ms, to_json_lines,
    turn_token_usage,
};

const MODEL: &str = "gpt-5.3-codex";

struct CodexRollout<'s> {
    script: &'s SessionScript,
    lines: Vec<Value>,
    /// The number of user turns so far.
    asked: usize,
    /// The tokens read in total, those of them from the cache, and the tokens written.
    total: (u64, u64, u64),
}

pub(super) fn render_log(script: &SessionScript) -> RenderedLog {
    let mut places = StepCounter::default();
    let mut log = CodexRollout { script, lines: Vec::new(), asked: 0, total: (0, 0, 0) };
    log.push_session_start();
    // The two messages of the harness before the first user turn.
    places.count_extra_step();
    places.count_extra_step();
    for (index, turn) in script.turns.iter().enumerate() {
        match &turn.does {
            TurnContent::User(text) => {
                places.count_turn_step();
                log.push_user_turn(turn, text);
            }
            TurnContent::Stop => {
                places.count_turn_without_step();
                places.count_extra_step();
                log.push_interruption(turn);
            }
            TurnContent::Provider { status, text } => {
                places.count_turn_without_step();
                let message = format!("stream error: unexpected status {status}: {text}; retrying");
                log.push_event(turn.at_ms, json!({"type": "stream_error", "message": message}));
            }
            TurnContent::Agent { text, thought, call } => {
                places.count_turn_step();
                log.push_agent_turn(turn, index, (text, thought), call.as_ref());
            }
        }
    }
    let end = json!({"type": "task_complete", "turn_id": log.turn_id(), "last_agent_message": null});
    log.push_event(session_end_ms(script), end);
    places.into_rendered(to_json_lines(&log.lines))
}

impl CodexRollout<'_> {
    fn push_line(&mut self, at_ms: u64, kind: &str, payload: Value) {
        self.lines.push(json!({"timestamp": format_timestamp(at_ms), "type": kind, "payload": payload}));
    }

    fn push_item(&mut self, at_ms: u64, payload: Value) {
        self.push_line(at_ms, "response_item", payload);
    }

    fn push_event(&mut self, at_ms: u64, payload: Value) {
        self.push_line(at_ms, "event_msg", payload);
    }

    fn turn_id(&self) -> String {
        make_uuid(self.script, 900 + self.asked)
    }

    fn push_session_start(&mut self) {
        let at_ms = session_start_ms(self.script);
        let id = make_uuid(self.script, 0);
        let root = &self.script.root;
        let meta = json!({"id": id, "timestamp": format_timestamp(at_ms), "cwd": root, "originator": "codex_cli_rs",
            "cli_version": "0.104.0", "source": "cli", "model_provider": "openai",
            "git": {"branch": self.script.branch}});
        let context =
            format!("<environment_context>\n  <cwd>{root}</cwd>\n  <shell>bash</shell>\n</environment_context>");
        self.push_line(at_ms, "session_meta", meta);
        let rules = "<permissions instructions>\nCommands run in a sandbox.\n</permissions instructions>";
        let said = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
        self.push_item(at_ms, said("developer", rules));
        self.push_item(at_ms, said("user", &context));
    }

    fn push_user_turn(&mut self, turn: &ScriptTurn, text: &str) {
        self.asked += 1;
        let started = json!({"type": "task_started", "turn_id": self.turn_id(), "model_context_window": 258_400});
        self.push_event(turn.at_ms, started);
        let context = json!({"turn_id": self.turn_id(), "cwd": self.script.root, "model": MODEL,
            "approval_policy": "on-request"});
        self.push_line(turn.at_ms, "turn_context", context);
        let content = json!([{"type": "input_text", "text": text}]);
        self.push_item(turn.at_ms, json!({"type": "message", "role": "user", "content": content}));
        self.push_event(turn.at_ms, json!({"type": "user_message", "message": text, "images": []}));
    }

    fn push_interruption(&mut self, turn: &ScriptTurn) {
        let aborted = json!({"type": "turn_aborted", "turn_id": self.turn_id(), "reason": "interrupted"});
        self.push_event(turn.at_ms, aborted);
        let text = "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>";
        let content = json!([{"type": "input_text", "text": text}]);
        self.push_item(turn.at_ms, json!({"type": "message", "role": "user", "content": content}));
    }

    fn push_agent_turn(
        &mut self,
        turn: &ScriptTurn,
        index: usize,
        (text, thought): (&str, &str),
        call: Option<&ScriptedCall>,
    ) {
        if !thought.is_empty() {
            self.push_event(turn.at_ms, json!({"type": "agent_reasoning", "text": thought}));
            let summary = json!([{"type": "summary_text", "text": thought}]);
            self.push_item(turn.at_ms, json!({"type": "reasoning", "summary": summary, "content": null}));
        }
        if !text.is_empty() {
            self.push_event(turn.at_ms, json!({"type": "agent_message", "message": text}));
            let content = json!([{"type": "output_text", "text": text}]);
            self.push_item(turn.at_ms, json!({"type": "message", "role": "assistant", "content": content}));
        }
        if let Some(call) = call {
            self.push_tool_call(turn, &format!("call_{}{index:04}", self.script.id), call);
        }
        let cost = turn_token_usage(turn, index);
        let read = cost.fresh + cost.cached;
        self.total = (self.total.0 + read, self.total.1 + cost.cached, self.total.2 + cost.written);
        let tokens = |(read, cached, written): (u64, u64, u64)| {
            json!({"input_tokens": read, "cached_input_tokens": cached, "output_tokens": written,
                "reasoning_output_tokens": 0, "total_tokens": read + written})
        };
        let last = tokens((read, cost.cached, cost.written));
        let info = json!({"total_token_usage": tokens(self.total), "last_token_usage": last,
            "model_context_window": 258_400});
        self.push_event(turn.done_ms, json!({"type": "token_count", "info": info, "rate_limits": null}));
    }

    fn push_tool_call(&mut self, turn: &ScriptTurn, id: &str, call: &ScriptedCall) {
        let shell = |command: &str| json!({"cmd": command, "workdir": self.script.root}).to_string();
        let (called, output) = match &call.act {
            CallAction::Run(command) => (
                json!({"type": "function_call", "name": "exec_command", "arguments": shell(command), "call_id": id}),
                render_command_output(turn, call.exit, &call.output),
            ),
            CallAction::Read(path) => {
                let missing = format!("cat: {path}: No such file or directory");
                let (exit, text) = if call.fails { (1, missing.as_str()) } else { (0, call.output.as_str()) };
                let arguments = shell(&format!("cat {path}"));
                (
                    json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id}),
                    render_command_output(turn, exit, text),
                )
            }
            CallAction::Edit { path, old, new } => {
                let patch = format!(
                    "*** Begin Patch\n*** Update File: {path}\n@@\n{}{}*** End Patch",
                    prefix_lines('-', old),
                    prefix_lines('+', new)
                );
                let output = match call.fails {
                    true => format!("apply_patch verification failed: Failed to find expected lines in {path}:\n{old}"),
                    false => render_patch_output('M', path),
                };
                (render_patch_call(id, &patch), output)
            }
            CallAction::Write { path, content } => {
                let patch =
                    format!("*** Begin Patch\n*** Add File: {path}\n{}*** End Patch", prefix_lines('+', content));
                (render_patch_call(id, &patch), render_patch_output('A', path))
            }
        };
        let kind = match called.get("type").and_then(Value::as_str) {
            Some("custom_tool_call") => "custom_tool_call_output",
            _ => "function_call_output",
        };
        self.push_item(turn.at_ms, called);
        self.push_item(turn.done_ms, json!({"type": kind, "call_id": id, "output": output}));
    }
}

fn render_patch_call(id: &str, patch: &str) -> Value {
    json!({"type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch", "input": patch})
}

fn render_patch_output(letter: char, path: &str) -> String {
    let output = format!("Success. Updated the following files:\n{letter} {path}\n");
    json!({"output": output, "metadata": {"exit_code": 0, "duration_seconds": 0.1}}).to_string()
}

fn render_command_output(turn: &ScriptTurn, exit: i32, output: &str) -> String {
    let wall = turn.done_ms.saturating_sub(turn.at_ms);
    let (seconds, rest) = (wall / 1000, wall % 1000);
    let tokens = output.len() / 4;
    format!(
        "Chunk ID: {:06x}\nWall time: {seconds}.{rest:03}0 seconds\nProcess exited with code {exit}\n\
         Original token count: {tokens}\nOutput:\n{output}",
        turn.at_ms % 0x00ff_ffff
    )
}

fn prefix_lines(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}
