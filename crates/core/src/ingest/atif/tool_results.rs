//! Reads tool results in all the shapes that producers write.

use serde_json::Value;

use crate::domain::LogReference;
use crate::domain::Part;
use crate::domain::ToolOutput;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

#[cfg(test)]
#[path = "tool_results_tests.rs"]
mod tests;

/// The text that Harbor's converter for Claude Code appends to a failed result.
const FAILURE_MARK: &str = "[error] tool reported failure";

/// The maximum depth at which status hints are searched in a producer's `extra`.
const MAX_DEPTH: usize = 4;

/// The maximum length of a header that a harness puts before an output.
const HEADER_BYTES: usize = 400;

/// A single result of an observation.
#[derive(Debug, Default, PartialEq)]
pub(super) struct AtifToolResult {
    /// The id of the call that the result names.
    pub(super) call_id: Option<String>,
    /// The output, or none if the result only refers to other trajectories.
    pub(super) output: Option<ToolOutput>,
    pub(super) elsewhere: Vec<LogReference>,
}

/// Status fields that stand next to an output.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct OutputStatusHints {
    failed: Option<bool>,
    exit_code: Option<i32>,
    duration_ms: Option<u64>,
    interrupted: Option<bool>,
}

impl OutputStatusHints {
    /// Reads the hints in a producer's `extra`.
    pub(super) fn from_extra(extra: &Object) -> Self {
        Self::from_extra_at_depth(extra, MAX_DEPTH)
    }

    fn from_extra_at_depth(extra: &Object, depth: usize) -> Self {
        let flag = |keys: &[&str]| keys.iter().find_map(|key| json_fields::get_flag(extra, key));
        let mut signs = Self {
            failed: flag(&["tool_result_is_error", "is_error", "tool_use_is_error", "isError"])
                .or_else(|| flag(&["passed", "success"]).map(|passed| !passed))
                .or_else(|| {
                    matches!(json_fields::get_str(extra, "status"), Some("failed" | "failure" | "error" | "errored"))
                        .then_some(true)
                }),
            exit_code: ["exit_code", "exitCode", "returncode", "return_code"]
                .iter()
                .find_map(|key| json_fields::get_integer(extra, key)),
            duration_ms: ["duration_ms", "durationMs", "totalDurationMs"]
                .iter()
                .find_map(|key| json_fields::get_count(extra, key))
                .or_else(|| to_milliseconds(json_fields::get_amount(extra, "duration_seconds")?))
                .or_else(|| {
                    to_milliseconds(
                        json_fields::get_amount(extra, "end_timestamp")?
                            - json_fields::get_amount(extra, "start_timestamp")?,
                    )
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
                    signs = signs.or(Self::from_extra_at_depth(inner, depth - 1));
                }
            }
        }
        signs
    }

    /// Returns these hints, with missing ones filled from the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            failed: self.failed.or(other.failed),
            exit_code: self.exit_code.or(other.exit_code),
            duration_ms: self.duration_ms.or(other.duration_ms),
            interrupted: self.interrupted.or(other.interrupted),
        }
    }

    /// Sets the hints on an output where it has no value of its own.
    pub(super) fn apply_to(self, output: &mut ToolOutput) {
        output.exit_code = output.exit_code.or(self.exit_code);
        output.failed = output.failed.or(self.failed).or_else(|| output.exit_code.map(|code| code != 0));
        output.duration_ms = output.duration_ms.or(self.duration_ms);
        output.interrupted |= self.interrupted.unwrap_or_default();
    }
}

/// Returns the results of an observation, which should be an object with a list of them.
pub(super) fn list_results(observation: Value) -> Vec<Value> {
    match observation {
        Value::Null => Vec::new(),
        Value::Array(results) => results,
        Value::Object(mut object) if object.contains_key("results") => json_fields::take_array(&mut object, "results"),
        Value::Object(object) if object.is_empty() => Vec::new(),
        one => vec![one],
    }
}

/// Reads a single result.
pub(super) fn read_result(result: Value) -> AtifToolResult {
    let mut result = match result {
        Value::Object(result) => result,
        Value::Null => return AtifToolResult::default(),
        words => return AtifToolResult { output: Some(read_output(words)), ..AtifToolResult::default() },
    };
    let call_id = ["source_call_id", "tool_call_id", "call_id", "tool_use_id", "id"]
        .iter()
        .find_map(|key| json_fields::get_string(&result, key));
    let elsewhere = take_subagent_references(&mut result);
    let signs = OutputStatusHints::from_extra(&result).or(read_nested_status(&result));
    let extra = result.get("extra").and_then(Value::as_object).map(OutputStatusHints::from_extra).unwrap_or_default();
    let content = ["content", "output", "text", "result"]
        .iter()
        .find_map(|key| result.get_mut(*key).map(Value::take).filter(|content| !content.is_null()));
    let error = json_fields::get_string(&result, "error");
    let output = match (content, error) {
        (Some(content), _) => Some(read_output(content)),
        (None, Some(error)) => Some(ToolOutput { text: error, failed: Some(true), ..ToolOutput::default() }),
        (None, None)
            if call_id.is_some() || (elsewhere.is_empty() && signs.or(extra) != OutputStatusHints::default()) =>
        {
            Some(ToolOutput::default())
        }
        (None, None) => None,
    };
    let output = output.map(|mut output| {
        signs.or(extra).apply_to(&mut output);
        output
    });
    AtifToolResult { call_id, output, elsewhere }
}

