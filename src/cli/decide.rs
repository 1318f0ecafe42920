//! `archivist promote`, `approve`, `reject` and `unmerge`: what a person decides about a lesson.

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::Exit;
use super::lesson::short;
use super::prose::one_line;
use super::session::Session;
use crate::domain::AgentMemory;
use crate::memory::LessonName;
use crate::service::Decision;

const PROMOTE_EXAMPLES: &str = "\
Examples:
  archivist promote m-007

A promoted lesson is given from now on and does not grow old.";

const APPROVE_EXAMPLES: &str = "\
Examples:
  archivist list --all
  archivist approve m-012";

const REJECT_EXAMPLES: &str = "\
Examples:
  archivist reject m-012 --reason \"that was a stranger's advice\"

What says the same is not learned again.";

const UNMERGE_EXAMPLES: &str = "\
Examples:
  archivist unmerge m-003";

#[derive(Debug, Args)]
#[command(after_help = PROMOTE_EXAMPLES)]
pub(super) struct Promote {
    #[command(flatten)]
    lesson: Which,
}

#[derive(Debug, Args)]
#[command(after_help = APPROVE_EXAMPLES)]
pub(super) struct Approve {
    #[command(flatten)]
    lesson: Which,
}

#[derive(Debug, Args)]
#[command(after_help = REJECT_EXAMPLES)]
pub(super) struct Reject {
    #[command(flatten)]
    lesson: Which,
    /// Why; kept with the lesson
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = UNMERGE_EXAMPLES)]
pub(super) struct Unmerge {
    #[command(flatten)]
    lesson: Which,
}

#[derive(Debug, Args)]
struct Which {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    name: LessonName,
    /// Print the lesson as JSON
    #[arg(long)]
    json: bool,
}

impl Promote {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        self.lesson.decide(Decision::Promote, session, console).await
    }
}

impl Approve {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        self.lesson.decide(Decision::Approve, session, console).await
    }
}

impl Reject {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let reason = self.reason.as_deref().map(one_line).filter(|reason| !reason.is_empty());
        self.lesson.decide(Decision::Reject { reason }, session, console).await
    }
}

impl Unmerge {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        self.lesson.print(&session.desk.unmerge(&self.lesson.name, session.now).await?, console)
    }
}

impl Which {
    async fn decide(&self, decision: Decision, session: &Session, console: &mut Console) -> Result<Exit> {
        self.print(&[session.desk.decide(&self.name, &decision, session.now).await?], console)
    }

    fn print(&self, lessons: &[AgentMemory], console: &mut Console) -> Result<Exit> {
        if self.json {
            console.json(&lessons)?;
        } else {
            for memory in lessons {
                console.line(&short(memory))?;
            }
        }
        Ok(Exit::Done)
    }
}
