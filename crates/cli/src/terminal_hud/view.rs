//! Draws the display. It is pure: the same model gives the same screen.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::text_format::{cut_to_width, format_age, format_count, text_width, wrap_strictly};
use super::feed_lines::{self, FeedEmphasis};
use super::help;
use super::layout::{FocusedPane, HudLayout, HudPane, LEAST};
use super::model::{HudModel, HudTab, InputMode};
use super::rows::{ListRow, MemoryRows, RowSubject};
use super::status_line;
use archivist_core::domain::Timestamp;

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;

/// The width of an age.
const AGE_COLUMNS: usize = 4;
/// The width at which names are cut.
const WIDEST_NAME: usize = 10;
/// The width of a time of day with the gap after it.
const TIME_COLUMNS: usize = 10;

/// Draws the whole display.
pub(super) fn draw_display(frame: &mut Frame<'_>, model: &HudModel) {
    let Some(layout) = model.layout() else {
        return draw_too_small(frame.buffer_mut(), model);
    };
    let buffer = frame.buffer_mut();
    draw_tabs(buffer, layout.tabs, model);
    if let InputMode::Help(top) = model.mode {
        draw_help_page(buffer, model, top);
    } else {
        layout.list.iter().for_each(|pane| draw_list(buffer, *pane, model));
        layout.page.iter().for_each(|pane| draw_page(buffer, *pane, model));
        layout.feed.iter().for_each(|pane| draw_live_feed(buffer, *pane, model));
        draw_divider(buffer, &layout, model);
    }
    if let Some(column) = status_line::draw_footer(buffer, layout.foot, model) {
        frame.set_cursor_position(Position::new(column, layout.foot.y));
    }
}

fn draw_too_small(buffer: &mut Buffer, model: &HudModel) {
    let area = *buffer.area();
    let told = format!(
        "This terminal is {}×{}; the display needs {}×{}. q quits.",
        model.size.width, model.size.height, LEAST.width, LEAST.height
    );
    let lines = wrap_strictly(&told, usize::from(area.width));
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        buffer.set_stringn(area.x, y, line, usize::from(area.width), Style::new());
    }
}

/// Draws the tabs with their counts, as fully as there is room, and then the project's name.
fn draw_tabs(buffer: &mut Buffer, area: Rect, model: &HudModel) {
    let tab = |view: HudTab, place: usize, detail: TabDetail| {
        let is_chosen = view == model.view;
        let rows = model.tab_rows(view);
        let star = if rows.iter().any(|row| model.fresh.contains(&row.key)) { "*" } else { "" };
        let text = match detail {
            TabDetail::Count => format!(" {place} {} {}{star} ", tab_title(view), rows.len()),
            TabDetail::Name => format!(" {place} {}{star} ", tab_title(view)),
            TabDetail::Number if is_chosen => format!(" {place} {} {}{star} ", tab_title(view), rows.len()),
            TabDetail::Number => format!(" {place}{star} "),
        };
        let style = if is_chosen { model.ink.selected_style().patch(model.ink.title_style()) } else { Style::new() };
        Span::styled(text, style)
    };
    let line = |detail: TabDetail| -> Line<'static> {
        HudTab::ALL.into_iter().zip(1..).map(|(view, place)| tab(view, place, detail)).collect::<Vec<_>>().into()
    };
    let room = usize::from(area.width);
    let fits = [TabDetail::Count, TabDetail::Name, TabDetail::Number].map(line);
    let line = fits.iter().find(|line| line.width() <= room).or(fits.last()).cloned().unwrap_or_default();
    buffer.set_line(area.x, area.y, &line, area.width);
    let name = cut_to_width(&model.project, room.saturating_sub(line.width() + 3));
    if text_width(&name) > 2 {
        draw_right_aligned(buffer, area, &format!("{name} "), model.ink.faint_style());
    }
}

/// The amount of detail that a tab shows.
#[derive(Clone, Copy)]
enum TabDetail {
    Count,
    Name,
    Number,
}

fn tab_title(view: HudTab) -> &'static str {
    match view {
        HudTab::Lessons => "Lessons",
        HudTab::Sessions => "Sessions",
        HudTab::Quarantine => "Quarantine",
        HudTab::Queue => "Queue",
    }
}

