//! Renders session scripts as Claude Code transcripts.

use serde_json::{Value, json};

use super::super::session_script::{CallAction, ScriptTurn, ScriptedCall, SessionScript, TurnContent};
use super::{RenderedLog, StepCounter, format_timestamp, make_uuid, to_absolute_path, to_json_lines, turn_token_usage};

const MODEL: &str = "claude-opus-4-6";

struct ClaudeTranscript<'s> {
    script: &'s SessionScript,
    lines: Vec<Value>,
    uuids: usize,
    parent: Option<String>,
    /// The number of provider errors in a row.
    retries: u64,
}

pub(super) fn render_log(script: &SessionScript) -> RenderedLog {
    let mut places = StepCounter::default();
    let mut log = ClaudeTranscript { script, lines: Vec::new(), uuids: 0, parent: None, retries: 0 };
    log.lines.push(json!({"type": "mode", "mode": "normal", "sessionId": make_uuid(script, 0)}));
    for (index, turn) in script.turns.iter().enumerate() {
        match &turn.does {
            TurnContent::User(text) => {
                places.count_turn_step();
                log.push_line("user", turn.at_ms, json!({"message": {"role": "user", "content": text}}));
            }
            TurnContent::Stop => {
                places.count_turn_without_step();
                let content = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
                log.push_line("user", turn.at_ms, json!({"message": {"role": "user", "content": content}}));
            }
            TurnContent::Provider { status, text } => {
                places.count_turn_without_step();
                log.push_provider_error(turn, *status, text);
            }
            TurnContent::Agent { text, thought, call } => {
                places.count_turn_step();
                log.push_agent_turn(turn, index, (text, thought), call.as_ref());
            }
        }
    }
    places.into_rendered(to_json_lines(&log.lines))
}

impl ClaudeTranscript<'_> {
    fn push_line(&mut self, kind: &str, at_ms: u64, more: Value) {
        self.uuids += 1;
        let own = make_uuid(self.script, self.uuids);
        let mut line = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": self.script.root,
            "sessionId": make_uuid(self.script, 0), "version": "2.1.118", "gitBranch": self.script.branch, "type": kind,
            "uuid": own, "timestamp": format_timestamp(at_ms),
        });
        if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        self.lines.push(line);
        self.parent = Some(own);
        if kind != "system" {
            self.retries = 0;
        }
    }

    fn push_provider_error(&mut self, turn: &ScriptTurn, status: u16, text: &str) {
        let kind = match status {
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400 | 413 => "invalid_request_error",
            _ => "api_error",
        };
        self.retries += 1;
        let retries = self.retries;
        let error = json!({"status": status, "error": {"type": "error", "error": {"type": kind, "message": text}}});
        let more = json!({"subtype": "api_error", "level": "error", "error": error, "retryInMs": 500 << retries.min(6),
            "retryAttempt": retries, "maxRetries": 10});
        self.push_line("system", turn.at_ms, more);
    }

    fn push_agent_turn(
        &mut self,
        turn: &ScriptTurn,
        index: usize,
        (text, thought): (&str, &str),
        call: Option<&ScriptedCall>,
    ) {
        let call_id = format!("toolu_{}{index:04}", self.script.id);
        let mut blocks = Vec::new();
        if !thought.is_empty() {
            blocks.push(json!({"type": "thinking", "thinking": thought, "signature": ""}));
        }
        if !text.is_empty() {
            blocks.push(json!({"type": "text", "text": text}));
        }
        if let Some(call) = call {
            let (name, input) = map_tool_call(self.script, &call.act);
            blocks.push(json!({"type": "tool_use", "id": call_id, "name": name, "input": input}));
        }
        let cost = turn_token_usage(turn, index);
        let usage = json!({"input_tokens": 4, "cache_read_input_tokens": cost.cached,
            "cache_creation_input_tokens": cost.fresh, "output_tokens": cost.written, "service_tier": "standard"});
        for (part, block) in blocks.into_iter().enumerate() {
            let message = json!({"id": format!("msg_{}{index:04}", self.script.id), "type": "message",
                "role": "assistant", "model": MODEL, "content": [block], "stop_reason": null, "usage": usage});
            let request = format!("req_{}{index:04}", self.script.id);
            let at_ms = turn.at_ms + u64::try_from(part).unwrap_or_default();
            self.push_line("assistant", at_ms, json!({"message": message, "requestId": request}));
        }
        if let Some(call) = call {
            self.push_tool_result(turn, &call_id, call);
        }
    }

    fn push_tool_result(&mut self, turn: &ScriptTurn, id: &str, call: &ScriptedCall) {
        let has_failed = call.fails || call.exit != 0;
        let text = render_tool_output(self.script, call);
        let beside = match &call.act {
            _ if has_failed => json!(format!("Error: {text}")),
            CallAction::Run(_) => json!({"stdout": call.output, "stderr": "", "interrupted": false, "isImage": false}),
            CallAction::Read(path) => {
                json!({"type": "text", "file": {"filePath": to_absolute_path(self.script, path)}})
            }
            CallAction::Edit { path, old, new } => {
                json!({"filePath": to_absolute_path(self.script, path), "oldString": old, "newString": new, "replaceAll": false})
            }
            CallAction::Write { path, .. } => {
                json!({"type": "create", "filePath": to_absolute_path(self.script, path)})
            }
        };
        let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": text});
        // Only results of commands carry `is_error: false`.
        if let Some(block) = block.as_object_mut().filter(|_| has_failed || matches!(call.act, CallAction::Run(_))) {
            block.insert("is_error".to_owned(), json!(has_failed));
        }
        let message = json!({"role": "user", "content": [block]});
        self.push_line("user", turn.done_ms, json!({"message": message, "toolUseResult": beside}));
    }
}

fn map_tool_call(script: &SessionScript, act: &CallAction) -> (&'static str, Value) {
    match act {
        CallAction::Run(command) => ("Bash", json!({"command": command})),
        CallAction::Read(path) => ("Read", json!({"file_path": to_absolute_path(script, path)})),
        CallAction::Edit { path, old, new } => {
            ("Edit", json!({"file_path": to_absolute_path(script, path), "old_string": old, "new_string": new}))
        }
        CallAction::Write { path, content } => {
            ("Write", json!({"file_path": to_absolute_path(script, path), "content": content}))
        }
    }
}

/// Returns the tool output that the agent receives.
fn render_tool_output(script: &SessionScript, call: &ScriptedCall) -> String {
    match &call.act {
        CallAction::Run(_) if call.exit != 0 => format!("Exit code {}\n{}", call.exit, call.output),
        CallAction::Run(_) => call.output.clone(),
        CallAction::Read(_) if call.fails => "<tool_use_error>File does not exist.</tool_use_error>".to_owned(),
        CallAction::Read(_) => number_lines(&call.output),
        CallAction::Edit { old, .. } if call.fails => {
            format!("<tool_use_error>String to replace not found in file.\nString: {old}</tool_use_error>")
        }
        CallAction::Edit { path, .. } => {
            format!("The file {} has been updated successfully.", to_absolute_path(script, path))
        }
        CallAction::Write { path, .. } => format!("File created successfully at: {}", to_absolute_path(script, path)),
    }
}

fn number_lines(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(index, line)| format!("{:>6}\t{line}", index + 1));
    lines.collect::<Vec<_>>().join("\n")
}
