//! Recognizes messages of a harness about its own rules. They teach nothing about the project and are ignored.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

#[cfg(test)]
#[path = "harness_noise_tests.rs"]
mod tests;

/// The wordings of such messages, in lower case.
const WORDINGS: &[&str] = &[
    // Reading before writing.
    "file has not been read yet",
    "has been modified since read",
    "file has been unexpectedly modified",
    "file must be read first",
    "use the read tool first",
    // A call that does not fit the tool's schema.
    "inputvalidationerror",
    "the required parameter `",
    "an unexpected parameter `",
    "no such tool available",
    "invalid tool parameters",
    "tool call arguments could not be parsed",
    "old_string and new_string are exactly the same",
    "no changes to make: old_string",
    // The user or the policy refused.
    "the user doesn't want to proceed",
    "the user doesn't want to take this action",
    "haven't granted it yet",
    "but you haven't granted",
    "has been denied by your permission settings",
    "rejected by user",
    "approval was denied",
    "user denied",
    "user rejected",
    "user declined",
    "tool use was rejected",
    "blocked by hook",
    "exit plan mode",
    // Stopped from outside.
    "[request interrupted by user",
    "request interrupted by user",
    "aborted by user",
    "interrupted by the user",
    "cancelled by user",
    "canceled by user",
    "no response requested",
    "sibling tool call errored",
    "cancelled: parallel tool call",
    "streaming fallback - tool execution discarded",
    // The agent's own protocol errors.
    "previous response had parsing errors",
    "exceeds maximum allowed tokens",
    "unchanged since last read",
    "wasted call",
];

static SEARCH: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(WORDINGS).ok());

/// Returns true if a headline states a rule of the harness and not a fact about the project.
pub(in crate::context) fn is_harness_rule(headline: &str) -> bool {
    let headline =
        if headline.is_ascii() { Cow::Borrowed(headline) } else { Cow::Owned(headline.replace('\u{2019}', "'")) };
    let is_refusal = headline.contains("ermission to use ") && headline.contains("denied");
    if is_refusal || SEARCH.as_ref().is_some_and(|search| search.is_match(headline.as_ref())) {
        return true;
    }
    let bare = headline.trim();
    let bare = bare.strip_prefix("<tool_use_error>").unwrap_or(bare);
    let bare = bare.strip_suffix("</tool_use_error>").unwrap_or(bare).trim();
    // The wrapper alone says nothing; the text in it is judged by itself.
    ["", "error", "error:", "interrupted", "aborted", "user interrupted"]
        .iter()
        .any(|word| bare.eq_ignore_ascii_case(word))
}
