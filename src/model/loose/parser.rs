//! Reads one value, strict or not, whole or cut off.

use memchr::memchr2;
use serde_json::{Map, Number, Value};

/// Deeper than this nobody answers.
const MAX_DEPTH: usize = 128;

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// Something that no kind of JSON has at this place.
    Strange,
    /// More containers within one another than anyone needs.
    TooDeep,
}

/// Reads a text from a place on.
///
/// A value is `None` where the text ends before the value does. A container keeps what was whole in it; one that has
/// nothing whole in it is none, because an empty list would say something that was never said.
#[derive(Debug)]
pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// Open objects and arrays.
    objects: usize,
    arrays: usize,
    /// Something was not strict JSON.
    pub(super) mended: bool,
    /// The text ended first.
    pub(super) cut: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at, objects: 0, arrays: 0, mended: false, cut: false }
    }

    /// How far it read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn value(&mut self) -> Result<Option<Value>, Wrong> {
        match self.peek() {
            None => Ok(self.cut_off()),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(quote @ (b'"' | b'\'')) => Ok(self.string(quote).map(Value::String)),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => self.number(),
            Some(_) => self.word(),
        }
    }

    fn object(&mut self) -> Result<Option<Value>, Wrong> {
        self.check_depth()?;
        self.objects += 1;
        self.at += 1;
        let mut object = Map::new();
        let mut last = Last::Opened;
        let is_whole = loop {
            match self.peek() {
                None => {
                    self.cut = true;
                    break false;
                }
                Some(b'}') => {
                    self.at += 1;
                    self.mended |= last == Last::Comma;
                    break true;
                }
                Some(b']') => {
                    self.mended = true;
                    // It ends the list around this object, or nothing.
                    if self.arrays > 0 {
                        break true;
                    }
                    self.at += 1;
                }
                Some(b',') => last = self.comma(last),
                Some(byte) => {
                    self.mended |= last == Last::Member;
                    let Some(key) = self.key(byte)? else { break false };
                    match self.peek() {
                        Some(b':') => self.at += 1,
                        Some(_) => return Err(Wrong::Strange),
                        None => {
                            self.cut = true;
                            break false;
                        }
                    }
                    let Some(value) = self.value()? else { break false };
                    object.insert(key, value);
                    last = Last::Member;
                }
            }
        };
        self.objects -= 1;
        Ok((is_whole || !object.is_empty()).then_some(Value::Object(object)))
    }

    fn array(&mut self) -> Result<Option<Value>, Wrong> {
        self.check_depth()?;
        self.arrays += 1;
        self.at += 1;
        let mut list = Vec::new();
        let mut last = Last::Opened;
        let is_whole = loop {
            match self.peek() {
                None => {
                    self.cut = true;
                    break false;
                }
                Some(b']') => {
                    self.at += 1;
                    self.mended |= last == Last::Comma;
                    break true;
                }
                Some(b'}') => {
                    self.mended = true;
                    if self.objects > 0 {
                        break true;
                    }
                    self.at += 1;
                }
                Some(b',') => last = self.comma(last),
                Some(_) => {
                    self.mended |= last == Last::Member;
                    let Some(value) = self.value()? else { break false };
                    list.push(value);
                    last = Last::Member;
                }
            }
        };
        self.arrays -= 1;
        Ok((is_whole || !list.is_empty()).then_some(Value::Array(list)))
    }

    fn comma(&mut self, last: Last) -> Last {
        self.at += 1;
        self.mended |= last != Last::Member;
        Last::Comma
    }

    fn key(&mut self, first: u8) -> Result<Option<String>, Wrong> {
        if matches!(first, b'"' | b'\'') {
            return Ok(self.string(first));
        }
        let key = self.run(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'));
        if key.is_empty() {
            return Err(Wrong::Strange);
        }
        self.mended = true;
        Ok(if self.rest().is_empty() { self.cut_off() } else { Some(key.to_owned()) })
    }

    fn string(&mut self, quote: u8) -> Option<String> {
        self.mended |= quote != b'"';
        self.at += 1;
        let mut string = String::new();
        loop {
            let rest = self.rest();
            let Some((plain, tail)) =
                memchr2(quote, b'\\', rest.as_bytes()).and_then(|length| rest.split_at_checked(length))
            else {
                self.at = self.text.len();
                return self.cut_off();
            };
            self.mended |= plain.bytes().any(|byte| byte < b' ');
            string.push_str(plain);
            self.at += plain.len() + 1;
            if tail.as_bytes().first() == Some(&quote) {
                return Some(string);
            }
            self.escape(&mut string)?;
        }
    }

    /// What stands behind a backslash; `None` where the text ends.
    fn escape(&mut self, string: &mut String) -> Option<()> {
        let Some(escaped) = self.rest().chars().next() else { return self.cut_off() };
        self.at += escaped.len_utf8();
        match escaped {
            '"' | '\\' | '/' => string.push(escaped),
            'b' => string.push('\u{8}'),
            'f' => string.push('\u{c}'),
            'n' => string.push('\n'),
            'r' => string.push('\r'),
            't' => string.push('\t'),
            'u' => self.code_point(string),
            '\'' | '\n' => {
                self.mended = true;
                string.push(escaped);
            }
            // A pattern such as `\d`, written as in a source file.
            other => {
                self.mended = true;
                string.extend(['\\', other]);
            }
        }
        Some(())
    }

    fn code_point(&mut self, string: &mut String) {
        let Some(first) = self.four_digits(self.at) else {
            self.mended = true;
            string.push_str("\\u");
            return;
        };
        self.at += 4;
        let pair = (0xD800..0xDC00).contains(&first).then(|| {
            let is_escape = self.rest().starts_with("\\u");
            let second = self.four_digits(self.at + 2).filter(|second| is_escape && (0xDC00..0xE000).contains(second));
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

    fn four_digits(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at.checked_add(4)?)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
    }

    fn number(&mut self) -> Result<Option<Value>, Wrong> {
        let digits = self.run(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E' | '_'));
        if self.rest().is_empty() {
            // The rest of its digits may be missing.
            return Ok(self.cut_off());
        }
        if let Ok(number) = serde_json::from_str::<Number>(digits) {
            return Ok(Some(Value::Number(number)));
        }
        self.mended = true;
        let digits = digits.trim_start_matches('+').replace('_', "");
        if let Ok(number) = digits.parse::<i64>() {
            return Ok(Some(Value::from(number)));
        }
        // Too large for any number is none at all, but no reason to lose what stands around it.
        digits.parse::<f64>().map(|number| Some(Value::from(number))).map_err(|_| Wrong::Strange)
    }

    fn word(&mut self) -> Result<Option<Value>, Wrong> {
        let word = self.run(|c| c.is_alphanumeric() || c == '_');
        let value = match word {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "NULL" | "undefined" | "NaN" | "Infinity" => Value::Null,
            "" => return Err(Wrong::Strange),
            _ if self.rest().is_empty() => return Ok(self.cut_off()),
            _ => return Err(Wrong::Strange),
        };
        self.mended |= !matches!(word, "true" | "false" | "null");
        Ok(Some(value))
    }

    /// The next byte that means something. A closing fence or tag ends the text, for JSON has neither.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let rest = self.rest();
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

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn cut_off<T>(&mut self) -> Option<T> {
        self.cut = true;
        None
    }

    fn check_depth(&self) -> Result<(), Wrong> {
        if self.objects + self.arrays < MAX_DEPTH { Ok(()) } else { Err(Wrong::TooDeep) }
    }
}

/// What came last in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Opened,
    Comma,
    Member,
}
