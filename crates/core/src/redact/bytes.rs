//! Small helpers for bytes that never panic.

/// Returns the byte at a position; 0 outside.
pub(super) fn byte_at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or(0)
}

/// Returns the byte before a position; 0 at the start.
pub(super) fn byte_before(bytes: &[u8], place: usize) -> u8 {
    place.checked_sub(1).map_or(0, |place| byte_at(bytes, place))
}

/// Returns the first position from `from` whose byte is not kept, at most `limit` bytes on.
pub(super) fn skip_while(bytes: &[u8], from: usize, limit: usize, keep: impl Fn(u8) -> bool) -> usize {
    let end = bytes.len().min(from.saturating_add(limit));
    let window = bytes.get(from..end).unwrap_or_default();
    from + window.iter().position(|byte| !keep(*byte)).unwrap_or(window.len())
}

/// Returns the first position of the unbroken row of kept bytes that ends at `to`, at most `limit` bytes back.
pub(super) fn skip_back_while(bytes: &[u8], to: usize, limit: usize, keep: impl Fn(u8) -> bool) -> usize {
    let start = to.saturating_sub(limit);
    let window = bytes.get(start..to).unwrap_or_default();
    window.iter().rposition(|byte| !keep(*byte)).map_or(start, |last| start + last + 1)
}

/// Returns true for spaces and tabs.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns true for letters, digits and the signs that join the parts of a name.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns true for the three kinds of quotes.
pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
