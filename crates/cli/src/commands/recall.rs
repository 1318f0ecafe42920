//! `archivist recall`: prints the lessons that help with a task or an error.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::arguments::word_parser;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::facet_flags::FacetFlags;
use crate::query_json;
use crate::text_format::one_line;
use archivist_core::context::identify_error;
use archivist_core::domain::{MemoryKind, MemoryQuery, MemoryScope, RunId};
use archivist_core::recall::{LessonBlockStyle, Point, RankingProfile};
use archivist_core::redact::Redactor;
use archivist_core::service::{RecallReply, RecallRequest};

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
pub(crate) struct RecallCommand {
    /// What it is about, in plain words; - reads it from stdin
    text: Option<String>,
    /// The output of something that failed, from a file or - for stdin: its fix comes first
    #[arg(long, value_name = "FILE")]
    error_file: Option<String>,
    /// Only lessons of this scope
    #[arg(long, value_parser = word_parser::<MemoryScope>(MemoryScope::WORDS))]
    scope: Option<MemoryScope>,
    /// Only lessons of this kind
    #[arg(long, value_parser = word_parser::<MemoryKind>(MemoryKind::WORDS))]
    kind: Option<MemoryKind>,
    /// At most this many; what holds at the point otherwise, or `recall.maxResults`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    max: Option<u16>,
    /// At most this many tokens, heading and all; what `recall.budget` says otherwise
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u32>,
    /// By what lessons are put in order; `recall.profile` otherwise
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(RankingProfile::WORDS))]
    profile: Option<String>,
    /// Find lessons by their meaning as well, with the model in `embeddings`
    #[arg(long)]
    by_meaning: bool,
    /// A question as JSON, from a file or - for stdin; other flags are laid over it
    #[arg(long, value_name = "FILE")]
    query: Option<String>,
    /// Note in the ledger that this run was given the lessons
    #[arg(long, value_name = "ID", value_parser = RunId::parse)]
    run: Option<RunId>,
    /// Where in the run: orchestrator, subagent, healer, planner, small-task or a word of your own
    #[arg(long, value_name = "NAME", value_parser = parse_point)]
    point: Option<String>,
    /// How the answer is written: project-lessons, known-issues, patterns, system-reminder or json
    #[arg(long, value_enum, hide_possible_values = true, default_value = "project-lessons")]
    style: AnswerStyle,
    /// The same as --style json
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    circumstances: FacetFlags,
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

impl RecallCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let query = self.build_query(session, console)?;
        let asked = RecallRequest {
            point: self.point.clone().map(Point::from),
            style: self.style.block_style(),
            profile: self.profile.as_deref().map(str::parse).transpose()?,
            items: self.max.map(usize::from),
            tokens: self.budget.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX)),
            run: self.run.clone(),
            by_meaning: self.by_meaning,
            ..RecallRequest::for_query(query)
        };
        let point = asked.point.clone();
        let found = session.archivist.recall_unrecorded(asked).await?;
        if let Some(why) = &found.unmeasured {
            console.print_warning(&format!("lessons are found by their words alone: {why}"));
        }
        if self.json || self.style == AnswerStyle::Json {
            console.print_json(&RecallReply::from_block(&found.block, found.level))?;
        } else {
            console.print_bytes(found.block.text.as_bytes())?;
        }
        // A session is exposed to lessons only once they are printed, so the injection is recorded afterwards.
        console.flush()?;
        if let Some(run) = &self.run {
            session.archivist.record_injections(&found, run, point.as_ref()).await?;
        }
        Ok(CommandExit::Done)
    }

    fn build_query(&self, session: &CommandContext, console: &mut Console) -> Result<MemoryQuery> {
        let from_stdin =
            [&self.text, &self.query, &self.error_file].iter().filter(|one| one.as_deref() == Some("-")).count();
        if from_stdin > 1 {
            return Err(CliError::usage_error("stdin can be only one of the text, the question and the error").into());
        }
        let mut query = match &self.query {
            Some(source) => query_json::read_query(source, session, console)?,
            None => session.archivist.new_query(),
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
        self.circumstances.apply_to(&mut query.facets, &mut query.tags)?;
        if let Some(source) = &self.error_file {
            let tool = query.facets.tool.clone();
            query_about_error(&mut query, tool.as_deref(), &read_error_output(source, console)?);
        }
        Ok(query)
    }
}

/// Asks first for the fix of this very error, and then for lessons about its text. An output without an error changes
/// nothing.
pub(crate) fn query_about_error(query: &mut MemoryQuery, tool: Option<&str>, output: &str) {
    let Some(found) = identify_error(tool, output, &Redactor::new()) else { return };
    query.facets.error_family.get_or_insert(found.family);
    query.text.get_or_insert(found.headline);
}

impl AnswerStyle {
    /// Returns the style of the block that is fitted into the budget; JSON uses the style of a prompt.
    fn block_style(self) -> LessonBlockStyle {
        match self {
            Self::ProjectLessons | Self::Json => LessonBlockStyle::ProjectLessons,
            Self::KnownIssues => LessonBlockStyle::KnownIssues,
            Self::Patterns => LessonBlockStyle::Patterns,
            Self::SystemReminder => LessonBlockStyle::SystemReminder,
        }
    }
}

fn read_error_output(source: &str, console: &mut Console) -> Result<String> {
    if source == "-" {
        return Ok(console.read_input_lossily()?);
    }
    let bytes = std::fs::read(source).map_err(|error| {
        CliError::user_error(format!("cannot read {source}: {error}"))
            .with_hint("name a file with the output of what failed")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse_point(text: &str) -> Result<String, String> {
    let text = one_line(text);
    if text.is_empty() || text.contains(' ') { Err("a point is one word, as in subagent".to_owned()) } else { Ok(text) }
}
