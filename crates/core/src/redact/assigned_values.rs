//! The values that are assigned to names: the operators between them, and where a value ends.

use std::ops::Range;

use super::bytes::{byte_at, byte_before, is_blank, is_name_byte, is_quote, skip_back_while, skip_while};

/// The most bytes of a value; a longer one is data.
const MAX_VALUE_BYTES: usize = 2048;

/// The number of bytes that are enough to judge a value; only for a secret is the end searched.
pub(super) const JUDGED_BYTES: usize = 128;

/// The number of bytes to judge a value inside another value.
pub(super) const JUDGED_INNER_BYTES: usize = 24;

/// The most escaped quotes inside a value; one with more is code.
const MAX_INNER_QUOTES: usize = 24;

/// The style in which a value is assigned to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AssignmentStyle {
    /// The style `name = value`, with spaces around the operator.
    Spaced,
    /// The style `name=value`.
    Tight,
    /// The style `name: value`.
    Colon,
    /// The style `<name>value</name>`.
    Element,
    /// The styles `name "value"`, `name("value")` and `"name", "value"`.
    Beside,
    /// The style `--name value`.
    Flag,
    /// The style `the name is value`.
    Prose,
}

/// A value that is assigned to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AssignedValue {
    pub(super) span: Range<usize>,
    pub(super) way: AssignmentStyle,
    pub(super) quoted: bool,
    /// True if the value continues after the span.
    pub(super) is_cut: bool,
}

impl AssignedValue {
    /// Returns the span of the whole value.
    pub(super) fn whole_span(&self, text: &str) -> Range<usize> {
        if !self.is_cut {
            return self.span.clone();
        }
        let bytes = text.as_bytes();
        let end = bare_value_end(bytes, self.span.start, self.way, MAX_VALUE_BYTES);
        let end = if self.quoted { end } else { trim_punctuation(bytes, self.span.start, end) };
        self.span.start..end.max(self.span.end)
    }
}

/// Returns the value that follows the name at `name`.
pub(super) fn value_after_name(text: &str, name: Range<usize>, judged: usize) -> Option<AssignedValue> {
    let bytes = text.as_bytes();
    let quote_end = skip_closing_quote(bytes, name.end);
    let was_quoted = quote_end > name.end;
    let mut place = skip_brackets(bytes, quote_end);
    let after_name = place;
    place = skip_while(bytes, place, 32, is_blank);
    let spaced = place > after_name;
    let operator_end = skip_while(bytes, place, 4, |byte| {
        matches!(byte, b'=' | b':' | b'!' | b'?' | b'.' | b'+' | b'>' | b'~' | b'|')
    });
    let operator = text.get(place..operator_end)?;
    let way = match operator {
        "=" | ":=" | "::=" | ":::=" | "?=" | ".=" | "+=" | "||=" | "|=" | "=>" | "==" | "!=" | "===" | "!==" | "~>"
        | "=~" => {
            if !spaced && operator == "=" && !is_blank(byte_at(bytes, operator_end)) {
                AssignmentStyle::Tight
            } else {
                AssignmentStyle::Spaced
            }
        }
        ":" => AssignmentStyle::Colon,
        ">" if !spaced => AssignmentStyle::Element,
        "" => return adjacent_value(text, &name, was_quoted, after_name, place, judged),
        _ => return None,
    };
    let mut start = skip_while(bytes, operator_end, 64, is_blank);
    if way == AssignmentStyle::Element
        || byte_at(bytes, start) == b'\n' && way == AssignmentStyle::Colon && next_line_is_quoted(bytes, start)
    {
        start = skip_while(bytes, start, 64, |byte| byte.is_ascii_whitespace());
    }
    if way == AssignmentStyle::Colon
        && let Some(block) = block_start(bytes, start)
    {
        start = block;
    }
    if way == AssignmentStyle::Colon
        && let Some(after_type) = value_after_type(bytes, start)
    {
        return read_value(text, after_type, AssignmentStyle::Spaced, judged);
    }
    read_value(text, start, way, judged)
}

/// Returns the start of the first line of a YAML block: what follows `|` or `>-` and a line end.
fn block_start(bytes: &[u8], start: usize) -> Option<usize> {
    let line_end = skip_while(bytes, start + 1, 2, |byte| matches!(byte, b'-' | b'+' | b'\r'));
    (matches!(byte_at(bytes, start), b'|' | b'>') && byte_at(bytes, line_end) == b'\n')
        .then(|| skip_while(bytes, line_end, 64, |byte| byte.is_ascii_whitespace()))
}

