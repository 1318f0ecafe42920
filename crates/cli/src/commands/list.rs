//! `archivist list`: prints the lessons in a table.

use anyhow::Result;
use clap::Args;

use crate::arguments::word_parser;
use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::lesson_format::display_name;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::format_age;
use archivist_core::domain::{MemoryCategory, MemoryKind, MemoryScope};
use archivist_core::memory::{Lesson, LessonStateFilter};
use archivist_core::service::{LessonFilter, last_confirmed_at};

/// The number of lessons that a table shows without `--limit`.
const TABLE_ROWS: usize = 100;

const EXAMPLES: &str = "\
Examples:
  archivist list
  archivist list --kind decision --limit 20
  archivist list --all --json | jq '.[].summary'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListCommand {
    /// Retired lessons too
    #[arg(long)]
    all: bool,
    /// Only this scope
    #[arg(long, value_parser = word_parser::<MemoryScope>(MemoryScope::WORDS))]
    scope: Option<MemoryScope>,
    /// Only this kind
    #[arg(long, value_parser = word_parser::<MemoryKind>(MemoryKind::WORDS))]
    kind: Option<MemoryKind>,
    /// Only this category
    #[arg(long, value_parser = word_parser::<MemoryCategory>(MemoryCategory::WORDS))]
    category: Option<MemoryCategory>,
    /// Only lessons with this tag; with all of them, if given more than once
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// At most this many; without it a table shows 100, and JSON all
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print the lessons as JSON
    #[arg(long)]
    json: bool,
}

impl ListCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let lessons = session.archivist.list_lessons(&self.lesson_filter()).await?;
        if self.json {
            console.print_json(&lessons)?;
        } else if lessons.is_empty() {
            console.print_note("no lessons");
        } else {
            self.build_lesson_table(&lessons, session).print_to(console)?;
            if self.limit.is_none() && lessons.len() == TABLE_ROWS {
                console.print_note(&format!("these {TABLE_ROWS} were confirmed last; `--limit N` shows more"));
            }
        }
        Ok(CommandExit::Done)
    }

    fn lesson_filter(&self) -> LessonFilter {
        LessonFilter {
            scope: self.scope.clone(),
            kind: self.kind.clone(),
            category: self.category.clone(),
            tags: self.tags.clone(),
            limit: self.limit.or((!self.json).then_some(TABLE_ROWS)),
            ..LessonFilter::from_selection(if self.all { LessonStateFilter::All } else { LessonStateFilter::Live })
        }
    }

    fn build_lesson_table(&self, lessons: &[Lesson], session: &CommandContext) -> TextTable {
        let state = self.all.then_some(TableColumn::text("State", ColumnVisibility::Always));
        let columns = [
            Some(TableColumn::text("ID", ColumnVisibility::Always)),
            state,
            Some(TableColumn::text("Kind", ColumnVisibility::UntilNarrow(2))),
            Some(TableColumn::text("Category", ColumnVisibility::UntilNarrow(1))),
            Some(TableColumn::number("Imp", ColumnVisibility::UntilNarrow(5))),
            Some(TableColumn::number("Seen", ColumnVisibility::UntilNarrow(4))),
            Some(TableColumn::number("Used", ColumnVisibility::UntilNarrow(3))),
            Some(TableColumn::number("Age", ColumnVisibility::UntilNarrow(6))),
            Some(TableColumn::text("Summary", ColumnVisibility::Always)),
        ];
        let mut table = TextTable::new(columns.into_iter().flatten().collect::<Vec<_>>());
        for lesson in lessons {
            let memory = &lesson.memory;
            let state = state.map(|_| memory.state.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string));
            let cells = [
                Some(display_name(memory).to_owned()),
                state,
                Some(memory.kind.to_string()),
                Some(memory.category.to_string()),
                Some(memory.importance.to_string()),
                Some(lesson.counters.sightings.to_string()),
                Some(lesson.counters.exposures.to_string()),
                Some(format_age(last_confirmed_at(lesson), session.now)),
                Some(memory.summary.clone()),
            ];
            table.add_row(cells.into_iter().flatten());
        }
        table
    }
}
