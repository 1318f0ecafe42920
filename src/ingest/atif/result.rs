//! What came back, in all the shapes in which producers write it.

use serde_json::Value;

use crate::domain::Elsewhere;
use crate::domain::Output;
use crate::domain::Part;
use crate::ingest::pick;
use crate::ingest::pick::Object;

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;

/// What Harbor's converter for Claude Code writes under a failed result.
const FAILURE_MARK: &str = "[error] tool reported failure";

/// How deep in a producer's `extra` signs are looked for.
const MAX_DEPTH: usize = 4;

/// How much of a text may be a header that a harness put there.
const HEADER_BYTES: usize = 400;

/// One result of an observation.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    /// The call that it names.
    pub(super) call_id: Option<String>,
    /// Nothing, where it only refers to other trajectories.
    pub(super) output: Option<Output>,
    pub(super) elsewhere: Vec<Elsewhere>,
}

/// What is said beside an output about how it went.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Signs {
    failed: Option<bool>,
    exit_code: Option<i32>,
    duration_ms: Option<u64>,
    interrupted: Option<bool>,
}

impl Signs {
    /// The signs in a producer's `extra`.
    pub(super) fn of(extra: &Object) -> Self {
        Self::at_depth(extra, MAX_DEPTH)
    }

    fn at_depth(extra: &Object, depth: usize) -> Self {
        let flag = |keys: &[&str]| keys.iter().find_map(|key| pick::flag(extra, key));
        let mut signs = Self {
            failed: flag(&["tool_result_is_error", "is_error", "tool_use_is_error", "isError"])
                .or_else(|| flag(&["passed", "success"]).map(|passed| !passed))
                .or_else(|| {
                    matches!(pick::str(extra, "status"), Some("failed" | "failure" | "error" | "errored"))
                        .then_some(true)
                }),
            exit_code: ["exit_code", "exitCode", "returncode", "return_code"]
                .iter()
                .find_map(|key| pick::integer(extra, key)),
            duration_ms: ["duration_ms", "durationMs", "totalDurationMs"]
                .iter()
                .find_map(|key| pick::count(extra, key))
                .or_else(|| milliseconds(pick::amount(extra, "duration_seconds")?))
                .or_else(|| {
                    milliseconds(pick::amount(extra, "end_timestamp")? - pick::amount(extra, "start_timestamp")?)
                }),
            interrupted: flag(&["interrupted"]),
        };
        if depth > 0 {
            for key in [
                "metadata",
                "tool_metadata",
                "tool_result_metadata",
                "tool_use_result",
                "raw_tool_result",
                "invocation",
            ] {
                if let Some(inner) = extra.get(key).and_then(Value::as_object) {
                    signs = signs.or(Self::at_depth(inner, depth - 1));
                }
            }
        }
        signs
    }

    /// These signs, and the other's where there are none.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            failed: self.failed.or(other.failed),
            exit_code: self.exit_code.or(other.exit_code),
            duration_ms: self.duration_ms.or(other.duration_ms),
            interrupted: self.interrupted.or(other.interrupted),
        }
    }

    /// Puts them on an output that does not know better.
    pub(super) fn mark(self, output: &mut Output) {
        output.exit_code = output.exit_code.or(self.exit_code);
        output.failed = output.failed.or(self.failed).or_else(|| output.exit_code.map(|code| code != 0));
        output.duration_ms = output.duration_ms.or(self.duration_ms);
        output.interrupted |= self.interrupted.unwrap_or_default();
    }
}

/// The results of an observation, which should be an object with a list of them.
pub(super) fn results(observation: Value) -> Vec<Value> {
    match observation {
        Value::Null => Vec::new(),
        Value::Array(results) => results,
        Value::Object(mut object) if object.contains_key("results") => pick::take_array(&mut object, "results"),
        Value::Object(object) if object.is_empty() => Vec::new(),
        one => vec![one],
    }
}

/// Reads one result.
pub(super) fn read(result: Value) -> Found {
    let mut result = match result {
        Value::Object(result) => result,
        Value::Null => return Found::default(),
        words => return Found { output: Some(output(words)), ..Found::default() },
    };
    let call_id = ["source_call_id", "tool_call_id", "call_id", "tool_use_id", "id"]
        .iter()
        .find_map(|key| pick::string(&result, key));
    let elsewhere = references(&mut result);
    let signs = Signs::of(&result).or(outcome(&result));
    let extra = result.get("extra").and_then(Value::as_object).map(Signs::of).unwrap_or_default();
    let content = ["content", "output", "text", "result"]
        .iter()
        .find_map(|key| result.get_mut(*key).map(Value::take).filter(|content| !content.is_null()));
    let error = pick::string(&result, "error");
    let output = match (content, error) {
        (Some(content), _) => Some(output(content)),
        (None, Some(error)) => Some(Output { text: error, failed: Some(true), ..Output::default() }),
        (None, None) if call_id.is_some() || (elsewhere.is_empty() && signs.or(extra) != Signs::default()) => {
            Some(Output::default())
        }
        (None, None) => None,
    };
    let output = output.map(|mut output| {
        signs.or(extra).mark(&mut output);
        output
    });
    Found { call_id, output, elsewhere }
}

