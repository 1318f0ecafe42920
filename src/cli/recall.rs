//! `archivist recall`: the lessons that help with a matter.

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::arguments::word;
use super::circumstances::Circumstances;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::prose::one_line;
use super::question;
use super::session::Session;
use crate::context::complaint;
use crate::desk::{Asked, Reply};
use crate::domain::{MemoryKind, MemoryQuery, MemoryScope, RunId};
use crate::recall::{Point, Profile, Style};
use crate::redact::Redactor;

const EXAMPLES: &str = "\
Examples:
  archivist recall \"the linker cannot find libssl\" --tool bash
  archivist recall --tag flaky --max 3 --json
  archivist recall \"add a login page\" --task auth-42 --run run-7 --point subagent
  make test 2>&1 | archivist recall --error-file - --point healer
  archivist recall \"release\" --kind decision --profile decisions --budget 1000
  echo '{\"text\": \"linker error\", \"maxResults\": 3}' | archivist recall --query -

With nothing to say it prints nothing and ends with 0. With --run it is noted which lessons the run was given; now and
then one is held back, so that `archivist effect` can tell whether it helps.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Recall {
    /// What it is about, in plain words; - reads it from stdin
    text: Option<String>,
    /// The output of something that failed, from a file or - for stdin: its fix comes first
    #[arg(long, value_name = "FILE")]
    error_file: Option<String>,
    /// Only lessons of this scope
    #[arg(long, value_parser = word::<MemoryScope>(MemoryScope::WORDS))]
    scope: Option<MemoryScope>,
    /// Only lessons of this kind
    #[arg(long, value_parser = word::<MemoryKind>(MemoryKind::WORDS))]
    kind: Option<MemoryKind>,
    /// At most this many; what holds at the point otherwise, or `recall.maxResults`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    max: Option<u16>,
    /// At most this many tokens, heading and all; what `recall.budget` says otherwise
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u32>,
    /// By what lessons are put in order; `recall.profile` otherwise
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(Profile::WORDS))]
    profile: Option<String>,
    /// Find lessons by their meaning as well, with the model of `embeddings.dir`
    #[arg(long)]
    by_meaning: bool,
    /// A question as JSON, from a file or - for stdin; other flags are laid over it
    #[arg(long, value_name = "FILE")]
    query: Option<String>,
    /// Note in the ledger that this run was given the lessons
    #[arg(long, value_name = "ID", value_parser = RunId::parse)]
    run: Option<RunId>,
    /// Where in the run: orchestrator, subagent, healer, planner, small-task or a word of your own
    #[arg(long, value_name = "NAME", value_parser = point)]
    point: Option<String>,
    /// How the answer is written: project-lessons, known-issues, patterns, system-reminder or json
    #[arg(long, value_enum, hide_possible_values = true, default_value = "project-lessons")]
    style: AnswerStyle,
    /// The same as --style json
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    circumstances: Circumstances,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnswerStyle {
    /// A heading and a numbered list, one line a lesson
    ProjectLessons,
    /// The section that ArcheFlow adds to prompts
    KnownIssues,
    /// The block that jkz adds to prompts
    Patterns,
    /// A reminder that says how it is to be taken
    SystemReminder,
    /// Scores and all
    Json,
}

impl Recall {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let query = self.question(session, console)?;
        let asked = Asked {
            point: self.point.clone().map(Point::from),
            style: self.style.of_a_block(),
            profile: self.profile.as_deref().map(str::parse).transpose()?,
            items: self.max.map(usize::from),
            tokens: self.budget.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX)),
            run: self.run.clone(),
            by_meaning: self.by_meaning,
            ..Asked::about(query)
        };
        let point = asked.point.clone();
        let found = session.desk.recall(asked, session.now).await?;
        if let Some(why) = &found.unmeasured {
            console.warn(&format!("lessons are found by their words alone: {why}"));
        }
        if self.json || self.style == AnswerStyle::Json {
            console.json(&Reply::of(&found.block, found.level))?;
        } else {
            console.print(found.block.text.as_bytes())?;
        }
        // A run that did not get the lessons was not exposed to them, so they are out before they are noted.
        console.flush()?;
        if let Some(run) = &self.run {
            session.desk.note(&found, run, point.as_ref(), session.now).await?;
        }
        Ok(Exit::Done)
    }

    fn question(&self, session: &Session, console: &mut Console) -> Result<MemoryQuery> {
        let from_stdin =
            [&self.text, &self.query, &self.error_file].iter().filter(|one| one.as_deref() == Some("-")).count();
        if from_stdin > 1 {
            return Err(Failure::usage("stdin can be only one of the text, the question and the error").into());
        }
        let mut query = match &self.query {
            Some(source) => question::read(source, session, console)?,
            None => session.desk.question(),
        };
        match self.text.as_deref() {
            Some("-") => query.text = Some(console.read_input()?),
            Some(text) => query.text = Some(text.to_owned()),
            None => {}
        }
        if let Some(scope) = &self.scope {
            query.scope = Some(scope.clone());
        }
        if let Some(kind) = &self.kind {
            query.kind = Some(kind.clone());
        }
        self.circumstances.lay_over(&mut query.facets, &mut query.tags)?;
        if let Some(source) = &self.error_file {
            let tool = query.facets.tool.clone();
            ask_about_error(&mut query, tool.as_deref(), &read_error(source, console)?);
        }
        Ok(query)
    }
}

/// Asks for the fix of this very failure first, and for what is said about it besides. An output that says nothing
/// changes nothing.
pub(super) fn ask_about_error(query: &mut MemoryQuery, tool: Option<&str>, output: &str) {
    let Some(found) = complaint(tool, output, &Redactor::new()) else { return };
    query.facets.error_family.get_or_insert(found.family);
    query.text.get_or_insert(found.headline);
}

impl AnswerStyle {
    /// What is fitted into a budget; a program gets what a prompt would get.
    fn of_a_block(self) -> Style {
        match self {
            Self::ProjectLessons | Self::Json => Style::ProjectLessons,
            Self::KnownIssues => Style::KnownIssues,
            Self::Patterns => Style::Patterns,
            Self::SystemReminder => Style::SystemReminder,
        }
    }
}

fn read_error(source: &str, console: &mut Console) -> Result<String> {
    if source == "-" {
        return Ok(console.read_lossily()?);
    }
    let bytes = std::fs::read(source).map_err(|error| {
        Failure::user(format!("cannot read {source}: {error}")).with_hint("name a file with the output of what failed")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn point(text: &str) -> Result<String, String> {
    let text = one_line(text);
    if text.is_empty() || text.contains(' ') { Err("a point is one word, as in subagent".to_owned()) } else { Ok(text) }
}
