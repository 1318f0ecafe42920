//! The mark that replaces a secret.

use crate::domain::StableHash;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;

/// The beginning of every mark.
const OPENING: &str = "[redacted:";

/// The search for the beginnings of marks in a text.
static OPENINGS: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(OPENING));

/// The number of hexadecimal digits that distinguish secrets without revealing them.
const FINGERPRINT_DIGITS: usize = 6;

/// The most bytes of a kind's name.
const MAX_KIND_BYTES: usize = 40;

/// Appends `[redacted:kind:3f9a1c]`. The fingerprint has no key: the same secret gives the same mark everywhere.
pub(super) fn push_mark(out: &mut String, kind: &str, secret: &str) {
    out.push_str(OPENING);
    out.push_str(kind);
    out.push(':');
    out.push_str(&StableHash::from_text(secret).to_digits(FINGERPRINT_DIGITS));
    out.push(']');
}

/// Returns the length of the mark of a kind.
pub(super) fn mark_length(kind: &str) -> usize {
    OPENING.len() + kind.len() + 1 + FINGERPRINT_DIGITS + 1
}

/// Returns true if a text begins like a mark.
pub(super) fn starts_with_mark(text: &str) -> bool {
    text.starts_with(OPENING)
}

/// Returns true if there is a mark in this text.
pub(super) fn contains_mark(text: &str) -> bool {
    OPENINGS
        .find(text.as_bytes())
        .is_some_and(|start| text.get(start..).is_some_and(|rest| !find_marks(rest).is_empty()))
}

/// Returns the spans of all marks.
pub(super) fn find_marks(text: &str) -> Vec<Range<usize>> {
    OPENINGS
        .find_iter(text.as_bytes())
        .filter_map(|start| {
            let rest = text.as_bytes().get(start + OPENING.len()..)?;
            let kind = rest.iter().take(MAX_KIND_BYTES).position(|byte| *byte == b':')?;
            let is_kind = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
            let digits = rest.get(kind + 1..kind + 1 + FINGERPRINT_DIGITS)?;
            let is_mark = rest.get(..kind)?.iter().all(is_kind)
                && digits.iter().all(u8::is_ascii_hexdigit)
                && rest.get(kind + 1 + FINGERPRINT_DIGITS) == Some(&b']');
            is_mark.then(|| start..start + OPENING.len() + kind + 1 + FINGERPRINT_DIGITS + 1)
        })
        .collect()
}
