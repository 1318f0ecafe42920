//! What stands between a name and its value, and where the value ends.

use std::ops::Range;

use super::bytes::{at, before, is_blank, is_name, is_quote, skip, skip_back};

/// A value is at most so long; what is longer is data.
const MAX_VALUE_BYTES: usize = 2048;

/// So much of a value tells what it is; only for a secret is it worth finding where it ends.
pub(super) const JUDGED_BYTES: usize = 128;

/// And so much of a value inside a value.
pub(super) const JUDGED_INNER_BYTES: usize = 24;

/// A value with more quotes inside, all escaped, is code.
const MAX_INNER_QUOTES: usize = 24;

/// How a value was given to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `name = value`, spaces around.
    Spaced,
    /// `name=value`.
    Tight,
    /// `name: value`.
    Colon,
    /// `<name>value</name>`.
    Element,
    /// `name "value"`, `name("value")`, `"name", "value"`.
    Beside,
    /// `--name value`.
    Flag,
    /// `the name is value`.
    Prose,
}

/// A value beside a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) span: Range<usize>,
    pub(super) way: Way,
    pub(super) quoted: bool,
    /// Whether the value goes on behind the span.
    pub(super) is_cut: bool,
}

impl Given {
    /// The whole value.
    pub(super) fn whole(&self, text: &str) -> Range<usize> {
        if !self.is_cut {
            return self.span.clone();
        }
        let bytes = text.as_bytes();
        let end = bare_end(bytes, self.span.start, self.way, MAX_VALUE_BYTES);
        let end = if self.quoted { end } else { trim(bytes, self.span.start, end) };
        self.span.start..end.max(self.span.end)
    }
}

/// The value that follows a name which stands at `name`.
pub(super) fn following(text: &str, name: Range<usize>, judged: usize) -> Option<Given> {
    let bytes = text.as_bytes();
    let quote_end = close_quote(bytes, name.end);
    let was_quoted = quote_end > name.end;
    let mut place = skip_brackets(bytes, quote_end);
    let after_name = place;
    place = skip(bytes, place, 32, is_blank);
    let spaced = place > after_name;
    let operator_end =
        skip(bytes, place, 4, |byte| matches!(byte, b'=' | b':' | b'!' | b'?' | b'.' | b'+' | b'>' | b'~' | b'|'));
    let operator = text.get(place..operator_end)?;
    let way = match operator {
        "=" | ":=" | "::=" | ":::=" | "?=" | ".=" | "+=" | "||=" | "|=" | "=>" | "==" | "!=" | "===" | "!==" | "~>"
        | "=~" => {
            if !spaced && operator == "=" && !is_blank(at(bytes, operator_end)) {
                Way::Tight
            } else {
                Way::Spaced
            }
        }
        ":" => Way::Colon,
        ">" if !spaced => Way::Element,
        "" => return beside(text, &name, was_quoted, after_name, place, judged),
        _ => return None,
    };
    let mut start = skip(bytes, operator_end, 64, is_blank);
    if way == Way::Element || at(bytes, start) == b'\n' && way == Way::Colon && next_line_is_quoted(bytes, start) {
        start = skip(bytes, start, 64, |byte| byte.is_ascii_whitespace());
    }
    if way == Way::Colon
        && let Some(after_type) = after_type(bytes, start)
    {
        return value(text, after_type, Way::Spaced, judged);
    }
    value(text, start, way, judged)
}

/// The value compared with a name that stands after it: `"value" == name`.
pub(super) fn preceding(text: &str, name_start: usize) -> Option<Given> {
    let bytes = text.as_bytes();
    let operator_end = skip_back(bytes, name_start, 8, is_blank);
    let operator_start = skip_back(bytes, operator_end, 3, |byte| matches!(byte, b'=' | b'!'));
    if !matches!(text.get(operator_start..operator_end)?, "==" | "!=" | "===" | "!==") {
        return None;
    }
    let end = skip_back(bytes, operator_start, 8, is_blank).checked_sub(1)?;
    let quote = at(bytes, end);
    if !is_quote(quote) {
        return None;
    }
    let start = skip_back(bytes, end, 256, |byte| byte != quote && byte != b'\n');
    (before(bytes, start) == quote).then_some(Given { span: start..end, way: Way::Spaced, quoted: true, is_cut: false })
}

