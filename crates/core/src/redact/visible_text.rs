//! A text as its reader sees it: without colours, hidden characters and the breaks of continued lines.
//!
//! A secret may be coloured, hold a zero-width character, or go on in the next line. It is then searched for in the
//! visible text, and removed from the original with everything that is hidden in it.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_blank, skip_while};
use crate::text::{is_hidden_character, visible_spans};

#[cfg(test)]
#[path = "visible_text_tests.rs"]
mod tests;

/// The spellings of escape characters, hidden characters and line continuations in programs, JSON, URLs and HTML. What
/// each of them hides is decided by [`escape_length`].
const SPELLINGS: &[&str] = &[
    "\\u001b",
    "\\u001B",
    "\\x1b",
    "\\x1B",
    "\\033",
    "\\e[",
    "%1b",
    "%1B",
    "\\u200",
    "\\u2060",
    "\\ufeff",
    "\\uFEFF",
    "\\u00ad",
    "\\u00AD",
    "%E2%80%8",
    "%e2%80%8",
    "%E2%81%A0",
    "%e2%81%a0",
    "%EF%BB%BF",
    "%ef%bb%bf",
    "&#8203;",
    "&#x200b;",
    "&#x200B;",
    "&ZeroWidthSpace;",
    "&shy;",
    "&zwnj;",
    "&zwj;",
    "\\\n",
    "\\\r\n",
    "\\\\n",
];

/// The search for all spellings in one pass.
static SPELLING_SEARCH: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(SPELLINGS).ok());

/// The most bytes of an escape sequence's parameters.
const MAX_PARAMETER_BYTES: usize = 24;

/// The most blanks at the beginning of a continued line.
const MAX_INDENT_BYTES: usize = 64;

/// A text without what cannot be seen, and the way back to the original.
#[derive(Debug)]
pub(super) struct VisibleText {
    text: String,
    /// For each kept span: its start in the visible text, and its span in the original.
    kept: Vec<(usize, Range<usize>)>,
}

impl VisibleText {
    /// Returns the visible text; `None` if nothing in it is hidden.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let hidden = find_hidden_spans(text);
        if hidden.is_empty() {
            return None;
        }
        let mut visible = Self { text: String::with_capacity(text.len()), kept: Vec::with_capacity(hidden.len() + 1) };
        let mut from = 0;
        for span in hidden.into_iter().chain(std::iter::once(text.len()..text.len())) {
            if let Some(piece) = text.get(from..span.start).filter(|piece| !piece.is_empty()) {
                visible.kept.push((visible.text.len(), from..span.start));
                visible.text.push_str(piece);
            }
            from = from.max(span.end);
        }
        Some(visible)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the finding in the original, with what is hidden inside it.
    pub(super) fn to_original(&self, finding: &SecretFinding) -> Option<SecretFinding> {
        let last = finding.span.end.checked_sub(1)?;
        let span = self.original_place(finding.span.start)?..self.original_place(last)? + 1;
        Some(SecretFinding { kind: finding.kind, span })
    }

    fn original_place(&self, place: usize) -> Option<usize> {
        let after = self.kept.partition_point(|(start, _)| *start <= place);
        let (start, span) = self.kept.get(after.checked_sub(1)?)?;
        Some(span.start + (place - start))
    }
}

/// Returns the spans that nobody sees, in order and apart from each other.
fn find_hidden_spans(text: &str) -> Vec<Range<usize>> {
    let mut hidden = find_spelled_spans(text);
    let has_escapes = memchr::memchr(0x1b, text.as_bytes()).is_some();
    if has_escapes || !text.is_ascii() && text.contains(|c| is_hidden_character(c) && !c.is_ascii()) {
        let mut from = 0;
        for span in visible_spans(text).into_iter().chain(std::iter::once(text.len()..text.len())) {
            if span.start > from {
                hidden.push(from..span.start);
            }
            from = span.end;
        }
        hidden.sort_unstable_by_key(|span| span.start);
    }
    hidden.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    hidden
}

/// Returns the spans that are hidden by a spelling in ASCII.
fn find_spelled_spans(text: &str) -> Vec<Range<usize>> {
    let Some(search) = &*SPELLING_SEARCH else { return Vec::new() };
    let bytes = text.as_bytes();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for found in search.find_iter(text) {
        let spelling = text.get(found.start()..found.end()).unwrap_or_default();
        let span = match spelling.as_bytes() {
            [b'\\', b'\n' | b'\r', ..] => {
                Some(found.start()..skip_while(bytes, found.end(), MAX_INDENT_BYTES, is_blank))
            }
            // The end of a line that was escaped twice: `\\\n` in a string.
            [b'\\', b'\\', b'n'] => escaped_continuation(bytes, found.start()),
            _ => escape_end(bytes, found.end(), spelling).map(|end| found.start()..end),
        };
        // Nothing hidden begins inside something hidden.
        if let Some(span) = span.filter(|span| spans.last().is_none_or(|last| last.end <= span.start)) {
            spans.push(span);
        }
    }
    spans
}

/// Returns the span of a backslash and a line end, each escaped for a string.
fn escaped_continuation(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let is_whole = byte_before(bytes, start) == b'\\' && byte_before(bytes, start.saturating_sub(1)) != b'\\';
    is_whole.then(|| start - 1..skip_while(bytes, start + 3, MAX_INDENT_BYTES, is_blank))
}

/// Returns the end of a spelled character, with the parameters of an escape sequence.
fn escape_end(bytes: &[u8], end: usize, spelling: &str) -> Option<usize> {
    if let "\\u200" | "%E2%80%8" | "%e2%80%8" = spelling {
        return matches!(byte_at(bytes, end), b'b'..=b'f' | b'B'..=b'F').then_some(end + 1);
    }
    let is_escape = spelling.ends_with("1b") || spelling.ends_with("1B") || matches!(spelling, "\\033" | "\\e[");
    if !is_escape {
        return Some(end);
    }
    let open = match (spelling, bytes.get(end..end + 3)) {
        ("\\e[", _) => end,
        (_, Some([b'[', ..])) => end + 1,
        (_, Some(b"%5B" | b"%5b")) => end + 3,
        _ => return None,
    };
    let stop = skip_while(bytes, open, MAX_PARAMETER_BYTES, |byte| {
        byte.is_ascii_digit() || matches!(byte, b';' | b'?' | b'%')
    });
    byte_at(bytes, stop).is_ascii_alphabetic().then_some(stop + 1)
}
