//! Claude Code's transcripts.

use serde_json::{Value, json};

use super::super::weave::{Act, Call, Does, Script, Turn};
use super::{Places, Rendered, cost, lines, time, uuid, whole};

const MODEL: &str = "claude-opus-4-6";

struct Transcript<'s> {
    script: &'s Script,
    lines: Vec<Value>,
    uuids: usize,
    parent: Option<String>,
    /// Provider errors in a row.
    retries: u64,
}

pub(super) fn render(script: &Script) -> Rendered {
    let mut places = Places::default();
    let mut log = Transcript { script, lines: Vec::new(), uuids: 0, parent: None, retries: 0 };
    log.lines.push(json!({"type": "mode", "mode": "normal", "sessionId": uuid(script, 0)}));
    for (index, turn) in script.turns.iter().enumerate() {
        match &turn.does {
            Does::User(text) => {
                places.step();
                log.line("user", turn.at_ms, json!({"message": {"role": "user", "content": text}}));
            }
            Does::Stop => {
                places.none();
                let content = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
                log.line("user", turn.at_ms, json!({"message": {"role": "user", "content": content}}));
            }
            Does::Provider { status, text } => {
                places.none();
                log.provider(turn, *status, text);
            }
            Does::Agent { text, thought, call } => {
                places.step();
                log.agent(turn, index, (text, thought), call.as_ref());
            }
        }
    }
    places.with(lines(&log.lines))
}

impl Transcript<'_> {
    fn line(&mut self, kind: &str, at_ms: u64, more: Value) {
        self.uuids += 1;
        let own = uuid(self.script, self.uuids);
        let mut line = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": self.script.root,
            "sessionId": uuid(self.script, 0), "version": "2.1.118", "gitBranch": self.script.branch, "type": kind,
            "uuid": own, "timestamp": time(at_ms),
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

    fn provider(&mut self, turn: &Turn, status: u16, text: &str) {
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
        self.line("system", turn.at_ms, more);
    }

    fn agent(&mut self, turn: &Turn, index: usize, (text, thought): (&str, &str), call: Option<&Call>) {
        let call_id = format!("toolu_{}{index:04}", self.script.id);
        let mut blocks = Vec::new();
        if !thought.is_empty() {
            blocks.push(json!({"type": "thinking", "thinking": thought, "signature": ""}));
        }
        if !text.is_empty() {
            blocks.push(json!({"type": "text", "text": text}));
        }
        if let Some(call) = call {
            let (name, input) = tool(self.script, &call.act);
            blocks.push(json!({"type": "tool_use", "id": call_id, "name": name, "input": input}));
        }
        let cost = cost(turn, index);
        let usage = json!({"input_tokens": 4, "cache_read_input_tokens": cost.cached,
            "cache_creation_input_tokens": cost.fresh, "output_tokens": cost.written, "service_tier": "standard"});
        for (part, block) in blocks.into_iter().enumerate() {
            let message = json!({"id": format!("msg_{}{index:04}", self.script.id), "type": "message",
                "role": "assistant", "model": MODEL, "content": [block], "stop_reason": null, "usage": usage});
            let request = format!("req_{}{index:04}", self.script.id);
            let at_ms = turn.at_ms + u64::try_from(part).unwrap_or_default();
            self.line("assistant", at_ms, json!({"message": message, "requestId": request}));
        }
        if let Some(call) = call {
            self.result(turn, &call_id, call);
        }
    }

    fn result(&mut self, turn: &Turn, id: &str, call: &Call) {
        let has_failed = call.fails || call.exit != 0;
        let text = answer(self.script, call);
        let beside = match &call.act {
            _ if has_failed => json!(format!("Error: {text}")),
            Act::Run(_) => json!({"stdout": call.output, "stderr": "", "interrupted": false, "isImage": false}),
            Act::Read(path) => json!({"type": "text", "file": {"filePath": whole(self.script, path)}}),
            Act::Edit { path, old, new } => {
                json!({"filePath": whole(self.script, path), "oldString": old, "newString": new, "replaceAll": false})
            }
            Act::Write { path, .. } => json!({"type": "create", "filePath": whole(self.script, path)}),
        };
        let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": text});
        // Only commands say that they did not fail.
        if let Some(block) = block.as_object_mut().filter(|_| has_failed || matches!(call.act, Act::Run(_))) {
            block.insert("is_error".to_owned(), json!(has_failed));
        }
        let message = json!({"role": "user", "content": [block]});
        self.line("user", turn.done_ms, json!({"message": message, "toolUseResult": beside}));
    }
}

fn tool(script: &Script, act: &Act) -> (&'static str, Value) {
    match act {
        Act::Run(command) => ("Bash", json!({"command": command})),
        Act::Read(path) => ("Read", json!({"file_path": whole(script, path)})),
        Act::Edit { path, old, new } => {
            ("Edit", json!({"file_path": whole(script, path), "old_string": old, "new_string": new}))
        }
        Act::Write { path, content } => ("Write", json!({"file_path": whole(script, path), "content": content})),
    }
}

/// What the agent is told.
fn answer(script: &Script, call: &Call) -> String {
    match &call.act {
        Act::Run(_) if call.exit != 0 => format!("Exit code {}\n{}", call.exit, call.output),
        Act::Run(_) => call.output.clone(),
        Act::Read(_) if call.fails => "<tool_use_error>File does not exist.</tool_use_error>".to_owned(),
        Act::Read(_) => numbered(&call.output),
        Act::Edit { old, .. } if call.fails => {
            format!("<tool_use_error>String to replace not found in file.\nString: {old}</tool_use_error>")
        }
        Act::Edit { path, .. } => {
            format!("The file {} has been updated successfully.", whole(script, path))
        }
        Act::Write { path, .. } => format!("File created successfully at: {}", whole(script, path)),
    }
}

fn numbered(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(index, line)| format!("{:>6}\t{line}", index + 1));
    lines.collect::<Vec<_>>().join("\n")
}
