//! Values given to names that promise a secret: `KEY=value`, `"key": "value"`, `--key value`, YAML, XML, calls.

use super::Finding;
use super::bytes::{at, before, is_blank, is_name, skip, skip_back};
use super::keys::{Promise, promise};
use super::mark;
use super::operators::{Given, JUDGED_BYTES, JUDGED_INNER_BYTES, Way, following, preceding, second_of_two};
use super::value::{entropy, is_code, is_location, is_placeholder, is_random, is_uuid};

#[cfg(test)]
#[path = "assignment_tests.rs"]
mod tests;

/// Names are not longer.
const MAX_NAME_BYTES: usize = 80;

/// A password has at least so many bytes.
const MIN_PASSWORD_BYTES: usize = 4;

/// A password of several words has at most so many bytes; what is longer is a sentence.
const MAX_PHRASE_BYTES: usize = 60;

/// So far after a secret's name something random is taken for its value.
const MAX_NEARBY_BYTES: usize = 48;

/// What is shorter may be random by chance.
const MIN_DENSE_BYTES: usize = 20;

/// What is random and longer is data.
const MAX_NEARBY_VALUE_BYTES: usize = 200;

/// Looks at names one after the other, each only once.
#[derive(Debug)]
pub(super) struct Names<'t> {
    text: &'t str,
    seen_to: usize,
    /// Where the last value ended that was no secret.
    judged_to: usize,
    /// How far was looked for something random near a name.
    near_to: usize,
}

impl<'t> Names<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, seen_to: 0, judged_to: 0, near_to: 0 }
    }

    /// Judges the name around a word that stands from `start` to `end`.
    pub(super) fn find(&mut self, start: usize, end: usize, found: &mut Vec<Finding>) {
        if end <= self.seen_to {
            return;
        }
        let bytes = self.text.as_bytes();
        let name_end = skip(bytes, end, MAX_NAME_BYTES, is_name);
        let next = at(bytes, name_end);
        let name_start = skip_back(bytes, start, MAX_NAME_BYTES, is_name);
        let is_compared = before(bytes, skip_back(bytes, name_start, 2, is_blank)) == b'=';
        self.seen_to = name_end;
        if !is_compared
            && matches!(next, b')' | b'}' | b'/' | b'*' | b'-' | b'&' | b'@' | b'{' | b'#' | b'%' | b'^' | b'|' | b'$')
        {
            return;
        }
        // A full stop after a word ends a sentence or calls a method: `secret.assign("…")`.
        let Some(name) = self.text.get(name_start..name_end) else { return };
        let promised = promise(receiver(name));
        if let Some(given) = self.second_of_two(name, promised, name_end) {
            found.push(Finding { kind: "password", span: given.span });
            return;
        }
        let Some(promised) = promised else { return };
        // In `key=key=key=…` every name is inside the value of the one before; looking at all of each would never end.
        let judged = if name_start < self.judged_to { JUDGED_INNER_BYTES } else { JUDGED_BYTES };
        for given in
            following(self.text, name_start..name_end, judged).into_iter().chain(preceding(self.text, name_start))
        {
            let Some(value) = self.text.get(given.span.clone()) else { continue };
            let value = value.get(..value.floor_char_boundary(JUDGED_BYTES)).unwrap_or(value);
            let context = Context { text: self.text, name, name_start, given: &given };
            if context.is_secret(promised, value) {
                found.push(Finding { kind: promised.kind(), span: given.whole(self.text) });
                return;
            }
            self.judged_to = given.span.end;
        }
        if promised != Promise::Maybe {
            found.extend(nearby(self.text, name_end, &mut self.near_to));
        }
    }

    /// The password of a name and a password that are given together.
    fn second_of_two(&self, name: &str, promised: Option<Promise>, name_end: usize) -> Option<Given> {
        let lower = name.to_ascii_lowercase();
        let takes_two = ["auth", "login", "credentials", "credential", "authentication"];
        let is_taker = takes_two.iter().any(|word| lower.ends_with(word));
        let given = second_of_two(self.text, name_end).filter(|_| is_taker || promised == Some(Promise::Password))?;
        let value = self.text.get(given.span.clone())?;
        let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'(' | b'{'));
        let is_password = (6..=MAX_PHRASE_BYTES).contains(&value.len())
            && has_digit_and_letter(value)
            && is_plain
            && !is_placeholder(value)
            && !is_name_of_secret(value);
        is_password.then_some(given)
    }
}

