//! Identifies a current error, given as plain output, in the same way as errors in a log.

use super::failure::{LoggedResult, detect_failure, identify_family};
use crate::domain::ErrorFamily;
use crate::redact::Redactor;

#[cfg(test)]
#[path = "error_identity_tests.rs"]
mod tests;

/// The tool that is assumed when none is named; it only says that a command was run.
const SHELL: &str = "bash";

/// An error with its stable identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentifiedError {
    /// The family of the error.
    pub family: ErrorFamily,
    /// The line that describes the error best.
    pub headline: String,
}

/// Identifies the error in the output of something that failed; `None` if the output shows none. The error gets the
/// same family as in a log.
pub fn identify_error(tool: Option<&str>, output: &str, redactor: &Redactor) -> Option<IdentifiedError> {
    let tool = tool.unwrap_or(SHELL);
    let text = redactor.redact(output).text;
    let told = LoggedResult { failed: Some(true), ..LoggedResult::default() };
    let failure = detect_failure(tool, None, &told, &text)?;
    Some(IdentifiedError {
        family: identify_family(tool, failure.class.as_str(), &failure.headline),
        headline: failure.headline,
    })
}
