//! `archivist eval`: how good the parts are that decide by rules, measured on labelled data.

mod dedup;
mod distill;
mod planted;
mod redact;

use anyhow::Result;
use clap::Subcommand;

use super::console::Console;
use super::failure::Exit;
use crate::domain::Timestamp;

pub(super) const EXAMPLES: &str = "\
Examples:
  archivist eval dedup
  archivist eval distill
  archivist eval redact";

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(super) enum EvalCommand {
    /// Measure how well a lesson that is known is told from one that is new
    Dedup(dedup::EvalDedup),
    /// Measure what is learned from sessions without a model, and what is made up
    Distill(distill::EvalDistill),
    /// Measure how many secrets are found and what else is taken for one
    Redact(redact::EvalRedact),
}

impl EvalCommand {
    pub(super) fn run(&self, now: Timestamp, console: &mut Console) -> Result<Exit> {
        match self {
            Self::Dedup(command) => command.run(console),
            Self::Distill(command) => command.run(now, console),
            Self::Redact(command) => command.run(console),
        }
    }
}