/// What is so random that a secret's name close before it is enough: `secret key (new) Ab3…`. `seen_to` is how far was
/// looked already.
fn nearby(text: &str, from: usize, seen_to: &mut usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let line_end = skip(bytes, from, MAX_NEARBY_BYTES, |byte| byte != b'\n');
    let in_value = |byte: u8| is_name(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~');
    let mut start = from.max(*seen_to);
    while start < line_end {
        start = skip(bytes, start, MAX_NEARBY_BYTES, |byte| !in_value(byte) && byte != b'\n');
        let end = skip(bytes, start, MAX_NEARBY_VALUE_BYTES, in_value);
        if end <= start || start >= line_end {
            return None;
        }
        *seen_to = end;
        let value = text.get(start..end)?.trim_end_matches(['.', '=']);
        if value.len() >= MIN_DENSE_BYTES && is_key_by_itself(value) {
            return Some(Finding { kind: "high-entropy", span: start..start + value.len() });
        }
        start = end;
    }
    None
}

/// Digits, capitals and small letters all through, and neither a path nor a name.
fn is_key_by_itself(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.bytes().filter(test).count();
    let all_through =
        count(u8::is_ascii_digit).min(count(u8::is_ascii_uppercase)).min(count(u8::is_ascii_lowercase)) >= 3;
    let is_path = value.contains('/') && value.rsplit('/').next().is_some_and(|last| last.contains('.'));
    all_through
        && !is_path
        && promise(value).is_none()
        && is_dense(value)
        && !is_placeholder(value)
        && !is_location(value)
}

/// `secret` of `secret.assign`.
fn receiver(name: &str) -> &str {
    [".assign", ".set", ".equals", ".eq"].iter().find_map(|call| name.strip_suffix(call)).unwrap_or(name)
}

struct Context<'a> {
    text: &'a str,
    name: &'a str,
    name_start: usize,
    given: &'a Given,
}

