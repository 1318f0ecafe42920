//! `archivist forget`: takes lessons out of use but keeps them.

use anyhow::Result;
use clap::Args;

use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::lesson_format::{display_name, summary_line};
use archivist_core::memory::{Lesson, LessonName};
use archivist_core::service::ForgottenLesson;

const EXAMPLES: &str = "\
Examples:
  archivist forget m-001
  archivist forget m-002 m-003 --reason \"the build moved to another tool\"";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ForgetCommand {
    /// Short names or ids
    #[arg(value_name = "ID", required = true, value_parser = LessonName::parse)]
    names: Vec<LessonName>,
    /// Why; kept with the lesson
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Print the forgotten lessons as JSON
    #[arg(long)]
    json: bool,
}

impl ForgetCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let forgotten = session.archivist.forget_lessons(&self.names, self.reason.as_deref()).await?;
        for ForgottenLesson { lesson, .. } in forgotten.iter().filter(|one| one.was_forgotten) {
            console.print_note(&format!("{} was forgotten already", display_name(&lesson.memory)));
        }
        let forgotten: Vec<Lesson> = forgotten.into_iter().map(|one| one.lesson).collect();
        if self.json {
            console.print_json(&forgotten)?;
        } else {
            for lesson in &forgotten {
                console.print_line(&summary_line(&lesson.memory))?;
            }
        }
        Ok(CommandExit::Done)
    }
}
