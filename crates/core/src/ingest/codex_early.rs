//! Translates the logs that Codex wrote before its rollouts into rollout records: the stream that `codex exec --json`
//! printed in 2025, and the sessions of the CLI before that, each in one document.

use serde_json::Value;
use serde_json::json;

use super::LogReader;
use super::codex::CodexRolloutReader;
use super::json_fields;
use super::json_fields::Object;
use crate::domain::EventSink;

#[cfg(test)]
#[path = "codex_early_tests.rs"]
mod tests;

/// Reads Codex's logs of all generations.
#[derive(Debug, Default)]
pub(super) struct AnyCodexReader(CodexRolloutReader);

impl LogReader for AnyCodexReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let Value::Object(mut line) = line else { return };
        if line.get("items").is_some_and(Value::is_array)
            && let Some(session) = json_fields::take_object(&mut line, "session")
        {
            self.0.read_log_line(number, Value::Object(session), sink);
            json_fields::take_array(&mut line, "items")
                .into_iter()
                .for_each(|item| self.0.read_log_line(number, item, sink));
            return;
        }
        let line = if line.contains_key("type") { Value::Object(line) } else { to_rollout_record(line) };
        self.0.read_log_line(number, line, sink);
    }

    fn finish_log(&mut self, sink: &mut dyn EventSink) {
        self.0.finish_log(sink);
    }
}

/// Converts a line of the early stream into a rollout record; any other line stays unchanged.
fn to_rollout_record(mut line: Object) -> Value {
    if line.len() == 2
        && let Some(message) = json_fields::take_object(&mut line, "msg")
    {
        json!({"type": "event_msg", "payload": message})
    } else if line.len() == 1
        && let Some(prompt) = json_fields::get_string(&line, "prompt")
    {
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": prompt}})
    } else if let Some(directory) = json_fields::get_string(&line, "workdir") {
        json!({"type": "turn_context", "payload": {"cwd": directory, "model": json_fields::get_string(&line, "model")}})
    } else {
        Value::Object(line)
    }
}