/// Names in quotes, after calls and after flags have their values beside them.
fn beside(
    text: &str,
    name: &Range<usize>,
    was_quoted: bool,
    after_name: usize,
    place: usize,
    judged: usize,
) -> Option<Given> {
    let bytes = text.as_bytes();
    match at(bytes, place) {
        b',' if was_quoted => {
            let next = skip(bytes, place + 1, 16, |byte| byte.is_ascii_whitespace());
            named_value(text, next).or_else(|| quoted_value(text, next, Way::Beside))
        }
        b'v' | b'V' if was_quoted && place > after_name => named_value(text, place),
        b'{' if was_quoted => default_value(text, place),
        b'(' if !was_quoted && place == after_name => quoted_value(text, place + 1, Way::Beside),
        b'\n' | b'\r' => named_value(text, skip(bytes, place, 64, |byte| byte.is_ascii_whitespace())),
        _ if place == after_name => None,
        byte if is_quote(byte) || byte == b'\\' => quoted_value(text, place, Way::Beside),
        _ if is_flag(bytes, name.start) => value(text, place, Way::Flag, judged),
        // Routers write the kind of a password before it: `password 7 0822455D0A16`.
        b'0' | b'5' | b'7' if is_blank(at(bytes, place + 1)) => value(text, place + 2, Way::Flag, judged),
        b'i' if bytes.get(place..place + 3) == Some(b"is ") => value(text, place + 3, Way::Prose, judged),
        b's' if bytes.get(place..place + 7) == Some(b"string ") || bytes.get(place..place + 7) == Some(b"string=") => {
            let equals = skip(bytes, place + 6, 4, is_blank);
            (at(bytes, equals) == b'=')
                .then(|| value(text, skip(bytes, equals + 1, 4, is_blank), Way::Spaced, judged))?
        }
        _ if was_login_line(bytes, name.start) || is_line_of_two(bytes, name.start, place) => {
            value(text, place, Way::Flag, judged)
        }
        _ => None,
    }
}

/// `value: …` or `"value": …` in the line after a name: how containers are given their environment.
fn named_value(text: &str, place: usize) -> Option<Given> {
    let bytes = text.as_bytes();
    let start = skip(bytes, place, 2, is_quote);
    let word = bytes.get(start..start + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let colon = skip(bytes, start + 5, 4, |byte| is_quote(byte) || is_blank(byte));
    matches!(at(bytes, colon), b':' | b'=')
        .then(|| value(text, skip(bytes, colon + 1, 8, is_blank), Way::Colon, JUDGED_BYTES))?
}

/// A name and a value and nothing else, as some configuration files have it: `requirepass hunter22`.
fn is_line_of_two(bytes: &[u8], start: usize, value: usize) -> bool {
    let line = skip_back(bytes, start, 32, is_blank);
    let end = skip(bytes, value, 64, |byte| byte.is_ascii_graphic());
    let line_end = skip(bytes, end, 8, |byte| is_blank(byte) || byte == b'\r');
    (line == 0 || before(bytes, line) == b'\n') && matches!(at(bytes, line_end), 0 | b'\n')
}

/// `variable "password" { default = "…" }`.
fn default_value(text: &str, place: usize) -> Option<Given> {
    let bytes = text.as_bytes();
    let end = skip(bytes, place, 256, |byte| byte != b'}');
    let word = place + memchr::memmem::find(bytes.get(place..end)?, b"default")? + 7;
    let equals = skip(bytes, word, 24, is_blank);
    (at(bytes, equals) == b'=').then(|| quoted_value(text, skip(bytes, equals + 1, 8, is_blank), Way::Spaced))?
}

/// The second of two strings in brackets: `auth=("name", "password")`.
pub(super) fn second_of_two(text: &str, name_end: usize) -> Option<Given> {
    let bytes = text.as_bytes();
    let open = skip(bytes, name_end, 4, |byte| is_blank(byte) || byte == b'=');
    let first = skip(bytes, open + 1, 4, is_blank);
    if at(bytes, open) != b'(' || !is_quote(at(bytes, first)) {
        return None;
    }
    let comma = close(bytes, first + 1, at(bytes, first), 0)? + 1;
    let second = skip(bytes, comma + 1, 16, |byte| byte.is_ascii_whitespace());
    (at(bytes, comma) == b',').then(|| quoted_value(text, second, Way::Beside))?
}

/// `-name` or `--name`.
fn is_flag(bytes: &[u8], start: usize) -> bool {
    at(bytes, start) == b'-' && (start == 0 || !is_name(before(bytes, start)))
}

/// A line of `.netrc`: `machine … login … password …`, or of a Dockerfile: `ENV PASSWORD …`.
fn was_login_line(bytes: &[u8], start: usize) -> bool {
    let line = skip_back(bytes, start, 200, |byte| byte != b'\n');
    if bytes.get(line..start) == Some(b"ENV ") {
        return true;
    }
    // It may as well go over several lines.
    let line = bytes.get(start.saturating_sub(200)..start).unwrap_or_default();
    memchr::memmem::find(line, b"login ").is_some() && memchr::memmem::find(line, b"machine ").is_some()
}

/// A closing quote after a name, escaped or not.
fn close_quote(bytes: &[u8], place: usize) -> usize {
    let after = skip(bytes, place, 8, |byte| byte == b'\\');
    if is_quote(at(bytes, after)) { after + 1 } else { place }
}

/// `]`, `[]` and `[25]` after a name.
fn skip_brackets(bytes: &[u8], place: usize) -> usize {
    let end = skip(bytes, place, 8, |byte| matches!(byte, b'[' | b']') || byte.is_ascii_digit());
    if end > place && before(bytes, end) == b']' { end } else { place }
}

/// The value after a type: `name: &'static str = "value"`.
fn after_type(bytes: &[u8], start: usize) -> Option<usize> {
    let end = skip(bytes, start, 40, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'&' | b'\'' | b'<' | b'>' | b'_' | b':' | b' ')
    });
    let value = skip(bytes, end + 1, 8, is_blank);
    (end > start && at(bytes, end) == b'=' && is_quote(at(bytes, value))).then_some(value)
}