/// `result: {success, error}` beside the content.
fn outcome(result: &Object) -> Signs {
    result.get("result").and_then(Value::as_object).map(Signs::of).unwrap_or_default()
}

/// Trajectories that a result refers to.
fn references(result: &mut Object) -> Vec<Elsewhere> {
    let references = match result.get_mut("subagent_trajectory_ref").map(Value::take) {
        Some(Value::Array(references)) => references,
        Some(Value::Null) | None => Vec::new(),
        Some(one) => vec![one],
    };
    references
        .into_iter()
        .filter_map(|reference| {
            let (path, id) = match reference {
                Value::String(path) if !path.is_empty() => (Some(path), None),
                Value::Object(reference) => (
                    pick::string(&reference, "trajectory_path"),
                    pick::string(&reference, "trajectory_id").or_else(|| pick::string(&reference, "session_id")),
                ),
                _ => return None,
            };
            (path.is_some() || id.is_some()).then_some(Elsewhere { part: Part::Subagent, path, id })
        })
        .collect()
}

/// An output of some content.
fn output(content: Value) -> Output {
    let mut output = match content {
        Value::Object(content) => of_object(content),
        content => Output { text: words(content), ..Output::default() },
    };
    if output.text.starts_with("{\"output\":") && output.text.contains("\"metadata\"") {
        unwrap(&mut output);
    }
    let from_text = signs_of_text(&output.text);
    from_text.mark(&mut output);
    output
}

/// The words of a message or content. Parts may be chat messages in turn.
pub(super) fn words(content: Value) -> String {
    let Value::Array(parts) = content else { return pick::words(content) };
    let parts = parts.into_iter().map(|part| match part {
        Value::Object(mut part) if !part.get("text").is_some_and(Value::is_string) && part.contains_key("content") => {
            words(part.get_mut("content").map(Value::take).unwrap_or_default())
        }
        part => pick::words(Value::Array(vec![part])),
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// OpenAgents writes `{command, passed, output}`; others write much the same.
fn of_object(mut content: Object) -> Output {
    let mut output = Output::default();
    Signs::of(&content).mark(&mut output);
    let mut lines = Vec::new();
    if let Some(command) = pick::str(&content, "command") {
        lines.push(format!("$ {command}"));
    }
    for key in ["output", "stdout", "stderr", "error", "message", "content", "text", "result"] {
        let said = content.get_mut(key).map(Value::take).map(words).unwrap_or_default();
        if !said.trim().is_empty() {
            lines.push(said);
        }
    }
    output.text = if lines.is_empty() { Value::Object(content).to_string() } else { lines.join("\n") };
    output
}

/// Codex once wrote `{"output": …, "metadata": {"exit_code": …}}` into a string.
fn unwrap(output: &mut Output) {
    let Ok(mut inner) = serde_json::from_str::<Object>(&output.text) else { return };
    let Some(Value::String(text)) = inner.get_mut("output").map(Value::take) else { return };
    output.text = text;
    Signs::of(&inner).mark(output);
}

/// What harnesses write into the text itself, at its beginning or end, for want of a place.
fn signs_of_text(text: &str) -> Signs {
    let mut signs = Signs::default();
    let mut is_header = false;
    let mut length = 0;
    for (index, line) in text.lines().enumerate() {
        length += line.len();
        if length > HEADER_BYTES || line == "Output:" {
            break;
        }
        let exit = line
            .strip_prefix("Process exited with code ")
            .or_else(|| line.strip_prefix("Exit code: "))
            .or_else(|| line.strip_prefix("Exit code ").filter(|_| index == 0));
        if let Some(code) = exit.and_then(|code| code.trim().parse().ok()) {
            signs.exit_code = signs.exit_code.or(Some(code));
        }
        is_header |=
            index == 0 && (exit.is_some() || line.starts_with("Chunk ID: ") || line.starts_with("Wall time: "));
        if let Some(seconds) = line.strip_prefix("Wall time: ").and_then(|rest| rest.split(' ').next())
            && is_header
        {
            signs.duration_ms = signs.duration_ms.or_else(|| milliseconds(seconds.parse().ok()?));
        }
        if !is_header && exit.is_none() {
            break;
        }
    }
    let text = text.trim_end();
    if let Some(body) = text.strip_suffix(FAILURE_MARK) {
        signs.failed = Some(true);
        signs.exit_code = signs.exit_code.or_else(|| exit_mark(body));
    } else if text.contains("[exit_code] ") {
        signs.exit_code = signs.exit_code.or_else(|| exit_mark(text));
    }
    signs
}

/// The last line that says `[exit_code] 2`.
fn exit_mark(text: &str) -> Option<i32> {
    let mark = text.lines().rev().take(8).find_map(|line| line.strip_prefix("[exit_code] "))?;
    mark.trim().parse().ok()
}

fn milliseconds(seconds: f64) -> Option<u64> {
    let milliseconds = (seconds * 1000.0).round();
    let is_duration = (0.0..=1e13).contains(&milliseconds);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    is_duration.then_some(milliseconds as u64)
}
