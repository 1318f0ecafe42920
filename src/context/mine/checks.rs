//! The last word of every check.

use std::collections::VecDeque;

use super::super::action::{is_assignment, parts};
use super::Place;

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;

/// Failed checks remembered; who has more of them has not succeeded.
const MAX_REMEMBERED: usize = 256;

/// Parts of one command that are looked at.
const MAX_PARTS: usize = 16;

/// Words of one part that are looked at.
const MAX_WORDS: usize = 32;

/// A check that failed, and has not passed since.
#[derive(Debug)]
struct Open {
    at: Place,
    command: String,
    folder: Option<String>,
    /// What of it has not passed since: the words of each part, without flags.
    parts: Vec<Vec<String>>,
}

/// How the checks of a trajectory stand.
#[derive(Debug, Default)]
pub(super) struct Checks {
    open: VecDeque<Open>,
    passed: Option<(Place, String)>,
}

impl Checks {
    /// A check ran.
    pub(super) fn ran(&mut self, at: Place, folder: Option<&str>, command: &str, has_passed: bool) {
        let checked = checked(command);
        // What does not say where it was, may have been here.
        let is_here = |open: &Open| open.folder.is_none() || open.folder.as_deref() == folder;
        if has_passed {
            for open in self.open.iter_mut().filter(|open| is_here(open)) {
                open.parts.retain(|failed| !checked.iter().any(|passed| covers(passed, failed)));
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
        self.open.push_back(Open { at, command: command.to_owned(), folder, parts: checked });
    }

    /// Whether all is well, with the check that says so: the last that failed and did not pass since, else the last.
    pub(super) fn verdict(mut self) -> Option<(bool, Place, String)> {
        let failed = self.open.pop_back().map(|open| (false, open.at, open.command));
        failed.or(self.passed.map(|(at, command)| (true, at, command)))
    }
}

/// The words of each part of a command that checks, without flags and what only runs it.
fn checked(command: &str) -> Vec<Vec<String>> {
    const RUNNERS: &[&str] = &["python", "python3", "py", "npx", "bunx", "uv", "poetry", "pipenv"];
    let words = |words: &[String]| -> Vec<String> {
        let bare = words.iter().filter(|word| !word.starts_with('-') && !is_assignment(word) && *word != "run");
        bare.skip_while(|word| RUNNERS.contains(&word.as_str())).take(MAX_WORDS).cloned().collect()
    };
    let parts = parts(command);
    let checks: Vec<Vec<String>> =
        parts.iter().filter(|part| part.checks()).map(|part| words(part.words())).take(MAX_PARTS).collect();
    match checks.is_empty() {
        true => parts.iter().map(|part| words(part.words())).take(MAX_PARTS).collect(),
        false => checks,
    }
}

/// Whether a check that passed says that another one would pass too: it is the same, or checks more of the same.
fn covers(passed: &[String], failed: &[String]) -> bool {
    let is_narrower =
        failed.len() >= passed.len() && failed.iter().zip(passed).all(|(failed, passed)| failed == passed);
    is_narrower || needs(passed, failed)
}

/// Whether a check cannot pass without the other: no test runs that does not compile.
fn needs(passed: &[String], failed: &[String]) -> bool {
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