fn next_line_is_quoted(bytes: &[u8], start: usize) -> bool {
    is_quote(at(bytes, skip(bytes, start, 32, |byte| byte.is_ascii_whitespace())))
}

fn quoted_value(text: &str, place: usize, way: Way) -> Option<Given> {
    value(text, place, way, JUDGED_BYTES).filter(|given| given.quoted)
}

/// How a value ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// With the quote it began with.
    Quoted,
    /// With the line or a blank: its quote never closes.
    Open,
    /// With a blank; it has no quotes.
    Bare,
}

/// The value that starts here, without its quotes and without the word for its scheme.
fn value(text: &str, place: usize, way: Way, judged: usize) -> Option<Given> {
    let bytes = text.as_bytes();
    let prefixed =
        matches!(at(bytes, place), b'@' | b'b' | b'r' | b'u' | b'f' | b'L' | b'N') && is_quote(at(bytes, place + 1));
    let place = place + usize::from(prefixed);
    let quote_at = skip(bytes, place, 8, |byte| byte == b'\\');
    let quote = at(bytes, quote_at);
    let (start, end, ends) = if is_quote(quote) {
        let start = quote_at + 1;
        let depth = quote_at - place;
        match close(bytes, start, quote, depth) {
            Some(end) => (start, end, Ends::Quoted),
            None => (start, bare_end(bytes, start, way, judged), Ends::Open),
        }
    } else {
        (place, bare_end(bytes, place, way, judged), Ends::Bare)
    };
    let is_cut = ends != Ends::Quoted && end - start >= judged;
    let start = after_scheme(text, start, end);
    let quoted = ends != Ends::Bare;
    let span = if quoted { start..end } else { start..trim(bytes, start, end) };
    (span.start < span.end).then_some(Given { span, way, quoted, is_cut })
}

/// Where a quote closes that was opened behind `depth` backslashes.
fn close(bytes: &[u8], start: usize, quote: u8, depth: usize) -> Option<usize> {
    let limit = bytes.len().min(start + MAX_VALUE_BYTES);
    let mut place = start;
    for _ in 0..MAX_INNER_QUOTES {
        let found = place + memchr::memchr2(quote, b'\n', bytes.get(place..limit)?)?;
        if at(bytes, found) == b'\n' {
            return None;
        }
        let slashes = found - skip_back(bytes, found, 8, |byte| byte == b'\\');
        if slashes <= depth {
            return Some((found - slashes).max(start));
        }
        place = found + 1;
    }
    None
}

/// Where a value without quotes ends.
fn bare_end(bytes: &[u8], start: usize, way: Way, limit: usize) -> usize {
    let end = skip(bytes, start, limit, |byte| !byte.is_ascii_whitespace() && !is_quote(byte) && byte != b'\\');
    let window = bytes.get(start..end).unwrap_or_default();
    let stops = |(place, byte): (usize, &u8)| match byte {
        b'<' => way == Way::Element || window.get(place + 1) == Some(&b'/'),
        b'&' | b',' | b';' => {
            let next = start + place + 1;
            let name_end = skip(bytes, next, 40, is_name);
            at(bytes, name_end) == b'=' && name_end > next || (*byte != b',' && way == Way::Tight && *byte == b';')
        }
        _ => false,
    };
    window.iter().enumerate().position(|(place, byte)| stops((place, byte))).map_or(end, |place| start + place)
}

/// Punctuation after a value is not part of it, nor a bracket that was opened before it.
fn trim(bytes: &[u8], start: usize, end: usize) -> usize {
    let window = bytes.get(start..end).unwrap_or_default();
    let surplus = |open: u8, close: u8| {
        let count = |wanted: u8| window.iter().filter(|byte| **byte == wanted).count();
        count(close).saturating_sub(count(open))
    };
    if !matches!(before(bytes, end), b',' | b';' | b'.' | b':' | b'\\' | b')' | b'}' | b']' | b'>') {
        return end;
    }
    let mut unopened = [surplus(b'(', b')'), surplus(b'{', b'}'), surplus(b'[', b']'), surplus(b'<', b'>')];
    let mut end = end;
    while end > start {
        let kind = match before(bytes, end) {
            b',' | b';' | b'.' | b':' | b'\\' => None,
            b')' => Some(0),
            b'}' => Some(1),
            b']' => Some(2),
            b'>' => Some(3),
            _ => break,
        };
        if let Some(left) = kind.and_then(|kind| unopened.get_mut(kind)) {
            if *left == 0 {
                break;
            }
            *left -= 1;
        }
        end -= 1;
    }
    end
}

/// `Bearer value` is a value.
fn after_scheme(text: &str, start: usize, end: usize) -> usize {
    const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token ", "FlyV1 "];
    let given = text.get(start..).unwrap_or_default();
    let scheme = SCHEMES.iter().find(|scheme| given.starts_with(**scheme));
    scheme.map_or(start, |scheme| (start + scheme.len()).min(end))
}
