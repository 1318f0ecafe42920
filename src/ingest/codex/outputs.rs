//! What came back from a tool, as Codex writes it: often in words only.

use serde_json::Value;

use crate::domain::Output;
use crate::ingest::pick;
use crate::ingest::pick::Object;

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;

/// A head of more lines is none.
const MAX_HEAD_LINES: usize = 8;

/// Where an interrupt is told, little else is.
const MAX_INTERRUPT_BYTES: usize = 256;

/// How outputs begin that tell of a call that could not be made.
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

/// Reads the output of a call: words, parts, or an object with either.
pub(super) fn output(content: Value) -> Output {
    match content {
        Value::Object(content) => of_object(content),
        Value::String(text) => match unpack(&text) {
            Some(content) => of_object(content),
            None => of_text(text),
        },
        other => of_text(pick::words(other)),
    }
}

/// The object that stands in a text in versions of 2025.
fn unpack(text: &str) -> Option<Object> {
    let is_packed = text.starts_with("{\"output\":") || (text.starts_with('{') && text.contains("\"metadata\""));
    if !is_packed {
        return None;
    }
    let content: Object = serde_json::from_str(text).ok()?;
    let is_ours = content.get("output").is_some_and(Value::is_string)
        && content.keys().all(|key| key == "output" || key == "metadata");
    is_ours.then_some(content)
}

fn of_object(mut content: Object) -> Output {
    let inner = ["output", "content", "content_items", "body"].into_iter().find_map(|key| match content.get_mut(key) {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.take()),
    });
    let metadata = pick::take_object(&mut content, "metadata").unwrap_or_default();
    let success = pick::flag(&content, "success");
    let is_error = pick::flag(&content, "isError").or_else(|| pick::flag(&content, "is_error"));
    let text = match inner {
        Some(inner) => pick::words(inner),
        None if content.is_empty() => String::new(),
        None => Value::Object(content).to_string(),
    };
    let mut output = of_text(text);
    if let Some(code) = pick::integer(&metadata, "exit_code") {
        output.exit_code = Some(code);
        output.failed = Some(code != 0);
    }
    output.duration_ms = pick::amount(&metadata, "duration_seconds").and_then(milliseconds).or(output.duration_ms);
    output.failed = output.failed.or(success.map(|success| !success)).or(is_error);
    output
}

/// Reads the head that a shell's output has. What a command prints comes after it and proves nothing.
fn of_text(text: String) -> Output {
    let mut output = Output::default();
    for line in text.lines().take(MAX_HEAD_LINES) {
        let line = line.trim_end();
        if line == "Output:" {
            break;
        }
        let code = line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "));
        output.exit_code = output.exit_code.or_else(|| code?.trim().parse().ok());
        let wall = line.strip_prefix("Wall time: ").or_else(|| line.strip_prefix("Wall time "));
        let seconds = wall.and_then(|wall| wall.split_ascii_whitespace().next()?.trim_end_matches('s').parse().ok());
        output.duration_ms = output.duration_ms.or_else(|| milliseconds(seconds?));
        if code.is_none() && wall.is_none() && !is_of_head(line) {
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

/// Whether a line may stand above an exit code.
fn is_of_head(line: &str) -> bool {
    ["Chunk ID:", "Total output lines:", "Original token count:", "Script ", "Process running", "Command:"]
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

/// Finds the session in which a command runs on, in the head of its output.
pub(super) fn running_session(text: &str) -> Option<&str> {
    let mut head = text.lines().take(MAX_HEAD_LINES).take_while(|line| line.trim_end() != "Output:");
    head.find_map(|line| line.strip_prefix("Process running with session ID ")).map(str::trim)
}

/// Seconds as milliseconds.
pub(super) fn milliseconds(seconds: f64) -> Option<u64> {
    let milliseconds = (seconds * 1000.0).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    (0.0..=1e15).contains(&milliseconds).then_some(milliseconds as u64)
}

/// How long something took, in any of the ways in which it is written.
pub(super) fn duration_ms(object: &Object) -> Option<u64> {
    pick::count(object, "duration_ms").or_else(|| pick::count(object, "durationMs")).or_else(|| {
        match object.get("duration")? {
            Value::Object(duration) => {
                let seconds = pick::amount(duration, "secs")?;
                milliseconds(seconds + pick::amount(duration, "nanos").unwrap_or_default() / 1e9)
            }
            Value::String(text) => match text.strip_suffix("ms") {
                Some(number) => milliseconds(number.trim().parse::<f64>().ok()? / 1000.0),
                None => milliseconds(text.strip_suffix('s')?.trim().parse().ok()?),
            },
            _ => None,
        }
    })
}
