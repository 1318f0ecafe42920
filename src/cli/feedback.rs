//! `archivist feedback`: lessons held, were noise, or were given to a run that ended this way.

use anyhow::Result;
use clap::{Args, Subcommand};

use super::console::Console;
use super::failure::{Exit, Failure};
use super::prose::one_line;
use super::session::Session;
use crate::desk::{Evidence, Noted, Opinion, role};
use crate::domain::{Alias, EvidenceLevel, FeedbackVerdict, RunId};
use crate::memory::LessonName;

pub(super) const EXAMPLES: &str = "\
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
pub(super) enum FeedbackCommand {
    /// Lessons held in a run, and here is the proof
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(Named),
    /// Lessons were noise in a run
    #[command(after_help = IGNORE_EXAMPLES)]
    Ignore(Named),
    /// How a run ended, for every lesson that it was given
    #[command(after_help = OUTCOME_EXAMPLES)]
    Outcome(Outcome),
}

#[derive(Debug, Args)]
pub(super) struct Named {
    /// Short names or ids
    #[arg(value_name = "ID", required = true, value_parser = LessonName::parse)]
    names: Vec<LessonName>,
    /// Who says so: sentinel, inspector, lens or any other word
    #[arg(long, value_name = "NAME", value_parser = role)]
    role: Option<String>,
    #[command(flatten)]
    grounds: Grounds,
}

#[derive(Debug, Args)]
pub(super) struct Outcome {
    /// Whether it ended well
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
    passed: bool,
    #[command(flatten)]
    grounds: Grounds,
}

#[derive(Debug, Args)]
struct Grounds {
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
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        match self {
            Self::Validate(named) => named.run(FeedbackVerdict::Validated, session, console).await,
            Self::Ignore(named) => named.run(FeedbackVerdict::Ignored, session, console).await,
            Self::Outcome(outcome) => outcome.run(session, console).await,
        }
    }
}

impl Named {
    async fn run(&self, verdict: FeedbackVerdict, session: &Session, console: &mut Console) -> Result<Exit> {
        let opinion = Opinion { verdict, role: self.role.clone(), evidence: self.grounds.evidence(console)? };
        let noted = session.desk.feedback(&self.names, &opinion, session.now).await?;
        self.grounds.tell(&noted, console)
    }
}

impl Outcome {
    async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let evidence = self.grounds.evidence(console)?;
        let noted = session.desk.outcome(&evidence, self.passed, session.now).await?;
        if noted.is_empty() && !self.grounds.json {
            console.note(&format!("run {} was given no lessons", self.grounds.run));
        }
        self.grounds.tell(&noted, console)
    }
}

impl Grounds {
    fn evidence(&self, console: &mut Console) -> Result<Evidence, Failure> {
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
                    .map_err(|error| Failure::user(format!("cannot read evidence {path}: {error}")))?,
            ),
        };
        Ok(Evidence { run: self.run.clone(), text, stated })
    }

    fn tell(&self, noted: &[Noted], console: &mut Console) -> Result<Exit> {
        if self.json {
            console.json(&noted)?;
            return Ok(Exit::Done);
        }
        let name = |one: &Noted| one.alias.as_ref().map_or_else(|| one.id.to_string(), Alias::to_string);
        for one in noted {
            let Noted { summary, verdict, weight, .. } = one;
            console.line(&format!("{}  {}  ({verdict}, weight {weight})", name(one), one_line(summary)))?;
        }
        for one in noted {
            if !one.written {
                console.note(&format!("{}: that was noted before", name(one)));
            } else if one.regression {
                console.warn(&format!("{} had held before: this is a regression", name(one)));
            }
        }
        Ok(Exit::Done)
    }
}
