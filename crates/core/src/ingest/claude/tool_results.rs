//! Reads the results of tools.

use serde_json::Value;

use super::super::json_fields::{self, Object};
use crate::domain::{Timestamp, ToolCall, ToolOutput};

/// The harness's message to the agent when a person refuses a call.
const REFUSED: &str = "The user doesn't want to proceed with this tool use";

/// The harness's own record when a person refuses a call without comment.
const REJECTED: &str = "User rejected tool use";

/// The phrase before a person's own words.
const REASON: &str = "the user said:";

/// The phrase after a person's own words.
const NOTE: &str = "\n\nNote: The user's next message";

/// The harness's messages to the agent when a person answered its questions, in old and new versions.
const ANSWERED: &str = "User has answered your questions: ";

/// The phrase after the answers.
const GO_ON: &str = ". You can now continue with ";

/// The tool that asks a person.
const ASK: &str = "AskUserQuestion";

/// The tools that run nothing and show nothing: their errors are sentences of the harness.
const EDITORS: &[&str] = &["Edit", "ExitPlanMode", "MultiEdit", "NotebookEdit", "Write"];

/// The kind of a called tool, as far as it shows whose words its result may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CalledTool {
    /// It asks a person this many questions.
    Question(usize),
    /// Its errors are sentences of the harness and quote nobody.
    Editor,
    /// Its result may hold words of anybody.
    Any,
}

impl CalledTool {
    pub(super) fn from_call(call: &ToolCall) -> Self {
        match call.tool.as_str() {
            ASK => Self::Question(call.arguments.get("questions").and_then(Value::as_array).map_or(0, Vec::len)),
            tool if EDITORS.contains(&tool) => Self::Editor,
            _ => Self::Any,
        }
    }
}

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

/// Returns true if the record of a result shows that a person refused the call. Newer versions say so in a field of
/// their own. Older ones only record the error, which any tool that fails could print unless it has no output.
pub(super) fn is_refused(
    result: &Object,
    beside: Option<&Value>,
    denial: Option<&str>,
    called: Option<CalledTool>,
) -> bool {
    if json_fields::get_flag(result, "is_error") != Some(true) {
        return false;
    }
    match (denial, beside, called) {
        (Some(denial), _, _) => denial == "user-rejected",
        (None, Some(Value::String(error)), Some(CalledTool::Editor | CalledTool::Question(_))) => {
            let error = error.strip_prefix("Error: ").unwrap_or(error);
            error == REJECTED || error.starts_with(REFUSED)
        }
        _ => false,
    }
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

/// Returns true for the output of a question whose answers become a step of their own. Newer harnesses word the output in
/// another way, and there the answers stay in it: a step more would shift the numbers by which lessons cite the others.
pub(super) fn holds_spoken_answers(text: &str) -> bool {
    text.starts_with(ANSWERED)
}

/// Returns a person's answers and notes, one per line, from the harness's own record of them.
pub(super) fn read_answers(record: &Value) -> Option<String> {
    let answers = record.get("answers")?.as_object()?;
    let asked = record.get("questions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let asked: Vec<&str> = asked.iter().filter_map(|question| question.get("question")?.as_str()).collect();
    let others = answers.keys().map(String::as_str).filter(|question| !asked.contains(question));
    let words = asked.iter().copied().chain(others).flat_map(|question| {
        let notes = record.get("annotations").and_then(|notes| notes.get(question)?.get("notes")?.as_str());
        let answer = answers.get(question).cloned().map(json_fields::content_text);
        [answer, notes.map(str::to_owned)].into_iter().flatten()
    });
    let words: Vec<String> = words.map(|words| words.trim().to_owned()).filter(|words| !words.is_empty()).collect();
    (!words.is_empty()).then(|| words.join("\n"))
}

/// Returns a person's answers to this many questions, one per line, from what a stream tells the agent about them: a
/// list of `"question"="answer"`. A question that looks like more than one leaves the answers unclear.
pub(super) fn parse_answers(text: &str, questions: usize) -> Option<String> {
    let told = text.strip_prefix(ANSWERED)?;
    let told = told.rsplit_once(GO_ON).map_or(told, |(told, _)| told).trim_end_matches('.');
    if told.matches("\"=\"").count() != questions {
        return None;
    }
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
