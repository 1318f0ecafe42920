//! Turns output into plain text: without colour codes, line by line, and cut to a readable length.

use std::borrow::Cow;

/// Returns the text without colour codes and control characters. Line ends and tabs are kept.
pub(super) fn strip_control_codes(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte < 0x20 && !matches!(byte, b'\n' | b'\t') || byte == 0x7f) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape_sequence(&mut characters),
            // A carriage return restarts the line; the overwritten text was progress.
            '\r' => out.push('\n'),
            '\n' | '\t' => out.push(character),
            _ if character.is_control() => {}
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

fn skip_escape_sequence(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            while characters.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            characters.next_if(|c| matches!(c, '@'..='~'));
        }
        Some(']') => {
            // A title or a link: up to the bell or the string terminator, but never past the line.
            while let Some(inner) = characters.next_if(|c| *c != '\n') {
                if inner == '\u{7}' || (inner == '\u{1b}' && characters.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        Some('(' | ')') => {
            characters.next();
            characters.next_if(char::is_ascii_alphanumeric);
        }
        _ => {}
    }
}

/// Returns at most `limit` characters of a text.
pub(super) fn clip_characters(text: &str, limit: usize) -> &str {
    match text.char_indices().nth(limit) {
        Some((end, _)) => text.get(..end).unwrap_or(text).trim_end(),
        None => text,
    }
}

/// Returns the line around a byte of the text, and the offset of its end.
pub(super) fn line_at(text: &str, at: usize) -> (&str, usize) {
    let bytes = text.as_bytes();
    let before = bytes.get(..at).unwrap_or_default();
    let start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |end| end + 1);
    let rest = bytes.get(at..).unwrap_or_default();
    let end = memchr::memchr2(b'\n', b'\r', rest).map_or(bytes.len(), |length| at + length);
    (text.get(start..end).unwrap_or_default(), end)
}

/// Returns the text from the first character that begins at or after byte `from`.
pub(super) fn suffix_from_byte(text: &str, from: usize) -> &str {
    let from = (from..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default()
}

/// Returns the text up to the last character that ends at or before byte `to`.
pub(super) fn prefix_to_byte(text: &str, to: usize) -> &str {
    let to = (0..=to.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.get(..to).unwrap_or_default()
}
