//! Opaque values with only a blank between them and a word that announces them: `api key 3f9a…`, `TOKEN aB3…`, or the
//! name of a provider whose keys have no prefix.

use std::ops::Range;

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_blank, is_name_byte, is_quote, skip_back_while, skip_while};
use super::secret_names::{PromisedSecret, classify_name};
use super::value_shape::{is_location, is_placeholder, is_random, is_uuid, shannon_entropy};

#[cfg(test)]
#[path = "opaque_values_tests.rs"]
mod tests;

/// The fewest bytes of a value after a secret's name.
const MIN_NAMED_BYTES: usize = 16;

/// The fewest bytes of a value after a provider's name.
const MIN_PROVIDER_BYTES: usize = 20;

/// The most bytes of a value; a longer one is data.
const MAX_VALUE_BYTES: usize = 200;

/// The words before `key` that make it a secret one.
const KEY_WORDS: &[&str] = &[
    "api", "secret", "access", "auth", "private", "license", "app", "service", "account", "master", "signing", "client",
];

/// Returns the span of an opaque value that follows a secret's name after a blank.
pub(super) fn find_opaque_value(text: &str, name: Range<usize>, promised: PromisedSecret) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = skip_while(bytes, name.end, 3, is_blank);
    let span = value_span(bytes, start).filter(|_| start > name.end)?;
    let value = text.get(span.clone())?;
    let is_sure = match promised {
        PromisedSecret::Password | PromisedSecret::Secret | PromisedSecret::Token => true,
        PromisedSecret::Maybe => follows_key_word(text, name.start),
    };
    let fits = value.len() >= MIN_NAMED_BYTES && is_opaque(value) && (is_sure || !is_hexadecimal(value));
    fits.then_some(span)
}

/// Finds the opaque value that follows a provider's name after a blank or an operator.
pub(super) fn find_provider_key(text: &str, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    if byte_before(bytes, start).is_ascii_alphanumeric() || is_name_byte(byte_at(bytes, end)) {
        return;
    }
    let in_gap = |byte: u8| is_blank(byte) || is_quote(byte) || matches!(byte, b':' | b'=' | b'>');
    let value_start = skip_while(bytes, end, 6, in_gap);
    let Some(span) = value_span(bytes, value_start).filter(|_| value_start > end) else { return };
    let is_key = text
        .get(span.clone())
        .is_some_and(|value| value.len() >= MIN_PROVIDER_BYTES && is_opaque(value) && !is_hexadecimal(value));
    if is_key {
        found.push(SecretFinding { kind: "high-entropy", span });
    }
}

/// Returns the span of the letters, digits and joints that begin here and end before a blank or a sign.
fn value_span(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let in_value = |byte: u8| is_name_byte(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~');
    let stop = skip_while(bytes, start, MAX_VALUE_BYTES, in_value);
    let end = skip_back_while(bytes, stop, 2, |byte| byte == b'.');
    let is_whole =
        !matches!(byte_at(bytes, stop), b'(' | b'[' | b'{' | b'<' | b':' | b'@') && byte_before(bytes, end) != b'-';
    (is_whole && end > start).then_some(start..end)
}

/// Returns true for a value that nobody would write by hand and that is no path, no name and no version.
fn is_opaque(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let dots = value.bytes().filter(|byte| *byte == b'.').count();
    digits >= 3
        && letters >= 3
        && dots <= 1
        && (is_random(value) || is_uuid(value))
        && shannon_entropy(value) >= 3.0
        && classify_name(value).is_none()
        && !is_placeholder(value)
        && !is_location(value)
}

fn is_hexadecimal(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Returns true if the word before a name makes it a secret: `api key`.
fn follows_key_word(text: &str, name_start: usize) -> bool {
    let bytes = text.as_bytes();
    let end = skip_back_while(bytes, name_start, 2, is_blank);
    let start = skip_back_while(bytes, end, 12, |byte| byte.is_ascii_alphabetic());
    end < name_start
        && text.get(start..end).is_some_and(|word| KEY_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}