impl Context<'_> {
    fn is_secret(&self, promised: Promise, value: &str) -> bool {
        if value.len() < MIN_PASSWORD_BYTES || mark::opens(value) {
            return false;
        }
        // What is asked first costs least and says no most often.
        let fits = match promised {
            Promise::Password | Promise::Secret if self.given.quoted => self.is_quoted_password(value),
            Promise::Password | Promise::Secret => self.is_bare_password(value),
            Promise::Token => {
                is_key_like(value) || is_long_number(value) || is_symbolic(value) || self.is_plain_token(value)
            }
            Promise::Maybe => is_dense(value) && !is_hash(value),
        };
        fits && !is_location(value) && (self.given.quoted || !is_code(value)) && !is_placeholder(value)
    }

    /// Letters and digits where a token must be, though not as mixed as keys are.
    fn is_plain_token(&self, value: &str) -> bool {
        let least = if self.given.quoted {
            16
        } else if self.is_environment() {
            8
        } else {
            return false;
        };
        value.len() >= least
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && has_digit_and_letter(value)
            && !is_type(value)
    }

    /// Any text in quotes but names and sentences.
    fn is_quoted_password(&self, value: &str) -> bool {
        if is_key_like(value) || is_mnemonic(value) {
            return true;
        }
        if self.given.way == Way::Beside {
            // `secret("value")` may be any call, and `pass "value"` any sentence.
            let is_call = self.name.to_ascii_lowercase().ends_with("pass") || self.name.len() == 3;
            let last = self.name.rsplit('.').next().unwrap_or_default();
            let is_method = self.name.contains('.') && receiver(self.name) == self.name && promise(last).is_none();
            if is_call || is_method || value.len() < 8 || is_expression(value) || is_name_of_secret(value) {
                return false;
            }
            return has_digit_and_letter(value) && !is_sentence(value)
                || value.bytes().any(|byte| !byte.is_ascii_alphanumeric() && !is_name(byte) && byte != b' ');
        }
        !is_name_of_secret(value) && !is_sentence(value) && value.len() <= MAX_PHRASE_BYTES && !value.contains("$(")
    }

    /// Without quotes a name may be a variable; only what cannot be one counts, or what an environment file says.
    fn is_bare_password(&self, value: &str) -> bool {
        if is_key_like(value) {
            return true;
        }
        if self.is_type_of_constant() {
            return false;
        }
        let is_variable = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
        let has_symbol = value.bytes().any(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'.' | b'-'));
        match self.given.way {
            Way::Prose => {
                has_digit_and_letter(value) && value.len() >= 6 && !is_type(value) && !is_name_of_secret(value)
            }
            Way::Element => self.closes_element() && !is_name_of_secret(value),
            Way::Tight | Way::Colon if self.is_whole_line() && value.len() >= 5 && !has_symbol => {
                !is_name_of_secret(value) && !is_type(value)
            }
            Way::Tight | Way::Flag if self.is_environment() => !is_name_of_secret(value),
            Way::Tight | Way::Flag | Way::Colon => {
                has_digit_and_letter(value) && value.len() >= 6 && !is_type(value) && !is_name_of_secret(value)
                    || has_symbol && !is_expression(value) && value.len() >= 6 && !self.is_sentence_around()
            }
            Way::Spaced
                if self.is_whole_line() && has_digit_and_letter(value) && is_variable && !value.contains('_') =>
            {
                value.len() >= 6 && !is_type(value) && !is_name_of_secret(value)
            }
            _ => !is_variable && has_symbol && !is_expression(value) && value.len() >= 6,
        }
    }

    /// `NAME=value` as environment files, exports and flags say it.
    fn is_environment(&self) -> bool {
        let bytes = self.text.as_bytes();
        let is_loud = self.name.bytes().any(|byte| byte.is_ascii_uppercase())
            && !self.name.bytes().any(|byte| byte.is_ascii_lowercase());
        let is_flag = self.name.starts_with("--");
        let line_start = skip_back(bytes, self.name_start, 16, is_blank);
        let is_first = line_start == 0 || before(bytes, line_start) == b'\n';
        let is_loud_first = is_first || before(bytes, line_start) != b'(';
        (is_loud && is_loud_first && self.given.way == Way::Tight) || is_flag
    }

    /// `name: value` or `name=value` and nothing else on the line, as configuration files say it.
    fn is_whole_line(&self) -> bool {
        let bytes = self.text.as_bytes();
        let start = skip_back(bytes, self.name_start, 64, |byte| is_blank(byte) || byte == b'-');
        let end = skip(bytes, self.given.span.end, 16, |byte| is_blank(byte) || byte == b'\r');
        (start == 0 || before(bytes, start) == b'\n') && matches!(at(bytes, end), 0 | b'\n')
    }

    /// `NAME: Type = …`.
    fn is_type_of_constant(&self) -> bool {
        let bytes = self.text.as_bytes();
        let next = skip(bytes, self.given.span.end, 4, is_blank);
        self.given.way == Way::Colon && at(bytes, next) == b'='
    }

    fn closes_element(&self) -> bool {
        let bytes = self.text.as_bytes();
        let end = skip(bytes, self.given.span.end, 64, |byte| byte.is_ascii_whitespace());
        at(bytes, end) == b'<' && at(bytes, end + 1) == b'/'
    }

    /// Whether more words follow on the line, as in prose.
    fn is_sentence_around(&self) -> bool {
        let bytes = self.text.as_bytes();
        let rest = skip(bytes, self.given.span.end, 2, |byte| is_blank(byte) || byte == b',' || byte == b'.');
        self.given.way == Way::Colon && rest > self.given.span.end && at(bytes, rest).is_ascii_alphabetic()
    }
}

