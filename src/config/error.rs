//! What is wrong with the configuration, said in full: all problems of all layers at once.

use std::fmt::Write as _;

/// The configuration cannot be used. Every problem found is listed, not only the first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", one_after_another(.problems))]
pub struct ConfigError {
    /// At least one, in the order of the layers.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong, and what to do about it. Neither text ends in a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Names the key and the place.
    pub message: String,
    /// What to do next, without the word "hint".
    pub hint: Option<String>,
}

impl Problem {
    pub(super) fn new(message: String) -> Problem {
        Problem { message, hint: None }
    }

    pub(super) fn with_hint(message: String, hint: String) -> Problem {
        Problem { message, hint: Some(hint) }
    }
}

/// A line for each message, a line of its own for each hint, no line end at the end.
fn one_after_another(problems: &[Problem]) -> String {
    let mut text = String::new();
    for problem in problems {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&problem.message);
        if let Some(hint) = &problem.hint {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\nhint: {hint}");
        }
    }
    text
}
