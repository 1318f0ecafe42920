//! `archivist eval` measures the parts that decide by rules, on labelled or generated data.

mod audit;
mod dedup;
mod distill;
mod effect;
mod errors;
mod hook_block;
mod model;
mod planted;
mod poison;
mod real;
mod recall;
mod redact;
mod seeded_choice;
mod status;
mod transfer;

use anyhow::Result;
use clap::Subcommand;

use super::cli_error::CommandExit;
use super::console::Console;
use archivist_core::domain::Timestamp;

/// The default limits of a reflection: how many candidates it keeps at most, and their least importance.
const MAX_CANDIDATES: usize = 5;
const MIN_IMPORTANCE: f64 = 0.3;

pub(super) const EXAMPLES: &str = "\
Examples:
  archivist eval audit
  archivist eval dedup
  archivist eval distill
  archivist eval effect
  archivist eval errors --data bench/trail
  archivist eval poison
  archivist eval real --data real-lessons
  archivist eval recall
  archivist eval redact
  archivist eval status --data sessions
  archivist eval transfer --data sessions";

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(super) enum EvalCommand {
    /// Measure how well junk in a memory is told from what is sound
    Audit(audit::EvalAudit),
    /// Measure how well a lesson that is known is told from one that is new
    Dedup(dedup::EvalDedup),
    /// Measure what is learned from sessions without a model, and what is made up
    Distill(distill::EvalDistill),
    /// Measure how surely lessons that do harm are found by holding lessons back
    Effect(effect::EvalEffect),
    /// Measure how many of the failures that people marked in sessions are found
    Errors(errors::EvalErrors),
    /// Measure what an attacker who adapts gets into later sessions
    Poison(poison::EvalPoison),
    /// Measure what is learned from real sessions with labelled lessons
    Real(real::EvalReal),
    /// Measure how well lessons are found again, and how well nothing is said where nothing is known
    Recall(recall::EvalRecall),
    /// Measure how many secrets are found and what else is taken for one
    Redact(redact::EvalRedact),
    /// Measure how often the status of a session is right
    Status(status::EvalStatus),
    /// Measure whether what the sessions of some models taught helps another model with the same tasks
    Transfer(transfer::EvalTransfer),
}

impl EvalCommand {
    pub(super) fn run(&self, now: Timestamp, seed: Option<u64>, console: &mut Console) -> Result<CommandExit> {
        match self {
            Self::Audit(command) => command.run(console),
            Self::Dedup(command) => command.run(console),
            Self::Distill(command) => command.run(now, console),
            Self::Effect(command) => command.run(seed, console),
            Self::Errors(command) => command.run(console),
            Self::Poison(command) => command.run(seed, console),
            Self::Real(command) => command.run(now, console),
            Self::Recall(command) => command.run(seed, console),
            Self::Redact(command) => command.run(console),
            Self::Status(command) => command.run(console),
            Self::Transfer(command) => command.run(now, console),
        }
    }
}