/// Random, or so dense that it cannot be a name.
fn is_key_like(value: &str) -> bool {
    let is_name = !value.bytes().any(|byte| byte.is_ascii_digit()) && is_name_of_secret(value);
    !is_name && (is_random(value) || is_uuid(value)) && !is_version_or_date(value) && !is_expression(value)
}

/// As many kinds of punctuation as only generated passwords have.
fn is_symbolic(value: &str) -> bool {
    let mut kinds: Vec<u8> = value.bytes().filter(|byte| byte.is_ascii_punctuation() && !is_name(*byte)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    value.len() >= 12 && kinds.len() >= 4 && !value.contains(' ') && !is_expression(value)
}

/// Very random and long.
fn is_dense(value: &str) -> bool {
    value.len() >= MIN_DENSE_BYTES && is_key_like(value) && entropy(value) >= 3.8
}

/// The words of a wallet: a dozen or two, all small letters.
fn is_mnemonic(value: &str) -> bool {
    let count = value.split(' ').count();
    let is_word = |word: &str| (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    count >= 12 && count.is_multiple_of(3) && value.split(' ').all(is_word)
}

/// A file's or a commit's hash, or a UUID.
fn is_hash(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_long_number(value: &str) -> bool {
    value.len() >= 15 && value.bytes().all(|byte| byte.is_ascii_digit()) && entropy(value) >= 2.0
}

fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// `u8`, `i32`, `float64`, `utf8`: a word and the number of its bits.
fn is_type(value: &str) -> bool {
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit());
    word.len() < value.len()
        && matches!(
            word.to_ascii_lowercase().as_str(),
            "u" | "i" | "f" | "int" | "uint" | "float" | "utf" | "sha" | "md" | "base" | "varchar"
        )
}

/// A name with a secret's word in it: `user_password`, `my-secret-key`, `SECRET_2`.
fn is_name_of_secret(value: &str) -> bool {
    let is_name_like = value.bytes().all(|byte| is_name(byte) || byte == b':' || byte == b'/');
    let is_joined = !has_digit_and_letter(value) || value.bytes().any(|byte| !byte.is_ascii_alphanumeric());
    is_name_like
        && is_joined
        && !value.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
        && promise(value).is_some()
}

/// Text for people: it ends or speaks like a sentence.
fn is_sentence(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let speaks = [
        "password", "secret", "token", " must ", "enter ", "invalid", "required", " not ", "please", "cannot", " is ",
        "{}", "%s", "{:", "\\n",
    ];
    value.contains(' ') && (value.ends_with(['.', '?', ':', '!']) || speaks.iter().any(|word| lower.contains(word)))
}

/// Operators and brackets as code has them.
fn is_expression(value: &str) -> bool {
    let value = value.trim_end_matches('=');
    let signs = ["(", "::", "->", "=>", "==", "&&", "||", ".unwrap", "?;", "[\"", "['", "$("];
    signs.iter().any(|sign| value.contains(sign))
        && value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '&')
        && !value.contains("{{")
}

/// `1.2.3-rc1`, `2024-01-02T03:04:05Z`.
fn is_version_or_date(value: &str) -> bool {
    let digits = value
        .bytes()
        .filter(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':' | b'T' | b'Z' | b'+' | b'v'))
        .count();
    digits + 3 >= value.len() && value.bytes().filter(|byte| matches!(byte, b'.' | b':')).count() >= 2
}
