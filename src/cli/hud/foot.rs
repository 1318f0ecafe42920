//! The last line: what is asked, what was done, or which keys do something.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::prose::{cut, width};
use super::layout::Focus;
use super::model::{Mode, Model, Note, Order, Verb, View};
use super::rows::shown;
use super::view::right;

/// Draws it, and says in which column the cursor stands, where there is one.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, model: &Model) -> Option<u16> {
    let room = usize::from(area.width).saturating_sub(1);
    let line = match (&model.mode, &model.note, &model.trouble) {
        (Mode::Search, _, _) => return Some(search(buffer, area, model)),
        (Mode::Confirm(order), _, _) => question(order, room, model),
        (_, Some(Note::Bad(text)), _) | (_, None, Some(text)) => {
            Line::styled(cut(&shown(text), room), model.ink.alarm())
        }
        (_, Some(Note::Good(text)), _) => Line::styled(cut(&shown(text), room), model.ink.good()),
        (Mode::Help(_), None, None) => hints(&[("up down", "turn"), ("any other key", "back")], room, model),
        (Mode::Browse, None, None) => hints(&of_browsing(model), room, model),
    };
    buffer.set_line(area.x + 1, area.y, &line, area.width.saturating_sub(1));
    None
}

/// The end of what is sought, so that the cursor is always in sight.
fn search(buffer: &mut Buffer, area: Rect, model: &Model) -> u16 {
    let room = usize::from(area.width).saturating_sub(4);
    let mut text = model.search.as_str();
    while width(text) > room {
        let mut rest = text.chars();
        rest.next();
        text = rest.as_str();
    }
    let line = Line::from(vec![Span::styled("/ ", model.ink.title()), Span::raw(text.to_owned())]);
    buffer.set_line(area.x + 1, area.y, &line, area.width.saturating_sub(1));
    let column = u16::try_from(3 + width(text)).unwrap_or(u16::MAX).min(area.width.saturating_sub(1));
    let told = "Enter keeps it, Esc drops it ";
    if usize::from(column) + width(told) + 2 < usize::from(area.width) {
        right(buffer, area, told, model.ink.faint());
    }
    column
}

/// Whether a decision is meant; what it means where there is room to say so.
fn question(order: &Order, room: usize, model: &Model) -> Line<'static> {
    let (verb, means) = match order.verb {
        Verb::Approve => ("Approve", "It is given to agents from now on."),
        Verb::Reject => ("Reject", "It goes out of use and is not learned again."),
        Verb::Promote => ("Promote", "It is given from now on and does not grow old."),
        Verb::Forget => ("Forget", "It goes out of use and can be restored."),
    };
    let (ask, answers) = (format!("{verb} {}?", order.name), " y/n");
    let means = if width(&ask) + width(means) + width(answers) < room { format!(" {means}") } else { String::new() };
    let ask = cut(&ask, room.saturating_sub(width(answers)));
    Line::from(vec![Span::styled(ask, model.ink.title()), Span::raw(means), Span::styled(answers, model.ink.title())])
}

/// What keys do here, the most wanted first.
fn of_browsing(model: &Model) -> Vec<(&'static str, &'static str)> {
    let mut hints = vec![("?", "help"), ("q", "quit")];
    match model.focus {
        Focus::Page => hints.extend([("Esc", "back"), ("up down", "turn")]),
        Focus::List => hints.extend([("Enter", "read"), ("/", "search")]),
    }
    match model.view {
        View::Lessons => hints.extend([("p", "promote"), ("r", "reject"), ("f", "forget")]),
        View::Quarantine => hints.extend([("a", "approve"), ("r", "reject"), ("f", "forget")]),
        View::Sessions | View::Queue => {}
    }
    hints.push(("Tab", "next list"));
    hints
}

/// As many as there is room for.
fn hints(hints: &[(&'static str, &'static str)], room: usize, model: &Model) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for (key, does) in hints {
        let gap = if used == 0 { 0 } else { 3 };
        let wide = gap + width(key) + 1 + width(does);
        if used + wide > room {
            break;
        }
        used += wide;
        spans.extend([
            Span::raw(" ".repeat(gap)),
            Span::styled(*key, model.ink.title()),
            Span::styled(format!(" {does}"), Style::new().patch(model.ink.faint())),
        ]);
    }
    Line::from(spans)
}
