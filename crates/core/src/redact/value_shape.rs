//! The shape of a value: random as keys are, a placeholder, or code.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::bytes::is_name_byte;
use super::redaction_mark;

#[cfg(test)]
#[path = "value_shape_tests.rs"]
mod tests;

/// The logarithms of small counts, which are nearly all that occur.
static LOGS: LazyLock<[f64; 128]> = LazyLock::new(|| {
    let mut count = 0.0_f64;
    std::array::from_fn(|_| {
        let log = if count > 0.0 { count.log2() } else { 0.0 };
        count += 1.0;
        log
    })
});

/// Returns the Shannon entropy of the bytes, in bits.
pub(super) fn shannon_entropy(value: &str) -> f64 {
    if value.is_empty() {
        return 0.0;
    }
    let mut counts = [0u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let logs = &*LOGS;
    let log = |byte: u8| {
        let count = counts.get(usize::from(byte)).copied().unwrap_or(1);
        let small = usize::try_from(count).ok().and_then(|count| logs.get(count)).copied();
        small.unwrap_or_else(|| f64::from(count).log2())
    };
    let total = value.len() as f64;
    // Each byte adds the logarithm of its frequency: cheaper than visiting all 256.
    total.log2() - value.bytes().map(log).sum::<f64>() / total
}

/// Returns true if somebody wrote something else in a secret's place: [`is_blotted`], or the word `example` is in it.
pub(super) fn is_mask(value: &str) -> bool {
    is_blotted(value) || contains_example(value.as_bytes())
}

/// Returns true if most of it is one character, as in `xxxxxxxx` or `****`, or it indicates that something was left
/// out.
pub(super) fn is_blotted(value: &str) -> bool {
    let mut counts = [0u16; 256];
    let mut most = 0u16;
    let mut longest = 0;
    let mut row = 0;
    let mut last = 0;
    for byte in value.bytes() {
        let byte = byte.to_ascii_lowercase();
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count = count.saturating_add(1);
            most = most.max(*count);
        }
        row = if byte == last { row + 1 } else { 1 };
        last = byte;
        if matches!(byte, b'x' | b'*' | b'.' | b'#') {
            longest = longest.max(row);
        }
    }
    longest >= 5 || usize::from(most) * 3 > value.len() * 2 || value.contains("...") || value.contains('…')
}

fn contains_example(bytes: &[u8]) -> bool {
    memchr::memchr2_iter(b'x', b'X', bytes).any(|place| {
        let word = place.checked_sub(1).and_then(|start| bytes.get(start..start + 7));
        word.is_some_and(|word| word.eq_ignore_ascii_case(b"example"))
    })
}

/// The class of a byte within a word.
#[derive(PartialEq, Eq, Clone, Copy)]
enum ByteClass {
    Lower,
    Upper,
    Digit,
    Other,
}

fn classify_byte(byte: u8) -> ByteClass {
    match byte {
        b'a'..=b'z' => ByteClass::Lower,
        b'A'..=b'Z' => ByteClass::Upper,
        b'0'..=b'9' => ByteClass::Digit,
        _ => ByteClass::Other,
    }
}

/// Returns true if nobody would write this by hand: digits and letters alternate throughout, or capitals and small
/// letters do without making words.
pub(super) fn is_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    if bytes.len() < 8 || bytes.iter().any(u8::is_ascii_whitespace) {
        return false;
    }
    let (mut digits, mut letters, mut swaps, mut humps) = (0usize, 0usize, 0usize, 0usize);
    let mut last = ByteClass::Other;
    for byte in bytes {
        let next = classify_byte(*byte);
        match (last, next) {
            (ByteClass::Digit, ByteClass::Lower | ByteClass::Upper)
            | (ByteClass::Lower | ByteClass::Upper, ByteClass::Digit) => swaps += 1,
            (ByteClass::Lower, ByteClass::Upper) => humps += 1,
            _ => {}
        }
        digits += usize::from(next == ByteClass::Digit);
        letters += usize::from(matches!(next, ByteClass::Lower | ByteClass::Upper));
        last = next;
    }
    if letters == 0 || swaps + humps < 3 {
        return false;
    }
    let by_digits = digits >= 2 && swaps >= 3 && swaps * 10 >= bytes.len();
    let mixed = humps + swaps;
    let by_case = || bytes.len() >= 12 && mixed >= 3 && mixed * 7 >= bytes.len() && !reads_as_words(value);
    let floor = if bytes.len() < 12 { 2.5 } else { 2.9 };
    ((by_digits && !is_sequence_of_words(value)) || by_case()) && shannon_entropy(value) >= floor
}

