//! Clips the middle of long texts without letting secrets slip through.
//!
//! The redactor would not recognize a secret that a cut goes through. So a text is cut with a margin beyond what is
//! kept, redacted, and only then brought to its final length.

use std::borrow::Cow;
use std::ops::Range;

use crate::domain::TruncationCount;
use crate::redact::{RedactedText, Redactor};
use crate::text::strip_control_strings;

#[cfg(test)]
#[path = "text_clipping_tests.rs"]
mod tests;

/// The number of bytes kept of a text, half from the beginning and half from the end.
pub(super) const KEPT_BYTES: usize = 16 * 1024;

/// The margin that is kept beyond that until the text is redacted.
const MARGIN_BYTES: usize = 2 * 1024;

/// Marks a gap until [`redact_clipped`]: one stands before and one after the number of missing bytes.
const GAP: char = '\u{e0c1}';

/// Replaces a [`GAP`] character that the log itself contains.
const NO_GAP: &str = "\u{fffd}";

/// Removes titles and other data for a terminal: a model would read in a digest what no check of a text looks at.
pub(super) fn drop_control_strings(text: &mut String) {
    if let Cow::Owned(shown) = strip_control_strings(text) {
        *text = shown;
    }
}

/// Cuts the middle out of a long text, and returns how many bytes that was. Must be called only once per text.
pub(super) fn clip_middle(text: String) -> (String, u64) {
    let text = if text.contains(GAP) { text.replace(GAP, NO_GAP) } else { text };
    let half = KEPT_BYTES / 2 + MARGIN_BYTES;
    if text.len() <= 2 * half {
        return (text, 0);
    }
    let head = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
    let lost = text.len() - head.len() - tail.len();
    (format!("{head}{GAP}{lost}{GAP}{tail}"), lost as u64)
}

/// Returns true if a text is so long that its middle is cut out.
pub(super) fn is_clipped_length(text: &str) -> bool {
    text.len() > KEPT_BYTES + 2 * MARGIN_BYTES
}

/// The text between two gaps.
#[derive(Debug, PartialEq)]
struct ClippedPiece {
    span: Range<usize>,
    /// The number of bytes that are missing after it.
    lost: usize,
}

/// Splits a clipped text at its gaps; returns one piece more than there are gaps.
fn split_at_gaps(text: &str) -> Vec<ClippedPiece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut parts = text.split(GAP);
    while let Some(part) = parts.next() {
        let end = start + part.len();
        let number = parts.next();
        let lost = number.and_then(|number| number.parse().ok()).unwrap_or_default();
        pieces.push(ClippedPiece { span: start..end, lost });
        start = end + number.map_or(0, |number| number.len() + 2 * GAP.len_utf8());
    }
    pieces
}

/// Redacts the secrets of a text that was never clipped.
pub(super) fn redact_text(text: String, redactor: &Redactor) -> String {
    match redactor.redact(&text) {
        redacted if redacted.found.is_empty() => text,
        redacted => redacted.text.into_owned(),
    }
}

/// Redacts the secrets of a clipped text and cuts it to its final length.
pub(super) fn redact_clipped(text: String, redactor: &Redactor) -> String {
    if !text.contains(GAP) {
        return redact_text(text, redactor);
    }
    let redacted = redactor.redact(&text);
    let pieces = split_at_gaps(&text);
    let last = pieces.len() - 1;
    let mut out = String::new();
    let mut lost = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let cuts = PieceCuts { at_start: index > 0, at_end: index < last };
        let shown = cuts.trim_piece(&text, piece.span.clone(), &redacted);
        let (before, after) = shown.dropped;
        lost += before;
        if !shown.text.is_empty() {
            if lost > 0 {
                out.push_str(&format!("\n{}\n", TruncationCount::truncation_marker(lost as u64)));
            }
            out.push_str(shown.text);
            lost = 0;
        }
        lost += after + piece.lost;
    }
    if lost > 0 {
        out.push_str(&format!("\n{}\n", TruncationCount::truncation_marker(lost as u64)));
    }
    out
}

