//! What stands between a name and its value, and where the value ends.

use std::ops::Range;

use super::bytes::{at, before, is_blank, is_name, is_quote, skip, skip_back};

/// A value is at most so long; what is longer is data.
const MAX_VALUE_BYTES: usize = 2048;

/// Longer values are not searched for brackets.
const MAX_TRIMMED_BYTES: usize = 512;

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
}

/// The value that follows a name which stands at `name`.
pub(super) fn following(text: &str, name: Range<usize>) -> Option<Given> {
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
        "" => return beside(text, &name, was_quoted, after_name, place),
        _ => return None,
    };
    let mut start = skip(bytes, operator_end, 64, is_blank);
    if way == Way::Element || at(bytes, start) == b'\n' && way == Way::Colon && next_line_is_quoted(bytes, start) {
        start = skip(bytes, start, 64, |byte| byte.is_ascii_whitespace());
    }
    if way == Way::Colon
        && let Some(after_type) = after_type(bytes, start)
    {
        return value(text, after_type, Way::Spaced);
    }
    value(text, start, way)
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
    (before(bytes, start) == quote).then_some(Given { span: start..end, way: Way::Spaced, quoted: true })
}

/// Names in quotes, after calls and after flags have their values beside them.
fn beside(text: &str, name: &Range<usize>, was_quoted: bool, after_name: usize, place: usize) -> Option<Given> {
    let bytes = text.as_bytes();
    match at(bytes, place) {
        b',' if was_quoted => {
            let next = skip(bytes, place + 1, 16, |byte| byte.is_ascii_whitespace());
            named_value(text, next).or_else(|| quoted_value(text, next, Way::Beside))
        }
        b'(' if !was_quoted && place == after_name => quoted_value(text, place + 1, Way::Beside),
        b'\n' | b'\r' => named_value(text, skip(bytes, place, 64, |byte| byte.is_ascii_whitespace())),
        _ if place == after_name => None,
        byte if is_quote(byte) || byte == b'\\' => quoted_value(text, place, Way::Beside),
        _ if is_flag(bytes, name.start) => value(text, place, Way::Flag),
        b'i' if bytes.get(place..place + 3) == Some(b"is ") => value(text, place + 3, Way::Prose),
        b's' if bytes.get(place..place + 7) == Some(b"string ") || bytes.get(place..place + 7) == Some(b"string=") => {
            let equals = skip(bytes, place + 6, 4, is_blank);
            (at(bytes, equals) == b'=').then(|| value(text, skip(bytes, equals + 1, 4, is_blank), Way::Spaced))?
        }
        _ if was_login_line(bytes, name.start) => value(text, place, Way::Flag),
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
    matches!(at(bytes, colon), b':' | b'=').then(|| value(text, skip(bytes, colon + 1, 8, is_blank), Way::Colon))?
}

/// `-name` or `--name`.
fn is_flag(bytes: &[u8], start: usize) -> bool {
    at(bytes, start) == b'-' && (start == 0 || !is_name(before(bytes, start)))
}

/// A line of `.netrc`: `machine … login … password …`, or of a Dockerfile: `ENV PASSWORD …`.
fn was_login_line(bytes: &[u8], start: usize) -> bool {
    let line = skip_back(bytes, start, 200, |byte| byte != b'\n');
    let line = bytes.get(line..start).unwrap_or_default();
    if line == b"ENV " {
        return true;
    }
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
    value(text, place, way).filter(|given| given.quoted)
}

/// The value that starts here, without its quotes and without the word for its scheme.
fn value(text: &str, place: usize, way: Way) -> Option<Given> {
    let bytes = text.as_bytes();
    let prefixed =
        matches!(at(bytes, place), b'@' | b'b' | b'r' | b'u' | b'f' | b'L' | b'N') && is_quote(at(bytes, place + 1));
    let place = place + usize::from(prefixed);
    let quote_at = skip(bytes, place, 8, |byte| byte == b'\\');
    let quote = at(bytes, quote_at);
    let (start, end, quoted) = if is_quote(quote) {
        let start = quote_at + 1;
        let depth = quote_at - place;
        match close(bytes, start, quote, depth) {
            Some(end) => (start, end, true),
            None => (start, bare_end(bytes, start, way), true),
        }
    } else {
        (place, bare_end(bytes, place, way), false)
    };
    let start = after_scheme(text, start, end);
    let span = if quoted { start..end } else { start..trim(bytes, start, end) };
    (span.start < span.end).then_some(Given { span, way, quoted })
}

/// Where a quote closes that was opened behind `depth` backslashes.
fn close(bytes: &[u8], start: usize, quote: u8, depth: usize) -> Option<usize> {
    let limit = bytes.len().min(start + MAX_VALUE_BYTES);
    let mut place = start;
    while place < limit {
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
fn bare_end(bytes: &[u8], start: usize, way: Way) -> usize {
    let end =
        skip(bytes, start, MAX_VALUE_BYTES, |byte| !byte.is_ascii_whitespace() && !is_quote(byte) && byte != b'\\');
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
    let mut end = end;
    while end > start {
        let window = bytes.get(start..end).unwrap_or_default();
        let is_unopened = |open: u8, close: u8| {
            let count = |wanted: u8| window.iter().filter(|byte| **byte == wanted).count();
            count(open) < count(close)
        };
        let is_extra = match before(bytes, end) {
            b',' | b';' | b'.' | b':' | b'\\' => true,
            b')' => is_unopened(b'(', b')'),
            b'}' => is_unopened(b'{', b'}'),
            b']' => is_unopened(b'[', b']'),
            b'>' => is_unopened(b'<', b'>'),
            _ => false,
        };
        if !is_extra || window.len() > MAX_TRIMMED_BYTES {
            break;
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
