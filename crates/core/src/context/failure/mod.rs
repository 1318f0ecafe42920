//! Whether a call failed, how, and whether it is a failure that was seen before.

mod cause_wordings;
mod check_commands;
mod command_line;
mod error_family;
mod error_forms;
mod failure_detection;
mod failure_line;
mod failure_line_search;
mod harness_noise;
mod output_envelope;
mod plain_output;
mod test_results;

pub(crate) use command_line::is_verification;
pub(super) use error_family::identify_family;
pub(super) use failure_detection::{DetectedFailure, FailureClass, LoggedResult, detect_failure};
pub(super) use failure_line::rate_error_line;
pub(super) use test_results::{TestOutcome, read_test_outcome};
