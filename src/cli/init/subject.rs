//! What is done to each sort of file. Pure.

use crate::cli::failure::Failure;
use crate::hooks::{self, NotEditable, Plan, Splice};

#[cfg(test)]
#[path = "subject_tests.rs"]
mod tests;

/// The line by which git keeps the lessons of both sides of a merge.
const MERGE: &str = ".openagents/memory/*.jsonl merge=union";

/// The project's settings, all of them at their defaults.
const CONFIGURATION: &str = "\
# Settings of Archivist for this project. None are needed.
#
# `archivist config show --origin` lists every setting with the value that holds here and where it came from;
# `archivist config schema` says what each of them means. Those of one user go to ~/.config/archivist/config.toml.
";

/// A sort of file.
#[derive(Debug)]
pub(super) enum Subject {
    /// The settings of an agent.
    Settings(Plan),
    /// What git is told about files.
    Attributes,
    /// The project's settings of Archivist.
    Configuration,
}

/// What is left of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum After {
    /// All of it.
    Same,
    /// This.
    Text(String),
    /// Nothing: it was ours altogether.
    Gone,
}

impl Subject {
    /// The text with ours in it, and what takes it back; `None` where nothing is to be done.
    pub(super) fn install(&self, text: Option<&str>, shown: &str) -> Result<Option<(String, Vec<Splice>)>, Failure> {
        match self {
            Self::Settings(plan) => {
                let installed = hooks::install(text, plan).map_err(|error| refused(&error, shown))?;
                Ok(installed.changed.then_some((installed.text, installed.undo)))
            }
            Self::Attributes => Ok(with_line(text.unwrap_or_default())),
            Self::Configuration if text.is_some() => Ok(None),
            Self::Configuration => {
                let undo = Splice { at: 0, bytes: CONFIGURATION.len(), text: String::new() };
                Ok(Some((CONFIGURATION.to_owned(), vec![undo])))
            }
        }
    }

    /// The text without ours.
    pub(super) fn remove(&self, text: &str, shown: &str) -> Result<After, Failure> {
        match self {
            Self::Settings(plan) => {
                let removed = hooks::remove(text, plan).map_err(|error| refused(&error, shown))?;
                Ok(if removed.changed { After::Text(removed.text) } else { After::Same })
            }
            Self::Attributes => Ok(without_line(text)),
            Self::Configuration => Ok(if text == CONFIGURATION { After::Gone } else { After::Same }),
        }
    }

    /// Whether something of ours is in a text.
    pub(super) fn holds(&self, text: &str) -> bool {
        !matches!(self.remove(text, ""), Ok(After::Same))
    }
}

fn refused(error: &NotEditable, shown: &str) -> Failure {
    Failure::user(format!("{shown}: {error}")).with_hint(error.hint())
}

/// The line goes to the end, and the end stays as it was: with a line break or without.
fn with_line(text: &str) -> Option<(String, Vec<Splice>)> {
    if text.lines().any(|line| line.trim() == MERGE) {
        return None;
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let added = match text.is_empty() || text.ends_with('\n') {
        true => format!("{MERGE}{newline}"),
        false => format!("{newline}{MERGE}"),
    };
    let undo = Splice { at: text.len(), bytes: added.len(), text: String::new() };
    Some((format!("{text}{added}"), vec![undo]))
}

fn without_line(text: &str) -> After {
    let lines = text.split_inclusive('\n');
    let kept: Vec<&str> = lines.clone().filter(|line| line.trim() != MERGE).collect();
    if kept.len() == lines.count() {
        return After::Same;
    }
    let mut left = kept.concat();
    if !text.ends_with('\n') && text.trim_end().ends_with(MERGE) {
        let end = left.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest).len());
        left.truncate(end.unwrap_or(left.len()));
    }
    if left.is_empty() { After::Gone } else { After::Text(left) }
}
