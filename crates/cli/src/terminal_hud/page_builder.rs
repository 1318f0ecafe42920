//! Builds a page. Every text on a page is cleaned and wrapped to its width here and nowhere else.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::text_format::{text_width, wrap_strictly};
use super::rows::clean_line;
use super::styles::HudTheme;

/// The indentation of the lines of a section.
const INDENT: usize = 2;
/// The width of labels, after which the values of entries begin.
const LABEL: usize = 12;
/// The least number of columns that wrapped text gets.
const LEAST_ROOM: usize = 8;

/// A page that is being built.
#[derive(Debug)]
pub(super) struct PageBuilder {
    lines: Vec<Line<'static>>,
    columns: usize,
    ink: HudTheme,
}

impl PageBuilder {
    pub(super) fn new(columns: u16, ink: HudTheme) -> Self {
        Self { lines: Vec::new(), columns: usize::from(columns).max(LEAST_ROOM), ink }
    }

    pub(super) fn into_lines(self) -> Vec<Line<'static>> {
        self.lines
    }

    pub(super) fn theme(&self) -> HudTheme {
        self.ink
    }

    /// Adds a paragraph.
    pub(super) fn add_text(&mut self, text: &str, style: Style) {
        self.add_hanging(0, ("", style), (text, style));
    }

    /// Adds a paragraph within a section.
    pub(super) fn add_indented(&mut self, text: &str, style: Style) {
        self.add_hanging(INDENT, ("", style), (text, style));
    }

    /// Adds a paragraph with double indentation.
    pub(super) fn add_twice_indented(&mut self, text: &str, style: Style) {
        self.add_hanging(2 * INDENT, ("", style), (text, style));
    }

    /// Adds a label and its value, or nothing if the value is empty.
    pub(super) fn add_entry(&mut self, label: &str, value: &str) {
        self.add_styled_entry(label, value, Style::new());
    }

    /// Adds a label and its value in a style, or nothing if the value is empty.
    pub(super) fn add_styled_entry(&mut self, label: &str, value: &str, style: Style) {
        if !clean_line(value).is_empty() {
            self.add_hanging(0, (&format!("{label:LABEL$}"), self.ink.faint_style()), (value, style));
        }
    }

    /// Adds a key and its effect.
    pub(super) fn add_key(&mut self, key: &str, does: &str) {
        self.add_hanging(0, (&format!("{key:LABEL$}"), self.ink.title_style()), (does, Style::new()));
    }

    /// Adds a text of a section after a time or another label.
    pub(super) fn add_labelled(&mut self, label: &str, text: &str) {
        self.add_hanging(INDENT, (&format!("{}  ", clean_line(label)), self.ink.faint_style()), (text, Style::new()));
    }

    /// Adds a drawing as it is; it is never wrapped.
    pub(super) fn add_drawing(&mut self, drawn: &str, style: Style) {
        self.lines.push(Line::from(vec![Span::raw(" ".repeat(INDENT)), Span::styled(drawn.to_owned(), style)]));
    }

    /// Adds a gap and the heading of a section.
    pub(super) fn add_section(&mut self, title: &str) {
        self.add_gap();
        self.add_text(title, self.ink.heading_style());
    }

    /// Adds an empty line, except at the top.
    pub(super) fn add_gap(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
    }

    /// Adds a label and a text with hanging indentation. Where that leaves too little room, the label gets a line of
    /// its own.
    fn add_hanging(&mut self, indent: usize, (label, of_label): (&str, Style), (text, style): (&str, Style)) {
        let mut hanging = indent + text_width(label);
        let mut begin = vec![Span::raw(" ".repeat(indent)), Span::styled(label.to_owned(), of_label)];
        if self.columns < hanging + LEAST_ROOM.max(self.columns / 3) && !label.is_empty() {
            self.lines.push(Line::from(std::mem::take(&mut begin)));
            hanging = indent + INDENT;
            begin.push(Span::raw(" ".repeat(hanging)));
        }
        for line in wrap_strictly(&clean_line(text), self.columns.saturating_sub(hanging).max(LEAST_ROOM)) {
            begin.push(Span::styled(line, style));
            self.lines.push(Line::from(std::mem::take(&mut begin)));
            begin.push(Span::raw(" ".repeat(hanging)));
        }
    }
}
