//! Recognises the timestamps that Harbor accepts: those of Python's lenient `datetime.fromisoformat`.

use chrono::NaiveDate;
use chrono::Weekday;

#[cfg(test)]
#[path = "timestamps_tests.rs"]
mod tests;

/// Returns true if Harbor accepts the text as a timestamp.
pub(super) fn is_timestamp(text: &str) -> bool {
    let text = text.replace('Z', "+00:00");
    if text.chars().count() < 7 {
        return false;
    }
    let bytes = text.as_bytes();
    let Some(separator) = find_date_end(bytes) else { return false };
    let (date, rest) = bytes.split_at_checked(separator).unwrap_or((bytes, &[]));
    is_date(date) && (rest.is_empty() || is_time(text.get(separator..).map_or(&[], skip_first_char)))
}

fn skip_first_char(text: &str) -> &[u8] {
    let mut characters = text.chars();
    characters.next();
    characters.as_str().as_bytes()
}

/// Returns the end of the date, which may be a calendar or a week date, with or without dashes.
fn find_date_end(text: &[u8]) -> Option<usize> {
    let at = |index: usize| text.get(index).copied();
    let is_digit = |index: usize| at(index).is_some_and(|byte| byte.is_ascii_digit());
    let end = match (at(4)?, at(5)?) {
        _ if text.len() == 7 => 7,
        (b'-', b'W') if at(8) != Some(b'-') => 8,
        (b'-', b'W') if text.len() == 9 => return None,
        (b'-', b'W') if is_digit(10) => 8,
        (b'-', _) => 10,
        (b'W', _) => {
            let digits = 7 + text.get(7..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match digits {
                0..9 => digits,
                _ if digits % 2 == 0 => 7,
                _ => 8,
            }
        }
        _ => 8,
    };
    Some(end.min(text.len()))
}

fn is_date(text: &[u8]) -> bool {
    let mut rest = text;
    let Some(year) = parse_digits(&mut rest, 4).filter(|year| *year > 0) else { return false };
    let has_dashes = skip_byte(&mut rest, b'-');
    let date = if skip_byte(&mut rest, b'W') {
        let Some(week) = parse_digits(&mut rest, 2) else { return false };
        let mut day = Some(1);
        if !rest.is_empty() {
            if has_dashes && !skip_byte(&mut rest, b'-') {
                return false;
            }
            day = parse_digits(&mut rest, 1);
        }
        day.and_then(|day| Weekday::try_from(u8::try_from(day).ok()?.checked_sub(1)?).ok())
            .and_then(|day| NaiveDate::from_isoywd_opt(i32::try_from(year).ok()?, week, day))
    } else {
        let Some(month) = parse_digits(&mut rest, 2) else { return false };
        if has_dashes && !skip_byte(&mut rest, b'-') {
            return false;
        }
        let Some(day) = parse_digits(&mut rest, 2).filter(|_| rest.is_empty()) else { return false };
        i32::try_from(year).ok().and_then(|year| NaiveDate::from_ymd_opt(year, month, day))
    };
    date.is_some_and(|date| date <= NaiveDate::from_ymd_opt(9999, 12, 31).unwrap_or(date))
}

fn is_time(text: &[u8]) -> bool {
    let zone = text.iter().position(|byte| matches!(byte, b'+' | b'-')).unwrap_or(text.len());
    let Some((clock, is_whole)) = parse_time_of_day(text, zone) else { return false };
    if clock.hours > 23 || clock.minutes > 59 || clock.seconds > 59 {
        return false;
    }
    let Some(offset) = text.get(zone + 1..) else { return is_whole };
    let Some((offset, true)) = self::parse_time_of_day(offset, offset.len()) else { return false };
    let seconds = offset.hours * 3600 + offset.minutes * 60 + offset.seconds;
    seconds < 24 * 3600
}

struct TimeOfDay {
    hours: u32,
    minutes: u32,
    seconds: u32,
}

/// Parses hours, minutes, seconds and a fraction in the first `end` bytes, and tells whether nothing follows them.
/// Python checks that only if there is no offset.
fn parse_time_of_day(text: &[u8], end: usize) -> Option<(TimeOfDay, bool)> {
    let mut parts = [0; 3];
    let mut rest = text;
    let mut has_colons = false;
    for (index, part) in parts.iter_mut().enumerate() {
        *part = parse_digits(&mut rest, 2)?;
        let next = rest.first().copied();
        let read = text.len() - rest.len();
        if index == 0 {
            has_colons = next == Some(b':');
        }
        if read + 1 >= end {
            let [hours, minutes, seconds] = parts;
            return Some((TimeOfDay { hours, minutes, seconds }, next.is_none()));
        }
        match next? {
            b':' if has_colons => rest = rest.get(1..)?,
            b'.' | b',' => {
                rest = rest.get(1..)?;
                break;
            }
            _ if !has_colons => {}
            _ => return None,
        }
    }
    let [hours, minutes, seconds] = parts;
    let fraction = end.saturating_sub(text.len() - rest.len());
    parse_digits(&mut rest, fraction.min(6))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some((TimeOfDay { hours, minutes, seconds }, digits == rest.len()))
}

fn parse_digits(rest: &mut &[u8], digits: usize) -> Option<u32> {
    let (head, tail) = rest.split_at_checked(digits)?;
    let mut value = 0;
    for byte in head {
        value = value * 10 + char::from(*byte).to_digit(10)?;
    }
    *rest = tail;
    Some(value)
}

fn skip_byte(rest: &mut &[u8], byte: u8) -> bool {
    let tail = rest.strip_prefix(&[byte]);
    *rest = tail.unwrap_or(rest);
    tail.is_some()
}