/// Returns the value compared with a name that follows it: `"value" == name`.
pub(super) fn value_before_name(text: &str, name_start: usize) -> Option<AssignedValue> {
    let bytes = text.as_bytes();
    let operator_end = skip_back_while(bytes, name_start, 8, is_blank);
    let operator_start = skip_back_while(bytes, operator_end, 3, |byte| matches!(byte, b'=' | b'!'));
    if !matches!(text.get(operator_start..operator_end)?, "==" | "!=" | "===" | "!==") {
        return None;
    }
    let end = skip_back_while(bytes, operator_start, 8, is_blank).checked_sub(1)?;
    let quote = byte_at(bytes, end);
    if !is_quote(quote) {
        return None;
    }
    let start = skip_back_while(bytes, end, 256, |byte| byte != quote && byte != b'\n');
    (byte_before(bytes, start) == quote).then_some(AssignedValue {
        span: start..end,
        way: AssignmentStyle::Spaced,
        quoted: true,
        is_cut: false,
    })
}

/// Returns the value next to a name without an operator: after quoted names, calls and flags.
fn adjacent_value(
    text: &str,
    name: &Range<usize>,
    was_quoted: bool,
    after_name: usize,
    place: usize,
    judged: usize,
) -> Option<AssignedValue> {
    let bytes = text.as_bytes();
    match byte_at(bytes, place) {
        b'<' if text.get(place..).is_some_and(|rest| rest.starts_with("</key>")) => {
            let next = skip_while(bytes, place + 6, 32, |byte| byte.is_ascii_whitespace());
            let value = text.get(next..).filter(|rest| rest.starts_with("<string>")).map(|_| next + 8)?;
            read_value(text, value, AssignmentStyle::Element, judged)
        }
        b',' if was_quoted => {
            let next = skip_while(bytes, place + 1, 16, |byte| byte.is_ascii_whitespace());
            named_value(text, next).or_else(|| quoted_value(text, next, AssignmentStyle::Beside))
        }
        b'v' | b'V' if was_quoted && place > after_name => named_value(text, place),
        b'{' if was_quoted => default_value(text, place),
        b'(' if !was_quoted && place == after_name => quoted_value(text, place + 1, AssignmentStyle::Beside),
        b'\n' | b'\r' => named_value(text, skip_while(bytes, place, 64, |byte| byte.is_ascii_whitespace())),
        _ if place == after_name => None,
        byte if is_quote(byte) && is_flag_name(bytes, name.start) => quoted_value(text, place, AssignmentStyle::Flag),
        byte if is_quote(byte) || byte == b'\\' => quoted_value(text, place, AssignmentStyle::Beside),
        _ if is_flag_name(bytes, name.start) => read_value(text, place, AssignmentStyle::Flag, judged),
        // Router configurations write the type of a password before it: `password 7 0822455D0A16`.
        b'0' | b'5' | b'7' if is_blank(byte_at(bytes, place + 1)) => {
            read_value(text, place + 2, AssignmentStyle::Flag, judged)
        }
        b'i' if bytes.get(place..place + 3) == Some(b"is ") => {
            read_value(text, place + 3, AssignmentStyle::Prose, judged)
        }
        b's' if bytes.get(place..place + 7) == Some(b"string ") || bytes.get(place..place + 7) == Some(b"string=") => {
            let equals = skip_while(bytes, place + 6, 4, is_blank);
            (byte_at(bytes, equals) == b'=').then(|| {
                read_value(text, skip_while(bytes, equals + 1, 4, is_blank), AssignmentStyle::Spaced, judged)
            })?
        }
        _ if is_login_line(bytes, name.start) || is_line_of_two(bytes, name.start, place) => {
            read_value(text, place, AssignmentStyle::Flag, judged)
        }
        _ => None,
    }
}

