//! Puts a text on one line, without hidden characters.

use super::hidden_characters::{JoinerPolicy, strip_hidden_text};

#[cfg(test)]
#[path = "one_line_tests.rs"]
mod tests;

/// Returns the text on one line, as people read it: without escape sequences and hidden characters, and with one blank
/// for every run of whitespace.
pub fn one_line(text: &str) -> String {
    strip_hidden_text(text, JoinerPolicy::Keep).split_whitespace().collect::<Vec<_>>().join(" ")
}
