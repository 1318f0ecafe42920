//! Edits each kind of managed file. These functions are pure.

use crate::cli_error::CliError;
use crate::hooks::{self, HookPlan, SettingsEditError, TextSplice};

#[cfg(test)]
#[path = "managed_files_tests.rs"]
mod tests;

/// The line by which git keeps the lessons of both sides of a merge.
const MERGE: &str = ".openagents/memory/*.jsonl merge=union";

/// The project's settings file, with every setting at its default.
const CONFIGURATION: &str = "\
# Settings of Archivist for this project. None are needed.
#
# `archivist config show --origin` lists every setting with the value that holds here and where it came from;
# `archivist config schema` says what each of them means. Those of one user go to ~/.config/archivist/config.toml.
";

/// A kind of file that `archivist init` edits.
#[derive(Debug)]
pub(super) enum ManagedFile {
    /// The settings file of an agent.
    Settings(HookPlan),
    /// The `.gitattributes` file of the project.
    Attributes,
    /// The project's settings file of Archivist.
    Configuration,
}

/// The rest of a file after removal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RemainingText {
    /// The text is unchanged.
    Same,
    /// This text remains.
    Text(String),
    /// Nothing remains: all of the file was ours.
    Gone,
}

impl ManagedFile {
    /// Returns the text with our part added and the splices that undo it, or `None` if nothing is to be done.
    pub(super) fn install_into(
        &self,
        text: Option<&str>,
        shown: &str,
    ) -> Result<Option<(String, Vec<TextSplice>)>, CliError> {
        match self {
            Self::Settings(plan) => {
                let installed = hooks::install_hooks(text, plan).map_err(|error| not_editable_error(&error, shown))?;
                Ok(installed.changed.then_some((installed.text, installed.undo)))
            }
            Self::Attributes => Ok(add_merge_line(text.unwrap_or_default())),
            Self::Configuration if text.is_some() => Ok(None),
            Self::Configuration => {
                let undo = TextSplice { at: 0, bytes: CONFIGURATION.len(), text: String::new() };
                Ok(Some((CONFIGURATION.to_owned(), vec![undo])))
            }
        }
    }

    /// Returns the text without our part.
    pub(super) fn remove_from(&self, text: &str, shown: &str) -> Result<RemainingText, CliError> {
        match self {
            Self::Settings(plan) => {
                let removed = hooks::remove_hooks(text, plan).map_err(|error| not_editable_error(&error, shown))?;
                Ok(if removed.changed { RemainingText::Text(removed.text) } else { RemainingText::Same })
            }
            Self::Attributes => Ok(remove_merge_line(text)),
            Self::Configuration => Ok(if text == CONFIGURATION { RemainingText::Gone } else { RemainingText::Same }),
        }
    }

    /// Returns true if a text contains our part.
    pub(super) fn is_installed_in(&self, text: &str) -> bool {
        !matches!(self.remove_from(text, ""), Ok(RemainingText::Same))
    }
}

fn not_editable_error(error: &SettingsEditError, shown: &str) -> CliError {
    CliError::user_error(format!("{shown}: {error}")).with_hint(error.hint())
}

/// Appends the merge line, and keeps the end of the text with or without a line break as it was.
fn add_merge_line(text: &str) -> Option<(String, Vec<TextSplice>)> {
    if text.lines().any(|line| line.trim() == MERGE) {
        return None;
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let added = match text.is_empty() || text.ends_with('\n') {
        true => format!("{MERGE}{newline}"),
        false => format!("{newline}{MERGE}"),
    };
    let undo = TextSplice { at: text.len(), bytes: added.len(), text: String::new() };
    Some((format!("{text}{added}"), vec![undo]))
}

fn remove_merge_line(text: &str) -> RemainingText {
    let lines = text.split_inclusive('\n');
    let kept: Vec<&str> = lines.clone().filter(|line| line.trim() != MERGE).collect();
    if kept.len() == lines.count() {
        return RemainingText::Same;
    }
    let mut left = kept.concat();
    if !text.ends_with('\n') && text.trim_end().ends_with(MERGE) {
        let end = left.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest).len());
        left.truncate(end.unwrap_or(left.len()));
    }
    if left.is_empty() { RemainingText::Gone } else { RemainingText::Text(left) }
}
