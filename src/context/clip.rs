//! Long texts without their middle, and secrets without their chance.
//!
//! A secret that a cut goes through would be a stranger to the redactor. So a text is cut a little beyond what is kept,
//! redacted, and only then brought to its length.

use crate::redact::Redactor;

#[cfg(test)]
#[path = "clip_tests.rs"]
mod tests;

/// What is kept of a text, half of it from the beginning and half from the end.
pub(super) const KEPT_BYTES: usize = 16 * 1024;

/// What is cut beyond that.
const MARGIN_BYTES: usize = 2 * 1024;

/// Stands where the middle was until [`settled`]; no log has a use for it.
const GAP: char = '\u{e0c1}';

/// Takes the middle out of a long text, and says how many bytes that was.
pub(super) fn clipped(text: String) -> (String, u64) {
    let half = KEPT_BYTES / 2 + MARGIN_BYTES;
    if text.len() <= 2 * half {
        return (text, 0);
    }
    let head = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
    let lost = text.len() - head.len() - tail.len();
    let kept = [head, tail].map(|part| part.replace(GAP, " ")).join(&format!("{GAP}{lost}{GAP}"));
    (kept, lost as u64)
}

/// The text without secrets, at its final length.
pub(super) fn settled(text: String, redactor: &Redactor) -> String {
    let Some((head, rest)) = text.split_once(GAP) else {
        return match redactor.redact(&text) {
            redacted if redacted.found.is_empty() => text,
            redacted => redacted.text.into_owned(),
        };
    };
    let (lost, tail) = rest.split_once(GAP).unwrap_or(("0", rest));
    let head = redactor.redact(head).text;
    let tail = redactor.redact(tail).text;
    let kept_head = head.get(..line_end(&head, KEPT_BYTES / 2)).unwrap_or_default();
    let kept_tail = tail.get(line_start(&tail, tail.len().saturating_sub(KEPT_BYTES / 2))..).unwrap_or_default();
    let dropped = head.len() - kept_head.len() + tail.len() - kept_tail.len();
    let lost = lost.parse::<usize>().unwrap_or_default() + dropped;
    format!("{kept_head}\n{}\n{kept_tail}", mark(lost))
}

/// What stands where something is missing.
fn mark(bytes: usize) -> String {
    format!("[… {bytes} bytes cut …]")
}

/// The text without secrets, cut to its beginning, its end, and the passage that matters; and whether there were any.
pub(super) fn around(text: &str, passage: &str, redactor: &Redactor) -> (String, bool) {
    let half = KEPT_BYTES / 2 + MARGIN_BYTES;
    let mut has_secrets = false;
    let mut clean = |from: usize, to: usize, cuts: Cuts| {
        let (from, to) = (text.floor_char_boundary(from), text.ceil_char_boundary(to.min(text.len())));
        let redacted = redactor.redact(text.get(from..to).unwrap_or_default());
        has_secrets |= !redacted.found.is_empty();
        cuts.trim(&redacted.text).to_owned()
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
        format!("{head}\n{}\n{tail}", mark(lost))
    } else {
        let (from, to) = (at.saturating_sub(2 * MARGIN_BYTES), at + passage.len() + 2 * MARGIN_BYTES);
        let window = clean(from, to, Cuts { at_start: from > 0, at_end: to < text.len() });
        let lost = text.len().saturating_sub(head.len() + window.len() + tail.len());
        format!("{head}\n{}\n{window}\n{}\n{tail}", mark(lost / 2), mark(lost - lost / 2))
    };
    (kept, has_secrets)
}

/// Where a piece was cut out of a text.
#[derive(Clone, Copy, Default)]
struct Cuts {
    at_start: bool,
    at_end: bool,
}

impl Cuts {
    /// The piece without the margins in which a secret may have been cut in two.
    fn trim(self, piece: &str) -> &str {
        let from = if self.at_start { line_start(piece, MARGIN_BYTES.min(piece.len())) } else { 0 };
        let to = if self.at_end { line_end(piece, piece.len().saturating_sub(MARGIN_BYTES)) } else { piece.len() };
        piece.get(from..to.max(from)).unwrap_or_default()
    }
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
