//! `archivist episodes`: lists the episodes that lessons were learned from.

use anyhow::Result;
use clap::Args;

use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::format_age;
use archivist_core::domain::{Episode, SessionId};
use archivist_core::service::EpisodeListFilter;

const EXAMPLES: &str = "\
Examples:
  archivist episodes --days 7
  archivist episodes --task auth-42 --json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EpisodesCommand {
    /// Only runs of this session
    #[arg(long, value_name = "ID", value_parser = SessionId::parse)]
    session: Option<SessionId>,
    /// Only runs on this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Only runs that ended in the last N days
    #[arg(long, value_name = "N")]
    days: Option<u32>,
    /// Print the episodes as JSON
    #[arg(long)]
    json: bool,
}

impl EpisodesCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let asked = EpisodeListFilter { session: self.session.clone(), task: self.task.clone(), days: self.days };
        let episodes = session.archivist.list_episodes(&asked).await?;
        if self.json {
            console.print_json(&episodes)?;
        } else if episodes.is_empty() {
            console.print_note("no episodes");
        } else {
            build_episode_table(&episodes, session).print_to(console)?;
        }
        Ok(CommandExit::Done)
    }
}

fn build_episode_table(episodes: &[Episode], session: &CommandContext) -> TextTable {
    let mut table = TextTable::new([
        TableColumn::text("Session", ColumnVisibility::UntilNarrow(2)),
        TableColumn::text("Task", ColumnVisibility::UntilNarrow(3)),
        TableColumn::text("Kind", ColumnVisibility::UntilNarrow(1)),
        TableColumn::text("Status", ColumnVisibility::Always),
        TableColumn::number("Age", ColumnVisibility::Always),
        TableColumn::text("Summary", ColumnVisibility::Always),
    ]);
    for episode in episodes {
        table.add_row([
            episode.session_id.to_string(),
            episode.task_id.clone().unwrap_or_else(|| "-".to_owned()),
            episode.kind.to_string(),
            episode.status.to_string(),
            format_age(episode.finished_at, session.now),
            episode.summary.clone(),
        ]);
    }
    table
}
