//! Reads the output of a script: an envelope, and the texts that the script printed.

use serde_json::Value;

use super::scripts::ScriptText;
use super::tool_outputs;
use crate::domain::ToolOutput;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

#[cfg(test)]
#[path = "script_outputs_tests.rs"]
mod tests;

/// The keys of a result of `exec_command` and `write_stdin`.
const RESULT_KEYS: &[&str] =
    &["chunk_id", "exit_code", "original_token_count", "output", "session_id", "wall_time_seconds"];

/// The state in which a script returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptEnding {
    Completed,
    Failed,
    /// The script is still running, in the cell with this number.
    Running(String),
}

/// The output of a script so far.
#[derive(Debug, PartialEq)]
pub(super) struct ScriptReply {
    pub(super) ending: ScriptEnding,
    pub(super) duration_ms: Option<u64>,
    /// The texts that the script printed.
    pub(super) texts: Vec<String>,
}

/// The result of a call as a script printed it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PrintedResult {
    pub(super) text: String,
    pub(super) exit_code: Option<i32>,
    pub(super) failed: Option<bool>,
    /// The session in which the command is still running.
    pub(super) session: Option<String>,
    pub(super) duration_ms: Option<u64>,
}

impl PrintedResult {
    pub(super) fn into_output(self) -> ToolOutput {
        ToolOutput {
            text: self.text,
            failed: self.failed.or(self.exit_code.map(|code| code != 0)),
            exit_code: self.exit_code,
            duration_ms: self.duration_ms,
            ..ToolOutput::default()
        }
    }
}

/// Opens the envelope of a script's output; returns none if there is no such envelope.
pub(super) fn open_envelope(content: &Value) -> Option<ScriptReply> {
    let mut texts: Vec<&str> = match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => return None,
    };
    let first = texts.first_mut()?;
    let (head, printed) = first.split_once("\nOutput:").unwrap_or((first, ""));
    let mut lines = head.lines();
    let state = lines.next()?.strip_prefix("Script ")?;
    let ending = if let Some(cell) = state.strip_prefix("running with cell ID ") {
        ScriptEnding::Running(cell.trim().to_owned())
    } else if state.starts_with("completed") {
        ScriptEnding::Completed
    } else if ["failed", "terminated", "timed out"].iter().any(|word| state.starts_with(word)) {
        ScriptEnding::Failed
    } else {
        return None;
    };
    let seconds = lines.find_map(|line| line.strip_prefix("Wall time ")?.split_ascii_whitespace().next()?.parse().ok());
    *first = printed.strip_prefix('\n').unwrap_or(printed);
    let skipped = usize::from(first.is_empty());
    let texts = texts.into_iter().skip(skipped).map(str::to_owned).collect();
    Some(ScriptReply { ending, duration_ms: seconds.and_then(tool_outputs::to_milliseconds), texts })
}

/// Splits the texts of a script into one result per call; returns none if they cannot be assigned.
pub(super) fn assign_texts_to_calls(script: &ScriptText, texts: &[String]) -> Option<Vec<PrintedResult>> {
    let count = script.calls.len();
    let mut results = Vec::new();
    if let [text] = texts
        && !script.labels.is_empty()
    {
        results = split_labelled(text, &script.labels)?;
    } else {
        let is_labelled = texts.len() == 2 * count
            && texts.iter().step_by(2).all(|label| label.len() < 120 && !label.trim().contains('\n'));
        let every = if is_labelled { 2 } else { 1 };
        for text in texts.iter().skip(every - 1).step_by(every) {
            match decode_results(script, text) {
                Some(decoded) => results.extend(decoded),
                None => results.push(PrintedResult { text: text.clone(), ..PrintedResult::default() }),
            }
        }
    }
    (results.len() == count).then_some(results)
}

/// Joins everything that a script printed into one result.
pub(super) fn join_texts(script: &ScriptText, texts: Vec<String>) -> PrintedResult {
    let mut joined = PrintedResult::default();
    let mut parts = Vec::new();
    let mut durations = Vec::new();
    for text in texts {
        if let Some(session) = find_printed_session(script, &text) {
            joined.session = Some(session.to_owned());
            continue;
        }
        let Some(results) = decode_results(script, &text) else {
            parts.push(text);
            continue;
        };
        for result in results {
            // Among several results a failed one is the more telling.
            let is_worse = joined.exit_code.is_none_or(|code| code == 0);
            joined.exit_code = if is_worse { result.exit_code.or(joined.exit_code) } else { joined.exit_code };
            joined.failed = joined.failed.filter(|failed| *failed).or(result.failed);
            joined.session = result.session.or(joined.session);
            durations.push(result.duration_ms);
            parts.push(result.text);
        }
    }
    parts.retain(|part| !part.is_empty());
    joined.text = parts.join("\n");
    if let [duration_ms] = *durations {
        joined.duration_ms = duration_ms;
    }
    joined
}

/// Finds the number of a session in a text that contains nothing else.
fn find_printed_session<'t>(script: &ScriptText, text: &'t str) -> Option<&'t str> {
    let (before, after) = script.session_mark.as_ref()?;
    let session = text.trim().strip_prefix(before.trim_start())?.strip_suffix(after.trim_end())?;
    let is_number = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(session)
}

/// Splits a text at the labels that the script prints before each output.
fn split_labelled(text: &str, labels: &[String]) -> Option<Vec<PrintedResult>> {
    let mut labels = labels.iter();
    let mut rest = text.strip_prefix(labels.next()?.as_str())?;
    let mut results = Vec::new();
    for label in labels {
        // If a command's output contains the label too, the place to split is unknown.
        let (output, behind) =
            rest.split_once(label.as_str()).filter(|(_, behind)| !behind.contains(label.as_str()))?;
        results.push(PrintedResult { text: output.to_owned(), ..PrintedResult::default() });
        rest = behind;
    }
    results.push(PrintedResult { text: rest.to_owned(), ..PrintedResult::default() });
    Some(results)
}

/// Decodes results that a script printed as JSON, one or a list of them.
fn decode_results(script: &ScriptText, text: &str) -> Option<Vec<PrintedResult>> {
    if !script.prints_results || !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let values = match serde_json::from_str(text).ok()? {
        Value::Array(values) if !values.is_empty() => values,
        value @ Value::Object(_) => vec![value],
        _ => return None,
    };
    values.into_iter().map(|value| decode_result(json_fields::into_object(value))).collect()
}

fn decode_result(mut result: Object) -> Option<PrintedResult> {
    if result.is_empty() {
        return Some(PrintedResult::default());
    }
    if result.contains_key("isError") && result.contains_key("content") {
        let output = tool_outputs::parse_output(Value::Object(result));
        return Some(PrintedResult { text: output.text, failed: output.failed, ..PrintedResult::default() });
    }
    let is_result = result.keys().all(|key| RESULT_KEYS.contains(&key.as_str()))
        && ["exit_code", "session_id", "chunk_id"].iter().any(|key| result.contains_key(*key));
    if !is_result {
        return None;
    }
    Some(PrintedResult {
        text: result.get_mut("output").map(Value::take).map(json_fields::content_text).unwrap_or_default(),
        exit_code: json_fields::get_integer(&result, "exit_code"),
        failed: None,
        session: json_fields::get_count(&result, "session_id").map(|session| session.to_string()),
        duration_ms: json_fields::get_amount(&result, "wall_time_seconds").and_then(tool_outputs::to_milliseconds),
    })
}