/// Reads the hints in `result: {success, error}` next to the content.
fn read_nested_status(result: &Object) -> OutputStatusHints {
    result.get("result").and_then(Value::as_object).map(OutputStatusHints::from_extra).unwrap_or_default()
}

/// Takes the references to subagent trajectories out of a result.
fn take_subagent_references(result: &mut Object) -> Vec<LogReference> {
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
                    json_fields::get_string(&reference, "trajectory_path"),
                    json_fields::get_string(&reference, "trajectory_id")
                        .or_else(|| json_fields::get_string(&reference, "session_id")),
                ),
                _ => return None,
            };
            (path.is_some() || id.is_some()).then_some(LogReference { part: Part::Subagent, path, id })
        })
        .collect()
}

/// Converts the content of a result into an output.
fn read_output(content: Value) -> ToolOutput {
    let mut output = match content {
        Value::Object(content) => read_output_object(content),
        content => ToolOutput { text: join_content_text(content), ..ToolOutput::default() },
    };
    if output.text.starts_with("{\"output\":") && output.text.contains("\"metadata\"") {
        unwrap_json_output(&mut output);
    }
    let from_text = read_text_status(&output.text);
    from_text.apply_to(&mut output);
    output
}

/// Returns the text of a message or content. Parts may be chat messages themselves.
pub(super) fn join_content_text(content: Value) -> String {
    let Value::Array(parts) = content else { return json_fields::content_text(content) };
    let parts = parts.into_iter().map(|part| match part {
        Value::Object(mut part) if !part.get("text").is_some_and(Value::is_string) && part.contains_key("content") => {
            join_content_text(part.get_mut("content").map(Value::take).unwrap_or_default())
        }
        part => json_fields::content_text(Value::Array(vec![part])),
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Reads an output such as OpenAgents' `{command, passed, output}`.
fn read_output_object(mut content: Object) -> ToolOutput {
    let mut output = ToolOutput::default();
    OutputStatusHints::from_extra(&content).apply_to(&mut output);
    let mut lines = Vec::new();
    if let Some(command) = json_fields::get_str(&content, "command") {
        lines.push(format!("$ {command}"));
    }
    for key in ["output", "stdout", "stderr", "error", "message", "content", "text", "result"] {
        let said = content.get_mut(key).map(Value::take).map(join_content_text).unwrap_or_default();
        if !said.trim().is_empty() {
            lines.push(said);
        }
    }
    output.text = if lines.is_empty() { Value::Object(content).to_string() } else { lines.join("\n") };
    output
}

/// Unwraps `{"output": …, "metadata": {"exit_code": …}}`, which old versions of Codex wrote into a string.
fn unwrap_json_output(output: &mut ToolOutput) {
    let Ok(mut inner) = serde_json::from_str::<Object>(&output.text) else { return };
    let Some(Value::String(text)) = inner.get_mut("output").map(Value::take) else { return };
    output.text = text;
    OutputStatusHints::from_extra(&inner).apply_to(output);
}

/// Reads the status that harnesses write at the beginning or end of the text itself.
fn read_text_status(text: &str) -> OutputStatusHints {
    let mut signs = OutputStatusHints::default();
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
            signs.duration_ms = signs.duration_ms.or_else(|| to_milliseconds(seconds.parse().ok()?));
        }
        if !is_header && exit.is_none() {
            break;
        }
    }
    let text = text.trim_end();
    if let Some(body) = text.strip_suffix(FAILURE_MARK) {
        signs.failed = Some(true);
        signs.exit_code = signs.exit_code.or_else(|| find_exit_code(body));
    } else if text.contains("[exit_code] ") {
        signs.exit_code = signs.exit_code.or_else(|| find_exit_code(text));
    }
    signs
}

/// Returns the exit code of the last line such as `[exit_code] 2`.
fn find_exit_code(text: &str) -> Option<i32> {
    let mark = text.lines().rev().take(8).find_map(|line| line.strip_prefix("[exit_code] "))?;
    mark.trim().parse().ok()
}

fn to_milliseconds(seconds: f64) -> Option<u64> {
    let milliseconds = (seconds * 1000.0).round();
    let is_duration = (0.0..=1e13).contains(&milliseconds);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    is_duration.then_some(milliseconds as u64)
}
