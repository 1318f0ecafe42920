//! Draws the display. Pure: the same model gives the same screen.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::prose::{age, count, cut, fold, width};
use super::feed::{self, Weight};
use super::foot;
use super::help;
use super::layout::{Focus, LEAST, Layout, Pane};
use super::model::{Mode, Model, View};
use super::rows::{Known, Row, Subject};
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;

/// What an age takes.
const AGE_COLUMNS: usize = 4;
/// A longer name is cut.
const WIDEST_NAME: usize = 10;
/// What a time of day takes, with the gap behind it.
const TIME_COLUMNS: usize = 10;

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, model: &Model) {
    let Some(layout) = model.layout() else {
        return too_small(frame.buffer_mut(), model);
    };
    let buffer = frame.buffer_mut();
    tabs(buffer, layout.tabs, model);
    if let Mode::Help(top) = model.mode {
        help_page(buffer, model, top);
    } else {
        layout.list.iter().for_each(|pane| list(buffer, *pane, model));
        layout.page.iter().for_each(|pane| page(buffer, *pane, model));
        layout.feed.iter().for_each(|pane| live(buffer, *pane, model));
        joints(buffer, &layout, model);
    }
    if let Some(column) = foot::draw(buffer, layout.foot, model) {
        frame.set_cursor_position(Position::new(column, layout.foot.y));
    }
}

fn too_small(buffer: &mut Buffer, model: &Model) {
    let area = *buffer.area();
    let told = format!(
        "This terminal is {}×{}; the display needs {}×{}. q quits.",
        model.size.width, model.size.height, LEAST.width, LEAST.height
    );
    let lines = fold(&told, usize::from(area.width));
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        buffer.set_stringn(area.x, y, line, usize::from(area.width), Style::new());
    }
}

/// The views, with how much is in each, as fully as there is room; then the project.
fn tabs(buffer: &mut Buffer, area: Rect, model: &Model) {
    let tab = |view: View, place: usize, detail: Detail| {
        let is_chosen = view == model.view;
        let rows = model.rows(view);
        let star = if rows.iter().any(|row| model.fresh.contains(&row.key)) { "*" } else { "" };
        let text = match detail {
            Detail::Count => format!(" {place} {} {}{star} ", title(view), rows.len()),
            Detail::Name => format!(" {place} {}{star} ", title(view)),
            Detail::Number if is_chosen => format!(" {place} {} {}{star} ", title(view), rows.len()),
            Detail::Number => format!(" {place}{star} "),
        };
        let style = if is_chosen { model.ink.chosen().patch(model.ink.title()) } else { Style::new() };
        Span::styled(text, style)
    };
    let line = |detail: Detail| -> Line<'static> {
        View::ALL.into_iter().zip(1..).map(|(view, place)| tab(view, place, detail)).collect::<Vec<_>>().into()
    };
    let room = usize::from(area.width);
    let fits = [Detail::Count, Detail::Name, Detail::Number].map(line);
    let line = fits.iter().find(|line| line.width() <= room).or(fits.last()).cloned().unwrap_or_default();
    buffer.set_line(area.x, area.y, &line, area.width);
    let name = cut(&model.project, room.saturating_sub(line.width() + 3));
    if width(&name) > 2 {
        right(buffer, area, &format!("{name} "), model.ink.faint());
    }
}

/// How much a tab says.
#[derive(Clone, Copy)]
enum Detail {
    Count,
    Name,
    Number,
}

fn title(view: View) -> &'static str {
    match view {
        View::Lessons => "Lessons",
        View::Sessions => "Sessions",
        View::Quarantine => "Quarantine",
        View::Queue => "Queue",
    }
}

