//! `archivist episodes`: the runs that lessons were learned from.

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::Exit;
use super::prose::age;
use super::session::Session;
use super::table::{Column, Stay, Table};
use crate::desk::EpisodeQuestion;
use crate::domain::{Episode, SessionId};

const EXAMPLES: &str = "\
Examples:
  archivist episodes --days 7
  archivist episodes --task auth-42 --json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Episodes {
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

impl Episodes {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let asked = EpisodeQuestion { session: self.session.clone(), task: self.task.clone(), days: self.days };
        let episodes = session.desk.episodes(&asked, session.now).await?;
        if self.json {
            console.json(&episodes)?;
        } else if episodes.is_empty() {
            console.note("no episodes");
        } else {
            table(&episodes, session).print(console)?;
        }
        Ok(Exit::Done)
    }
}

fn table(episodes: &[Episode], session: &Session) -> Table {
    let mut table = Table::new([
        Column::text("Session", Stay::UntilNarrow(2)),
        Column::text("Task", Stay::UntilNarrow(3)),
        Column::text("Kind", Stay::UntilNarrow(1)),
        Column::text("Status", Stay::Always),
        Column::number("Age", Stay::Always),
        Column::text("Summary", Stay::Always),
    ]);
    for episode in episodes {
        table.row([
            episode.session_id.to_string(),
            episode.task_id.clone().unwrap_or_else(|| "-".to_owned()),
            episode.kind.to_string(),
            episode.status.to_string(),
            age(episode.finished_at, session.now),
            episode.summary.clone(),
        ]);
    }
    table
}
