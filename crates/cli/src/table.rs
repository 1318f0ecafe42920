//! A table that fits the terminal: no line wraps, and the last column takes the remaining width.

use super::cli_error::CliError;
use super::console::{Console, TextStyle};
use super::text_format::{cut_to_width, one_line, text_width};

const GAP: &str = "  ";
/// The width of the last column below which other columns are dropped.
const LEAST_LAST_COLUMN: usize = 24;

/// A column's heading, alignment and visibility.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableColumn {
    pub(super) heading: &'static str,
    pub(super) side: ColumnAlignment,
    pub(super) stay: ColumnVisibility,
}

/// The side on which the texts of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnAlignment {
    Left,
    Right,
}

/// Tells whether a column is shown on a narrow terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnVisibility {
    Always,
    /// Dropped on narrow terminals; the lowest number goes first.
    UntilNarrow(u8),
}

impl TableColumn {
    pub(super) const fn text(heading: &'static str, stay: ColumnVisibility) -> Self {
        Self { heading, side: ColumnAlignment::Left, stay }
    }

    pub(super) const fn number(heading: &'static str, stay: ColumnVisibility) -> Self {
        Self { heading, side: ColumnAlignment::Right, stay }
    }
}

/// A table of rows under headings.
#[derive(Debug)]
pub(super) struct TextTable {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(super) fn new(columns: impl Into<Vec<TableColumn>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row, with its cells in the order of the columns. Cells may hold any text.
    pub(super) fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// Prints the table, unless it has no rows.
    pub(super) fn print_to(&self, console: &mut Console) -> Result<(), CliError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let shown = self.fit_columns(console.columns());
        let headings: Vec<String> = self.columns.iter().map(|column| column.heading.to_owned()).collect();
        let header = self.render_row(&headings, &shown);
        console.print_line(&console.style_text(TextStyle::Dim, &header))?;
        for row in &self.rows {
            console.print_line(&self.render_row(row, &shown))?;
        }
        Ok(())
    }

    /// Returns the columns that fit, each with its width.
    fn fit_columns(&self, room: usize) -> Vec<(usize, usize)> {
        let mut shown: Vec<(usize, usize)> = (0..self.columns.len()).map(|at| (at, self.column_width(at))).collect();
        loop {
            let Some(&(_, last)) = shown.last() else { return shown };
            let before: usize = shown.iter().rev().skip(1).map(|(_, wide)| wide + GAP.len()).sum();
            let left = room.saturating_sub(before);
            let goes = if left < last.min(LEAST_LAST_COLUMN) { self.first_to_drop(&shown) } else { None };
            match goes {
                Some(at) => shown.retain(|&(column, _)| column != at),
                None => {
                    if let Some((_, last)) = shown.last_mut() {
                        *last = left.max(1);
                    }
                    return shown;
                }
            }
        }
    }

    fn first_to_drop(&self, shown: &[(usize, usize)]) -> Option<usize> {
        let rank = |&(at, _): &(usize, usize)| match self.columns.get(at)?.stay {
            ColumnVisibility::Always => None,
            ColumnVisibility::UntilNarrow(rank) => Some((rank, at)),
        };
        shown.iter().filter_map(rank).min().map(|(_, at)| at)
    }

    fn column_width(&self, at: usize) -> usize {
        let heading = self.columns.get(at).map_or(0, |column| text_width(column.heading));
        self.rows
            .iter()
            .filter_map(|row| row.get(at))
            .map(|cell| text_width(cell))
            .max()
            .unwrap_or_default()
            .max(heading)
    }

    fn render_row(&self, cells: &[String], shown: &[(usize, usize)]) -> String {
        let mut line = String::new();
        for &(at, wide) in shown {
            let text = cut_to_width(cells.get(at).map_or("", String::as_str), wide);
            let space = " ".repeat(wide.saturating_sub(text_width(&text)));
            let right = self.columns.get(at).is_some_and(|column| column.side == ColumnAlignment::Right);
            let [before, after] = if right { [space.as_str(), ""] } else { ["", space.as_str()] };
            if !line.is_empty() {
                line.push_str(GAP);
            }
            line.extend([before, &text, after]);
        }
        line.truncate(line.trim_end().len());
        line
    }
}