fn list(buffer: &mut Buffer, pane: Pane, model: &Model) {
    let (rows, cursor) = (model.shown(), model.cursor());
    let place = if rows.is_empty() { String::new() } else { format!("{}/{}", cursor.at + 1, rows.len()) };
    rule(buffer, pane.title, (&headline(model, rows.len()), &place), model.focus == Focus::List, model);
    if rows.is_empty() {
        let lines = fold(&nothing(model), usize::from(pane.body.width.saturating_sub(2)));
        for (y, line) in (pane.body.y..pane.body.bottom()).zip(lines) {
            buffer.set_stringn(pane.body.x + 1, y, line, usize::from(pane.body.width), model.ink.faint());
        }
        return;
    }
    let names = rows.iter().skip(cursor.top).take(usize::from(pane.body.height)).map(|row| width(&row.name));
    let name_columns = names.max().unwrap_or_default().min(WIDEST_NAME);
    for ((at, row), y) in rows.iter().enumerate().skip(cursor.top).zip(pane.body.y..pane.body.bottom()) {
        let area = Rect { y, height: 1, ..pane.body };
        draw_row(buffer, area, row, name_columns, at == cursor.at, model);
    }
}

fn draw_row(buffer: &mut Buffer, area: Rect, row: &Row, name_columns: usize, is_chosen: bool, model: &Model) {
    let is_fresh = model.fresh.contains(&row.key);
    let mark = if is_chosen {
        '>'
    } else if is_fresh {
        '*'
    } else {
        ' '
    };
    let name = cut(&row.name, name_columns);
    let gap = name_columns.saturating_sub(width(&name));
    let begin = format!("{mark} {name}{:gap$}  ", "");
    let room = usize::from(area.width).saturating_sub(width(&begin) + AGE_COLUMNS + 2);
    let style = if is_fresh { model.ink.title() } else { Style::new() };
    let line = Line::from(vec![
        Span::styled(begin, if is_chosen { Style::new() } else { model.ink.faint() }),
        Span::styled(cut(&row.text, room), style),
    ]);
    buffer.set_line(area.x, area.y, &line, area.width);
    right(buffer, area, &format!("{} ", age(row.at, model.now)), model.ink.faint());
    match (is_chosen, model.focus) {
        (true, Focus::List) => buffer.set_style(area, model.ink.chosen()),
        (true, Focus::Page) => buffer.set_style(area, model.ink.title()),
        (false, _) => {}
    }
}

/// What stands over the list.
fn headline(model: &Model, shown: usize) -> String {
    let all = model.rows(model.view).len();
    let all = match model.view {
        View::Lessons => count(all, "lesson in use", "lessons in use"),
        View::Sessions => count(all, "run", "runs"),
        View::Quarantine => count(all, "lesson to look at", "lessons to look at"),
        View::Queue => {
            let worker = if model.waiting.is_worked { "a worker runs" } else { "no worker runs" };
            format!("{}, {worker}", count(all, "job", "jobs"))
        }
    };
    match model.search.as_str() {
        "" => all,
        search => format!("{shown} of {all} with “{search}”"),
    }
}

/// What an empty list says.
fn nothing(model: &Model) -> String {
    let is_empty = model.rows(model.view).is_empty();
    match model.view {
        _ if model.known.is_none() && model.trouble.is_none() => "Reading…",
        _ if !is_empty => "Nothing here holds these words. Esc shows everything again.",
        View::Lessons => {
            "No lessons yet. `archivist init` lets agents' sessions be reflected on, `archivist add` writes one by hand."
        }
        View::Sessions => "No run was reflected on yet.",
        View::Quarantine => "Nothing waits for you. Lessons that rest on words of strangers alone come here.",
        View::Queue => "Nothing is to be done.",
    }
    .to_owned()
}

fn page(buffer: &mut Buffer, pane: Pane, model: &Model) {
    let lines = model.page();
    let place = range(model.page_top, pane.body.height, lines.len());
    let name = match model.selected() {
        Some(Row { name, subject: Subject::Lesson { .. }, .. }) => name,
        Some(Row { subject: Subject::Run(_), .. }) => "Run",
        Some(Row { subject: Subject::Job(_), .. }) => "Job",
        None => "",
    };
    rule(buffer, pane.title, (name, &place), model.focus == Focus::Page, model);
    draw_lines(buffer, pane.body, lines.iter().skip(model.page_top));
}

