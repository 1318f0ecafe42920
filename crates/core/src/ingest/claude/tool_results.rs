//! Reads the results of tools.

use serde_json::Value;

use super::super::json_fields::{self, Object};
use crate::domain::{Timestamp, ToolOutput};

/// The harness's message to the agent when a person refuses a call.
const REFUSED: &str = "The user doesn't want to proceed with this tool use";

/// The harness's own record when a person refuses a call without comment.
const REJECTED: &str = "User rejected tool use";

/// The phrase before a person's own words.
const REASON: &str = "the user said:";

/// The phrase after a person's own words.
const NOTE: &str = "\n\nNote: The user's next message";

/// The harness's message to the agent when a person answered its questions.
const ANSWERED: &str = "User has answered your questions: ";

/// The phrase after the answers.
const GO_ON: &str = ". You can now continue with the user's answers in mind";

/// The tool that asks a person.
pub(super) const ASK: &str = "AskUserQuestion";

/// Reads a result as the agent saw it. `beside` is the harness's own record: an object, or an error text.
pub(super) fn read_tool_output(result: &mut Object, beside: Option<Value>, at: Option<Timestamp>) -> ToolOutput {
    let mut output = ToolOutput {
        text: result.get_mut("content").map(Value::take).map(json_fields::content_text).unwrap_or_default(),
        failed: json_fields::get_flag(result, "is_error"),
        at,
        ..ToolOutput::default()
    };
    match beside {
        Some(Value::Object(beside)) => complete_output(&mut output, &beside),
        Some(Value::String(error)) if output.text.is_empty() => output.text = error,
        _ => {}
    }
    output.interrupted |= output.failed == Some(true)
        && (output.text.starts_with("[Request interrupted by user") || output.text.starts_with(REFUSED));
    output
}

/// Tells whether the harness's own record says that a person refused the call. Newer versions have a flag.
pub(super) fn is_refused(result: &Object, beside: Option<&Value>) -> bool {
    let Some(Value::String(error)) = beside else { return false };
    let error = error.strip_prefix("Error: ").unwrap_or(error);
    json_fields::get_flag(result, "is_error") == Some(true) && (error == REJECTED || error.starts_with(REFUSED))
}

/// Tells whether the record of a result says that a person answered questions. Streams have no such record:
/// there the call must be known to be a question.
pub(super) fn is_answered(result: &Object, beside: Option<&Value>, is_known_question: bool) -> bool {
    let is_told = beside.map_or(is_known_question, |beside| beside.get("answers").is_some());
    json_fields::get_flag(result, "is_error") != Some(true) && is_told
}

fn complete_output(output: &mut ToolOutput, beside: &Object) {
    output.interrupted = json_fields::get_flag(beside, "interrupted") == Some(true);
    output.exit_code =
        json_fields::get_integer(beside, "returnCode").or_else(|| json_fields::get_integer(beside, "exitCode"));
    output.duration_ms =
        json_fields::get_count(beside, "durationMs").or_else(|| json_fields::get_count(beside, "totalDurationMs"));
    if output.text.is_empty()
        && let Some(stdout) = json_fields::get_str(beside, "stdout")
    {
        stdout.clone_into(&mut output.text);
    }
    if let Some(stderr) = json_fields::get_str(beside, "stderr").map(str::trim)
        && !output.text.contains(stderr)
    {
        if !output.text.is_empty() {
            output.text.push('\n');
        }
        output.text.push_str(stderr);
    }
}

/// Returns the comment of a person who refused a call.
pub(super) fn extract_refusal_comment(text: &str) -> Option<&str> {
    let (_, words) = text.strip_prefix(REFUSED)?.split_once(REASON)?;
    let words = words.split_once(NOTE).map_or(words, |(words, _)| words).trim();
    (!words.is_empty()).then_some(words)
}

/// Returns a person's answers, one per line. The text is a list of `"question"="answer"`.
pub(super) fn extract_answers(text: &str) -> Option<String> {
    let told = text.strip_prefix(ANSWERED)?;
    let told = told.rsplit_once(GO_ON).map_or(told, |(told, _)| told).trim_end_matches('.');
    let mut parts = told.split("\"=\"").skip(1).peekable();
    let mut words = Vec::new();
    while let Some(part) = parts.next() {
        // The next question follows the answer.
        let part = match part.rsplit_once("\", \"").or_else(|| part.rsplit_once(", \"")) {
            Some((part, _)) if parts.peek().is_some() => part,
            _ => part,
        };
        let (part, notes) = part.split_once(" user notes: ").unwrap_or((part, ""));
        let answer = part.split_once("\" selected preview:").map_or(part, |(answer, _)| answer);
        let answer = answer.strip_suffix('"').unwrap_or(answer);
        words.extend([answer.trim(), notes.trim()].into_iter().filter(|words| !words.is_empty()));
    }
    (!words.is_empty()).then(|| words.join("\n"))
}

/// Reads the result of a tool that ran at the provider, such as `web_search_tool_result`.
pub(super) fn read_server_output(block: &mut Object, at: Option<Timestamp>) -> ToolOutput {
    let is_error = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        kind.ends_with("_error")
    };
    let failed =
        json_fields::get_flag(block, "is_error").or_else(|| block.get("content").is_some_and(is_error).then_some(true));
    ToolOutput {
        text: block.get_mut("content").map(Value::take).map(json_fields::content_text).unwrap_or_default(),
        failed,
        at,
        ..ToolOutput::default()
    }
}
