//! Turns output into plain text: without colour codes, line by line, and cut to a readable length.

use std::borrow::Cow;

use crate::text::{JoinerPolicy, strip_hidden_text};

/// Returns the text without escape sequences and hidden characters. Line feeds and tabs are kept.
pub(super) fn strip_control_codes(text: &str) -> Cow<'_, str> {
    let visible = strip_hidden_text(text, JoinerPolicy::Keep);
    // A carriage return restarts the line; the overwritten text was progress.
    if visible.contains('\r') { Cow::Owned(visible.replace('\r', "\n")) } else { visible }
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
