//! Text as a person sees it: one line, cut to fit, wrapped, counted. Pure.

use std::fmt::Display;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::domain::Timestamp;

pub(super) use crate::text::one_line;

const ELLIPSIS: char = '…';

/// The text with its line breaks, but with nothing else that [`one_line`] removes.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    text.lines().map(one_line).collect()
}

/// How many columns the text takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// At most `columns` columns of the text; where something is missing, an ellipsis says so.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
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

/// The text in lines of at most `columns`, broken between words. A longer word has a line of its own.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
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

/// The same where nothing may be wider: a longer word is broken as well.
pub(super) fn fold(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrap(text, columns) {
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

/// How long ago, in the largest unit that counts at least one: `5m`, `3h`, `12d`, `2y`.
pub(super) fn age(then: Timestamp, now: Timestamp) -> String {
    elapsed(u64::try_from((now - then).num_seconds()).unwrap_or_default())
}

/// The same for a time that has passed.
pub(super) fn elapsed(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / (60 * 60), seconds / (60 * 60 * 24));
    match (days, hours, minutes) {
        (730.., _, _) => format!("{}y", days / 365),
        (2.., _, _) => format!("{days}d"),
        (_, 1.., _) => format!("{hours}h"),
        (_, _, 1..) => format!("{minutes}m"),
        _ => "now".to_owned(),
    }
}

/// To the minute, in UTC.
pub(super) fn moment(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M").to_string()
}

/// `1 lesson`, `2 lessons`.
pub(super) fn count(number: impl TryInto<u64>, one: &str, many: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{} {many}", grouped(number)),
    }
}

/// A number with its thousands set apart.
pub(super) fn grouped(number: u64) -> String {
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

/// A size for people: bytes up to a kibibyte, then one decimal.
pub(super) fn bytes(number: u64) -> String {
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

/// The items with commas between them.
pub(super) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
