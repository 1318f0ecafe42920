//! How a call came back, read once more from what is kept of it.

use super::action::Action;
use super::failure::{self, Told, family, outcome_of_tests};
use super::gather::is_no_result;
use crate::domain::{ErrorFamily, Output};

#[cfg(test)]
#[path = "ended_tests.rs"]
mod tests;

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It did what it was asked to do.
    Passed,
    /// It failed.
    Failed(Fault),
    /// It was refused, broken off, sent to the background or never answered, or it is a linter's findings.
    Unknown,
}

/// How a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What sort of failure: `compile`, `not_found`.
    pub(crate) class: &'static str,
    /// The line that says best what went wrong.
    pub(crate) headline: String,
    /// The same failure elsewhere has the same family.
    pub(crate) family: ErrorFamily,
    /// The tests that failed, where it was a test run.
    pub(crate) tests: Vec<String>,
}

/// Reads what came back from a call, as the signals of the log were read.
pub(crate) fn ended(tool: &str, action: &Action, output: Option<&Output>) -> Ended {
    let Some(output) = output else { return Ended::Unknown };
    let told = Told { failed: output.failed, exit_code: output.exit_code, interrupted: output.interrupted };
    let Some(failure) = failure::read(tool, action.command(), &told, &output.text) else {
        return if is_no_result(&output.text) { Ended::Unknown } else { Ended::Passed };
    };
    if failure.is_void() {
        return Ended::Unknown;
    }
    let tests = outcome_of_tests(&output.text).map(|tests| tests.names).unwrap_or_default();
    let class = failure.class.as_str();
    Ended::Failed(Fault { class, family: family(tool, class, &failure.headline), headline: failure.headline, tests })
}
