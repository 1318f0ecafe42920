//! The readings of a text that a reader can take it for: letters that look alike folded, encoded parts decoded.
//!
//! What a check looks for must not depend on how it is written. So it looks at the plain reading, and at everything that
//! can be decoded without a key.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{JoinerPolicy, strip_hidden_text};

#[cfg(test)]
#[path = "plain_views_tests.rs"]
mod tests;

/// The fewest letters of an encoded part that can say something.
const MIN_ENCODED: usize = 12;

/// The fewest characters of a decoded part that count as text.
const MIN_DECODED: usize = 6;

/// The most layers of encoding that are looked through.
const MAX_LAYERS: usize = 3;

/// The most bytes of a text that are decoded.
const MAX_BYTES: usize = 64 * 1024;

/// Returns a text without hidden characters, in letters without marks, with ASCII letters and signs in place of those
/// that look like them. The case stays.
pub(crate) fn fold_lookalikes(text: &str) -> String {
    let visible = strip_hidden_text(text, JoinerPolicy::Remove);
    if visible.is_ascii() {
        return visible.into_owned();
    }
    visible.nfkd().filter(|c| !is_combining_mark(*c)).map(fold_letter).collect()
}

/// Returns the folded text, and every text that is encoded in it.
pub(crate) fn plain_views(text: &str) -> Vec<String> {
    let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text);
    let mut views = vec![fold_lookalikes(text)];
    views.push(views.iter().flat_map(|view| view.chars()).map(rotate_letter).collect());
    let mut from = 0;
    for _ in 0..MAX_LAYERS {
        let decoded: Vec<String> = views.iter().skip(from).flat_map(|view| decode_parts(view)).collect();
        from = views.len();
        views.extend(decoded);
    }
    views
}

/// Returns what is encoded in a text, if it is words: what a lesson says so, it hides.
pub(crate) fn find_encoded_words(text: &str) -> Option<String> {
    let folded = fold_lookalikes(text);
    decode_words(&folded).find(|decoded| decoded.split_whitespace().count() > 1 || decoded.contains(['=', '/', '-']))
}

fn fold_letter(c: char) -> char {
    match c {
        'а' | 'ɑ' | 'α' => 'a',
        'в' | 'Β' | 'В' => 'B',
        'с' | 'ϲ' => 'c',
        'С' | 'Ϲ' => 'C',
        'ԁ' => 'd',
        'е' | 'ҽ' | 'ε' => 'e',
        'Е' | 'Ε' => 'E',
        'ɡ' => 'g',
        'һ' => 'h',
        'Н' | 'Η' => 'H',
        'і' | 'ι' | 'ı' => 'i',
        'І' | 'Ι' => 'I',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'К' | 'Κ' => 'K',
        'ӏ' | 'Ӏ' => 'l',
        'М' | 'Μ' => 'M',
        'ո' => 'n',
        'Ν' => 'N',
        'о' | 'ο' | 'օ' => 'o',
        'О' | 'Ο' => 'O',
        'р' | 'ρ' => 'p',
        'Р' | 'Ρ' => 'P',
        'ѕ' => 's',
        'Ѕ' => 'S',
        'т' | 'τ' => 't',
        'Т' | 'Τ' => 'T',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'Х' | 'Χ' => 'X',
        'у' | 'γ' => 'y',
        'У' | 'Υ' => 'Y',
        'А' | 'Α' => 'A',
        'Ζ' => 'Z',
        '‐' | '‑' | '‒' | '–' | '−' | '﹣' | '－' => '-',
        '\u{2014}' => ' ',
        '＝' | '﹦' => '=',
        '∕' | '⁄' => '/',
        '‘' | '’' | '‚' | '′' => '\'',
        '“' | '”' | '„' => '"',
        c => c,
    }
}

/// Returns the text with its escapes resolved, and every word that is encoded.
fn decode_parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = decode_words(text).collect();
    if text.contains(['%', '\\', '&']) {
        parts.extend(Some(resolve_escapes(text)).filter(|resolved| resolved != text));
    }
    parts.sort();
    parts.dedup();
    parts.truncate(32);
    parts
}

fn rotate_letter(c: char) -> char {
    let turn = |base: u8| char::from(base + (u8::try_from(c).unwrap_or(base) - base + 13) % 26);
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        c => c,
    }
}

/// Returns what the words of a text encode, as base64 or as hexadecimal digits.
fn decode_words(text: &str) -> impl Iterator<Item = String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
    text.split(move |c: char| !is_part(c))
        .filter(|word| word.len() >= MIN_ENCODED)
        .flat_map(|word| [decode_base64(word), decode_hex(word)])
        .flatten()
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .filter(|text| reads_as_text(text))
}

fn reads_as_text(text: &str) -> bool {
    let is_shown = |c: char| c.is_alphanumeric() || c.is_ascii_graphic() || matches!(c, ' ' | '\n' | '\t');
    text.chars().count() >= MIN_DECODED && text.chars().all(is_shown) && text.is_ascii()
}

fn decode_base64(word: &str) -> Option<Vec<u8>> {
    let bare = word.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(bare.len());
    let (mut bits, mut count) = (0_u32, 0_u32);
    for letter in bare.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0x00ff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

fn decode_hex(word: &str) -> Option<Vec<u8>> {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Returns a text with percent signs, `\x`, `\u` and `&#` escapes in place of what they stand for.
fn resolve_escapes(text: &str) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let found = match c {
            '%' => hex_escape(rest, 1, 2),
            '\\' if rest.starts_with("\\x") => hex_escape(rest, 2, 2),
            '\\' if rest.starts_with("\\u{") => rest
                .get(3..)
                .and_then(|rest| rest.split_once('}'))
                .and_then(|(digits, _)| Some((u32::from_str_radix(digits, 16).ok()?, digits.len() + 4))),
            '\\' if rest.starts_with("\\u") => hex_escape(rest, 2, 4),
            '&' if rest.starts_with("&#x") => entity(rest, 3, 16),
            '&' if rest.starts_with("&#") => entity(rest, 2, 10),
            _ => None,
        };
        let (code, length) = found.unwrap_or((u32::from(c), c.len_utf8()));
        match (c, u8::try_from(code)) {
            ('%', Ok(byte)) if length > 1 => bytes.push(byte),
            _ => {
                let c = char::from_u32(code).unwrap_or(' ');
                bytes.extend(c.to_string().into_bytes());
            }
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex_escape(rest: &str, from: usize, digits: usize) -> Option<(u32, usize)> {
    Some((u32::from_str_radix(rest.get(from..from + digits)?, 16).ok()?, from + digits))
}

fn entity(rest: &str, from: usize, radix: u32) -> Option<(u32, usize)> {
    let (digits, _) = rest.get(from..)?.split_once(';')?;
    Some((u32::from_str_radix(digits, radix).ok()?, from + digits.len() + 1))
}
