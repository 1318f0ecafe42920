//! `archivist forget`: lessons go out of use, and are kept.

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::Exit;
use super::lesson::{name, short};
use super::session::Session;
use crate::desk::Forgotten;
use crate::memory::{Lesson, LessonName};

const EXAMPLES: &str = "\
Examples:
  archivist forget m-001
  archivist forget m-002 m-003 --reason \"the build moved to another tool\"";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Forget {
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

impl Forget {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let forgotten = session.desk.forget(&self.names, self.reason.as_deref(), session.now).await?;
        for Forgotten { lesson, .. } in forgotten.iter().filter(|one| one.was_forgotten) {
            console.note(&format!("{} was forgotten already", name(&lesson.memory)));
        }
        let forgotten: Vec<Lesson> = forgotten.into_iter().map(|one| one.lesson).collect();
        if self.json {
            console.json(&forgotten)?;
        } else {
            for lesson in &forgotten {
                console.line(&short(&lesson.memory))?;
            }
        }
        Ok(Exit::Done)
    }
}
