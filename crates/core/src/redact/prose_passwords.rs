//! Passwords in sentences: `the password for the staging host is …`, `das Kennwort lautet …`, `set it to …`.
//!
//! A sentence says much after the word password that is none. So a value counts only where a sentence gives it, and
//! only if it has what words have not: digits, signs, a passphrase's hyphens, or quotes around it.

use std::ops::Range;

use super::bytes::is_name_byte;
use super::value_shape::{is_code, is_location, is_placeholder, is_random};

#[cfg(test)]
#[path = "prose_passwords_tests.rs"]
mod tests;

/// The most bytes of a sentence after the word that names the password.
const MAX_SENTENCE_BYTES: usize = 200;

/// The most words between the name and its value.
const MAX_WORDS: usize = 10;

/// The fewest and the most bytes of a password in a sentence.
const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 6..=64;

/// The fewest bytes of a password that follows its name directly.
const MIN_ADJACENT_BYTES: usize = 8;

/// The words after which a sentence gives the value, in the languages that it is searched in.
const LINK_WORDS: &[&str] = &[
    "is", "was", "be", "are", "=", ":", "to", "->", "=>", "–", "—", "-", "ist", "war", "lautet", "lautete", "heißt",
    "heisst", "sei", "auf", "zu", "est", "était", "es", "era", "é", "è", "to:", "is:", "jest", "är", "wäre", "será",
];

/// The words that may stand between that word and the value.
const FILLER_WORDS: &[&str] = &[
    "now",
    "still",
    "currently",
    "just",
    "simply",
    "set",
    "to",
    "set:",
    "changed",
    "reset",
    "always",
    "the",
    "jetzt",
    "nun",
    "noch",
    "immer",
    "einfach",
    "aktuell",
    "derzeit",
    "wieder",
    "auf",
    "maintenant",
    "toujours",
    "ahora",
    "following:",
    "folgendes:",
    "wie",
    "folgt:",
    "this:",
    "called",
    "something",
    "like",
];

/// The beginnings of words that say how a password is kept and have a digit or a sign in them.
const TECHNICAL: &[&str] = &[
    "base64", "base32", "sha", "md5", "bcrypt", "scrypt", "argon2", "pbkdf2", "utf", "rot13", "oauth2", "2fa", "mfa",
    "aes", "http", "ipv", "p2p", "x509", "ed25519", "rsa", "hmac", "u2f", "fido2", "web3", "log4", "es256", "rs256",
    "hs256",
];

/// The signs that passwords have and words have not.
const SIGNS: &[u8] = b"!#$%&*+?@^~=";

/// The words that a name ends with if a sentence may give its value.
const NAMES: &[&str] =
    &["password", "passwd", "passphrase", "passwort", "kennwort", "wachtwoord", "passcode", "senha", "pwd", "pw"];

/// Returns true for a name as sentences use it, and not code: `password`, `Admin-Passwort`.
pub(super) fn names_password(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !lower.contains(['_', '.'])
        && (!lower.is_ascii() || NAMES.iter().any(|word| lower.ends_with(word)) || lower.ends_with("passe"))
}

/// Returns the span of the password that the rest of a sentence gives, after the word that names it.
pub(super) fn find_sentence_password(text: &str, name_end: usize) -> Option<Range<usize>> {
    let sentence = text.get(name_end..text.floor_char_boundary(name_end + MAX_SENTENCE_BYTES))?;
    let sentence = sentence.split(['\n', '\r']).next()?;
    let span_of = |value: &str| {
        let start = value.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        Some(start..start + value.len())
    };
    // Chinese and Japanese have no blanks between a word, the word that gives, and the value.
    let joined = sentence.trim_start_matches([' ', '：', '是', '为', '為', 'は', '、', '「', '는', '은']);
    if !sentence.starts_with([' ', '\t']) && joined.len() == sentence.len() {
        return None;
    }
    if !joined.is_empty() && sentence.get(..sentence.len() - joined.len()).is_some_and(|gap| !gap.is_ascii()) {
        return read_value(joined).filter(|value| is_sentence_password(value)).and_then(|value| span_of(value.text));
    }
    let mut rest = sentence;
    let mut follows_link = false;
    for count in 0..MAX_WORDS {
        rest = rest.trim_start_matches([' ', '\t']);
        let word = rest.split([' ', '\t']).next().filter(|word| !word.is_empty())?;
        // Commands and code are no sentences.
        if word.contains(['|', '{', '(', '<', '$']) && !follows_link {
            return None;
        }
        let lower = word.to_lowercase();
        let value = read_value(rest)?;
        if follows_link && !FILLER_WORDS.contains(&lower.as_str()) && is_sentence_password(&value) {
            return span_of(value.text);
        }
        if count == 0 && !follows_link && is_adjacent_password(&value) {
            return span_of(value.text);
        }
        if follows_link && FILLER_WORDS.contains(&lower.as_str()) {
            rest = rest.get(word.len()..)?;
            continue;
        }
        let links = LINK_WORDS.contains(&lower.as_str()) || word.len() > 1 && word.ends_with(':');
        // A new sentence speaks of something else.
        if !links && word.len() > 2 && word.ends_with(['.', '!', '?', ';', '(']) {
            return None;
        }
        follows_link = links;
        rest = rest.get(word.len()..)?;
    }
    None
}

