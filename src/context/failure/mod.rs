//! Whether a call failed, how, and whether it is a failure that was seen before.

mod command;
mod envelope;
mod evidence;
mod family;
mod noise;
mod plain;
mod read;
mod shells;
mod split;
mod survey;
mod verification;
mod verifiers;
mod wordings;

pub(crate) use command::is_verification;
pub(super) use evidence::rate_error_line;
pub(super) use family::identify_family;
pub(super) use read::{DetectedFailure, FailureClass, LoggedResult, detect_failure};
pub(super) use split::{Characters, here_document_end, skip_here_document};
pub(super) use verification::{TestOutcome, read_test_outcome};
