//! Reads JSON Lines leniently.

use serde::de::DeserializeOwned;

/// One line that is not empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoreLine<'a> {
    /// The line's number in the piece, from 1, with empty lines counted.
    pub(super) number: usize,
    /// The offset in the file where it begins.
    pub(super) start: u64,
    /// The line without newline, carriage return, byte order mark and padding.
    pub(super) bytes: &'a [u8],
}

/// Splits a piece of a file that begins at `base` into lines. A last line without a newline counts; empty ones do not.
pub(super) fn split_lines(piece: &[u8], base: u64) -> impl Iterator<Item = StoreLine<'_>> {
    let mut at = 0;
    let whole = std::iter::from_fn(move || {
        let rest = piece.get(at..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let start = at;
        at += end + 1;
        Some((start, rest.get(..end)?))
    });
    (1..).zip(whole).filter_map(move |(number, (start, whole))| {
        let (skipped, bytes) = trim_line(whole);
        (!bytes.is_empty()).then(|| StoreLine { number, start: base.saturating_add(to_u64(start + skipped)), bytes })
    })
}

/// Parses one line, or returns a short reason why it cannot be read.
pub(super) fn parse_line<T: DeserializeOwned>(bytes: &[u8], limit: usize) -> Result<T, String> {
    if bytes.len() > limit {
        return Err(format!("the line is {} bytes long; the limit is {limit}", bytes.len()));
    }
    serde_json::from_slice(bytes).map_err(|error| describe_json_error(&error))
}

/// Converts a length in memory to a file offset.
pub(super) fn to_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Trims a byte order mark, whitespace and zero bytes from a line; also returns the number of bytes trimmed in front.
fn trim_line(line: &[u8]) -> (usize, &[u8]) {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    let mark = if line.starts_with(MARK) { MARK.len() } else { 0 };
    let padding = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let rest = line.get(mark..).unwrap_or_default();
    let start = rest.iter().position(|byte| !padding(byte)).unwrap_or(rest.len());
    let end = rest.iter().rposition(|byte| !padding(byte)).map_or(start, |last| last + 1);
    (mark + start, rest.get(start..end).unwrap_or_default())
}

/// Returns serde_json's message without its "at line 1 column n", because the caller reports the line.
fn describe_json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

#[cfg(test)]
#[path = "json_lines_tests.rs"]
mod tests;
