//! `archivist why`: what a lesson rests on, where it was seen and given, and what came of that.

pub(super) mod words;

mod page;

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::Exit;
use super::session::Session;
use crate::memory::LessonName;

const EXAMPLES: &str = "\
Examples:
  archivist why m-001
  archivist why m-001 --json | jq '.given[] | select(.effect == \"recurred\")'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Why {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    name: LessonName,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Why {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let grounds = session.desk.why(&self.name).await?;
        if self.json {
            console.json(&grounds)?;
        } else {
            page::print(&grounds, console)?;
        }
        Ok(Exit::Done)
    }
}
