//! Replaces relative dates by absolute ones: `yesterday` is another day for the reader of a lesson.

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};

use crate::domain::Timestamp;

#[cfg(test)]
#[path = "absolute_dates_tests.rs"]
mod tests;

/// The most words of one date, as in "the day before yesterday".
const MAX_WORDS: usize = 4;

/// Words before a date that replace its own preposition.
const PREPOSITIONS: &[&str] = &[
    "on", "in", "since", "until", "till", "by", "from", "before", "after", "of", "for", "during", "to", "than", "as",
    "at", "between", "through", "within", "and", "or",
];

/// A day or a period, with its preposition.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DatePhrase {
    preposition: &'static str,
    name: String,
}

/// A word of a text and its position.
#[derive(Debug, Clone, Copy)]
struct WordSpan<'t> {
    start: usize,
    end: usize,
    text: &'t str,
}

/// Returns the text with every relative date made absolute, as of the end of the session.
pub(super) fn make_dates_absolute(text: &str, session_end: Timestamp) -> String {
    let words = find_unquoted_words(text);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut at = 0;
    while at < words.len() {
        let longest = (1..=MAX_WORDS.min(words.len() - at)).rev().find_map(|count| {
            let phrase = words.get(at..at + count)?;
            let joined = are_adjacent(text, phrase).then(|| phrase.iter().map(|word| word.text.to_lowercase()))?;
            let joined: Vec<String> = joined.collect();
            let parts: Vec<&str> = joined.iter().map(String::as_str).collect();
            Some((phrase.first()?.start, phrase.last()?.end, count, resolve_phrase(&parts, session_end)?))
        });
        let Some((start, end, count, when)) = longest else {
            at += 1;
            continue;
        };
        let before = at.checked_sub(1).and_then(|index| words.get(index));
        let has_preposition = before.is_some_and(|word| {
            PREPOSITIONS.contains(&word.text.to_lowercase().as_str())
                && text.get(word.end..start).is_some_and(|gap| gap.trim().is_empty())
        });
        let is_owner = text.get(end..).is_some_and(|rest| rest.starts_with("'s") || rest.starts_with("’s"));
        out.push_str(text.get(from..start).unwrap_or_default());
        if has_preposition || is_owner {
            out.push_str(&when.name);
        } else {
            let is_capital = text.get(start..).is_some_and(|rest| rest.starts_with(char::is_uppercase));
            let (head, tail) = when.preposition.split_at_checked(1).unwrap_or((when.preposition, ""));
            out.push_str(&if is_capital { head.to_uppercase() } else { head.to_owned() });
            out.push_str(&format!("{tail} {}", when.name));
        }
        from = end;
        at += count;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Returns the words that are neither quoted nor part of an identifier.
fn find_unquoted_words(text: &str) -> Vec<WordSpan<'_>> {
    let mut words = Vec::new();
    let mut quoted: Option<char> = None;
    let mut start: Option<usize> = None;
    let mut before = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_alphanumeric() {
            start = start.or(Some(at));
        } else {
            if let Some(begin) = start.take()
                && quoted.is_none()
                && is_whole_word(text, begin, at)
                && let Some(word) = text.get(begin..at)
            {
                words.push(WordSpan { start: begin, end: at, text: word });
            }
            let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
            let opens = |close: char| rest.contains(close).then_some(close);
            quoted = match (quoted, c) {
                (Some(close), c) if c == close => None,
                (None, '`' | '"') => opens(c),
                (None, '“') => opens('”'),
                (None, '‘') => opens('’'),
                (None, '«') => opens('»'),
                // An apostrophe follows a letter.
                (None, '\'') if !before.is_some_and(char::is_alphanumeric) => opens(c),
                (quoted, _) => quoted,
            };
        }
        before = Some(c);
    }
    words
}

/// Tells whether a word is no part of an identifier, a path or a name: `last_week.csv`, `today-report`.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).and_then(|text| text.chars().next_back());
    let mut behind = text.get(end..).unwrap_or_default().chars();
    let (next, after) = (behind.next(), behind.next());
    let ties = |c: char| matches!(c, '_' | '-' | '/' | '.' | '@' | '#' | '$' | ':' | '\\' | '=');
    let tied_before = before.is_some_and(|c| matches!(c, '_' | '-' | '/' | '.' | '@' | '#' | '$' | '\\' | '='));
    !tied_before
        && !next.is_some_and(|c| ties(c) && (c == '_' || after.is_some_and(char::is_alphanumeric)))
        && !matches!(next, Some('(' | '['))
}

