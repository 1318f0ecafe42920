//! `archivist why`: shows the evidence of a lesson, its sightings and injections, and their outcomes.

pub(super) mod words;

mod page;

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::CommandExit;
use super::session::CommandContext;
use crate::memory::LessonName;

const EXAMPLES: &str = "\
Examples:
  archivist why m-001
  archivist why m-001 --json | jq '.given[] | select(.effect == \"recurred\")'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WhyCommand {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    name: LessonName,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl WhyCommand {
    pub(super) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let grounds = session.desk.explain_lesson(&self.name).await?;
        if self.json {
            console.print_json(&grounds)?;
        } else {
            page::print_evidence_page(&grounds, console)?;
        }
        Ok(CommandExit::Done)
    }
}
