//! The error of an unusable configuration: all problems of all layers at once.

use std::fmt::Write as _;

/// The configuration cannot be used. Every problem found is listed, not only the first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", join_problems(.problems))]
pub struct ConfigError {
    /// The problems found, at least one, in the order of the layers.
    pub problems: Vec<ConfigProblem>,
}

/// One problem of the configuration, with a hint. Neither text ends in a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The message, which names the key and its place.
    pub message: String,
    /// The next step for the user, without the word "hint".
    pub hint: Option<String>,
}

impl ConfigProblem {
    pub(super) fn new(message: String) -> ConfigProblem {
        ConfigProblem { message, hint: None }
    }

    pub(super) fn with_hint(message: String, hint: String) -> ConfigProblem {
        ConfigProblem { message, hint: Some(hint) }
    }
}

impl ConfigError {
    /// Makes the error for a memory inside of a project that is reached by a symbolic link.
    pub fn linked_memory(link: &std::path::Path) -> Self {
        let message = format!("{} is a symbolic link; no memory is read or written through it", link.display());
        let hint = "put a real folder there, or name another directory by `memory.dir` in the user file".to_owned();
        Self { problems: vec![ConfigProblem::with_hint(message, hint)] }
    }

    /// Makes the error for a setting that this build cannot serve, because it lacks a feature.
    pub fn missing_feature(key: &str, feature: &str) -> Self {
        let message = format!("`{key}` is set, and this program was built without the feature `{feature}`");
        let hint = "leave the setting empty, or build the program with the feature".to_owned();
        Self { problems: vec![ConfigProblem::with_hint(message, hint)] }
    }
}

/// Joins the problems into text: one line per message and per hint, without a final line break.
fn join_problems(problems: &[ConfigProblem]) -> String {
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
