//! Small questions about bytes, answered without panics.

/// The byte at a place; 0 outside.
pub(super) fn at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or(0)
}

/// The byte before a place; 0 at the start.
pub(super) fn before(bytes: &[u8], place: usize) -> u8 {
    place.checked_sub(1).map_or(0, |place| at(bytes, place))
}

/// The first place from `from` whose byte is not kept, at most `limit` bytes on.
pub(super) fn skip(bytes: &[u8], from: usize, limit: usize, keep: impl Fn(u8) -> bool) -> usize {
    let end = bytes.len().min(from.saturating_add(limit));
    let window = bytes.get(from..end).unwrap_or_default();
    from + window.iter().position(|byte| !keep(*byte)).unwrap_or(window.len())
}

/// The first place of the unbroken row of kept bytes that ends at `to`, at most `limit` bytes back.
pub(super) fn skip_back(bytes: &[u8], to: usize, limit: usize, keep: impl Fn(u8) -> bool) -> usize {
    let start = to.saturating_sub(limit);
    let window = bytes.get(start..to).unwrap_or_default();
    window.iter().rposition(|byte| !keep(*byte)).map_or(start, |last| start + last + 1)
}

/// Spaces and tabs.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Letters, digits and what joins the parts of a name.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The three kinds of quotes.
pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