/// Returns true if most letters are in pronounceable parts.
fn reads_as_words(value: &str) -> bool {
    let (mut spoken, mut letters) = (0usize, 0usize);
    for part in letter_parts(value) {
        letters += part.len();
        if part.len() >= 3 && can_be_spoken(part) {
            spoken += part.len();
        }
    }
    spoken * 3 >= letters * 2
}

/// Returns true for names with numbers in them, as `sha256_of_utf8_v2`: every part between separators is a word with
/// digits at one end.
fn is_sequence_of_words(value: &str) -> bool {
    let is_plain = |part: &str| {
        let letters = part.trim_matches(|c: char| c.is_ascii_digit());
        letters.is_empty()
            || (letters.bytes().all(|b| b.is_ascii_alphabetic()) && (letters.len() < 3 || can_be_spoken(letters)))
    };
    let joined = |c: char| matches!(c, '_' | '-' | '.' | '/' | ':' | ' ');
    let count = value.split(joined).count();
    count > 1 && value.len() / count < 10 && value.split(joined).all(is_plain)
}

/// Returns the pieces of letters, split as camel case splits them.
fn letter_parts(value: &str) -> impl Iterator<Item = &str> {
    value.split(|c: char| !c.is_ascii_alphabetic()).flat_map(|piece| {
        let mut rest = piece;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let capitals = rest.bytes().take_while(u8::is_ascii_uppercase).count();
            let smalls = rest.bytes().skip(capitals).take_while(u8::is_ascii_lowercase).count();
            // The last capital begins the word that follows: `HTTPServer`.
            let len = if capitals > 1 && smalls > 0 { capitals - 1 } else { capitals + smalls };
            let (part, left) = rest.split_at_checked(len)?;
            rest = left;
            Some(part)
        })
    })
}

/// Returns true if it has a vowel and never more than four consonants in a row.
fn can_be_spoken(part: &str) -> bool {
    let mut row = 0;
    let mut vowels = 0;
    for byte in part.bytes() {
        if matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y') {
            vowels += 1;
            row = 0;
        } else {
            row += 1;
            if row > 4 {
                return false;
            }
        }
    }
    vowels > 0 && vowels * 5 >= part.len()
}

/// The words that mark a placeholder for a secret.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "changeme",
    "change_me",
    "change-me",
    "placeholder",
    "your",
    "insert",
    "replace",
    "redacted",
    "dummy",
    "fake",
    "sample",
    "_here",
    "-here",
    "<",
    "undefined",
    "masked",
    "hidden",
    "omitted",
    "todo",
    "xxxx",
    "****",
    "....",
];

/// The search for all these words in one pass.
static PLACEHOLDERS_FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(PLACEHOLDERS).ok()
});

/// The most words of a value that are checked for naming words.
const MAX_NAMING_WORDS: usize = 6;

/// The words of values that only name what belongs there.
const NAMING: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "key",
    "keys",
    "apikey",
    "auth",
    "credential",
    "credentials",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "string",
    "str",
    "bool",
    "int",
    "test",
    "bearer",
    "basic",
    "user",
    "username",
    "default",
    "value",
    "required",
    "optional",
    "self",
    "this",
    "empty",
    "unset",
    "foo",
    "bar",
    "baz",
    "abc",
    "yes",
    "no",
    "login",
    "private",
    "public",
    "access",
    "refresh",
    "admin",
    "root",
    "text",
    "any",
    "env",
    "incorrect",
    "wrong",
    "invalid",
    "hash",
    "hashed",
    "salt",
];

/// Returns true if the value is a placeholder for a secret: a template, a mask, a variable, a word that names it.
pub(super) fn is_placeholder(value: &str) -> bool {
    if redaction_mark::contains_mark(value) {
        return true;
    }
    let bare =
        if value.bytes().any(opens_template) { Cow::Owned(without_templates(value)) } else { Cow::Borrowed(value) };
    let trimmed = bare.trim();
    if !trimmed.bytes().any(|byte| byte.is_ascii_alphanumeric()) || is_blotted(trimmed) {
        return true;
    }
    if PLACEHOLDERS_FINDER.as_ref().is_some_and(|finder| finder.is_match(trimmed)) && !is_live_example(trimmed) {
        return true;
    }
    if value.contains('_')
        && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    {
        return true;
    }
    let opens = value.trim_start();
    if opens.starts_with(['$', '%', '<', '&', '*', '!']) && bare.len() < value.len() || is_variable(opens) {
        return true;
    }
    let mut words = trimmed.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.by_ref().take(MAX_NAMING_WORDS).all(is_naming_word)
}