/// Redacts a text and cuts it to its start, its end and the given passage; the flag tells whether words changed.
pub(super) fn redact_around(text: &str, passage: &str, redactor: &Redactor) -> (String, bool) {
    if text.contains(GAP) {
        let (kept, _) = redact_around(&text.replace(GAP, NO_GAP), &passage.replace(GAP, NO_GAP), redactor);
        return (kept, true);
    }
    let half = KEPT_BYTES / 2 + MARGIN_BYTES;
    let mut has_secrets = false;
    let mut clean = |from: usize, to: usize, cuts: PieceCuts| {
        let (from, to) = (text.floor_char_boundary(from), text.ceil_char_boundary(to.min(text.len())));
        let piece = text.get(from..to).unwrap_or_default();
        let redacted = redactor.redact(piece);
        has_secrets |= !redacted.found.is_empty();
        cuts.trim_piece(piece, 0..piece.len(), &redacted).text.to_owned()
    };
    if text.len() <= 2 * half {
        return (clean(0, text.len(), PieceCuts::default()), has_secrets);
    }
    let at = text.find(passage).unwrap_or_default();
    let head = clean(0, half, PieceCuts { at_start: false, at_end: true });
    let tail = clean(text.len() - half, text.len(), PieceCuts { at_start: true, at_end: false });
    let is_near = at + passage.len() < KEPT_BYTES / 2 - MARGIN_BYTES || at > text.len() - KEPT_BYTES / 2 + MARGIN_BYTES;
    let kept = if is_near {
        let lost = text.len().saturating_sub(head.len() + tail.len());
        format!("{head}\n{}\n{tail}", TruncationCount::truncation_marker(lost as u64))
    } else {
        let (from, to) = (at.saturating_sub(2 * MARGIN_BYTES), at + passage.len() + 2 * MARGIN_BYTES);
        let window = clean(from, to, PieceCuts { at_start: from > 0, at_end: to < text.len() });
        let lost = text.len().saturating_sub(head.len() + window.len() + tail.len());
        format!(
            "{head}\n{}\n{window}\n{}\n{tail}",
            TruncationCount::truncation_marker((lost / 2) as u64),
            TruncationCount::truncation_marker((lost - lost / 2) as u64)
        )
    };
    (kept, has_secrets)
}

/// The ends at which a piece was cut out of a text.
#[derive(Clone, Copy, Default)]
struct PieceCuts {
    at_start: bool,
    at_end: bool,
}

/// The rest of a trimmed piece, and how many bytes were dropped at its start and its end.
struct TrimmedPiece<'t> {
    text: &'t str,
    dropped: (usize, usize),
}

impl PieceCuts {
    /// Removes the margins of a redacted piece, in which a secret may have been cut in two.
    fn trim_piece<'r>(self, text: &str, span: Range<usize>, redacted: &'r RedactedText<'_>) -> TrimmedPiece<'r> {
        let piece = text.get(span.clone()).unwrap_or_default();
        let start = map_position(redacted, span.start);
        let end = map_position(redacted, span.end).max(start);
        let (mut from, mut to) = (start, end);
        if self.at_start {
            let torn = piece.bytes().take_while(is_token_byte).count().max(MARGIN_BYTES).min(piece.len());
            from = line_start_after(&redacted.text, map_position(redacted, text.ceil_char_boundary(span.start + torn)))
                .min(end);
        }
        if self.at_end {
            let torn = piece.bytes().rev().take_while(is_token_byte).count().max(MARGIN_BYTES).min(piece.len());
            to = line_end_before(&redacted.text, map_position(redacted, text.floor_char_boundary(span.end - torn)))
                .max(start);
        }
        match redacted.text.get(from..to) {
            Some(text) if !text.is_empty() => TrimmedPiece { text, dropped: (from - start, end - to) },
            _ => TrimmedPiece { text: "", dropped: (0, end - start) },
        }
    }
}

/// Returns true for bytes of keys and other encoded data, escaped line ends included. A series of them next to a cut
/// may be part of one secret, however long.
fn is_token_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b'%' | b'\\')
}

/// Returns the span of each secret, with the position and text of the mark that replaces it.
pub(super) fn locate_marks<'r>(redacted: &'r RedactedText<'_>) -> Vec<(Range<usize>, usize, &'r str)> {
    let (mut after, mut shown_after) = (0, 0);
    let mut marks = Vec::with_capacity(redacted.found.len());
    for finding in &redacted.found {
        let start = shown_after + finding.span.start.saturating_sub(after);
        let rest = redacted.text.get(start..).unwrap_or_default();
        let mark = rest.split_inclusive(']').next().unwrap_or_default();
        marks.push((finding.span.clone(), start, mark));
        (after, shown_after) = (finding.span.end, start + mark.len());
    }
    marks
}

/// Maps a position of the original to the redacted text; a position inside a secret maps to the start of its mark.
fn map_position(redacted: &RedactedText<'_>, at: usize) -> usize {
    let (mut after, mut shown_after) = (0, 0);
    for (span, start, mark) in locate_marks(redacted) {
        if at <= span.start {
            break;
        }
        if at < span.end {
            return start;
        }
        (after, shown_after) = (span.end, start + mark.len());
    }
    shown_after + at - after
}

/// Returns the last line end before a position, or the position itself if the line is long.
fn line_end_before(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let near = text.floor_char_boundary(at.saturating_sub(MARGIN_BYTES / 2));
    text.get(near..at).and_then(|end| end.rfind('\n')).map_or(at, |newline| near + newline)
}

/// Returns the next line start after a position, or the position itself if the line is long.
fn line_start_after(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    let near = text.floor_char_boundary((at + MARGIN_BYTES / 2).min(text.len()));
    text.get(at..near).and_then(|start| start.find('\n')).map_or(at, |newline| at + newline + 1)
}
