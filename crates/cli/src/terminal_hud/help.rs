//! The help page that explains the keys.

use ratatui::text::Line;

use super::page_builder::PageBuilder;
use super::styles::HudTheme;

/// The screen lines that the help page does not use: the tabs, its title and the footer.
pub(super) const AROUND: u16 = 3;

const KEYS: [(&str, &str); 14] = [
    ("up down j k", "move, or turn the page"),
    ("PgUp PgDn", "the same, by a screen"),
    ("Home End", "to the first or the last"),
    ("Tab 1 2 3 4", "Lessons, Sessions, Quarantine, Queue"),
    ("Enter", "read what is selected"),
    ("Esc", "back; show everything again"),
    ("/", "search this list"),
    ("p", "promote: you stand behind a lesson"),
    ("a", "approve: let it out of quarantine"),
    ("r", "reject: never to be learned again"),
    ("f", "forget: out of use, can be restored"),
    ("?", "this page"),
    ("q Ctrl-C", "quit"),
    ("*", "marks what came while you watched"),
];

/// Returns the help page, one entry per key, for a screen of this width.
pub(super) fn help_lines(columns: u16, ink: HudTheme) -> Vec<Line<'static>> {
    let mut sheet = PageBuilder::new(columns.saturating_sub(1), ink);
    KEYS.iter().for_each(|(key, does)| sheet.add_key(key, does));
    sheet.into_lines()
}
