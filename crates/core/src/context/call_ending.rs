//! Reads how a call ended from its stored output.

use super::failure::{self, LoggedResult, identify_family, read_test_outcome};
use super::tool_action::ToolAction;
use super::trajectory_collector::has_no_result;
use crate::domain::{ErrorFamily, ToolOutput};

#[cfg(test)]
#[path = "call_ending_tests.rs"]
mod tests;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// The call did what it was asked to do.
    Passed,
    /// The call failed.
    Failed(CallFailure),
    /// The call was refused, broken off, sent to the background or never answered, or returned a linter's findings.
    Unknown,
}

/// The failure of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallFailure {
    /// The class of the failure, such as `compile` or `not_found`.
    pub(crate) class: &'static str,
    /// The line that describes the failure best.
    pub(crate) headline: String,
    /// The error family, which the same failure has everywhere.
    pub(crate) family: ErrorFamily,
    /// The tests that failed, if it was a test run.
    pub(crate) tests: Vec<String>,
}

/// Reads the outcome of a call, in the same way as the signals of the log.
pub(crate) fn read_call_outcome(tool: &str, action: &ToolAction, output: Option<&ToolOutput>) -> CallOutcome {
    let Some(output) = output else { return CallOutcome::Unknown };
    let told = LoggedResult { failed: output.failed, exit_code: output.exit_code, interrupted: output.interrupted };
    let Some(failure) = failure::detect_failure(tool, action.command(), &told, &output.text) else {
        return if has_no_result(&output.text) { CallOutcome::Unknown } else { CallOutcome::Passed };
    };
    if failure.is_disregarded() {
        return CallOutcome::Unknown;
    }
    let tests = read_test_outcome(&output.text).map(|tests| tests.names).unwrap_or_default();
    let class = failure.class.as_str();
    CallOutcome::Failed(CallFailure {
        class,
        family: identify_family(tool, class, &failure.headline),
        headline: failure.headline,
        tests,
    })
}
