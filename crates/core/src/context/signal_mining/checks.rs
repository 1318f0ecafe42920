//! Tracks the last result of every check.

use std::collections::VecDeque;

use super::super::tool_action::parse_shell_commands;
use super::StepPlace;
use crate::text::shell_lexer::is_assignment;

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;

/// The number of failed checks that are remembered.
const MAX_REMEMBERED: usize = 256;

/// The number of parts of one command that are compared.
const MAX_PARTS: usize = 16;

/// The number of words of one part that are compared.
const MAX_WORDS: usize = 32;

/// A check that failed and has not passed since.
#[derive(Debug)]
struct FailedCheck {
    at: StepPlace,
    command: String,
    folder: Option<String>,
    /// The parts of it that have not passed since, as words without flags.
    parts: Vec<Vec<String>>,
}

/// The checks of a trajectory that failed or passed last.
#[derive(Debug, Default)]
pub(super) struct CheckTracker {
    open: VecDeque<FailedCheck>,
    passed: Option<(StepPlace, String)>,
}

impl CheckTracker {
    /// Records the result of a check.
    pub(super) fn record_check(&mut self, at: StepPlace, folder: Option<&str>, command: &str, has_passed: bool) {
        let checked = check_words(command);
        // A check without a known folder may have run in this one.
        let is_here = |open: &FailedCheck| open.folder.is_none() || open.folder.as_deref() == folder;
        if has_passed {
            for open in self.open.iter_mut().filter(|open| is_here(open)) {
                open.parts.retain(|failed| !checked.iter().any(|passed| covers_check(passed, failed)));
            }
            self.open.retain(|open| !open.parts.is_empty());
            self.passed = Some((at, command.to_owned()));
            return;
        }
        self.open.retain(|open| !(open.parts == checked && open.folder.as_deref() == folder));
        if self.open.len() >= MAX_REMEMBERED {
            self.open.pop_front();
        }
        let folder = folder.map(str::to_owned);
        self.open.push_back(FailedCheck { at, command: command.to_owned(), folder, parts: checked });
    }

    /// Returns the final result and its check: the last that failed and has not passed since, else the last pass.
    pub(super) fn final_verdict(mut self) -> Option<(bool, StepPlace, String)> {
        let failed = self.open.pop_back().map(|open| (false, open.at, open.command));
        failed.or(self.passed.map(|(at, command)| (true, at, command)))
    }
}

/// Returns the words of each checking part of a command, without flags and runners.
fn check_words(command: &str) -> Vec<Vec<String>> {
    const RUNNERS: &[&str] = &["python", "python3", "py", "npx", "bunx", "uv", "poetry", "pipenv"];
    let words = |words: &[String]| -> Vec<String> {
        let bare = words.iter().filter(|word| !word.starts_with('-') && !is_assignment(word) && *word != "run");
        bare.skip_while(|word| RUNNERS.contains(&word.as_str())).take(MAX_WORDS).cloned().collect()
    };
    let parts = parse_shell_commands(command);
    let checks: Vec<Vec<String>> = parts
        .iter()
        .filter(|part| part.is_pure_check())
        .map(|part| words(part.command_words()))
        .take(MAX_PARTS)
        .collect();
    match checks.is_empty() {
        true => parts.iter().map(|part| words(part.command_words())).take(MAX_PARTS).collect(),
        false => checks,
    }
}

/// Returns true if a passed check implies that another would pass: it is the same check, or a wider one.
fn covers_check(passed: &[String], failed: &[String]) -> bool {
    let is_narrower =
        failed.len() >= passed.len() && failed.iter().zip(passed).all(|(failed, passed)| failed == passed);
    is_narrower || requires_check(passed, failed)
}

/// Returns true if one check cannot pass without the other: a test run requires that the code compiles.
fn requires_check(passed: &[String], failed: &[String]) -> bool {
    let verb = |words: &[String]| words.get(1).cloned().unwrap_or_default();
    passed.first() == failed.first()
        && passed.first().is_some_and(|name| {
            matches!(
                name.as_str(),
                "cargo" | "go" | "dotnet" | "gradle" | "./gradlew" | "mvn" | "./mvnw" | "swift" | "zig"
            )
        })
        && matches!(verb(failed).as_str(), "build" | "check" | "compile")
        && matches!(verb(passed).as_str(), "build" | "check" | "compile" | "test" | "nextest" | "clippy" | "verify")
        && passed.len() == 2
}
