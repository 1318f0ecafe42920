//! What Codex wrote before its rollouts, put into their words: the stream that `codex exec --json` printed in 2025, and
//! the sessions of the CLI before that, each in one document.

use serde_json::Value;
use serde_json::json;

use super::Reader;
use super::codex::Codex;
use super::pick;
use super::pick::Object;
use crate::domain::Sink;

#[cfg(test)]
#[path = "codex_early_tests.rs"]
mod tests;

/// Reads Codex's logs of all ages.
#[derive(Debug, Default)]
pub(super) struct AnyCodex(Codex);

impl Reader for AnyCodex {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let Value::Object(mut line) = line else { return };
        if line.get("items").is_some_and(Value::is_array)
            && let Some(session) = pick::take_object(&mut line, "session")
        {
            self.0.line(number, Value::Object(session), sink);
            pick::take_array(&mut line, "items").into_iter().for_each(|item| self.0.line(number, item, sink));
            return;
        }
        let line = if line.contains_key("type") { Value::Object(line) } else { in_words_of_rollouts(line) };
        self.0.line(number, line, sink);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.0.end(sink);
    }
}

/// A line of the early stream as one of a rollout; any other as it is.
fn in_words_of_rollouts(mut line: Object) -> Value {
    if line.len() == 2
        && let Some(message) = pick::take_object(&mut line, "msg")
    {
        json!({"type": "event_msg", "payload": message})
    } else if line.len() == 1
        && let Some(prompt) = pick::string(&line, "prompt")
    {
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": prompt}})
    } else if let Some(directory) = pick::string(&line, "workdir") {
        json!({"type": "turn_context", "payload": {"cwd": directory, "model": pick::string(&line, "model")}})
    } else {
        Value::Object(line)
    }
}
