//! `archivist why`: shows the evidence of a lesson, its sightings and injections, and their outcomes.

pub(crate) mod evidence_words;

mod print;

use anyhow::Result;
use clap::Args;

use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::Console;
use archivist_core::memory::LessonName;

const EXAMPLES: &str = "\
Examples:
  archivist why m-001
  archivist why m-001 --json | jq '.given[] | select(.effect == \"recurred\")'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WhyCommand {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    name: LessonName,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl WhyCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let report = session.archivist.explain_lesson(&self.name).await?;
        if self.json {
            console.print_json(&report)?;
        } else {
            print::print_evidence_page(&report, console)?;
        }
        Ok(CommandExit::Done)
    }
}
