//! `archivist feedback`: lessons held, were noise, or were given to a run that ended this way.

use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::console::Console;
use super::failure::{Exit, Failure};
use super::lesson::{name, short};
use super::prose::one_line;
use super::session::Session;
use crate::domain::{AgentMemory, Alias, EpisodeId, EvidenceLevel, Fact, FeedbackVerdict, MemoryId, RunId};
use crate::judge::{Citation, level_of};
use crate::memory::{FactFilter, LessonName, MemoryService};
use crate::service::{JudgedLesson, Judgement, OUTCOME_ROLE, episode_of, judge_lessons, shown_to};

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

/// A file that is cited is looked into no further than this.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Lines move while people work: the words may stand so many lines from where they are said to.
const DRIFT: usize = 3;

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

/// What was noted, as a program reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Noted<'l> {
    id: &'l MemoryId,
    alias: Option<&'l Alias>,
    summary: &'l str,
    run: &'l RunId,
    episode: &'l EpisodeId,
    verdict: &'l FeedbackVerdict,
    weight: f64,
    role: Option<&'l str>,
    level: &'l EvidenceLevel,
    /// Whether it is new.
    written: bool,
    regression: bool,
}

impl FeedbackCommand {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        match self {
            Self::Validate(named) => {
                let lessons = named.lessons(session).await?;
                let level = named.grounds.proof(session, console)?;
                let judgement = named.judgement(FeedbackVerdict::Validated, 1.0, level);
                named.grounds.note(lessons, &judgement, session, console).await
            }
            Self::Ignore(named) => {
                let lessons = named.lessons(session).await?;
                let level = named.grounds.level(session, console)?;
                let weight = session.config().feedback.weights.of(named.role.as_deref());
                let judgement = named.judgement(FeedbackVerdict::Ignored, weight, level);
                named.grounds.note(lessons, &judgement, session, console).await
            }
            Self::Outcome(outcome) => outcome.run(session, console).await,
        }
    }
}

impl Named {
    /// All of them are looked up before anything is noted: a misspelt one changes nothing.
    async fn lessons(&self, session: &Session) -> Result<Vec<AgentMemory>> {
        let mut found: Vec<AgentMemory> = Vec::new();
        for name in &self.names {
            let memory = session.lesson(name).await?.memory;
            if !found.iter().any(|other| other.id == memory.id) {
                found.push(memory);
            }
        }
        Ok(found)
    }

    fn judgement(&self, verdict: FeedbackVerdict, weight: f64, level: EvidenceLevel) -> Judgement {
        Judgement { verdict, weight, role: self.role.clone(), level }
    }
}

impl Outcome {
    async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let grounds = &self.grounds;
        let lessons = shown_to(&session.memory, &grounds.run).await?;
        let lessons: Vec<AgentMemory> = lessons.into_iter().filter(|memory| session.sees(memory)).collect();
        if lessons.is_empty() {
            if grounds.json {
                console.json(&lessons)?;
            } else {
                console.note(&format!("run {} was given no lessons", grounds.run));
            }
            return Ok(Exit::Done);
        }
        let judgement = match self.passed {
            true => Judgement::of_run(FeedbackVerdict::Validated, 1.0, grounds.proof(session, console)?),
            false => {
                let weight = session.config().feedback.failed_run;
                Judgement::of_run(FeedbackVerdict::Ignored, weight, grounds.level(session, console)?)
            }
        };
        self.unless_told_otherwise(&lessons, &judgement, session).await?;
        grounds.note(lessons, &judgement, session, console).await
    }

    /// A run ends once.
    async fn unless_told_otherwise(
        &self,
        lessons: &[AgentMemory],
        judgement: &Judgement,
        session: &Session,
    ) -> Result<()> {
        let run = self.grounds.episode(session).await?;
        for memory in lessons {
            let facts = session.memory.facts(&FactFilter { memory: Some(memory.id.clone()), run: None }).await?;
            let is_other = |fact: &Fact| {
                matches!(fact, Fact::Feedback { episode, verdict, role, .. }
                    if *episode == run && *verdict != judgement.verdict && *role == judgement.role)
            };
            if facts.iter().any(is_other) {
                let ended = if self.passed { "failed" } else { "passed" };
                return Err(Failure::user(format!("run {} is noted as one that {ended}", self.grounds.run))
                    .with_hint("a run ends once; nothing was noted")
                    .into());
            }
        }
        Ok(())
    }
}

