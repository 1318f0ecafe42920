//! Text styles of the terminal display. They use only the terminal's own colours and no background, so text stays
//! readable on light and dark terminals.

use ratatui::style::{Color, Modifier, Style};

use super::super::console::ColorMode;

/// The text styles, with or without colour.
#[derive(Debug, Clone, Copy)]
pub(super) struct HudTheme(pub(super) ColorMode);

impl HudTheme {
    /// Returns the style of pane and page titles.
    pub(super) fn title_style(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of section headings.
    pub(super) fn heading_style(self) -> Style {
        self.colored_style(Color::Cyan)
    }

    /// Returns the style of less important text.
    pub(super) fn faint_style(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Returns the style of the selected line.
    pub(super) fn selected_style(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Returns the style of success and good states.
    pub(super) fn success_style(self) -> Style {
        self.colored_style(Color::Green)
    }

    /// Returns the style of text that needs a person's attention.
    pub(super) fn caution_style(self) -> Style {
        self.colored_style(Color::Yellow)
    }

    /// Returns the style of errors.
    pub(super) fn error_style(self) -> Style {
        self.colored_style(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn colored_style(self, colour: Color) -> Style {
        match self.0 {
            ColorMode::Colour => Style::new().fg(colour),
            ColorMode::Plain => Style::new(),
        }
    }
}