fn draw_list(buffer: &mut Buffer, pane: HudPane, model: &HudModel) {
    let (rows, cursor) = (model.visible_rows(), model.cursor());
    let place = if rows.is_empty() { String::new() } else { format!("{}/{}", cursor.at + 1, rows.len()) };
    draw_title_rule(
        buffer,
        pane.title,
        (&list_headline(model, rows.len()), &place),
        model.focus == FocusedPane::List,
        model,
    );
    if rows.is_empty() {
        let lines = wrap_strictly(&empty_list_text(model), usize::from(pane.body.width.saturating_sub(2)));
        for (y, line) in (pane.body.y..pane.body.bottom()).zip(lines) {
            buffer.set_stringn(pane.body.x + 1, y, line, usize::from(pane.body.width), model.ink.faint_style());
        }
        return;
    }
    let names = rows.iter().skip(cursor.top).take(usize::from(pane.body.height)).map(|row| text_width(&row.name));
    let name_columns = names.max().unwrap_or_default().min(WIDEST_NAME);
    for ((at, row), y) in rows.iter().enumerate().skip(cursor.top).zip(pane.body.y..pane.body.bottom()) {
        let area = Rect { y, height: 1, ..pane.body };
        draw_row(buffer, area, row, name_columns, at == cursor.at, model);
    }
}

fn draw_row(buffer: &mut Buffer, area: Rect, row: &ListRow, name_columns: usize, is_chosen: bool, model: &HudModel) {
    let is_fresh = model.fresh.contains(&row.key);
    let mark = if is_chosen {
        '>'
    } else if is_fresh {
        '*'
    } else {
        ' '
    };
    let name = cut_to_width(&row.name, name_columns);
    let gap = name_columns.saturating_sub(text_width(&name));
    let begin = format!("{mark} {name}{:gap$}  ", "");
    let room = usize::from(area.width).saturating_sub(text_width(&begin) + AGE_COLUMNS + 2);
    let style = if is_fresh { model.ink.title_style() } else { Style::new() };
    let line = Line::from(vec![
        Span::styled(begin, if is_chosen { Style::new() } else { model.ink.faint_style() }),
        Span::styled(cut_to_width(&row.text, room), style),
    ]);
    buffer.set_line(area.x, area.y, &line, area.width);
    draw_right_aligned(buffer, area, &format!("{} ", format_age(row.at, model.now)), model.ink.faint_style());
    match (is_chosen, model.focus) {
        (true, FocusedPane::List) => buffer.set_style(area, model.ink.selected_style()),
        (true, FocusedPane::Page) => buffer.set_style(area, model.ink.title_style()),
        (false, _) => {}
    }
}

/// Returns the heading of the list.
fn list_headline(model: &HudModel, shown: usize) -> String {
    let all = model.tab_rows(model.view).len();
    let all = match model.view {
        HudTab::Lessons => format_count(all, "lesson in use", "lessons in use"),
        HudTab::Sessions => format_count(all, "run", "runs"),
        HudTab::Quarantine => format_count(all, "lesson to look at", "lessons to look at"),
        HudTab::Queue => {
            let worker = if model.waiting.is_worked { "a worker runs" } else { "no worker runs" };
            format!("{}, {worker}", format_count(all, "job", "jobs"))
        }
    };
    match model.search.as_str() {
        "" => all,
        search => format!("{shown} of {all} with “{search}”"),
    }
}

/// Returns the text that an empty list shows.
fn empty_list_text(model: &HudModel) -> String {
    let is_empty = model.tab_rows(model.view).is_empty();
    match model.view {
        _ if model.known.is_none() && model.problem.is_none() => "Reading…",
        _ if !is_empty => "Nothing here holds these words. Esc shows everything again.",
        HudTab::Lessons => {
            "No lessons yet. `archivist init` lets agents' sessions be reflected on, `archivist add` writes one by hand."
        }
        HudTab::Sessions => "No run was reflected on yet.",
        HudTab::Quarantine => "Nothing waits for you. Lessons that rest on words of strangers alone come here.",
        HudTab::Queue => "Nothing is to be done.",
    }
    .to_owned()
}

fn draw_page(buffer: &mut Buffer, pane: HudPane, model: &HudModel) {
    let lines = model.page_lines();
    let place = visible_range(model.page_top, pane.body.height, lines.len());
    let name = match model.selected_row() {
        Some(ListRow { name, subject: RowSubject::Lesson { .. }, .. }) => name,
        Some(ListRow { subject: RowSubject::Run(_), .. }) => "Run",
        Some(ListRow { subject: RowSubject::Job(_), .. }) => "Job",
        None => "",
    };
    draw_title_rule(buffer, pane.title, (name, &place), model.focus == FocusedPane::Page, model);
    draw_lines(buffer, pane.body, lines.iter().skip(model.page_top));
}

