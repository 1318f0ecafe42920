//! Credentials in HTTP headers: `Authorization`, `Bearer …` anywhere, `Cookie` and `Set-Cookie`.

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_blank, is_quote, skip_while};
use super::value_shape::{is_code, is_placeholder, is_random, shannon_entropy};

#[cfg(test)]
#[path = "http_headers_tests.rs"]
mod tests;

/// The most bytes of a header's value.
const MAX_HEADER_BYTES: usize = 8192;

/// The number of bytes that are enough to judge a value.
const JUDGED_BYTES: usize = 48;

/// Finds the credentials after a header's word. `seen_to` is the position up to which cookies were searched.
pub(super) fn find_header_secrets(
    text: &str,
    start: usize,
    end: usize,
    seen_to: &mut usize,
    found: &mut Vec<SecretFinding>,
) {
    match byte_at(text.as_bytes(), start).to_ascii_lowercase() {
        b'c' if start < *seen_to => {}
        b'c' => *seen_to = find_cookies(text, end, found).unwrap_or(end),
        b'a' => find_authorization(text, end, found),
        _ if byte_before(text.as_bytes(), start).is_ascii_alphanumeric() => {}
        _ => find_credentials(text, end, CredentialCertainty::Word, found),
    }
}

/// The certainty that credentials follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CredentialCertainty {
    /// The header's name says so.
    Header,
    /// Only a word such as `Bearer` says so.
    Word,
}

/// Returns the position after the colon or equals sign of a header, with quotes and spaces around it skipped.
fn header_value_start(bytes: &[u8], end: usize) -> Option<usize> {
    let colon = skip_while(bytes, end, 8, |byte| is_quote(byte) || byte == b'\\' || is_blank(byte) || byte == b']');
    if !matches!(byte_at(bytes, colon), b':' | b'=' | b',') {
        return None;
    }
    let after = if byte_at(bytes, colon + 1) == b'>' { colon + 2 } else { colon + 1 };
    Some(skip_while(bytes, after, 16, |byte| is_quote(byte) || byte == b'\\' || is_blank(byte)))
}

fn find_authorization(text: &str, end: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let Some(start) = header_value_start(bytes, end) else { return };
    let word_end = skip_while(bytes, start, 24, |byte| byte.is_ascii_alphabetic() || byte == b'-');
    let has_scheme = word_end > start && is_blank(byte_at(bytes, word_end)) && word_end - start >= 3;
    find_credentials(text, if has_scheme { word_end } else { start }, CredentialCertainty::Header, found);
}

/// Finds the credentials that begin after blanks.
fn find_credentials(text: &str, end: usize, certainty: CredentialCertainty, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let start =
        skip_while(bytes, end, 4, |byte| is_blank(byte) || (certainty == CredentialCertainty::Word && byte == b':'));
    let in_value = |byte: u8| {
        !byte.is_ascii_whitespace()
            && !is_quote(byte)
            && !matches!(byte, b'\\' | b'<' | b'>' | b',' | b';' | b')' | b'}')
    };
    let stop = skip_while(bytes, start, JUDGED_BYTES, in_value);
    let Some(value) = text.get(start..text.floor_char_boundary(stop)) else { return };
    let value = value.trim_end_matches(['.', ':']);
    let is_base64 = value.len().is_multiple_of(4) && value.ends_with('=');
    let is_secret = value.len() >= 8
        && (is_random(value)
            || (certainty == CredentialCertainty::Header
                && (is_base64 || shannon_entropy(value) >= 3.5 && value.len() >= 20)));
    if is_secret && !value.contains(['(', '{', '$']) && !is_code(value) && !is_placeholder(value) {
        let is_cut = stop - start >= JUDGED_BYTES;
        let end = if is_cut { skip_while(bytes, start, MAX_HEADER_BYTES, in_value) } else { start + value.len() };
        found.push(SecretFinding { kind: "auth-header", span: start..end });
    }
}

/// The names of cookies whose values are not secret.
const OPEN_COOKIES: &[&str] =
    &["path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "version", "lang", "theme"];

/// Finds each cookie value that looks secret: `Cookie: a=1; session=…`.
///
/// Returns the position up to which was searched.
fn find_cookies(text: &str, end: usize, found: &mut Vec<SecretFinding>) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = header_value_start(bytes, end).filter(|_| byte_at(bytes, end) != b'=')?;
    let stop = skip_while(bytes, start, MAX_HEADER_BYTES, |byte| !matches!(byte, b'\n' | b'"' | b'\'' | b'`'));
    let line = text.get(start..stop)?;
    let mut place = start;
    for piece in line.split_inclusive(';') {
        let pair = piece.trim_end_matches(';').trim_end();
        if let Some((name, value)) = pair.split_once('=') {
            let is_open = OPEN_COOKIES.contains(&name.trim().to_ascii_lowercase().as_str());
            if !is_open && value.len() >= 8 && is_random(value) && !is_placeholder(value) && !value.contains(['(', ' '])
            {
                let from = place + name.len() + 1;
                found.push(SecretFinding { kind: "cookie", span: from..from + value.len() });
            }
        }
        place += piece.len();
    }
    Some(stop)
}
