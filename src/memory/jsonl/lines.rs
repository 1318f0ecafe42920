//! JSON Lines as they are found, not as they should be.

use serde::de::DeserializeOwned;

/// One line that holds something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Which line of the piece it is, from 1, empty ones counted.
    pub(super) number: usize,
    /// Where it begins in the file.
    pub(super) start: u64,
    /// The line without its ends: no newline, carriage return, byte order mark or padding.
    pub(super) bytes: &'a [u8],
}

/// The lines of a piece of a file that begins at `base`. A last line without a newline counts; empty ones do not.
pub(super) fn lines(piece: &[u8], base: u64) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    let whole = std::iter::from_fn(move || {
        let rest = piece.get(at..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let start = at;
        at += end + 1;
        Some((start, rest.get(..end)?))
    });
    (1..).zip(whole).filter_map(move |(number, (start, whole))| {
        let (skipped, bytes) = trim(whole);
        (!bytes.is_empty()).then(|| Line { number, start: base.saturating_add(to_u64(start + skipped)), bytes })
    })
}

/// Reads one line, or says in a few words why it cannot be read.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], limit: usize) -> Result<T, String> {
    if bytes.len() > limit {
        return Err(format!("the line is {} bytes long; the limit is {limit}", bytes.len()));
    }
    serde_json::from_slice(bytes).map_err(|error| plain(&error))
}

/// A file position from a length in memory.
pub(super) fn to_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Cuts off what a byte order mark, Windows and a lost power supply leave at the ends of a line; says how much in front.
fn trim(line: &[u8]) -> (usize, &[u8]) {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    let mark = if line.starts_with(MARK) { MARK.len() } else { 0 };
    let padding = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let rest = line.get(mark..).unwrap_or_default();
    let start = rest.iter().position(|byte| !padding(byte)).unwrap_or(rest.len());
    let end = rest.iter().rposition(|byte| !padding(byte)).map_or(start, |last| last + 1);
    (mark + start, rest.get(start..end).unwrap_or_default())
}

/// serde_json's message without its "at line 1 column n": the line is named by whoever reports it.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
