//! Draws the last line of the screen: a question, the result of a decision, or key hints.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::text_format::{cut_to_width, text_width};
use super::layout::FocusedPane;
use super::model::{DecisionVerb, FooterNote, HudDecision, HudModel, HudTab, InputMode};
use super::rows::clean_line;
use super::view::draw_right_aligned;

/// Draws the footer, and returns the column of the text cursor if there is one.
pub(super) fn draw_footer(buffer: &mut Buffer, area: Rect, model: &HudModel) -> Option<u16> {
    let room = usize::from(area.width).saturating_sub(1);
    let line = match (&model.mode, &model.note, &model.problem) {
        (InputMode::Search, _, _) => return Some(draw_search(buffer, area, model)),
        (InputMode::Confirm(order), _, _) => render_confirmation(order, room, model),
        (_, Some(FooterNote::Bad(text)), _) | (_, None, Some(text)) => {
            Line::styled(cut_to_width(&clean_line(text), room), model.ink.error_style())
        }
        (_, Some(FooterNote::Good(text)), _) => {
            Line::styled(cut_to_width(&clean_line(text), room), model.ink.success_style())
        }
        (InputMode::Help(_), None, None) => {
            render_hints(&[("up down", "turn"), ("any other key", "back")], room, model)
        }
        (InputMode::Browse, None, None) => render_hints(&browsing_hints(model), room, model),
    };
    buffer.set_line(area.x + 1, area.y, &line, area.width.saturating_sub(1));
    None
}

/// Draws the end of the search text, so that the cursor is always visible.
fn draw_search(buffer: &mut Buffer, area: Rect, model: &HudModel) -> u16 {
    let room = usize::from(area.width).saturating_sub(4);
    let mut text = model.search.as_str();
    while text_width(text) > room {
        let mut rest = text.chars();
        rest.next();
        text = rest.as_str();
    }
    let line = Line::from(vec![Span::styled("/ ", model.ink.title_style()), Span::raw(text.to_owned())]);
    buffer.set_line(area.x + 1, area.y, &line, area.width.saturating_sub(1));
    let column = u16::try_from(3 + text_width(text)).unwrap_or(u16::MAX).min(area.width.saturating_sub(1));
    let told = "Enter keeps it, Esc drops it ";
    if usize::from(column) + text_width(told) + 2 < usize::from(area.width) {
        draw_right_aligned(buffer, area, told, model.ink.faint_style());
    }
    column
}

/// Returns the question whether a decision is meant, and its consequence where there is room.
fn render_confirmation(order: &HudDecision, room: usize, model: &HudModel) -> Line<'static> {
    let (verb, means) = match order.verb {
        DecisionVerb::Approve => ("Approve", "It is given to agents from now on."),
        DecisionVerb::Reject => ("Reject", "It goes out of use and is not learned again."),
        DecisionVerb::Promote => ("Promote", "It is given from now on and does not grow old."),
        DecisionVerb::Forget => ("Forget", "It goes out of use and can be restored."),
    };
    let (ask, answers) = (format!("{verb} {}?", order.name), " y/n");
    let means = if text_width(&ask) + text_width(means) + text_width(answers) < room {
        format!(" {means}")
    } else {
        String::new()
    };
    let ask = cut_to_width(&ask, room.saturating_sub(text_width(answers)));
    Line::from(vec![
        Span::styled(ask, model.ink.title_style()),
        Span::raw(means),
        Span::styled(answers, model.ink.title_style()),
    ])
}

/// Returns the keys that work in this place, the most useful first.
fn browsing_hints(model: &HudModel) -> Vec<(&'static str, &'static str)> {
    let mut hints = vec![("?", "help"), ("q", "quit")];
    match model.focus {
        FocusedPane::Page => hints.extend([("Esc", "back"), ("up down", "turn")]),
        FocusedPane::List => hints.extend([("Enter", "read"), ("/", "search")]),
    }
    match model.view {
        HudTab::Lessons => hints.extend([("p", "promote"), ("r", "reject"), ("f", "forget")]),
        HudTab::Quarantine => hints.extend([("a", "approve"), ("r", "reject"), ("f", "forget")]),
        HudTab::Sessions | HudTab::Queue => {}
    }
    hints.push(("Tab", "next list"));
    hints
}

/// Renders as many key hints as fit.
fn render_hints(hints: &[(&'static str, &'static str)], room: usize, model: &HudModel) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for (key, does) in hints {
        let gap = if used == 0 { 0 } else { 3 };
        let wide = gap + text_width(key) + 1 + text_width(does);
        if used + wide > room {
            break;
        }
        used += wide;
        spans.extend([
            Span::raw(" ".repeat(gap)),
            Span::styled(*key, model.ink.title_style()),
            Span::styled(format!(" {does}"), Style::new().patch(model.ink.faint_style())),
        ]);
    }
    Line::from(spans)
}
