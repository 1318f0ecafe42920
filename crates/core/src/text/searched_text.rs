//! A text that is searched for in stored bytes, however JSON has escaped it there.

use std::borrow::Cow;

use serde_json::Value;

#[cfg(test)]
#[path = "searched_text_tests.rs"]
mod tests;

/// The number of layers of escapes that are taken off: JSON in a text in JSON has two.
const MAX_LAYERS: usize = 6;

/// A text that is searched for. Upper and lower case, the kind and amount of white space, and JSON's escapes make no
/// difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedText {
    /// The folded forms of the text: as it was given, and without escapes.
    forms: Vec<String>,
}

impl SearchedText {
    /// The number of characters, white space aside, that a text must have.
    pub const MIN_CHARACTERS: usize = 4;

    /// Returns the text to search for; `None` if it is too short to mean anything in particular.
    pub fn new(text: &str) -> Option<Self> {
        if text.chars().filter(|character| !character.is_whitespace()).count() < Self::MIN_CHARACTERS {
            return None;
        }
        let mut forms = vec![fold_text(text)];
        forms.extend(unescape_layer(text).map(|plain| fold_text(&plain)).filter(|plain| plain.len() >= 4));
        Some(Self { forms })
    }

    /// Returns true if the text occurs in a record: in JSON in a value, or in a name that is no plain word, and in
    /// anything else anywhere.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        if !self.is_in_text(&String::from_utf8_lossy(bytes)) {
            return false;
        }
        if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
            return self.is_in_value(&value);
        }
        let values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        // What is not all JSON has no names to tell from values.
        values.into_iter().any(|value| value.map_or(true, |value| self.is_in_value(&value)))
    }

    fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in_text(text),
            Value::Number(number) => self.is_in_text(&number.to_string()),
            Value::Array(items) => items.iter().any(|item| self.is_in_value(item)),
            Value::Object(members) => members
                .iter()
                .any(|(name, member)| (!is_plain_word(name) && self.is_in_text(name)) || self.is_in_value(member)),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn is_in_text(&self, text: &str) -> bool {
        let mut text: Cow<'_, str> = Cow::Borrowed(text);
        for _ in 0..MAX_LAYERS {
            let folded = fold_text(&text);
            if self.forms.iter().any(|form| folded.contains(form)) {
                return true;
            }
            match unescape_layer(&text) {
                Some(plain) => text = Cow::Owned(plain),
                None => return false,
            }
        }
        false
    }
}

/// Returns true for the name of a member as programs write it.
fn is_plain_word(name: &str) -> bool {
    name.chars().all(|character| character.is_ascii_alphabetic() || character == '_')
}

/// Returns the text in lower case, with one blank for each run of white space, and none at either end.
fn fold_text(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        if word.is_ascii() {
            folded.extend(word.chars().map(|character| character.to_ascii_lowercase()));
        } else {
            folded.extend(word.chars().flat_map(char::to_lowercase));
        }
    }
    folded
}

/// Takes one layer of JSON's escapes off; `None` if there is none.
fn unescape_layer(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut is_changed = false;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        plain.push_str(before);
        match read_escape(escape) {
            Some((character, length)) => {
                plain.push(character);
                is_changed = true;
                rest = escape.get(length..).unwrap_or_default();
            }
            None => {
                plain.push('\\');
                rest = escape.get(1..).unwrap_or_default();
            }
        }
    }
    plain.push_str(rest);
    is_changed.then_some(plain)
}

/// Reads the escape at the beginning of a text; returns its character and its length.
fn read_escape(text: &str) -> Option<(char, usize)> {
    let plain = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'"' => '"',
        b'/' => '/',
        b'\\' => '\\',
        b'u' => return read_code_point(text),
        _ => return None,
    };
    Some((plain, 2))
}

fn read_code_point(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let second = unit(6).filter(|unit| (0xDC00..0xE000).contains(unit))?;
    let point = 0x1_0000 + (first.checked_sub(0xD800)?.checked_mul(0x400)?) + (second - 0xDC00);
    Some((char::from_u32(point)?, 12))
}