/// Tells whether only blanks separate the words.
fn are_adjacent(text: &str, words: &[WordSpan<'_>]) -> bool {
    words.windows(2).all(|pair| {
        matches!(pair, [a, b] if text.get(a.end..b.start).is_some_and(|gap| gap.trim().is_empty() && !gap.is_empty()))
    })
}

fn resolve_phrase(words: &[&str], end: Timestamp) -> Option<DatePhrase> {
    let today = end.date_naive();
    let day = |date: Option<NaiveDate>| date.map(|date| DatePhrase { preposition: "on", name: date.to_string() });
    let part = |part: &str, date: Option<NaiveDate>| {
        date.map(|date| DatePhrase { preposition: "on", name: format!("the {part} of {date}") })
    };
    let back = |time| day(end.checked_sub_signed(time).map(|then| then.date_naive()));
    let ago = |days: u64| today.checked_sub_days(Days::new(days));
    match words {
        ["today"] => day(Some(today)),
        ["yesterday"] => day(ago(1)),
        ["tomorrow"] => day(today.checked_add_days(Days::new(1))),
        ["tonight"] => part("evening", Some(today)),
        ["last", "night"] => part("night", ago(1)),
        ["this", part_of_day @ ("morning" | "afternoon" | "evening")] => part(part_of_day, Some(today)),
        ["yesterday", part_of_day @ ("morning" | "afternoon" | "evening")] => part(part_of_day, ago(1)),
        ["the", "day", "before", "yesterday"] => day(ago(2)),
        ["the", "day", "after", "tomorrow"] => day(today.checked_add_days(Days::new(2))),
        ["this", unit] => resolve_period(unit, today, 0),
        ["last", unit] => {
            parse_weekday(unit).map_or_else(|| resolve_period(unit, today, -1), |name| day(weekday_before(today, name)))
        }
        ["next", unit] => {
            parse_weekday(unit).map_or_else(|| resolve_period(unit, today, 1), |name| day(weekday_after(today, name)))
        }
        [count, unit, "ago"] => match (parse_count(count)?, strip_plural(unit)) {
            (count, "day") => day(ago(count)),
            (count, "week") => day(ago(count.checked_mul(7)?)),
            (count, "month") => month_phrase(today.checked_sub_months(Months::new(u32::try_from(count).ok()?))?),
            (count @ ..=100, "year") => year_phrase(today.year().checked_sub(i32::try_from(count).ok()?)?),
            (count, "hour") => back(chrono::Duration::try_hours(i64::try_from(count).ok()?)?),
            (count, "minute") => back(chrono::Duration::try_minutes(i64::try_from(count).ok()?)?),
            _ => None,
        },
        // "In 30 minutes" is a duration; days and longer are dates.
        ["in", count, unit] => match (parse_count(count)?, strip_plural(unit)) {
            (count, "day") => day(today.checked_add_days(Days::new(count))),
            (count, "week") => day(today.checked_add_days(Days::new(count.checked_mul(7)?))),
            (count, "month") => month_phrase(today.checked_add_months(Months::new(u32::try_from(count).ok()?))?),
            _ => None,
        },
        _ => None,
    }
}

/// Returns this, the last or the next week, month or year.
fn resolve_period(unit: &str, today: NaiveDate, step: i32) -> Option<DatePhrase> {
    match unit {
        "week" => {
            let monday = weekday_on_or_before(today, Weekday::Mon)?;
            let monday = match step {
                -1 => monday.checked_sub_days(Days::new(7))?,
                1 => monday.checked_add_days(Days::new(7))?,
                _ => monday,
            };
            Some(DatePhrase { preposition: "in", name: format!("the week of {monday}") })
        }
        "month" => month_phrase(match step {
            -1 => today.checked_sub_months(Months::new(1))?,
            1 => today.checked_add_months(Months::new(1))?,
            _ => today,
        }),
        "year" => year_phrase(today.year().checked_add(step)?),
        _ => None,
    }
}

fn month_phrase(date: NaiveDate) -> Option<DatePhrase> {
    const NAMES: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let name = NAMES.get(usize::try_from(date.month0()).ok()?)?;
    Some(DatePhrase { preposition: "in", name: format!("{name} {}", date.year()) })
}

#[expect(clippy::unnecessary_wraps, reason = "it stands among dates that may not exist")]
fn year_phrase(year: i32) -> Option<DatePhrase> {
    Some(DatePhrase { preposition: "in", name: year.to_string() })
}

fn weekday_on_or_before(day: NaiveDate, name: Weekday) -> Option<NaiveDate> {
    day.checked_sub_days(Days::new(u64::from(day.weekday().days_since(name))))
}

fn weekday_before(day: NaiveDate, name: Weekday) -> Option<NaiveDate> {
    weekday_on_or_before(day.pred_opt()?, name)
}

fn weekday_after(day: NaiveDate, name: Weekday) -> Option<NaiveDate> {
    weekday_before(day, name)?.checked_add_days(Days::new(if day.weekday() == name { 14 } else { 7 }))
}

fn parse_weekday(word: &str) -> Option<Weekday> {
    (word.len() >= 6 && word.ends_with("day")).then(|| word.parse().ok()).flatten()
}

fn strip_plural(unit: &str) -> &str {
    unit.strip_suffix('s').unwrap_or(unit)
}

fn parse_count(word: &str) -> Option<u64> {
    const WORDS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    match word {
        "a" | "an" => Some(1),
        // A number above this limit is no distance of a date.
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|days| *days <= 10_000)
        }
        word => WORDS.iter().position(|known| *known == word).and_then(|count| u64::try_from(count).ok()),
    }
}
