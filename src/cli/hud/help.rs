//! What the keys do, for a person.

use ratatui::text::Line;

use super::ink::Ink;
use super::sheet::Sheet;

/// The lines of the screen that the help leaves: the tabs, its title and the foot.
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

/// One entry a key, on a screen of so many columns.
pub(super) fn lines(columns: u16, ink: Ink) -> Vec<Line<'static>> {
    let mut sheet = Sheet::new(columns.saturating_sub(1), ink);
    KEYS.iter().for_each(|(key, does)| sheet.key(key, does));
    sheet.lines()
}
