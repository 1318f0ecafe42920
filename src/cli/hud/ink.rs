//! How things stand out. Only the terminal's own colours, and none of the background: what is readable in a terminal
//! stays readable, be it light or dark.

use ratatui::style::{Color, Modifier, Style};

use super::super::console::Paint;

/// What texts are drawn with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink(pub(super) Paint);

impl Ink {
    /// What a pane or a page is called.
    pub(super) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What a section of a page is called.
    pub(super) fn heading(self) -> Style {
        self.coloured(Color::Cyan)
    }

    /// What is looked at last.
    pub(super) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The line that keys speak of.
    pub(super) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What is well.
    pub(super) fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    /// What a person should look at.
    pub(super) fn care(self) -> Style {
        self.coloured(Color::Yellow)
    }

    /// What went wrong.
    pub(super) fn alarm(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn coloured(self, colour: Color) -> Style {
        match self.0 {
            Paint::Colour => Style::new().fg(colour),
            Paint::Plain => Style::new(),
        }
    }
}
