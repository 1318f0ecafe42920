//! `archivist show`: a lesson in full.

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::{Exit, Failure};
use super::lesson::print_sheet;
use super::session::Session;
use crate::desk::LessonFilter;
use crate::memory::{Lesson, LessonName, Which};

const EXAMPLES: &str = "\
Examples:
  archivist show m-001
  archivist show --task auth-42
  archivist show m-001 --json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Show {
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

impl Show {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        if let Some(name) = &self.name {
            let lesson = session.desk.lesson(name).await?;
            if self.json {
                console.json(&lesson)?;
            } else {
                print_sheet(&lesson, console)?;
            }
            return Ok(Exit::Done);
        }
        let lessons = self.of_task(session).await?;
        if self.json {
            console.json(&lessons)?;
            return Ok(if lessons.is_empty() { Exit::Refused } else { Exit::Done });
        }
        if lessons.is_empty() {
            let task = self.task.as_deref().unwrap_or_default();
            return Err(Failure::user(format!("there are no lessons of task `{task}`"))
                .with_hint("`archivist list --all` shows every lesson")
                .into());
        }
        for (at, lesson) in lessons.iter().enumerate() {
            if at > 0 {
                console.line("")?;
            }
            print_sheet(lesson, console)?;
        }
        Ok(Exit::Done)
    }

    async fn of_task(&self, session: &Session) -> Result<Vec<Lesson>> {
        let filter = LessonFilter { task: self.task.clone(), ..LessonFilter::of(Which::All) };
        let mut lessons = session.desk.lessons(&filter).await?;
        lessons.reverse();
        Ok(lessons)
    }
}
