//! An error that somebody has on the screen right now, read as one in a log is.

use super::failure::{Told, family, read};
use crate::domain::ErrorFamily;
use crate::redact::Redactor;

#[cfg(test)]
#[path = "complaint_tests.rs"]
mod tests;

/// The tool of which nothing is known but that it runs commands.
const SHELL: &str = "bash";

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Which failure it is.
    pub family: ErrorFamily,
    /// The one line that says best what went wrong.
    pub headline: String,
}

/// Reads the output of something that failed; `None` where it says nothing. The same failure has the same family as in
/// a log of it.
pub fn complaint(tool: Option<&str>, output: &str, redactor: &Redactor) -> Option<Complaint> {
    let tool = tool.unwrap_or(SHELL);
    let text = redactor.redact(output).text;
    let told = Told { failed: Some(true), ..Told::default() };
    let failure = read(tool, None, &told, &text)?;
    Some(Complaint { family: family(tool, failure.class.as_str(), &failure.headline), headline: failure.headline })
}
