//! `archivist promote`, `approve`, `reject` and `unmerge`: a person's decisions about a lesson.

use anyhow::Result;
use clap::Args;

use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::lesson_format::summary_line;
use crate::text_format::one_line;
use archivist_core::domain::AgentMemory;
use archivist_core::memory::LessonName;
use archivist_core::service::LessonDecision;

const PROMOTE_EXAMPLES: &str = "\
Examples:
  archivist promote m-007

A promoted lesson is given from now on and does not grow old. It takes a person at a terminal.";

const APPROVE_EXAMPLES: &str = "\
Examples:
  archivist list --all
  archivist approve m-012

It takes a person at a terminal; for scripts, set `decisions.withoutTerminal` in your own settings file.";

const REJECT_EXAMPLES: &str = "\
Examples:
  archivist reject m-012 --reason \"that was a stranger's advice\"

What says the same is not learned again.";

const UNMERGE_EXAMPLES: &str = "\
Examples:
  archivist unmerge m-003";

#[derive(Debug, Args)]
#[command(after_help = PROMOTE_EXAMPLES)]
pub(crate) struct PromoteCommand {
    #[command(flatten)]
    lesson: LessonArgument,
}

#[derive(Debug, Args)]
#[command(after_help = APPROVE_EXAMPLES)]
pub(crate) struct ApproveCommand {
    #[command(flatten)]
    lesson: LessonArgument,
}

#[derive(Debug, Args)]
#[command(after_help = REJECT_EXAMPLES)]
pub(crate) struct RejectCommand {
    #[command(flatten)]
    lesson: LessonArgument,
    /// Why; kept with the lesson
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = UNMERGE_EXAMPLES)]
pub(crate) struct UnmergeCommand {
    #[command(flatten)]
    lesson: LessonArgument,
}

#[derive(Debug, Args)]
struct LessonArgument {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    name: LessonName,
    /// Print the lesson as JSON
    #[arg(long)]
    json: bool,
}

impl PromoteCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        session.require_person(console)?;
        self.lesson.apply_decision(LessonDecision::Promote, session, console).await
    }
}

impl ApproveCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        session.require_person(console)?;
        self.lesson.apply_decision(LessonDecision::Approve, session, console).await
    }
}

impl RejectCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let reason = self.reason.as_deref().map(one_line).filter(|reason| !reason.is_empty());
        self.lesson.apply_decision(LessonDecision::Reject { reason }, session, console).await
    }
}

impl UnmergeCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        self.lesson.print_lessons(&session.archivist.unmerge_lesson(&self.lesson.name, session.now).await?, console)
    }
}

impl LessonArgument {
    async fn apply_decision(
        &self,
        decision: LessonDecision,
        session: &CommandContext,
        console: &mut Console,
    ) -> Result<CommandExit> {
        self.print_lessons(&[session.archivist.apply_decision(&self.name, &decision).await?], console)
    }

    fn print_lessons(&self, lessons: &[AgentMemory], console: &mut Console) -> Result<CommandExit> {
        if self.json {
            console.print_json(&lessons)?;
        } else {
            for memory in lessons {
                console.print_line(&summary_line(memory))?;
            }
        }
        Ok(CommandExit::Done)
    }
}