/// A word or a quoted text of a sentence.
struct SentenceValue<'t> {
    text: &'t str,
    is_quoted: bool,
}

/// Reads the word or the quoted text at the beginning, without the signs around it.
fn read_value(rest: &str) -> Option<SentenceValue<'_>> {
    const PAIRS: &[(&str, &[char])] = &[
        ("\"", &['"']),
        ("'", &['\'']),
        ("`", &['`']),
        ("„", &['“', '"', '”']),
        ("“", &['”', '"']),
        ("«", &['»']),
        ("»", &['«']),
        ("‚", &['‘', '’']),
        ("‘", &['’']),
        ("「", &['」']),
    ];
    let rest = rest.trim_start_matches(['*', '(']);
    for (open, close) in PAIRS {
        if let Some(inner) = rest.strip_prefix(open) {
            let text = inner.split(*close).next().filter(|text| text.len() < inner.len())?;
            return Some(SentenceValue { text, is_quoted: true });
        }
    }
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '`' | '“' | '”' | '<' | '>') || c >= '\u{3000}';
    let word = rest.split(is_end).next()?;
    let text = word.trim_end_matches(['.', ',', ';', ':', '?', ')', '\'', '*', '!', ']', '}', '|']);
    Some(SentenceValue { text, is_quoted: false })
}

/// Returns true if a sentence that gives a password may mean this value.
fn is_sentence_password(value: &SentenceValue<'_>) -> bool {
    let text = value.text;
    if !(PASSWORD_BYTES.contains(&text.len()) || value.is_quoted && (4..=64).contains(&text.len())) {
        return false;
    }
    if is_placeholder(text) || is_location(text) || is_expression(text) || is_technical(text) || is_address(text) {
        return false;
    }
    if value.is_quoted {
        let is_telling = has_digit(text) || has_sign(text) || text.contains(' ');
        return is_telling
            && text.split(' ').count() <= 5
            && has_letter(text)
            && !is_plain_phrase(text)
            && !is_shell(text);
    }
    if text.contains(['\'', '(', '{', '[', '/', '\\', '|', ',', '`', '_']) && !is_random(text) {
        return false;
    }
    has_letter(text) && (has_digit(text) && !is_measure(text) || has_sign(text))
        || is_passphrase(text)
        || is_random(text)
}

/// Returns true for a value that is a password even if no word gives it: `user admin password S3cret!x`.
fn is_adjacent_password(value: &SentenceValue<'_>) -> bool {
    let text = value.text;
    !value.is_quoted
        && text.len() >= MIN_ADJACENT_BYTES
        && is_sentence_password(value)
        && has_digit(text)
        && (has_sign(text) && !text.contains('=')
            || is_random(text) && !text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns true for code. Words with dots between are none if there is a digit in them.
fn is_expression(text: &str) -> bool {
    let is_dotted = text.contains('.') && has_digit(text) && text.bytes().all(is_name_byte);
    let is_name = text.bytes().all(is_name_byte) && !has_digit(text);
    is_code(text) && !is_dotted || is_name && super::secret_names::classify_name(text).is_some()
}

fn has_letter(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn has_sign(text: &str) -> bool {
    text.bytes().any(|byte| SIGNS.contains(&byte))
}

/// Returns true for words about a password, quoted: `"wrong"`, `"must not be empty"`.
fn is_plain_phrase(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_lowercase() || c == '_' || c == '.');
    text.contains(' ') && text.split(' ').all(is_word) || super::secret_names::classify_name(text).is_some()
}

/// Returns true for a quoted command.
fn is_shell(text: &str) -> bool {
    text.contains([' ']) && text.contains(['|', '$', '<', '>', '/', '='])
}

/// Returns true for four words or more with hyphens between.
fn is_passphrase(text: &str) -> bool {
    text.split('-').count() >= 4
        && text
            .split('-')
            .all(|word| (3..=10).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Returns true for a number with its unit, a version or an ordinal: `8-character`, `12chars`, `v2.0`, `2nd`.
fn is_measure(text: &str) -> bool {
    let after_number =
        text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | '%' | ':'));
    let starts_with_number = after_number.len() < text.len() && text.starts_with(|c: char| c.is_ascii_digit());
    let is_unit = starts_with_number && after_number.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_version = text
        .strip_prefix(['v', 'V'])
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    is_unit || is_version
}

/// Returns true for a word that says how something is encoded, hashed or sent.
fn is_technical(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    TECHNICAL.iter().any(|word| {
        lower
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()) && !has_sign(rest))
    })
}

/// Returns true for an address of mail.
fn is_address(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && host.bytes().all(is_name_byte) && name.bytes().all(is_name_byte)
    })
}
