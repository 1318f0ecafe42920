//! The mark that stands where a secret stood.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;

/// How every mark begins.
const OPENING: &str = "[redacted:";

/// Where that stands in a text.
static OPENINGS: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(OPENING));

/// So many hexadecimal digits tell one secret from another without giving it away.
const FINGERPRINT_DIGITS: usize = 6;

/// No kind has a longer name.
const MAX_KIND_BYTES: usize = 40;

/// `[redacted:kind:3f9a1c]`. The fingerprint has no key: the same secret gives the same mark everywhere.
pub(super) fn push(out: &mut String, kind: &str, secret: &str) {
    out.push_str(OPENING);
    out.push_str(kind);
    out.push(':');
    let digits = blake3::hash(secret.as_bytes()).to_hex();
    out.extend(digits.chars().take(FINGERPRINT_DIGITS));
    out.push(']');
}

/// How long the mark of a kind is.
pub(super) fn len(kind: &str) -> usize {
    OPENING.len() + kind.len() + 1 + FINGERPRINT_DIGITS + 1
}

/// Whether a text begins as marks do.
pub(super) fn opens(text: &str) -> bool {
    text.starts_with(OPENING)
}

/// Whether there is a mark in this text.
pub(super) fn contains(text: &str) -> bool {
    OPENINGS.find(text.as_bytes()).is_some_and(|start| text.get(start..).is_some_and(|rest| !spans(rest).is_empty()))
}

/// Where marks stand.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
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