/// Returns the value of `value: …` or `"value": …` after a name, as in the environment of containers.
fn named_value(text: &str, place: usize) -> Option<AssignedValue> {
    let bytes = text.as_bytes();
    let start = skip_while(bytes, place, 2, is_quote);
    let word = bytes.get(start..start + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let colon = skip_while(bytes, start + 5, 4, |byte| is_quote(byte) || is_blank(byte));
    matches!(byte_at(bytes, colon), b':' | b'=')
        .then(|| read_value(text, skip_while(bytes, colon + 1, 8, is_blank), AssignmentStyle::Colon, JUDGED_BYTES))?
}

/// Returns true for a line of a name and a value only, as in some configuration files: `requirepass hunter22`.
fn is_line_of_two(bytes: &[u8], start: usize, value: usize) -> bool {
    let line = skip_back_while(bytes, start, 32, is_blank);
    let end = skip_while(bytes, value, 64, |byte| byte.is_ascii_graphic());
    let line_end = skip_while(bytes, end, 8, |byte| is_blank(byte) || byte == b'\r');
    (line == 0 || byte_before(bytes, line) == b'\n') && matches!(byte_at(bytes, line_end), 0 | b'\n')
}

/// Returns the default of `variable "password" { default = "…" }`.
fn default_value(text: &str, place: usize) -> Option<AssignedValue> {
    let bytes = text.as_bytes();
    let end = skip_while(bytes, place, 256, |byte| byte != b'}');
    let word = place + memchr::memmem::find(bytes.get(place..end)?, b"default")? + 7;
    let equals = skip_while(bytes, word, 24, is_blank);
    (byte_at(bytes, equals) == b'=')
        .then(|| quoted_value(text, skip_while(bytes, equals + 1, 8, is_blank), AssignmentStyle::Spaced))?
}

/// Returns the second of two strings in brackets: `auth=("name", "password")`.
pub(super) fn second_of_two(text: &str, name_end: usize) -> Option<AssignedValue> {
    let bytes = text.as_bytes();
    let open = skip_while(bytes, name_end, 4, |byte| is_blank(byte) || byte == b'=');
    let first = skip_while(bytes, open + 1, 4, is_blank);
    if byte_at(bytes, open) != b'(' || !is_quote(byte_at(bytes, first)) {
        return None;
    }
    let comma = find_closing_quote(bytes, first + 1, byte_at(bytes, first), 0)? + 1;
    let second = skip_while(bytes, comma + 1, 16, |byte| byte.is_ascii_whitespace());
    (byte_at(bytes, comma) == b',').then(|| quoted_value(text, second, AssignmentStyle::Beside))?
}

/// Returns true for `-name` or `--name`.
fn is_flag_name(bytes: &[u8], start: usize) -> bool {
    let before = byte_before(bytes, start);
    byte_at(bytes, start) == b'-' && (before == 0 || before.is_ascii_whitespace() || is_quote(before) || before == b'[')
}

/// Returns true for a line of `.netrc`, `machine … login … password …`, or of a Dockerfile, `ENV PASSWORD …`.
fn is_login_line(bytes: &[u8], start: usize) -> bool {
    let line = skip_back_while(bytes, start, 200, |byte| byte != b'\n');
    if bytes.get(line..start) == Some(b"ENV ") {
        return true;
    }
    // A `.netrc` entry may also span several lines.
    let line = bytes.get(start.saturating_sub(200)..start).unwrap_or_default();
    memchr::memmem::find(line, b"login ").is_some() && memchr::memmem::find(line, b"machine ").is_some()
}

/// Skips a closing quote after a name, escaped or not.
fn skip_closing_quote(bytes: &[u8], place: usize) -> usize {
    let after = skip_while(bytes, place, 8, |byte| byte == b'\\');
    if is_quote(byte_at(bytes, after)) { after + 1 } else { place }
}

/// Skips `]`, `[]` and `[25]` after a name.
fn skip_brackets(bytes: &[u8], place: usize) -> usize {
    let end = skip_while(bytes, place, 8, |byte| matches!(byte, b'[' | b']') || byte.is_ascii_digit());
    if end > place && byte_before(bytes, end) == b']' { end } else { place }
}

/// Returns the start of the value after a type: `name: &'static str = "value"`.
fn value_after_type(bytes: &[u8], start: usize) -> Option<usize> {
    let end = skip_while(bytes, start, 40, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'&' | b'\'' | b'<' | b'>' | b'_' | b':' | b' ')
    });
    let value = skip_while(bytes, end + 1, 8, is_blank);
    (end > start && byte_at(bytes, end) == b'=' && is_quote(byte_at(bytes, value))).then_some(value)
}

fn next_line_is_quoted(bytes: &[u8], start: usize) -> bool {
    is_quote(byte_at(bytes, skip_while(bytes, start, 32, |byte| byte.is_ascii_whitespace())))
}

fn quoted_value(text: &str, place: usize, way: AssignmentStyle) -> Option<AssignedValue> {
    read_value(text, place, way, JUDGED_BYTES).filter(|given| given.quoted)
}

/// The way in which a value ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueEnding {
    /// The value ends with the quote it began with.
    Quoted,
    /// The value ends with the line or a blank, because its quote never closes.
    Open,
    /// The value ends with a blank; it has no quotes.
    Bare,
}

