//! A parser for one JSON value, strict or not, complete or cut off.

use memchr::memchr2;
use serde_json::{Map, Number, Value};

/// The deepest nesting that is parsed.
const MAX_DEPTH: usize = 128;

/// The reason why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LenientParseError {
    /// A character that no kind of JSON has at this position.
    Strange,
    /// The nesting is too deep.
    TooDeep,
}

/// A parser that reads a text from a given position.
///
/// A value is `None` if the text ends before the value does. A container keeps its complete members; one without any
/// complete member is `None`, because an empty list would say something that was never said.
#[derive(Debug)]
pub(super) struct LenientParser<'t> {
    text: &'t str,
    at: usize,
    /// The number of open objects and arrays.
    objects: usize,
    arrays: usize,
    /// True if something was not strict JSON.
    pub(super) mended: bool,
    /// True if the text ended first.
    pub(super) cut: bool,
}

impl<'t> LenientParser<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at, objects: 0, arrays: 0, mended: false, cut: false }
    }

    /// Returns the current position in the text.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn parse_value(&mut self) -> Result<Option<Value>, LenientParseError> {
        match self.peek_byte() {
            None => Ok(self.mark_cut_off()),
            Some(b'{') => self.parse_object(),
            Some(b'[') => self.parse_array(),
            Some(quote @ (b'"' | b'\'')) => Ok(self.parse_string(quote).map(Value::String)),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => self.parse_number(),
            Some(_) => self.parse_word(),
        }
    }

    fn parse_object(&mut self) -> Result<Option<Value>, LenientParseError> {
        self.check_depth()?;
        self.objects += 1;
        self.at += 1;
        let mut object = Map::new();
        let mut last = LastToken::Opened;
        let is_whole = loop {
            match self.peek_byte() {
                None => {
                    self.cut = true;
                    break false;
                }
                Some(b'}') => {
                    self.at += 1;
                    self.mended |= last == LastToken::Comma;
                    break true;
                }
                Some(b']') => {
                    self.mended = true;
                    // It closes the list around this object, or nothing.
                    if self.arrays > 0 {
                        break true;
                    }
                    self.at += 1;
                }
                Some(b',') => last = self.skip_comma(last),
                Some(byte) => {
                    self.mended |= last == LastToken::Member;
                    let Some(key) = self.parse_key(byte)? else { break false };
                    match self.peek_byte() {
                        Some(b':') => self.at += 1,
                        Some(_) => return Err(LenientParseError::Strange),
                        None => {
                            self.cut = true;
                            break false;
                        }
                    }
                    let Some(value) = self.parse_value()? else { break false };
                    object.insert(key, value);
                    last = LastToken::Member;
                }
            }
        };
        self.objects -= 1;
        Ok((is_whole || !object.is_empty()).then_some(Value::Object(object)))
    }

    fn parse_array(&mut self) -> Result<Option<Value>, LenientParseError> {
        self.check_depth()?;
        self.arrays += 1;
        self.at += 1;
        let mut list = Vec::new();
        let mut last = LastToken::Opened;
        let is_whole = loop {
            match self.peek_byte() {
                None => {
                    self.cut = true;
                    break false;
                }
                Some(b']') => {
                    self.at += 1;
                    self.mended |= last == LastToken::Comma;
                    break true;
                }
                Some(b'}') => {
                    self.mended = true;
                    if self.objects > 0 {
                        break true;
                    }
                    self.at += 1;
                }
                Some(b',') => last = self.skip_comma(last),
                Some(_) => {
                    self.mended |= last == LastToken::Member;
                    let Some(value) = self.parse_value()? else { break false };
                    list.push(value);
                    last = LastToken::Member;
                }
            }
        };
        self.arrays -= 1;
        Ok((is_whole || !list.is_empty()).then_some(Value::Array(list)))
    }

    fn skip_comma(&mut self, last: LastToken) -> LastToken {
        self.at += 1;
        self.mended |= last != LastToken::Member;
        LastToken::Comma
    }

    fn parse_key(&mut self, first: u8) -> Result<Option<String>, LenientParseError> {
        if matches!(first, b'"' | b'\'') {
            return Ok(self.parse_string(first));
        }
        let key = self.read_run(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'));
        if key.is_empty() {
            return Err(LenientParseError::Strange);
        }
        self.mended = true;
        Ok(if self.remaining_text().is_empty() { self.mark_cut_off() } else { Some(key.to_owned()) })
    }

    fn parse_string(&mut self, quote: u8) -> Option<String> {
        self.mended |= quote != b'"';
        self.at += 1;
        let mut string = String::new();
        loop {
            let rest = self.remaining_text();
            let Some((plain, tail)) =
                memchr2(quote, b'\\', rest.as_bytes()).and_then(|length| rest.split_at_checked(length))
            else {
                self.at = self.text.len();
                return self.mark_cut_off();
            };
            self.mended |= plain.bytes().any(|byte| byte < b' ');
            string.push_str(plain);
            self.at += plain.len() + 1;
            if tail.as_bytes().first() == Some(&quote) {
                return Some(string);
            }
            self.parse_escape(&mut string)?;
        }
    }

    /// Parses the characters after a backslash; returns `None` if the text ends.
    fn parse_escape(&mut self, string: &mut String) -> Option<()> {
        let Some(escaped) = self.remaining_text().chars().next() else { return self.mark_cut_off() };
        self.at += escaped.len_utf8();
        match escaped {
            '"' | '\\' | '/' => string.push(escaped),
            'b' => string.push('\u{8}'),
            'f' => string.push('\u{c}'),
            'n' => string.push('\n'),
            'r' => string.push('\r'),
            't' => string.push('\t'),
            'u' => self.parse_code_point(string),
            '\'' | '\n' => {
                self.mended = true;
                string.push(escaped);
            }
            // A pattern such as `\d`, not escaped a second time.
            other => {
                self.mended = true;
                string.extend(['\\', other]);
            }
        }
        Some(())
    }

    fn parse_code_point(&mut self, string: &mut String) {
        let Some(first) = self.parse_four_hex_digits(self.at) else {
            self.mended = true;
            string.push_str("\\u");
            return;
        };
        self.at += 4;
        let pair = (0xD800..0xDC00).contains(&first).then(|| {
            let is_escape = self.remaining_text().starts_with("\\u");
            let second =
                self.parse_four_hex_digits(self.at + 2).filter(|second| is_escape && (0xDC00..0xE000).contains(second));
            second.map(|second| 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        });
        let code = match pair {
            Some(Some(code)) => {
                self.at += 6;
                code
            }
            _ => first,
        };
        let character = char::from_u32(code);
        self.mended |= character.is_none();
        string.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn parse_four_hex_digits(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at.checked_add(4)?)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
    }

    fn parse_number(&mut self) -> Result<Option<Value>, LenientParseError> {
        let digits = self.read_run(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E' | '_'));
        if self.remaining_text().is_empty() {
            // More digits may be missing.
            return Ok(self.mark_cut_off());
        }
        if let Ok(number) = serde_json::from_str::<Number>(digits) {
            return Ok(Some(Value::Number(number)));
        }
        self.mended = true;
        let digits = digits.trim_start_matches('+').replace('_', "");
        if let Ok(number) = digits.parse::<i64>() {
            return Ok(Some(Value::from(number)));
        }
        // A number that is too large becomes null, but the values around it are kept.
        digits.parse::<f64>().map(|number| Some(Value::from(number))).map_err(|_| LenientParseError::Strange)
    }

    fn parse_word(&mut self) -> Result<Option<Value>, LenientParseError> {
        let word = self.read_run(|c| c.is_alphanumeric() || c == '_');
        let value = match word {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "NULL" | "undefined" | "NaN" | "Infinity" => Value::Null,
            "" => return Err(LenientParseError::Strange),
            _ if self.remaining_text().is_empty() => return Ok(self.mark_cut_off()),
            _ => return Err(LenientParseError::Strange),
        };
        self.mended |= !matches!(word, "true" | "false" | "null");
        Ok(Some(value))
    }

    /// Returns the next significant byte. A closing fence or tag ends the text, because JSON has neither.
    fn peek_byte(&mut self) -> Option<u8> {
        loop {
            let rest = self.remaining_text();
            let trimmed = rest.trim_start();
            let (space, _) = rest.split_at_checked(rest.len() - trimmed.len())?;
            self.mended |= space.bytes().any(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
            self.at += space.len();
            if trimmed.starts_with("```") || trimmed.starts_with("</") {
                return None;
            }
            let comment = if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |length| length + 2)
            } else if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else {
                return trimmed.bytes().next();
            };
            self.mended = true;
            self.at += comment;
        }
    }

    fn read_run(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.remaining_text();
        let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn remaining_text(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn mark_cut_off<T>(&mut self) -> Option<T> {
        self.cut = true;
        None
    }

    fn check_depth(&self) -> Result<(), LenientParseError> {
        if self.objects + self.arrays < MAX_DEPTH { Ok(()) } else { Err(LenientParseError::TooDeep) }
    }
}

/// The last token read in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastToken {
    Opened,
    Comma,
    Member,
}
