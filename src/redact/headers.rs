//! Credentials in HTTP headers: `Authorization`, `Bearer …` anywhere, `Cookie` and `Set-Cookie`.

use super::Finding;
use super::bytes::{at, before, is_blank, is_quote, skip};
use super::value::{entropy, is_code, is_placeholder, is_random};

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;

/// A header's value is at most so long.
const MAX_HEADER_BYTES: usize = 8192;

/// So much of it tells what it is.
const JUDGED_BYTES: usize = 48;

/// The credentials after a header's word. `seen_to` is how far cookies were looked at.
pub(super) fn find(text: &str, start: usize, end: usize, seen_to: &mut usize, found: &mut Vec<Finding>) {
    match at(text.as_bytes(), start).to_ascii_lowercase() {
        b'c' if start < *seen_to => {}
        b'c' => *seen_to = cookies(text, end, found).unwrap_or(end),
        b'a' => authorization(text, end, found),
        _ if before(text.as_bytes(), start).is_ascii_alphanumeric() => {}
        _ => credentials(text, end, Certainty::Word, found),
    }
}

/// How sure it is that credentials follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// The header says so.
    Header,
    /// Only a word does.
    Word,
}

/// The colon or equals sign after a header's name, quotes and spaces around it.
fn after_colon(bytes: &[u8], end: usize) -> Option<usize> {
    let colon = skip(bytes, end, 8, |byte| is_quote(byte) || byte == b'\\' || is_blank(byte) || byte == b']');
    if !matches!(at(bytes, colon), b':' | b'=' | b',') {
        return None;
    }
    let after = if at(bytes, colon + 1) == b'>' { colon + 2 } else { colon + 1 };
    Some(skip(bytes, after, 16, |byte| is_quote(byte) || byte == b'\\' || is_blank(byte)))
}

fn authorization(text: &str, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let Some(start) = after_colon(bytes, end) else { return };
    let word_end = skip(bytes, start, 24, |byte| byte.is_ascii_alphabetic() || byte == b'-');
    let has_scheme = word_end > start && is_blank(at(bytes, word_end)) && word_end - start >= 3;
    credentials(text, if has_scheme { word_end } else { start }, Certainty::Header, found);
}

/// The credentials that begin after blanks.
fn credentials(text: &str, end: usize, certainty: Certainty, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let start = skip(bytes, end, 4, |byte| is_blank(byte) || (certainty == Certainty::Word && byte == b':'));
    let in_value = |byte: u8| {
        !byte.is_ascii_whitespace()
            && !is_quote(byte)
            && !matches!(byte, b'\\' | b'<' | b'>' | b',' | b';' | b')' | b'}')
    };
    let stop = skip(bytes, start, JUDGED_BYTES, in_value);
    let Some(value) = text.get(start..text.floor_char_boundary(stop)) else { return };
    let value = value.trim_end_matches(['.', ':']);
    let is_base64 = value.len().is_multiple_of(4) && value.ends_with('=');
    let is_secret = value.len() >= 8
        && (is_random(value)
            || (certainty == Certainty::Header && (is_base64 || entropy(value) >= 3.5 && value.len() >= 20)));
    if is_secret && !value.contains(['(', '{', '$']) && !is_code(value) && !is_placeholder(value) {
        let is_cut = stop - start >= JUDGED_BYTES;
        let end = if is_cut { skip(bytes, start, MAX_HEADER_BYTES, in_value) } else { start + value.len() };
        found.push(Finding { kind: "auth-header", span: start..end });
    }
}

/// What a cookie's name promises that holds no secret.
const OPEN_COOKIES: &[&str] =
    &["path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "version", "lang", "theme"];

/// `Cookie: a=1; session=…`: each value that is not small talk.
///
/// Says how far it looked.
fn cookies(text: &str, end: usize, found: &mut Vec<Finding>) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = after_colon(bytes, end).filter(|_| at(bytes, end) != b'=')?;
    let stop = skip(bytes, start, MAX_HEADER_BYTES, |byte| !matches!(byte, b'\n' | b'"' | b'\'' | b'`'));
    let line = text.get(start..stop)?;
    let mut place = start;
    for piece in line.split_inclusive(';') {
        let pair = piece.trim_end_matches(';').trim_end();
        if let Some((name, value)) = pair.split_once('=') {
            let is_open = OPEN_COOKIES.contains(&name.trim().to_ascii_lowercase().as_str());
            if !is_open && value.len() >= 8 && is_random(value) && !is_placeholder(value) && !value.contains(['(', ' '])
            {
                let from = place + name.len() + 1;
                found.push(Finding { kind: "cookie", span: from..from + value.len() });
            }
        }
        place += piece.len();
    }
    Some(stop)
}
