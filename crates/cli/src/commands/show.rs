//! `archivist show`: prints a lesson in full.

use anyhow::Result;
use clap::Args;

use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::lesson_format::print_sheet;
use archivist_core::memory::{Lesson, LessonName, LessonStateFilter};
use archivist_core::service::LessonFilter;

const EXAMPLES: &str = "\
Examples:
  archivist show m-001
  archivist show --task auth-42
  archivist show m-001 --json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowCommand {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    #[arg(required_unless_present = "task", conflicts_with = "task")]
    name: Option<LessonName>,
    /// Show every lesson of this task instead
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Print as JSON: the lesson, or with --task a list of lessons
    #[arg(long)]
    json: bool,
}

impl ShowCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        if let Some(name) = &self.name {
            let lesson = session.archivist.get_lesson(name).await?;
            if self.json {
                console.print_json(&lesson)?;
            } else {
                print_sheet(&lesson, console)?;
            }
            return Ok(CommandExit::Done);
        }
        let lessons = self.load_task_lessons(session).await?;
        if self.json {
            console.print_json(&lessons)?;
            return Ok(if lessons.is_empty() { CommandExit::Refused } else { CommandExit::Done });
        }
        if lessons.is_empty() {
            let task = self.task.as_deref().unwrap_or_default();
            return Err(CliError::user_error(format!("there are no lessons of task `{task}`"))
                .with_hint("`archivist list --all` shows every lesson")
                .into());
        }
        for (at, lesson) in lessons.iter().enumerate() {
            if at > 0 {
                console.print_line("")?;
            }
            print_sheet(lesson, console)?;
        }
        Ok(CommandExit::Done)
    }

    async fn load_task_lessons(&self, session: &CommandContext) -> Result<Vec<Lesson>> {
        let filter = LessonFilter { task: self.task.clone(), ..LessonFilter::from_selection(LessonStateFilter::All) };
        let mut lessons = session.archivist.list_lessons(&filter).await?;
        lessons.reverse();
        Ok(lessons)
    }
}
