//! A table that fits the terminal: no line wraps, the last column takes what is left.

use super::console::{Console, Style};
use super::failure::Failure;
use super::prose::{cut, one_line, width};

const GAP: &str = "  ";
/// With less room than this for the last column, other columns make way.
const LEAST_LAST_COLUMN: usize = 24;

/// A column's heading and how it behaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) heading: &'static str,
    pub(super) side: Side,
    pub(super) stay: Stay,
}

/// On which side the texts of a column line up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Whether a column is there on a narrow terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stay {
    Always,
    /// The column with the lowest number goes first.
    UntilNarrow(u8),
}

impl Column {
    pub(super) const fn text(heading: &'static str, stay: Stay) -> Self {
        Self { heading, side: Side::Left, stay }
    }

    pub(super) const fn number(heading: &'static str, stay: Stay) -> Self {
        Self { heading, side: Side::Right, stay }
    }
}

/// Rows under headings.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row; its cells stand in the order of the columns and may hold anything.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// Prints it, if there is anything in it.
    pub(super) fn print(&self, console: &mut Console) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let shown = self.shown(console.columns());
        let headings: Vec<String> = self.columns.iter().map(|column| column.heading.to_owned()).collect();
        let header = self.line(&headings, &shown);
        console.line(&console.styled(Style::Dim, &header))?;
        for row in &self.rows {
            console.line(&self.line(row, &shown))?;
        }
        Ok(())
    }

    /// The columns that fit, each with its width.
    fn shown(&self, room: usize) -> Vec<(usize, usize)> {
        let mut shown: Vec<(usize, usize)> = (0..self.columns.len()).map(|at| (at, self.widest(at))).collect();
        loop {
            let Some(&(_, last)) = shown.last() else { return shown };
            let before: usize = shown.iter().rev().skip(1).map(|(_, wide)| wide + GAP.len()).sum();
            let left = room.saturating_sub(before);
            let goes = if left < last.min(LEAST_LAST_COLUMN) { self.first_to_go(&shown) } else { None };
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

    fn first_to_go(&self, shown: &[(usize, usize)]) -> Option<usize> {
        let rank = |&(at, _): &(usize, usize)| match self.columns.get(at)?.stay {
            Stay::Always => None,
            Stay::UntilNarrow(rank) => Some((rank, at)),
        };
        shown.iter().filter_map(rank).min().map(|(_, at)| at)
    }

    fn widest(&self, at: usize) -> usize {
        let heading = self.columns.get(at).map_or(0, |column| width(column.heading));
        self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or_default().max(heading)
    }

    fn line(&self, cells: &[String], shown: &[(usize, usize)]) -> String {
        let mut line = String::new();
        for &(at, wide) in shown {
            let text = cut(cells.get(at).map_or("", String::as_str), wide);
            let space = " ".repeat(wide.saturating_sub(width(&text)));
            let right = self.columns.get(at).is_some_and(|column| column.side == Side::Right);
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