/// Returns the value that starts here, without its quotes and without the word for its scheme.
fn read_value(text: &str, place: usize, way: AssignmentStyle, judged: usize) -> Option<AssignedValue> {
    let bytes = text.as_bytes();
    let prefixed = matches!(byte_at(bytes, place), b'@' | b'b' | b'r' | b'u' | b'f' | b'L' | b'N')
        && is_quote(byte_at(bytes, place + 1));
    let place = skip_wrapper(text, place + usize::from(prefixed));
    let quote_at = skip_while(bytes, place, 8, |byte| byte == b'\\');
    let quote = byte_at(bytes, quote_at);
    let (start, end, ends) = if is_quote(quote) {
        let start = quote_at + 1;
        let depth = quote_at - place;
        match find_closing_quote(bytes, start, quote, depth) {
            Some(end) => (start, end, ValueEnding::Quoted),
            None => (start, bare_value_end(bytes, start, way, judged), ValueEnding::Open),
        }
    } else {
        (place, bare_value_end(bytes, place, way, judged), ValueEnding::Bare)
    };
    let is_cut = ends != ValueEnding::Quoted && end - start >= judged;
    let start = skip_scheme(text, start, end);
    let quoted = ends != ValueEnding::Bare;
    let span = if quoted { start..end } else { start..trim_punctuation(bytes, start, end) };
    (span.start < span.end).then_some(AssignedValue { span, way, quoted, is_cut })
}

/// Skips the call around a string that only wraps it: `Some("…")`.
fn skip_wrapper(text: &str, place: usize) -> usize {
    const WRAPPERS: &[&str] = &[
        "Some(",
        "Ok(",
        "String::from(",
        "Secret::new(",
        "Secret(",
        "SecretString::from(",
        "SecretString::new(",
        "str(",
    ];
    let rest = text.get(place..).unwrap_or_default();
    let inside =
        WRAPPERS.iter().find_map(|wrapper| rest.strip_prefix(wrapper)).filter(|inside| inside.starts_with(['"', '\'']));
    inside.map_or(place, |inside| text.len() - inside.len())
}

/// Returns the position where a quote closes that was opened after `depth` backslashes.
fn find_closing_quote(bytes: &[u8], start: usize, quote: u8, depth: usize) -> Option<usize> {
    let limit = bytes.len().min(start + MAX_VALUE_BYTES);
    let mut place = start;
    for _ in 0..MAX_INNER_QUOTES {
        let found = place + memchr::memchr2(quote, b'\n', bytes.get(place..limit)?)?;
        if byte_at(bytes, found) == b'\n' {
            return None;
        }
        let slashes = found - skip_back_while(bytes, found, 8, |byte| byte == b'\\');
        if slashes <= depth {
            return Some((found - slashes).max(start));
        }
        place = found + 1;
    }
    None
}

/// Returns the end of a value without quotes.
fn bare_value_end(bytes: &[u8], start: usize, way: AssignmentStyle, limit: usize) -> usize {
    let end = skip_while(bytes, start, limit, |byte| !byte.is_ascii_whitespace() && !is_quote(byte) && byte != b'\\');
    let window = bytes.get(start..end).unwrap_or_default();
    let stops = |(place, byte): (usize, &u8)| match byte {
        b'<' => way == AssignmentStyle::Element || window.get(place + 1) == Some(&b'/'),
        b'&' | b',' | b';' => {
            let next = start + place + 1;
            let name_end = skip_while(bytes, next, 40, is_name_byte);
            byte_at(bytes, name_end) == b'=' && name_end > next
                || (*byte != b',' && way == AssignmentStyle::Tight && *byte == b';')
        }
        _ => false,
    };
    window.iter().enumerate().position(|(place, byte)| stops((place, byte))).map_or(end, |place| start + place)
}

/// Returns the end of a value without trailing punctuation and without brackets that were opened before it.
fn trim_punctuation(bytes: &[u8], start: usize, end: usize) -> usize {
    let window = bytes.get(start..end).unwrap_or_default();
    let surplus = |open: u8, close: u8| {
        let count = |wanted: u8| window.iter().filter(|byte| **byte == wanted).count();
        count(close).saturating_sub(count(open))
    };
    if !matches!(byte_before(bytes, end), b',' | b';' | b'.' | b':' | b'\\' | b')' | b'}' | b']' | b'>') {
        return end;
    }
    let mut unopened = [surplus(b'(', b')'), surplus(b'{', b'}'), surplus(b'[', b']'), surplus(b'<', b'>')];
    let mut end = end;
    while end > start {
        let kind = match byte_before(bytes, end) {
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

/// Returns the start of the value after a scheme such as `Bearer`.
fn skip_scheme(text: &str, start: usize, end: usize) -> usize {
    const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token ", "FlyV1 "];
    let given = text.get(start..).unwrap_or_default();
    let scheme = SCHEMES.iter().find(|scheme| given.starts_with(**scheme));
    scheme.map_or(start, |scheme| (start + scheme.len()).min(end))
}
