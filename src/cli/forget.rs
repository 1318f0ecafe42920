//! `archivist forget`: lessons go out of use, and are kept.

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::Exit;
use super::lesson::{name, short};
use super::prose::one_line;
use super::session::Session;
use crate::domain::{AgentMemory, MemoryState};
use crate::memory::{LessonName, MemoryService, Removal};

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
        // All names are looked up before anything is changed: a misspelt one changes nothing.
        let mut found: Vec<AgentMemory> = Vec::new();
        for name in &self.names {
            let memory = session.lesson(name).await?.memory;
            if !found.iter().any(|other| other.id == memory.id) {
                found.push(memory);
            }
        }
        let reason = self.reason.as_deref().map(one_line).filter(|reason| !reason.is_empty());
        let mut forgotten = Vec::new();
        for memory in &found {
            if memory.state == Some(MemoryState::Archived) && (reason.is_none() || reason == memory.state_reason) {
                console.note(&format!("{} was forgotten already", name(memory)));
            } else {
                let removal = Removal::Forgotten { reason: reason.clone() };
                session.memory.archive_memory(&memory.id, removal, session.now).await?;
            }
            forgotten.push(session.lesson(&LessonName::Id(memory.id.clone())).await?);
        }
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
