//! Output for a model: of limited length, and sanitized.
//!
//! A store may hold text from other tools and other people. So every text passes `sanitize_for_prompt`, as it does on
//! its way into a prompt, and a text that is too long is cut visibly.

use axum::http::StatusCode;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::problem_response::HttpProblem;
use archivist_core::recall::sanitize_for_prompt;

#[cfg(test)]
#[path = "sanitized_output_tests.rs"]
mod tests;

/// The longest text of an answer; a text that is cut ends with `…`.
const MAX_CHARACTERS: usize = 2_000;

/// The longest name of a field.
const MAX_NAME_CHARACTERS: usize = 100;

/// The most items of a list in an answer; a further entry says how many more there are.
pub(super) const MAX_LISTED: usize = 50;

/// Returns the text sanitized, on one line.
pub(super) fn sanitize_line(text: &str) -> String {
    sanitize_for_prompt(text, MAX_CHARACTERS)
}

/// Returns the value as JSON with all texts sanitized and all lists limited.
pub(super) fn sanitize_value(value: impl Serialize) -> Result<Value, ErrorData> {
    let value = serde_json::to_value(value);
    let unwritable = |error| ErrorData::internal_error(format!("cannot write the answer as JSON: {error}"), None);
    value.map(sanitize_json).map_err(unwritable)
}

fn sanitize_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(sanitize_line(&text)),
        Value::Array(items) => {
            let more = items.len().saturating_sub(MAX_LISTED);
            let kept = items.into_iter().take(MAX_LISTED).map(sanitize_json);
            let rest = (more > 0).then(|| Value::String(format!("… and {more} more")));
            Value::Array(kept.chain(rest).collect())
        }
        Value::Object(fields) => {
            let plain = |(name, value): (String, Value)| {
                (sanitize_for_prompt(&name, MAX_NAME_CHARACTERS), sanitize_json(value))
            };
            Value::Object(fields.into_iter().map(plain).collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// Returns the answer of a tool: text for a model, and structured content for a program.
pub(super) fn tool_answer(text: String, value: impl Serialize) -> Result<CallToolResult, ErrorData> {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(sanitize_value(value)?);
    Ok(result)
}

/// Returns the result of a call that was refused. An invalid request is a protocol error for the client to fix; any
/// other problem is reported to the agent, with the next step.
pub(super) fn refuse_call(problem: &HttpProblem) -> Result<CallToolResult, ErrorData> {
    let (status, ..) = problem.as_parts();
    match status {
        StatusCode::BAD_REQUEST => Err(invalid_params_error(problem)),
        _ => Ok(CallToolResult::error(vec![ContentBlock::text(problem_text(problem))])),
    }
}

/// Returns the problem as a protocol error, where there is no other way to report it.
pub(super) fn protocol_error(problem: &HttpProblem) -> ErrorData {
    let (status, ..) = problem.as_parts();
    match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => invalid_params_error(problem),
        StatusCode::NOT_FOUND => ErrorData::resource_not_found(problem_text(problem), None),
        _ => ErrorData::internal_error(problem_text(problem), None),
    }
}

/// Returns the protocol error for invalid parameters.
pub(super) fn invalid_params_error(problem: &HttpProblem) -> ErrorData {
    ErrorData::invalid_params(problem_text(problem), None)
}

fn problem_text(problem: &HttpProblem) -> String {
    let (_, detail, hint) = problem.as_parts();
    let hint = hint.map(|hint| format!("\nhint: {}", sanitize_line(hint)));
    format!("{}{}", sanitize_line(detail), hint.unwrap_or_default())
}
