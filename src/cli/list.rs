//! `archivist list`: the lessons in a table.

use anyhow::Result;
use clap::Args;

use super::arguments::word;
use super::console::Console;
use super::failure::Exit;
use super::lesson::name;
use super::prose::age;
use super::session::Session;
use super::table::{Column, Stay, Table};
use crate::desk::{LessonFilter, known_at};
use crate::domain::{MemoryCategory, MemoryKind, MemoryScope};
use crate::memory::{Lesson, Which};

const EXAMPLES: &str = "\
Examples:
  archivist list
  archivist list --kind decision --limit 20
  archivist list --all --json | jq '.[].summary'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct List {
    /// Retired lessons too
    #[arg(long)]
    all: bool,
    /// Only this scope
    #[arg(long, value_parser = word::<MemoryScope>(MemoryScope::WORDS))]
    scope: Option<MemoryScope>,
    /// Only this kind
    #[arg(long, value_parser = word::<MemoryKind>(MemoryKind::WORDS))]
    kind: Option<MemoryKind>,
    /// Only this category
    #[arg(long, value_parser = word::<MemoryCategory>(MemoryCategory::WORDS))]
    category: Option<MemoryCategory>,
    /// Only lessons with this tag; with all of them, if given more than once
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// At most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print the lessons as JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let mut lessons = session.desk.lessons(&self.filter()).await?;
        lessons.truncate(self.limit.unwrap_or(usize::MAX));
        if self.json {
            console.json(&lessons)?;
        } else if lessons.is_empty() {
            console.note("no lessons");
        } else {
            self.table(&lessons, session).print(console)?;
        }
        Ok(Exit::Done)
    }

    fn filter(&self) -> LessonFilter {
        LessonFilter {
            scope: self.scope.clone(),
            kind: self.kind.clone(),
            category: self.category.clone(),
            tags: self.tags.clone(),
            ..LessonFilter::of(if self.all { Which::All } else { Which::Live })
        }
    }

    fn table(&self, lessons: &[Lesson], session: &Session) -> Table {
        let state = self.all.then_some(Column::text("State", Stay::Always));
        let columns = [
            Some(Column::text("ID", Stay::Always)),
            state,
            Some(Column::text("Kind", Stay::UntilNarrow(2))),
            Some(Column::text("Category", Stay::UntilNarrow(1))),
            Some(Column::number("Imp", Stay::UntilNarrow(5))),
            Some(Column::number("Seen", Stay::UntilNarrow(4))),
            Some(Column::number("Used", Stay::UntilNarrow(3))),
            Some(Column::number("Age", Stay::UntilNarrow(6))),
            Some(Column::text("Summary", Stay::Always)),
        ];
        let mut table = Table::new(columns.into_iter().flatten().collect::<Vec<_>>());
        for lesson in lessons {
            let memory = &lesson.memory;
            let state = state.map(|_| memory.state.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string));
            let cells = [
                Some(name(memory).to_owned()),
                state,
                Some(memory.kind.to_string()),
                Some(memory.category.to_string()),
                Some(memory.importance.to_string()),
                Some(lesson.counters.sightings.to_string()),
                Some(lesson.counters.exposures.to_string()),
                Some(age(known_at(lesson), session.now)),
                Some(memory.summary.clone()),
            ];
            table.row(cells.into_iter().flatten());
        }
        table
    }
}
