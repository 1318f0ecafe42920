//! Long texts without their middle, and secrets without their chance.
//!
//! A secret that a cut goes through would be a stranger to the redactor. So a text is cut a little beyond what is kept,
//! redacted, and only then brought to its length.

use std::ops::Range;

use crate::domain::Cut;
use crate::redact::{Redacted, Redactor};

#[cfg(test)]
#[path = "clip_tests.rs"]
mod tests;

/// What is kept of a text, half of it from the beginning and half from the end.
pub(super) const KEPT_BYTES: usize = 16 * 1024;

/// What is cut beyond that.
const MARGIN_BYTES: usize = 2 * 1024;

/// Twice this, around the number of bytes that are missing, stands where the middle was until [`settled`].
const GAP: char = '\u{e0c1}';

/// Stands for a [`GAP`] that a log brought along: it is no cut of ours.
const NO_GAP: &str = "\u{fffd}";

/// Takes the middle out of a long text, and says how many bytes that was. No text may come here twice.
pub(super) fn clipped(text: String) -> (String, u64) {
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

/// What stands between two gaps.
#[derive(Debug, PartialEq)]
struct Piece {
    span: Range<usize>,
    /// How many bytes are missing after it.
    lost: usize,
}

/// The pieces of a clipped text, one more than it has gaps.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut parts = text.split(GAP);
    while let Some(part) = parts.next() {
        let end = start + part.len();
        let number = parts.next();
        let lost = number.and_then(|number| number.parse().ok()).unwrap_or_default();
        pieces.push(Piece { span: start..end, lost });
        start = end + number.map_or(0, |number| number.len() + 2 * GAP.len_utf8());
    }
    pieces
}

/// A text that was never clipped, without secrets.
pub(super) fn clean(text: String, redactor: &Redactor) -> String {
    match redactor.redact(&text) {
        redacted if redacted.found.is_empty() => text,
        redacted => redacted.text.into_owned(),
    }
}

/// A clipped text without secrets, at its final length.
pub(super) fn settled(text: String, redactor: &Redactor) -> String {
    if !text.contains(GAP) {
        return clean(text, redactor);
    }
    let redacted = redactor.redact(&text);
    let pieces = pieces(&text);
    let last = pieces.len() - 1;
    let mut out = String::new();
    let mut lost = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let cuts = Cuts { at_start: index > 0, at_end: index < last };
        let shown = cuts.trim(&text, piece.span.clone(), &redacted);
        let (before, after) = shown.dropped;
        lost += before;
        if !shown.text.is_empty() {
            if lost > 0 {
                out.push_str(&format!("\n{}\n", Cut::mark(lost as u64)));
            }
            out.push_str(shown.text);
            lost = 0;
        }
        lost += after + piece.lost;
    }
    if lost > 0 {
        out.push_str(&format!("\n{}\n", Cut::mark(lost as u64)));
    }
    out
}

