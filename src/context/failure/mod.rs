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
pub(super) use evidence::complaint_weight;
pub(super) use family::family;
pub(super) use read::{Class, Failure, Told, read};
pub(super) use split::{Characters, document_end, skip_document};
pub(super) use verification::{TestOutcome, outcome_of_tests};
