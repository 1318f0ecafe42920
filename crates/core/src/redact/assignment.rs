//! Values assigned to names that promise a secret: `KEY=value`, `"key": "value"`, `--key value`, YAML, XML, calls.

use std::ops::Range;

use super::SecretFinding;
use super::assigned_values::{
    AssignedValue, AssignmentStyle, JUDGED_BYTES, JUDGED_INNER_BYTES, second_of_two, value_after_name,
    value_before_name,
};
use super::bytes::{byte_at, byte_before, is_blank, is_name_byte, skip_back_while, skip_while};
use super::opaque_values::find_opaque_value;
use super::prose_passwords::{find_sentence_password, names_password};
use super::redaction_mark;
use super::secret_names::{PromisedSecret, classify_name};
use super::setting_lines;
use super::table_columns::find_column_passwords;
use super::value_shape::{is_code, is_location, is_placeholder, is_random, is_uuid, shannon_entropy};

#[cfg(test)]
#[path = "assignment_tests.rs"]
mod tests;

/// The longest name that is considered.
const MAX_NAME_BYTES: usize = 80;

/// The fewest bytes of a password.
const MIN_PASSWORD_BYTES: usize = 4;

/// The most bytes of a password of several words; a longer text is a sentence.
const MAX_PHRASE_BYTES: usize = 60;

/// The most bytes between a secret's name and a random value that is taken for its value.
const MAX_NEARBY_BYTES: usize = 48;

/// The fewest bytes between the names of passwords whose sentences are searched.
const MIN_SENTENCE_GAP: usize = 24;

/// The fewest bytes of a dense value; a shorter one may look random by chance.
const MIN_DENSE_BYTES: usize = 20;

/// The most bytes of a random value near a name; a longer one is data.
const MAX_NEARBY_VALUE_BYTES: usize = 200;

/// A scanner that judges names one after the other, each only once.
#[derive(Debug)]
pub(super) struct SecretNameScanner<'t> {
    text: &'t str,
    seen_to: usize,
    /// The end of the last value that was not a secret.
    judged_to: usize,
    /// The position up to which random values near a name were searched.
    near_to: usize,
    /// The position before which no further sentence is searched, because one was searched shortly before.
    sentence_to: usize,
}

