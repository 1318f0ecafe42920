//! Parses the outputs of tools as Codex writes them, often as text only.

use serde_json::Value;

use crate::domain::ToolOutput;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

#[cfg(test)]
#[path = "tool_outputs_tests.rs"]
mod tests;

/// The maximum number of lines in the head of an output.
const MAX_HEAD_LINES: usize = 8;

/// The maximum length of an output that reports an interruption.
const MAX_INTERRUPT_BYTES: usize = 256;

/// The openings of outputs that report a call which could not be made.
const REFUSALS: &[&str] = &[
    "Script failed",
    "apply_patch verification failed",
    "err: ",
    "exec command rejected",
    "execution error:",
    "failed in sandbox",
    "failed to parse function arguments",
    "patch rejected",
    "rejected by user",
    "tool call error",
    "unsupported call",
    "unsupported custom tool call",
];

/// Parses the output of a call: a text, parts, or an object with either.
pub(super) fn parse_output(content: Value) -> ToolOutput {
    match content {
        Value::Object(content) => parse_output_object(content),
        Value::String(text) => match unpack_json_output(&text) {
            Some(content) => parse_output_object(content),
            None => parse_output_text(text),
        },
        other => parse_output_text(json_fields::content_text(other)),
    }
}

/// Unpacks the object that versions of 2025 wrote into a text.
fn unpack_json_output(text: &str) -> Option<Object> {
    let is_packed = text.starts_with("{\"output\":") || (text.starts_with('{') && text.contains("\"metadata\""));
    if !is_packed {
        return None;
    }
    let content: Object = serde_json::from_str(text).ok()?;
    let is_ours = content.get("output").is_some_and(Value::is_string)
        && content.keys().all(|key| key == "output" || key == "metadata");
    is_ours.then_some(content)
}

fn parse_output_object(mut content: Object) -> ToolOutput {
    let inner = ["output", "content", "content_items", "body"].into_iter().find_map(|key| match content.get_mut(key) {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.take()),
    });
    let metadata = json_fields::take_object(&mut content, "metadata").unwrap_or_default();
    let success = json_fields::get_flag(&content, "success");
    let is_error = json_fields::get_flag(&content, "isError").or_else(|| json_fields::get_flag(&content, "is_error"));
    let text = match inner {
        Some(inner) => json_fields::content_text(inner),
        None if content.is_empty() => String::new(),
        None => Value::Object(content).to_string(),
    };
    let mut output = parse_output_text(text);
    if let Some(code) = json_fields::get_integer(&metadata, "exit_code") {
        output.exit_code = Some(code);
        output.failed = Some(code != 0);
    }
    output.duration_ms =
        json_fields::get_amount(&metadata, "duration_seconds").and_then(to_milliseconds).or(output.duration_ms);
    output.failed = output.failed.or(success.map(|success| !success)).or(is_error);
    output
}

/// Parses the head of a shell's output. The text after it was printed by the command and proves nothing.
fn parse_output_text(text: String) -> ToolOutput {
    let mut output = ToolOutput::default();
    for line in text.lines().take(MAX_HEAD_LINES) {
        let line = line.trim_end();
        if line == "Output:" {
            break;
        }
        let code = line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "));
        output.exit_code = output.exit_code.or_else(|| code?.trim().parse().ok());
        let wall = line.strip_prefix("Wall time: ").or_else(|| line.strip_prefix("Wall time "));
        let seconds = wall.and_then(|wall| wall.split_ascii_whitespace().next()?.trim_end_matches('s').parse().ok());
        output.duration_ms = output.duration_ms.or_else(|| to_milliseconds(seconds?));
        if code.is_none() && wall.is_none() && !is_head_line(line) {
            break;
        }
    }
    let is_refusal = REFUSALS.iter().any(|refusal| text.starts_with(refusal));
    output.failed = output.exit_code.map(|code| code != 0).or(is_refusal.then_some(true));
    let trimmed = text.trim();
    output.interrupted =
        trimmed.len() <= MAX_INTERRUPT_BYTES && (trimmed == "aborted" || trimmed.contains("aborted by user"));
    output.text = text;
    output
}

/// Returns true if a line may stand above an exit code.
fn is_head_line(line: &str) -> bool {
    ["Chunk ID:", "Total output lines:", "Original token count:", "Script ", "Process running", "Command:"]
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

/// Finds the session of a running command in the head of its output.
pub(super) fn find_running_session(text: &str) -> Option<&str> {
    let mut head = text.lines().take(MAX_HEAD_LINES).take_while(|line| line.trim_end() != "Output:");
    head.find_map(|line| line.strip_prefix("Process running with session ID ")).map(str::trim)
}

/// Converts seconds into milliseconds.
pub(super) fn to_milliseconds(seconds: f64) -> Option<u64> {
    let milliseconds = (seconds * 1000.0).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    (0.0..=1e15).contains(&milliseconds).then_some(milliseconds as u64)
}

/// Returns a duration, in any of the forms in which it is written.
pub(super) fn read_duration_ms(object: &Object) -> Option<u64> {
    json_fields::get_count(object, "duration_ms").or_else(|| json_fields::get_count(object, "durationMs")).or_else(
        || match object.get("duration")? {
            Value::Object(duration) => {
                let seconds = json_fields::get_amount(duration, "secs")?;
                to_milliseconds(seconds + json_fields::get_amount(duration, "nanos").unwrap_or_default() / 1e9)
            }
            Value::String(text) => match text.strip_suffix("ms") {
                Some(number) => to_milliseconds(number.trim().parse::<f64>().ok()? / 1000.0),
                None => to_milliseconds(text.strip_suffix('s')?.trim().parse().ok()?),
            },
            _ => None,
        },
    )
}