/// The text without secrets, cut to its beginning, its end, and the passage that matters; and whether words changed.
pub(super) fn around(text: &str, passage: &str, redactor: &Redactor) -> (String, bool) {
    if text.contains(GAP) {
        let (kept, _) = around(&text.replace(GAP, NO_GAP), &passage.replace(GAP, NO_GAP), redactor);
        return (kept, true);
    }
    let half = KEPT_BYTES / 2 + MARGIN_BYTES;
    let mut has_secrets = false;
    let mut clean = |from: usize, to: usize, cuts: Cuts| {
        let (from, to) = (text.floor_char_boundary(from), text.ceil_char_boundary(to.min(text.len())));
        let piece = text.get(from..to).unwrap_or_default();
        let redacted = redactor.redact(piece);
        has_secrets |= !redacted.found.is_empty();
        cuts.trim(piece, 0..piece.len(), &redacted).text.to_owned()
    };
    if text.len() <= 2 * half {
        return (clean(0, text.len(), Cuts::default()), has_secrets);
    }
    let at = text.find(passage).unwrap_or_default();
    let head = clean(0, half, Cuts { at_start: false, at_end: true });
    let tail = clean(text.len() - half, text.len(), Cuts { at_start: true, at_end: false });
    let is_near = at + passage.len() < KEPT_BYTES / 2 - MARGIN_BYTES || at > text.len() - KEPT_BYTES / 2 + MARGIN_BYTES;
    let kept = if is_near {
        let lost = text.len().saturating_sub(head.len() + tail.len());
        format!("{head}\n{}\n{tail}", Cut::mark(lost as u64))
    } else {
        let (from, to) = (at.saturating_sub(2 * MARGIN_BYTES), at + passage.len() + 2 * MARGIN_BYTES);
        let window = clean(from, to, Cuts { at_start: from > 0, at_end: to < text.len() });
        let lost = text.len().saturating_sub(head.len() + window.len() + tail.len());
        format!("{head}\n{}\n{window}\n{}\n{tail}", Cut::mark((lost / 2) as u64), Cut::mark((lost - lost / 2) as u64))
    };
    (kept, has_secrets)
}

/// Where a piece was cut out of a text.
#[derive(Clone, Copy, Default)]
struct Cuts {
    at_start: bool,
    at_end: bool,
}

/// What is left of a piece, and how many bytes went at its start and at its end.
struct Shown<'t> {
    text: &'t str,
    dropped: (usize, usize),
}

impl Cuts {
    /// A piece of a text, redacted with all of it, without the margins in which a secret may have been cut in two.
    fn trim<'r>(self, text: &str, span: Range<usize>, redacted: &'r Redacted<'_>) -> Shown<'r> {
        let piece = text.get(span.clone()).unwrap_or_default();
        let start = place(redacted, span.start);
        let end = place(redacted, span.end).max(start);
        let (mut from, mut to) = (start, end);
        if self.at_start {
            let torn = piece.bytes().take_while(is_of_token).count().max(MARGIN_BYTES).min(piece.len());
            from = line_start(&redacted.text, place(redacted, text.ceil_char_boundary(span.start + torn))).min(end);
        }
        if self.at_end {
            let torn = piece.bytes().rev().take_while(is_of_token).count().max(MARGIN_BYTES).min(piece.len());
            to = line_end(&redacted.text, place(redacted, text.floor_char_boundary(span.end - torn))).max(start);
        }
        match redacted.text.get(from..to) {
            Some(text) if !text.is_empty() => Shown { text, dropped: (from - start, end - to) },
            _ => Shown { text: "", dropped: (0, end - start) },
        }
    }
}

/// What keys and other encoded data are made of, escaped line ends among it. A run of it that touches a cut may be a
/// part of one secret, however long.
fn is_of_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b'%' | b'\\')
}

/// The secrets of a text, each with the mark that stands for it and the place of that.
pub(super) fn marks<'r>(redacted: &'r Redacted<'_>) -> Vec<(Range<usize>, usize, &'r str)> {
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

/// Where a place of the original is in the redacted text; what is inside a secret is where its mark begins.
fn place(redacted: &Redacted<'_>, at: usize) -> usize {
    let (mut after, mut shown_after) = (0, 0);
    for (span, start, mark) in marks(redacted) {
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

/// The last end of a line before a place, or the place itself if the line is long.
fn line_end(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let near = text.floor_char_boundary(at.saturating_sub(MARGIN_BYTES / 2));
    text.get(near..at).and_then(|end| end.rfind('\n')).map_or(at, |newline| near + newline)
}

/// The next start of a line after a place, or the place itself if the line is long.
fn line_start(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    let near = text.floor_char_boundary((at + MARGIN_BYTES / 2).min(text.len()));
    text.get(at..near).and_then(|start| start.find('\n')).map_or(at, |newline| at + newline + 1)
}