impl<'t> SecretNameScanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, seen_to: 0, judged_to: 0, near_to: 0, sentence_to: 0 }
    }

    /// Judges the name around a word at `start..end`, and adds its secret value to `found`.
    pub(super) fn find_value(&mut self, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
        if end <= self.seen_to {
            return;
        }
        let bytes = self.text.as_bytes();
        let name_end = skip_while(bytes, end, MAX_NAME_BYTES, is_name_byte);
        let next = byte_at(bytes, name_end);
        let name_start = skip_back_while(bytes, start, MAX_NAME_BYTES, is_name_byte);
        let is_compared = byte_before(bytes, skip_back_while(bytes, name_start, 2, is_blank)) == b'=';
        self.seen_to = name_end;
        if !is_compared
            && matches!(next, b')' | b'}' | b'/' | b'*' | b'-' | b'&' | b'@' | b'{' | b'#' | b'%' | b'^' | b'|' | b'$')
        {
            return;
        }
        // A full stop after a word ends a sentence or calls a method: `secret.assign("…")`.
        let Some(name) = self.text.get(name_start..name_end) else { return };
        let promised = classify_name(strip_method(name));
        if let Some(given) = self.find_pair_password(name, promised, name_end) {
            found.push(SecretFinding { kind: "password", span: given.span });
            return;
        }
        let Some(promised) = promised else { return };
        self.find_promised_value(name_start..name_end, promised, found);
    }

    /// Judges what follows a word for password in another language, which ends where its letters end.
    pub(super) fn find_foreign_password(&mut self, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
        let rest = self.text.get(end..).unwrap_or_default();
        let is_ending = |c: &char| c.is_alphabetic() && *c < '\u{3000}';
        let name_end = end + rest.chars().take_while(is_ending).map(char::len_utf8).sum::<usize>();
        self.seen_to = self.seen_to.max(name_end);
        self.find_promised_value(start..name_end, PromisedSecret::Password, found);
    }

    /// Adds the secret value of a name to `found`, in the form of an assignment or of a sentence.
    fn find_promised_value(
        &mut self,
        name_span: Range<usize>,
        promised: PromisedSecret,
        found: &mut Vec<SecretFinding>,
    ) {
        let Range { start: name_start, end: name_end } = name_span;
        let Some(name) = self.text.get(name_start..name_end) else { return };
        // In `key=key=key=…` every name is inside the value of the one before; judging each in full would take
        // quadratic time.
        let judged = if name_start < self.judged_to { JUDGED_INNER_BYTES } else { JUDGED_BYTES };
        for given in value_after_name(self.text, name_start..name_end, judged)
            .into_iter()
            .chain(value_before_name(self.text, name_start))
        {
            let Some(value) = self.text.get(given.span.clone()) else { continue };
            let value = value.get(..value.floor_char_boundary(JUDGED_BYTES)).unwrap_or(value);
            let context = AssignmentContext { text: self.text, name, name_start, given: &given };
            if context.is_secret(promised, value) {
                found.push(SecretFinding { kind: promised.kind(), span: given.whole_span(self.text) });
                return;
            }
            self.judged_to = given.span.end;
        }
        if promised == PromisedSecret::Password {
            find_column_passwords(self.text, name_start..name_end, found);
        }
        if promised == PromisedSecret::Password
            && name_end >= self.sentence_to
            && names_password(name)
            && let Some(span) = find_sentence_password(self.text, name_end)
        {
            found.push(SecretFinding { kind: "password", span });
        } else if let Some(span) = find_opaque_value(self.text, name_start..name_end, promised) {
            found.push(SecretFinding { kind: promised.kind(), span });
        } else if promised != PromisedSecret::Maybe {
            if promised == PromisedSecret::Password {
                self.sentence_to = self.sentence_to.max(name_end + MIN_SENTENCE_GAP);
            }
            found.extend(find_nearby_key(self.text, name_end, &mut self.near_to));
        }
    }

    /// Returns the password of a user name and a password that are given together.
    fn find_pair_password(
        &self,
        name: &str,
        promised: Option<PromisedSecret>,
        name_end: usize,
    ) -> Option<AssignedValue> {
        let lower = name.to_ascii_lowercase();
        let takes_two = ["auth", "login", "credentials", "credential", "authentication"];
        let is_taker = takes_two.iter().any(|word| lower.ends_with(word));
        let given =
            second_of_two(self.text, name_end).filter(|_| is_taker || promised == Some(PromisedSecret::Password))?;
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

/// Returns a value so random that a secret's name shortly before it is enough: `secret key (new) Ab3…`. `seen_to` is
/// the position up to which was searched already.
fn find_nearby_key(text: &str, from: usize, seen_to: &mut usize) -> Option<SecretFinding> {
    let bytes = text.as_bytes();
    let line_end = skip_while(bytes, from, MAX_NEARBY_BYTES, |byte| byte != b'\n');
    let in_value = |byte: u8| is_name_byte(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~');
    let mut start = from.max(*seen_to);
    while start < line_end {
        start = skip_while(bytes, start, MAX_NEARBY_BYTES, |byte| !in_value(byte) && byte != b'\n');
        let end = skip_while(bytes, start, MAX_NEARBY_VALUE_BYTES, in_value);
        if end <= start || start >= line_end {
            return None;
        }
        *seen_to = end;
        let value = text.get(start..end)?.trim_end_matches(['.', '=']);
        // `"call_id": "…"` has a name of its own.
        let named = text.get(from..start)?.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if named.len() >= 2 && named.get(named.len() - 2..).is_some_and(|end| end.eq_ignore_ascii_case("id")) {
            start = end;
            continue;
        }
        if value.len() >= MIN_DENSE_BYTES && is_standalone_key(value) {
            return Some(SecretFinding { kind: "high-entropy", span: start..start + value.len() });
        }
        start = end;
    }
    None
}

/// Returns true if digits, capitals and small letters are mixed throughout, and it is neither a path nor a name.
fn is_standalone_key(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.bytes().filter(test).count();
    let all_through =
        count(u8::is_ascii_digit).min(count(u8::is_ascii_uppercase)).min(count(u8::is_ascii_lowercase)) >= 3;
    let is_path = value.contains('/') && value.rsplit('/').next().is_some_and(|last| last.contains('.'));
    all_through
        && !is_path
        && classify_name(value).is_none()
        && is_dense(value)
        && !is_placeholder(value)
        && !is_location(value)
}

/// Returns `secret` for `secret.assign`.
fn strip_method(name: &str) -> &str {
    [".assign", ".set", ".equals", ".eq"].iter().find_map(|call| name.strip_suffix(call)).unwrap_or(name)
}

struct AssignmentContext<'a> {
    text: &'a str,
    name: &'a str,
    name_start: usize,
    given: &'a AssignedValue,
}

impl AssignmentContext<'_> {
    fn is_secret(&self, promised: PromisedSecret, value: &str) -> bool {
        if value.len() < MIN_PASSWORD_BYTES || redaction_mark::starts_with_mark(value) {
            return false;
        }
        // The cheapest and most selective checks come first.
        let fits = match promised {
            PromisedSecret::Password | PromisedSecret::Secret if self.given.quoted => self.is_quoted_password(value),
            PromisedSecret::Password | PromisedSecret::Secret => self.is_bare_password(value),
            PromisedSecret::Token => {
                is_key_like(value) || is_long_number(value) || is_symbolic(value) || self.is_plain_token(value)
            }
            PromisedSecret::Maybe => is_dense(value) && !is_hash(value) && has_long_piece(value),
        };
        fits && !is_location(value) && (self.given.quoted || !is_code(value)) && !is_placeholder(value)
    }

    /// Returns true for letters and digits where a token must be, though not as mixed as keys are.
    fn is_plain_token(&self, value: &str) -> bool {
        let least = if self.given.quoted {
            16
        } else if self.is_environment_line() {
            8
        } else {
            return false;
        };
        value.len() >= least
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && has_digit_and_letter(value)
            && !is_type_name(value)
    }

    /// Returns true for any quoted text except names and sentences.
    fn is_quoted_password(&self, value: &str) -> bool {
        if is_key_like(value) || is_mnemonic(value) {
            return true;
        }
        if self.given.way == AssignmentStyle::Beside {
            // `secret("value")` may be any call, and `pass "value"` any sentence.
            let is_call = self.name.to_ascii_lowercase().ends_with("pass") || self.name.len() == 3;
            let last = self.name.rsplit('.').next().unwrap_or_default();
            let is_method =
                self.name.contains('.') && strip_method(self.name) == self.name && classify_name(last).is_none();
            let is_between = value.starts_with([',', ';', ':', ')', ']', '}', '.', '+', '=', ' ']);
            if is_call || is_method || is_between || value.len() < 8 || is_expression(value) || is_name_of_secret(value)
            {
                return false;
            }
            return has_digit_and_letter(value) && !is_sentence(value)
                || value.bytes().any(|byte| !byte.is_ascii_alphanumeric() && !is_name_byte(byte) && byte != b' ');
        }
        !is_name_of_secret(value) && !is_sentence(value) && value.len() <= MAX_PHRASE_BYTES && !value.contains("$(")
    }

    /// Judges an unquoted value, which may be a variable: only what cannot be one counts, or an environment assignment.
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
            // What a sentence gives is judged by `prose_passwords`.
            AssignmentStyle::Prose => false,
            AssignmentStyle::Element => self.closes_element() && !is_name_of_secret(value),
            AssignmentStyle::Tight | AssignmentStyle::Spaced
                if !value.contains('=')
                    && setting_lines::is_connection_part(self.text, self.name_start, self.given.span.end) =>
            {
                !is_name_of_secret(value) && !value.contains('(')
            }
            AssignmentStyle::Spaced
                if is_variable
                    && value.len() >= 5
                    && !value.contains(['_', '.'])
                    && self.is_whole_line()
                    && self.is_setting() =>
            {
                !is_name_of_secret(value)
            }
            AssignmentStyle::Tight | AssignmentStyle::Colon
                if self.is_whole_line() && value.len() >= 5 && !has_symbol =>
            {
                !is_name_of_secret(value) && !is_type_name(value)
            }
            AssignmentStyle::Tight | AssignmentStyle::Flag if self.is_environment_line() => !is_name_of_secret(value),
            AssignmentStyle::Tight | AssignmentStyle::Flag | AssignmentStyle::Colon => {
                has_digit_and_letter(value) && value.len() >= 6 && !is_type_name(value) && !is_name_of_secret(value)
                    || has_symbol && !is_expression(value) && value.len() >= 6 && !self.is_sentence_around()
            }
            AssignmentStyle::Spaced
                if self.is_whole_line() && has_digit_and_letter(value) && is_variable && !value.contains('_') =>
            {
                value.len() >= 6 && !is_type_name(value) && !is_name_of_secret(value)
            }
            _ => !is_variable && has_symbol && !is_expression(value) && value.len() >= 6,
        }
    }

    /// Returns true for `NAME=value` as in environment files, exports and flags.
    fn is_environment_line(&self) -> bool {
        let bytes = self.text.as_bytes();
        let is_loud = self.name.bytes().any(|byte| byte.is_ascii_uppercase())
            && !self.name.bytes().any(|byte| byte.is_ascii_lowercase());
        let is_flag = self.name.starts_with("--")
            || self
                .name
                .strip_prefix('-')
                .is_some_and(|name| name.len() > 3 && name.bytes().all(|b| b.is_ascii_lowercase()))
                && self.given.way == AssignmentStyle::Flag
            || self
                .text
                .get(..self.name_start)
                .is_some_and(|before| ARGUMENT_FLAGS.iter().any(|flag| before.ends_with(flag)));
        let line_start = skip_back_while(bytes, self.name_start, 16, is_blank);
        let is_first = line_start == 0 || byte_before(bytes, line_start) == b'\n';
        let is_loud_first = is_first || byte_before(bytes, line_start) != b'(';
        (is_loud && is_loud_first && self.given.way == AssignmentStyle::Tight) || is_flag
    }

    fn is_setting(&self) -> bool {
        setting_lines::is_among_settings(self.text, self.name_start, self.given.span.end)
    }

    /// Returns true for `name: value` or `name=value` and nothing else on the line, as in configuration files.
    fn is_whole_line(&self) -> bool {
        let bytes = self.text.as_bytes();
        let start = skip_back_while(bytes, self.name_start, 64, |byte| is_blank(byte) || byte == b'-');
        let end = skip_while(bytes, self.given.span.end, 16, |byte| is_blank(byte) || byte == b'\r');
        (start == 0 || byte_before(bytes, start) == b'\n') && matches!(byte_at(bytes, end), 0 | b'\n')
    }

    /// Returns true for `NAME: Type = …`.
    fn is_type_of_constant(&self) -> bool {
        let bytes = self.text.as_bytes();
        let next = skip_while(bytes, self.given.span.end, 4, is_blank);
        self.given.way == AssignmentStyle::Colon && byte_at(bytes, next) == b'='
    }

    fn closes_element(&self) -> bool {
        let bytes = self.text.as_bytes();
        let end = skip_while(bytes, self.given.span.end, 64, |byte| byte.is_ascii_whitespace());
        byte_at(bytes, end) == b'<' && byte_at(bytes, end + 1) == b'/'
    }

    /// Returns true if more words follow on the line, as in prose.
    fn is_sentence_around(&self) -> bool {
        let bytes = self.text.as_bytes();
        let rest = skip_while(bytes, self.given.span.end, 2, |byte| is_blank(byte) || byte == b',' || byte == b'.');
        self.given.way == AssignmentStyle::Colon
            && rest > self.given.span.end
            && byte_at(bytes, rest).is_ascii_alphabetic()
    }
}