/// Returns true for a word that names what belongs there, with a number of one digit behind it or not: `password2`.
fn is_naming_word(word: &str) -> bool {
    let is_known = |word: &str| NAMING.iter().any(|naming| naming.eq_ignore_ascii_case(word));
    let plain =
        word.strip_suffix(|c: char| c.is_ascii_digit()).filter(|rest| !rest.ends_with(|c: char| c.is_ascii_digit()));
    is_known(word) || plain.is_some_and(is_known) || matches!(word, "test12" | "test123" | "test1234")
}

/// The fewest bytes of a value that is a key although it says that it is an example.
const MIN_EXAMPLE_BYTES: usize = 20;

/// Returns true for a key that looks like any other but for the word `example`: nobody can tell whether it is live.
fn is_live_example(value: &str) -> bool {
    value.len() >= MIN_EXAMPLE_BYTES
        && contains_example(value.as_bytes())
        && !is_blotted(value)
        && (is_random(value) || is_cloud_secret(value))
}

/// Returns true for forty characters of base64 with all that it has, as the secret halves of access keys are.
fn is_cloud_secret(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.bytes().any(|byte| test(&byte));
    let in_set = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+');
    value.len() == 40
        && value.bytes().all(in_set)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && shannon_entropy(value) >= 4.0
}

fn opens_template(byte: u8) -> bool {
    matches!(byte, b'$' | b'{' | b'<' | b'%' | b'#' | b'[')
}

/// Returns true for `$NAME`, `%NAME%`, `@name`, `:name`.
fn is_variable(value: &str) -> bool {
    let Some(rest) = value.strip_prefix(['$', '%', ':', '@', '&', '#']) else { return false };
    !rest.is_empty()
        && rest
            .trim_end_matches('%')
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b':'))
}

/// The most bytes of a template, which has a short name.
const MAX_TEMPLATE_BYTES: usize = 66;

/// Returns the value without `${…}`, `{{…}}`, `<…>`, `$(…)`, `{name}`, `%(name)s`.
fn without_templates(value: &str) -> String {
    const PAIRS: &[(&str, &str)] =
        &[("${", "}"), ("{{", "}}"), ("<", ">"), ("$(", ")"), ("%(", ")s"), ("#{", "}"), ("{", "}"), ("[", "]")];
    let mut out = String::new();
    let mut rest = value;
    'outer: while !rest.is_empty() {
        for (open, close) in PAIRS {
            if let Some(inner) = rest.strip_prefix(open)
                && let Some(near) = inner.get(..inner.floor_char_boundary(MAX_TEMPLATE_BYTES))
                && let Some((name, _)) = near.split_once(close)
                && let Some(after) = inner.get(name.len() + close.len()..)
                && !name.contains(['{', '$', '#', '<'])
                && !is_random(name)
            {
                rest = after;
                continue 'outer;
            }
        }
        let mut chars = rest.chars();
        out.extend(chars.next());
        rest = chars.as_str();
    }
    out
}

/// Returns true if an unquoted value is an expression, a type or a path and not a literal.
pub(super) fn is_code(value: &str) -> bool {
    let name_end = value
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'?'))
        .count();
    let (name, rest) = value.split_at_checked(name_end).unwrap_or((value, ""));
    let calls =
        !name.is_empty() && rest.starts_with(['(', '[', '<', '{']) && !rest.starts_with("{{") && !name.ends_with(':');
    let is_path = value.contains("::") || value.contains("->") || value.contains("=>") || value.contains("()");
    let member = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let is_member = value.contains('.') && value.split('.').all(member) && !value.split('.').any(is_random);
    calls
        || is_path
        || is_member
        || value.starts_with("$(")
        || value.starts_with(['&', '*', '(', '[', '{', '|', '#', '"', '\'', '/', '.', '<'])
}

/// Returns true for a file's path or an address, which say where a secret is.
pub(super) fn is_location(value: &str) -> bool {
    let is_path = value.contains('/')
        && !is_cloud_secret(value)
        && !is_random(&value.replace('/', ""))
        && value.split('/').all(|part| !part.is_empty() && !is_random(part) && part.bytes().all(is_name_byte));
    let starts =
        ["/", "./", "../", "~/", "http://", "https://", "file:", "arn:", "op://", "vault:", "ssm:", "s3://", "C:\\"];
    let is_variable = value.starts_with('$') && value.contains('/') && !value.split('/').any(is_random);
    is_path
        || is_variable
        || starts.iter().any(|start| value.starts_with(start))
            && !value.rsplit('/').next().is_some_and(|last| last.len() > 30 && is_random(last))
}

/// Returns true for `8-4-4-4-12` hexadecimal digits.
pub(super) fn is_uuid(value: &str) -> bool {
    let sizes = [8, 4, 4, 4, 12];
    value.len() == 36
        && value.split('-').map(str::len).eq(sizes)
        && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