impl Grounds {
    /// How strong the proof is. Nothing at all is reasoning.
    fn level(&self, session: &Session, console: &mut Console) -> Result<EvidenceLevel> {
        let stated = self.level.map(|level| match level {
            1 => EvidenceLevel::Execution,
            2 => EvidenceLevel::Citation,
            _ => EvidenceLevel::Reasoning,
        });
        let shown = match self.evidence.as_deref() {
            None => None,
            Some(source) => {
                let text = match source {
                    "-" => console.read_input()?,
                    path => std::fs::read_to_string(path)
                        .map_err(|error| Failure::user(format!("cannot read evidence {path}: {error}")))?,
                };
                Some(level_of(&text, |citation| stands(citation, &session.project().root)))
            }
        };
        Ok(stated.max(shown).unwrap_or_default())
    }

    /// The same where only proof will do.
    fn proof(&self, session: &Session, console: &mut Console) -> Result<EvidenceLevel> {
        match self.level(session, console)? {
            level @ (EvidenceLevel::Execution | EvidenceLevel::Citation) => Ok(level),
            _ => {
                let found = match self.evidence {
                    Some(_) => "the evidence shows no output and cites no line that is there",
                    None => "there is no evidence",
                };
                Err(Failure::user(format!("{found}: reasoning does not validate a lesson"))
                    .with_hint(
                        "give --evidence with a command and what it printed, or a file:line with words of that line",
                    )
                    .into())
            }
        }
    }

    async fn episode(&self, session: &Session) -> Result<EpisodeId> {
        if let Some(episode) = episode_of(&session.memory, &self.run).await? {
            return Ok(episode.id);
        }
        let root = session.project().root_text();
        Ok(EpisodeId::of_session(session.project().repo_id.as_deref().unwrap_or(&root), self.run.as_str()))
    }

    async fn note(
        &self,
        lessons: Vec<AgentMemory>,
        judgement: &Judgement,
        session: &Session,
        console: &mut Console,
    ) -> Result<Exit> {
        let episode = self.episode(session).await?;
        let judged = judge_lessons(&session.memory, lessons, &episode, judgement, session.now).await?;
        if self.json {
            let noted: Vec<Noted<'_>> = judged.iter().map(|one| self.noted(one, &episode, judgement)).collect();
            console.json(&noted)?;
            return Ok(Exit::Done);
        }
        for one in &judged {
            let Judgement { verdict, weight, .. } = judgement;
            console.line(&format!("{}  ({verdict}, weight {weight})", short(&one.memory)))?;
        }
        for one in &judged {
            if one.is_known {
                console.note(&format!("{}: that was noted before", name(&one.memory)));
            } else if one.is_regression {
                console.warn(&format!("{} had held before: this is a regression", name(&one.memory)));
            }
        }
        Ok(Exit::Done)
    }

    fn noted<'l>(&'l self, one: &'l JudgedLesson, episode: &'l EpisodeId, judgement: &'l Judgement) -> Noted<'l> {
        Noted {
            id: &one.memory.id,
            alias: one.memory.alias.as_ref(),
            summary: &one.memory.summary,
            run: &self.run,
            episode,
            verdict: &judgement.verdict,
            weight: judgement.weight,
            role: judgement.role.as_deref(),
            level: &judgement.level,
            written: !one.is_known,
            regression: one.is_regression,
        }
    }
}

/// Whether words stand where they are said to, in a file of the project.
fn stands(citation: &Citation<'_>, root: &Path) -> bool {
    let (Ok(root), Ok(path)) = (root.canonicalize(), root.join(citation.path).canonicalize()) else { return false };
    if !path.starts_with(&root) {
        return false;
    }
    let is_fit = std::fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE_BYTES);
    let Some(text) = is_fit.then(|| std::fs::read(&path).ok()).flatten() else { return false };
    let text = String::from_utf8_lossy(&text);
    let line = usize::try_from(citation.line).unwrap_or(usize::MAX);
    let (first, last) = (line.saturating_sub(1 + DRIFT), line.saturating_add(DRIFT));
    let wanted = one_line(citation.quote);
    text.lines().enumerate().any(|(at, line)| (first..last).contains(&at) && one_line(line).contains(&wanted))
}

fn role(text: &str) -> Result<String, String> {
    let text = one_line(text).to_lowercase();
    match text.as_str() {
        "" => Err("a role is one word, as in sentinel".to_owned()),
        OUTCOME_ROLE => Err("`archivist feedback outcome` says how a run ended".to_owned()),
        role if role.contains(' ') => Err("a role is one word, as in sentinel".to_owned()),
        _ => Ok(text),
    }
}
