//! Whatever a model gets to read: bounded, and in words that can be nothing but text.
//!
//! A store may hold what other tools and other people wrote. So every word passes `inert`, as it does on its way into a
//! prompt, and what is too long is cut where one sees it.

use axum::http::StatusCode;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::recall::inert;
use crate::serve::problem::Problem;

#[cfg(test)]
#[path = "outgoing_tests.rs"]
mod tests;

/// The longest text of an answer; what is cut ends with `…`.
const MAX_CHARACTERS: usize = 2_000;

/// The longest name of a field.
const MAX_NAME_CHARACTERS: usize = 100;

/// The most that a list of an answer holds; the last place says how many more there are.
pub(super) const MAX_LISTED: usize = 50;

/// A text on one line that can be nothing but text.
pub(super) fn line(text: &str) -> String {
    inert(text, MAX_CHARACTERS)
}

/// A value all of whose texts are lines, and all of whose lists are short.
pub(super) fn plain(value: impl Serialize) -> Result<Value, ErrorData> {
    let value = serde_json::to_value(value);
    let unwritable = |error| ErrorData::internal_error(format!("cannot write the answer as JSON: {error}"), None);
    value.map(plainly).map_err(unwritable)
}

fn plainly(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(line(&text)),
        Value::Array(items) => {
            let more = items.len().saturating_sub(MAX_LISTED);
            let kept = items.into_iter().take(MAX_LISTED).map(plainly);
            let rest = (more > 0).then(|| Value::String(format!("… and {more} more")));
            Value::Array(kept.chain(rest).collect())
        }
        Value::Object(fields) => {
            let plain = |(name, value): (String, Value)| (inert(&name, MAX_NAME_CHARACTERS), plainly(value));
            Value::Object(fields.into_iter().map(plain).collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// What a tool answers: words for whoever reads words, and the same for a program.
pub(super) fn answer(text: String, value: impl Serialize) -> Result<CallToolResult, ErrorData> {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(plain(value)?);
    Ok(result)
}

/// What a call comes to that was not done. A question that makes no sense is the client's to mend; everything else the
/// agent is told, with the next step.
pub(super) fn refused(problem: &Problem) -> Result<CallToolResult, ErrorData> {
    let (status, ..) = problem.told();
    match status {
        StatusCode::BAD_REQUEST => Err(senseless(problem)),
        _ => Ok(CallToolResult::error(vec![ContentBlock::text(words(problem))])),
    }
}

/// The same where there is nothing but errors of the protocol.
pub(super) fn failed(problem: &Problem) -> ErrorData {
    let (status, ..) = problem.told();
    match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => senseless(problem),
        StatusCode::NOT_FOUND => ErrorData::resource_not_found(words(problem), None),
        _ => ErrorData::internal_error(words(problem), None),
    }
}

/// Parameters that make no sense.
pub(super) fn senseless(problem: &Problem) -> ErrorData {
    ErrorData::invalid_params(words(problem), None)
}

fn words(problem: &Problem) -> String {
    let (_, detail, hint) = problem.told();
    let hint = hint.map(|hint| format!("\nhint: {}", line(hint)));
    format!("{}{}", line(detail), hint.unwrap_or_default())
}