/// The flags after which a command is given a name and its value.
const ARGUMENT_FLAGS: &[&str] = &["-literal=", "--build-arg ", "--set ", "--env ", " -e "];

/// Returns true if the value is random or a UUID, and is no name, version, date or expression.
fn is_key_like(value: &str) -> bool {
    let is_name = !value.bytes().any(|byte| byte.is_ascii_digit()) && is_name_of_secret(value);
    !is_name && (is_random(value) || is_uuid(value)) && !is_version_or_date(value) && !is_expression(value)
}

/// Returns true if it has as many kinds of punctuation as only generated passwords have.
fn is_symbolic(value: &str) -> bool {
    let mut kinds: Vec<u8> = value.bytes().filter(|byte| byte.is_ascii_punctuation() && !is_name_byte(*byte)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    value.len() >= 12 && kinds.len() >= 4 && !value.contains(' ') && !is_expression(value)
}

/// Returns true if it is very random and long.
fn is_dense(value: &str) -> bool {
    value.len() >= MIN_DENSE_BYTES && is_key_like(value) && shannon_entropy(value) >= 3.8
}

/// Returns true if a piece between separators is long and no hash: ids are joined of words, times and short numbers.
fn has_long_piece(value: &str) -> bool {
    let joined = |c: char| matches!(c, '-' | ':' | '_' | '.');
    value.split(joined).any(|piece| piece.len() >= MIN_DENSE_BYTES && !is_hash(piece))
}

/// Returns true for the words of a wallet: a dozen or two, all in small letters.
fn is_mnemonic(value: &str) -> bool {
    let count = value.split(' ').count();
    let is_word = |word: &str| (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    count >= 12 && count.is_multiple_of(3) && value.split(' ').all(is_word)
}

/// Returns true for the hash of a file or a commit, or a UUID.
fn is_hash(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_long_number(value: &str) -> bool {
    value.len() >= 15 && value.bytes().all(|byte| byte.is_ascii_digit()) && shannon_entropy(value) >= 2.0
}

fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Returns true for `u8`, `i32`, `float64`, `utf8`: a word and the number of its bits.
fn is_type_name(value: &str) -> bool {
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit());
    word.len() < value.len()
        && matches!(
            word.to_ascii_lowercase().as_str(),
            "u" | "i" | "f" | "int" | "uint" | "float" | "utf" | "sha" | "md" | "base" | "varchar"
        )
}

/// Returns true for a name with a secret's word in it: `user_password`, `my-secret-key`, `SECRET_2`.
fn is_name_of_secret(value: &str) -> bool {
    let is_name_like = value.bytes().all(|byte| is_name_byte(byte) || byte == b':' || byte == b'/');
    let is_joined = !has_digit_and_letter(value) || value.bytes().any(|byte| !byte.is_ascii_alphanumeric());
    is_name_like
        && is_joined
        && !value.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
        && classify_name(value).is_some()
}

/// Returns true for text meant for people: it ends or is worded like a sentence.
fn is_sentence(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let speaks = [
        "password", "secret", "token", " must ", "enter ", "invalid", "required", " not ", "please", "cannot", " is ",
        "{}", "%s", "{:", "\\n",
    ];
    value.contains(' ') && (value.ends_with(['.', '?', ':', '!']) || speaks.iter().any(|word| lower.contains(word)))
}

/// Returns true if it has operators and brackets as code has them.
fn is_expression(value: &str) -> bool {
    let value = value.trim_end_matches('=');
    let signs = ["(", "::", "->", "=>", "==", "&&", "||", ".unwrap", "?;", "[\"", "['", "$("];
    signs.iter().any(|sign| value.contains(sign))
        && value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '&')
        && !value.contains("{{")
}

/// Returns true for `1.2.3-rc1` or `2024-01-02T03:04:05Z`.
fn is_version_or_date(value: &str) -> bool {
    let digits = value
        .bytes()
        .filter(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':' | b'T' | b'Z' | b'+' | b'v'))
        .count();
    digits + 3 >= value.len() && value.bytes().filter(|byte| matches!(byte, b'.' | b':')).count() >= 2
}