fn help_page(buffer: &mut Buffer, model: &Model, top: usize) {
    let screen = *buffer.area();
    let body = Rect { y: 2, height: screen.height.saturating_sub(help::AROUND), ..screen };
    let lines = help::lines(screen.width, model.ink);
    let place = range(top, body.height, lines.len());
    rule(buffer, Rect { y: 1, height: 1, ..screen }, ("Keys", &place), true, model);
    draw_lines(buffer, body, lines.iter().skip(top));
}

/// Which lines are in sight, where that is not all of them.
fn range(top: usize, height: u16, all: usize) -> String {
    let last = top.saturating_add(usize::from(height)).min(all);
    if all > usize::from(height) { format!("{}-{last}/{all}", top + 1) } else { String::new() }
}

/// Lines with a little air on their left.
fn draw_lines<'l>(buffer: &mut Buffer, area: Rect, lines: impl Iterator<Item = &'l Line<'l>>) {
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        buffer.set_line(area.x + 1, y, line, area.width.saturating_sub(1));
    }
}

/// What reflections told, the newest first.
fn live(buffer: &mut Buffer, pane: Pane, model: &Model) {
    rule(buffer, pane.title, ("Live", "UTC"), false, model);
    let nobody = Known::default();
    let known = model.known.as_deref().unwrap_or(&nobody);
    let mut items = model.feed.iter().filter_map(|message| feed::item(message, known)).peekable();
    if items.peek().is_none() {
        let text = cut("No reflection was heard of yet.", usize::from(pane.body.width.saturating_sub(1)));
        buffer.set_string(pane.body.x + 1, pane.body.y, text, model.ink.faint());
    }
    for (y, item) in (pane.body.y..pane.body.bottom()).zip(items) {
        let room = usize::from(pane.body.width).saturating_sub(TIME_COLUMNS + 1);
        let style = if item.weight == Weight::News { model.ink.good() } else { Style::new() };
        let when = format!("{:<TIME_COLUMNS$}", time(item.at, model.now));
        let line = Line::from(vec![Span::styled(when, model.ink.faint()), Span::styled(cut(&item.text, room), style)]);
        buffer.set_line(pane.body.x + 1, y, &line, pane.body.width.saturating_sub(1));
    }
}

/// The time of a day that is not over, and the date of one that is.
fn time(at: Timestamp, now: Timestamp) -> String {
    let form = if at.date_naive() == now.date_naive() { "%H:%M:%S" } else { "%b %e" };
    at.format(form).to_string()
}

/// A line with a title in it, and with something at its end where there is room.
fn rule(buffer: &mut Buffer, area: Rect, (title, place): (&str, &str), has_focus: bool, model: &Model) {
    let room = usize::from(area.width);
    buffer.set_stringn(area.x, area.y, "─".repeat(room), room, model.ink.faint());
    let title = cut(title, room.saturating_sub(4));
    let style = if has_focus { model.ink.title() } else { model.ink.faint() };
    if !title.is_empty() {
        buffer.set_stringn(area.x + 1, area.y, format!(" {title} "), room, style);
    }
    if !place.is_empty() && width(&title) + width(place) + 8 <= room {
        let area = Rect { width: area.width.saturating_sub(1), ..area };
        right(buffer, area, &format!(" {place} "), model.ink.faint());
    }
}

/// The line between the list and the page, where they stand side by side.
fn joints(buffer: &mut Buffer, layout: &Layout, model: &Model) {
    let (Some(list), Some(page)) = (layout.list, layout.page) else { return };
    if page.title.x == 0 {
        return;
    }
    let x = page.title.x - 1;
    let mut put = |y: u16, symbol: &str| {
        buffer.set_stringn(x, y, symbol, 1, model.ink.faint());
    };
    put(list.title.y, "┬");
    (list.body.y..list.body.bottom()).for_each(|y| put(y, "│"));
    layout.feed.iter().for_each(|feed| put(feed.title.y, "┴"));
}

/// A text at the right end of a line.
pub(super) fn right(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    let wide = u16::try_from(width(text)).unwrap_or(u16::MAX).min(area.width);
    buffer.set_stringn(area.right() - wide, area.y, text, usize::from(wide), style);
}