fn draw_help_page(buffer: &mut Buffer, model: &HudModel, top: usize) {
    let screen = *buffer.area();
    let body = Rect { y: 2, height: screen.height.saturating_sub(help::AROUND), ..screen };
    let lines = help::help_lines(screen.width, model.ink);
    let place = visible_range(top, body.height, lines.len());
    draw_title_rule(buffer, Rect { y: 1, height: 1, ..screen }, ("Keys", &place), true, model);
    draw_lines(buffer, body, lines.iter().skip(top));
}

/// Returns the range of visible lines, or nothing if all are visible.
fn visible_range(top: usize, height: u16, all: usize) -> String {
    let last = top.saturating_add(usize::from(height)).min(all);
    if all > usize::from(height) { format!("{}-{last}/{all}", top + 1) } else { String::new() }
}

/// Draws lines with an empty column on their left.
fn draw_lines<'l>(buffer: &mut Buffer, area: Rect, lines: impl Iterator<Item = &'l Line<'l>>) {
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        buffer.set_line(area.x + 1, y, line, area.width.saturating_sub(1));
    }
}

/// Draws the messages of reflections, the newest first.
fn draw_live_feed(buffer: &mut Buffer, pane: HudPane, model: &HudModel) {
    draw_title_rule(buffer, pane.title, ("Live", "UTC"), false, model);
    let nobody = MemoryRows::default();
    let known = model.known.as_deref().unwrap_or(&nobody);
    let mut items = model.feed.iter().filter_map(|message| feed_lines::render_message(message, known)).peekable();
    if items.peek().is_none() {
        let text = cut_to_width("No reflection was heard of yet.", usize::from(pane.body.width.saturating_sub(1)));
        buffer.set_string(pane.body.x + 1, pane.body.y, text, model.ink.faint_style());
    }
    for (y, item) in (pane.body.y..pane.body.bottom()).zip(items) {
        let room = usize::from(pane.body.width).saturating_sub(TIME_COLUMNS + 1);
        let style = if item.weight == FeedEmphasis::News { model.ink.success_style() } else { Style::new() };
        let when = format!("{:<TIME_COLUMNS$}", format_time(item.at, model.now));
        let line = Line::from(vec![
            Span::styled(when, model.ink.faint_style()),
            Span::styled(cut_to_width(&item.text, room), style),
        ]);
        buffer.set_line(pane.body.x + 1, y, &line, pane.body.width.saturating_sub(1));
    }
}

/// Returns the time of day for today, and the date for other days.
fn format_time(at: Timestamp, now: Timestamp) -> String {
    let form = if at.date_naive() == now.date_naive() { "%H:%M:%S" } else { "%b %e" };
    at.format(form).to_string()
}

/// Draws a horizontal line with a title in it, and with a text at its end where there is room.
fn draw_title_rule(buffer: &mut Buffer, area: Rect, (title, place): (&str, &str), has_focus: bool, model: &HudModel) {
    let room = usize::from(area.width);
    buffer.set_stringn(area.x, area.y, "─".repeat(room), room, model.ink.faint_style());
    let title = cut_to_width(title, room.saturating_sub(4));
    let style = if has_focus { model.ink.title_style() } else { model.ink.faint_style() };
    if !title.is_empty() {
        buffer.set_stringn(area.x + 1, area.y, format!(" {title} "), room, style);
    }
    if !place.is_empty() && text_width(&title) + text_width(place) + 8 <= room {
        let area = Rect { width: area.width.saturating_sub(1), ..area };
        draw_right_aligned(buffer, area, &format!(" {place} "), model.ink.faint_style());
    }
}

/// Draws the line between the list and the page where they are side by side.
fn draw_divider(buffer: &mut Buffer, layout: &HudLayout, model: &HudModel) {
    let (Some(list), Some(page)) = (layout.list, layout.page) else { return };
    if page.title.x == 0 {
        return;
    }
    let x = page.title.x - 1;
    let mut put = |y: u16, symbol: &str| {
        buffer.set_stringn(x, y, symbol, 1, model.ink.faint_style());
    };
    put(list.title.y, "┬");
    (list.body.y..list.body.bottom()).for_each(|y| put(y, "│"));
    layout.feed.iter().for_each(|feed| put(feed.title.y, "┴"));
}

/// Draws a text at the right end of a line.
pub(super) fn draw_right_aligned(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    let wide = u16::try_from(text_width(text)).unwrap_or(u16::MAX).min(area.width);
    buffer.set_stringn(area.right() - wide, area.y, text, usize::from(wide), style);
}
