//! What came back from tools.

use serde_json::Value;

use super::super::pick::{self, Object};
use crate::domain::{Output, Timestamp};

/// What the harness tells the agent when a person refuses a call.
const REFUSED: &str = "The user doesn't want to proceed with this tool use";

/// What the harness keeps for itself when a person refuses a call without a word.
const REJECTED: &str = "User rejected tool use";

/// The words of the person follow.
const REASON: &str = "the user said:";

/// Behind the words of the person.
const NOTE: &str = "\n\nNote: The user's next message";

/// What the harness tells the agent when a person answered its questions.
const ANSWERED: &str = "User has answered your questions: ";

/// Behind the answers.
const GO_ON: &str = ". You can now continue with the user's answers in mind";

/// The tool that asks a person.
pub(super) const ASK: &str = "AskUserQuestion";

/// One result, as the agent saw it. `beside` is what the harness kept for itself: an object, or an error in words.
pub(super) fn output(result: &mut Object, beside: Option<Value>, at: Option<Timestamp>) -> Output {
    let mut output = Output {
        text: result.get_mut("content").map(Value::take).map(pick::words).unwrap_or_default(),
        failed: pick::flag(result, "is_error"),
        at,
        ..Output::default()
    };
    match beside {
        Some(Value::Object(beside)) => complete(&mut output, &beside),
        Some(Value::String(error)) if output.text.is_empty() => output.text = error,
        _ => {}
    }
    output.interrupted |= output.failed == Some(true)
        && (output.text.starts_with("[Request interrupted by user") || output.text.starts_with(REFUSED));
    output
}

/// Tells whether what the harness kept for itself says that a person refused the call. Newer versions have a flag.
pub(super) fn is_refused(result: &Object, beside: Option<&Value>) -> bool {
    let Some(Value::String(error)) = beside else { return false };
    let error = error.strip_prefix("Error: ").unwrap_or(error);
    pick::flag(result, "is_error") == Some(true) && (error == REJECTED || error.starts_with(REFUSED))
}

/// Tells whether the record of a result says that a person answered questions. Streams keep nothing beside the result:
/// there the call has to be known as a question.
pub(super) fn is_answered(result: &Object, beside: Option<&Value>, is_known_question: bool) -> bool {
    let is_told = beside.map_or(is_known_question, |beside| beside.get("answers").is_some());
    pick::flag(result, "is_error") != Some(true) && is_told
}

fn complete(output: &mut Output, beside: &Object) {
    output.interrupted = pick::flag(beside, "interrupted") == Some(true);
    output.exit_code = pick::integer(beside, "returnCode").or_else(|| pick::integer(beside, "exitCode"));
    output.duration_ms = pick::count(beside, "durationMs").or_else(|| pick::count(beside, "totalDurationMs"));
    if output.text.is_empty()
        && let Some(stdout) = pick::str(beside, "stdout")
    {
        stdout.clone_into(&mut output.text);
    }
    if let Some(stderr) = pick::str(beside, "stderr").map(str::trim)
        && !output.text.contains(stderr)
    {
        if !output.text.is_empty() {
            output.text.push('\n');
        }
        output.text.push_str(stderr);
    }
}

/// What a person said when they refused a call.
pub(super) fn refusal(text: &str) -> Option<&str> {
    let (_, words) = text.strip_prefix(REFUSED)?.split_once(REASON)?;
    let words = words.split_once(NOTE).map_or(words, |(words, _)| words).trim();
    (!words.is_empty()).then_some(words)
}

/// What a person answered, one answer a line. The text is `"question"="answer"`, and so on.
pub(super) fn answers(text: &str) -> Option<String> {
    let told = text.strip_prefix(ANSWERED)?;
    let told = told.rsplit_once(GO_ON).map_or(told, |(told, _)| told).trim_end_matches('.');
    let mut parts = told.split("\"=\"").skip(1).peekable();
    let mut words = Vec::new();
    while let Some(part) = parts.next() {
        // The next question stands behind the answer.
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

/// The result of a tool that ran at the provider, such as `web_search_tool_result`.
pub(super) fn server_output(block: &mut Object, at: Option<Timestamp>) -> Output {
    let is_error = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        kind.ends_with("_error")
    };
    let failed = pick::flag(block, "is_error").or_else(|| block.get("content").is_some_and(is_error).then_some(true));
    Output {
        text: block.get_mut("content").map(Value::take).map(pick::words).unwrap_or_default(),
        failed,
        at,
        ..Output::default()
    }
}
