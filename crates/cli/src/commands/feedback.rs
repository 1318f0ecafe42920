//! `archivist feedback`: records that lessons held, were noise, or were injected into a session with this outcome.

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::text_format::one_line;
use archivist_core::domain::{Alias, EvidenceLevel, FeedbackVerdict, RunId};
use archivist_core::memory::LessonName;
use archivist_core::service::{FeedbackEvidence, LessonOpinion, RecordedFeedback, parse_role};

pub(crate) const EXAMPLES: &str = "\
Examples:
  pytest -q 2>&1 | sed '1i $ pytest -q' | archivist feedback validate m-001 --run run-7 --evidence -
  archivist feedback ignore m-002 m-003 --run run-7 --role sentinel
  archivist feedback outcome --run run-7 --passed true --level 1

That a lesson held counts only with proof: level 1 is a command with what it printed, level 2 a file:line with words of
that line. To say that it was run, that it should work, or a file without a line is reasoning, level 3, and is refused.";

const VALIDATE_EXAMPLES: &str = "\
Examples:
  archivist feedback validate m-001 --run run-7 --evidence test-output.txt
  echo 'src/cart.rs:48 has `let coupon = check(query)`' | archivist feedback validate m-001 --run run-7 --evidence -";

const IGNORE_EXAMPLES: &str = "\
Examples:
  archivist feedback ignore m-002 --run run-7
  archivist feedback ignore m-002 --run run-7 --role inspector

How much it counts is set by role in `feedback.weights`. A lesson that had held before is marked as a regression.";

const OUTCOME_EXAMPLES: &str = "\
Examples:
  archivist feedback outcome --run run-7 --passed true --evidence ci.log
  archivist feedback outcome --run run-7 --passed false

Every lesson that the run saw is graded: passed is as if each had been validated, failed counts `feedback.failedRun`
against each, for a run fails for many reasons.";

#[derive(Debug, Subcommand)]
pub(crate) enum FeedbackCommand {
    /// Lessons held in a run, and here is the proof
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(LessonFeedbackArgs),
    /// Lessons were noise in a run
    #[command(after_help = IGNORE_EXAMPLES)]
    Ignore(LessonFeedbackArgs),
    /// How a run ended, for every lesson that it was given
    #[command(after_help = OUTCOME_EXAMPLES)]
    Outcome(OutcomeFeedbackArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LessonFeedbackArgs {
    /// Short names or ids
    #[arg(value_name = "ID", required = true, value_parser = LessonName::parse)]
    names: Vec<LessonName>,
    /// Who says so: sentinel, inspector, lens or any other word
    #[arg(long, value_name = "NAME", value_parser = parse_role)]
    role: Option<String>,
    #[command(flatten)]
    report: FeedbackEvidenceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutcomeFeedbackArgs {
    /// Whether it ended well
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
    passed: bool,
    #[command(flatten)]
    report: FeedbackEvidenceArgs,
}

#[derive(Debug, Args)]
struct FeedbackEvidenceArgs {
    /// The run, as its agent or its orchestrator names it
    #[arg(long, value_name = "ID", value_parser = RunId::parse)]
    run: RunId,
    /// What shows it, from a file or - for stdin
    #[arg(long, value_name = "FILE")]
    evidence: Option<String>,
    /// How strong the proof is, 1 to 3, by your word; with --evidence the weaker of the two counts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    level: Option<u8>,
    /// Print what was noted as JSON
    #[arg(long)]
    json: bool,
}

impl FeedbackCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        match self {
            Self::Validate(named) => named.run(FeedbackVerdict::Validated, session, console).await,
            Self::Ignore(named) => named.run(FeedbackVerdict::Ignored, session, console).await,
            Self::Outcome(outcome) => outcome.run(session, console).await,
        }
    }
}

impl LessonFeedbackArgs {
    async fn run(
        &self,
        verdict: FeedbackVerdict,
        session: &CommandContext,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let opinion = LessonOpinion { verdict, role: self.role.clone(), evidence: self.report.read_evidence(console)? };
        let noted = session.archivist.feedback(&self.names, &opinion).await?;
        self.report.print_noted(&noted, console)
    }
}

impl OutcomeFeedbackArgs {
    async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let evidence = self.report.read_evidence(console)?;
        let noted = session.archivist.record_session_outcome(&evidence, self.passed).await?;
        if noted.is_empty() && !self.report.json {
            console.print_note(&format!("run {} was given no lessons", self.report.run));
        }
        self.report.print_noted(&noted, console)
    }
}

impl FeedbackEvidenceArgs {
    fn read_evidence(&self, console: &mut Console) -> Result<FeedbackEvidence, CliError> {
        let stated = self.level.map(|level| match level {
            1 => EvidenceLevel::Execution,
            2 => EvidenceLevel::Citation,
            _ => EvidenceLevel::Reasoning,
        });
        let text = match self.evidence.as_deref() {
            None => None,
            Some("-") => Some(console.read_input()?),
            Some(path) => Some(
                std::fs::read_to_string(path)
                    .map_err(|error| CliError::user_error(format!("cannot read evidence {path}: {error}")))?,
            ),
        };
        Ok(FeedbackEvidence { run: self.run.clone(), text, stated })
    }

    fn print_noted(&self, noted: &[RecordedFeedback], console: &mut Console) -> Result<CommandExit> {
        if self.json {
            console.print_json(&noted)?;
            return Ok(CommandExit::Done);
        }
        let name = |one: &RecordedFeedback| one.alias.as_ref().map_or_else(|| one.id.to_string(), Alias::to_string);
        for one in noted {
            let RecordedFeedback { summary, verdict, weight, .. } = one;
            console.print_line(&format!("{}  {}  ({verdict}, weight {weight})", name(one), one_line(summary)))?;
        }
        for one in noted {
            if !one.written {
                console.print_note(&format!("{}: that was noted before", name(one)));
            } else if one.regression {
                console.print_warning(&format!("{} had held before: this is a regression", name(one)));
            }
        }
        Ok(CommandExit::Done)
    }
}
