//! A page under construction: every text that goes onto it is cleaned and folded to its width here and nowhere else.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::prose::{fold, width};
use super::ink::Ink;
use super::rows::shown;

/// How far the lines of a section stand in.
const INDENT: usize = 2;
/// Where the values of entries begin.
const LABEL: usize = 12;
/// What is left of a line is never less than this, however narrow the screen.
const LEAST_ROOM: usize = 8;

/// Lines under construction.
#[derive(Debug)]
pub(super) struct Sheet {
    lines: Vec<Line<'static>>,
    columns: usize,
    ink: Ink,
}

impl Sheet {
    pub(super) fn new(columns: u16, ink: Ink) -> Self {
        Self { lines: Vec::new(), columns: usize::from(columns).max(LEAST_ROOM), ink }
    }

    pub(super) fn lines(self) -> Vec<Line<'static>> {
        self.lines
    }

    pub(super) fn ink(&self) -> Ink {
        self.ink
    }

    /// A paragraph.
    pub(super) fn text(&mut self, text: &str, style: Style) {
        self.hang(0, ("", style), (text, style));
    }

    /// The same within a section.
    pub(super) fn indented(&mut self, text: &str, style: Style) {
        self.hang(INDENT, ("", style), (text, style));
    }

    /// The same, further in.
    pub(super) fn deeper(&mut self, text: &str, style: Style) {
        self.hang(2 * INDENT, ("", style), (text, style));
    }

    /// A label and its value; nothing at all where there is no value.
    pub(super) fn entry(&mut self, label: &str, value: &str) {
        self.marked(label, value, Style::new());
    }

    /// The same where the value stands out.
    pub(super) fn marked(&mut self, label: &str, value: &str, style: Style) {
        if !shown(value).is_empty() {
            self.hang(0, (&format!("{label:LABEL$}"), self.ink.faint()), (value, style));
        }
    }

    /// A key and what it does.
    pub(super) fn key(&mut self, key: &str, does: &str) {
        self.hang(0, (&format!("{key:LABEL$}"), self.ink.title()), (does, Style::new()));
    }

    /// Something of a section that has a moment or a word of its own.
    pub(super) fn dated(&mut self, label: &str, text: &str) {
        self.hang(INDENT, (&format!("{}  ", shown(label)), self.ink.faint()), (text, Style::new()));
    }

    /// A picture: it is cut, never folded.
    pub(super) fn picture(&mut self, drawn: &str, style: Style) {
        self.lines.push(Line::from(vec![Span::raw(" ".repeat(INDENT)), Span::styled(drawn.to_owned(), style)]));
    }

    /// What the lines that follow are about.
    pub(super) fn section(&mut self, title: &str) {
        self.gap();
        self.text(title, self.ink.heading());
    }

    /// An empty line, except on top.
    pub(super) fn gap(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
    }

    /// A label and a text whose further lines stand under its first. Where that leaves too little room, the label has a
    /// line of its own.
    fn hang(&mut self, indent: usize, (label, of_label): (&str, Style), (text, style): (&str, Style)) {
        let mut hanging = indent + width(label);
        let mut begin = vec![Span::raw(" ".repeat(indent)), Span::styled(label.to_owned(), of_label)];
        if self.columns < hanging + LEAST_ROOM.max(self.columns / 3) && !label.is_empty() {
            self.lines.push(Line::from(std::mem::take(&mut begin)));
            hanging = indent + INDENT;
            begin.push(Span::raw(" ".repeat(hanging)));
        }
        for line in fold(&shown(text), self.columns.saturating_sub(hanging).max(LEAST_ROOM)) {
            begin.push(Span::styled(line, style));
            self.lines.push(Line::from(std::mem::take(&mut begin)));
            begin.push(Span::raw(" ".repeat(hanging)));
        }
    }
}
