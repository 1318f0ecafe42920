//! Formats text for people: one line, cut to fit, wrapped, counted. These functions are pure.

use std::fmt::Display;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use archivist_core::domain::Timestamp;

pub(super) use archivist_core::text::one_line;

const ELLIPSIS: char = '…';

/// Splits the text into lines, and removes from each what [`one_line`] removes.
pub(super) fn split_paragraphs(text: &str) -> Vec<String> {
    text.lines().map(one_line).collect()
}

/// Returns the number of columns that the text takes.
pub(super) fn text_width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Cuts the text to at most `columns` columns, and marks the cut with an ellipsis.
pub(super) fn cut_to_width(text: &str, columns: usize) -> String {
    if text_width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut used = 0;
    let mut kept = String::new();
    for c in text.chars() {
        used += UnicodeWidthChar::width(c).unwrap_or_default();
        if used > room {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    if columns > 0 {
        kept.push(ELLIPSIS);
    }
    kept
}

/// Wraps the text into lines of at most `columns`, broken between words. A longer word gets a line of its own.
pub(super) fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && text_width(&line) + 1 + text_width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Wraps the text like `wrap_words`, and also breaks words that are wider than `columns`.
pub(super) fn wrap_strictly(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrap_words(text, columns) {
        let mut part = String::new();
        let mut used = 0;
        for c in line.chars() {
            let wide = UnicodeWidthChar::width(c).unwrap_or_default();
            if used + wide > columns && used > 0 && wide > 0 {
                lines.push(std::mem::take(&mut part));
                used = 0;
            }
            used += wide;
            part.push(c);
        }
        lines.push(part);
    }
    lines
}

/// Returns the time since then in the largest fitting unit: `5m`, `3h`, `12d`, `2y`.
pub(super) fn format_age(then: Timestamp, now: Timestamp) -> String {
    format_elapsed(u64::try_from((now - then).num_seconds()).unwrap_or_default())
}

/// Returns a duration in its largest fitting unit: `5m`, `3h`, `12d`, `2y`.
pub(super) fn format_elapsed(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / (60 * 60), seconds / (60 * 60 * 24));
    match (days, hours, minutes) {
        (730.., _, _) => format!("{}y", days / 365),
        (2.., _, _) => format!("{days}d"),
        (_, 1.., _) => format!("{hours}h"),
        (_, _, 1..) => format!("{minutes}m"),
        _ => "now".to_owned(),
    }
}

/// Returns the date and the time to the minute, in UTC.
pub(super) fn format_timestamp(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M").to_string()
}

/// Returns a number with its noun: `1 lesson`, `2 lessons`.
pub(super) fn format_count(number: impl TryInto<u64>, one: &str, many: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{} {many}", format_number(number)),
    }
}

/// Returns a number with commas between its thousands.
pub(super) fn format_number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a size: bytes below one KiB, larger units with one decimal.
pub(super) fn format_bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut size = number as f64 / 1024.0;
    let mut units = UNITS.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    for larger in units {
        if size < 1023.95 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    format!("{size:.1} {unit}")
}

/// Joins the items with commas.
pub(super) fn join_with_commas<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "text_format_tests.rs"]
mod tests;
