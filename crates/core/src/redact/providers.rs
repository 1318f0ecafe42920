//! Tokens that name their provider: a provider's prefix, then a number of characters of a known set.

use std::collections::HashMap;

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_blank, is_quote, skip_back_while, skip_while};
use super::value_shape::{self, is_random};

#[path = "provider_table.rs"]
mod table;

use table::{PROVIDERS, SecretTokenPattern, TokenCharacterSet, TokenRequirement};

#[cfg(test)]
#[path = "providers_tests.rs"]
mod tests;

/// The table of token patterns, indexed by the first two bytes of a token.
#[derive(Debug)]
pub(super) struct SecretTokenTable {
    by_start: HashMap<[u8; 2], Vec<&'static SecretTokenPattern>>,
    /// One flag for each possible pair of first bytes.
    starts: Vec<bool>,
}

impl SecretTokenTable {
    pub(super) fn new() -> Self {
        let mut by_start: HashMap<[u8; 2], Vec<&'static SecretTokenPattern>> = HashMap::new();
        let mut starts = vec![false; 1 << 16];
        for provider in PROVIDERS {
            let bytes = provider.prefix.as_bytes();
            let start = [byte_at(bytes, 0), byte_at(bytes, 1)];
            by_start.entry(start).or_default().push(provider);
            if let Some(bit) = starts.get_mut(usize::from(u16::from_be_bytes(start))) {
                *bit = true;
            }
        }
        Self { by_start, starts }
    }

    /// Judges the run at `start..end`, and adds its token to `found`.
    pub(super) fn find_token(&self, text: &str, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
        let bytes = text.as_bytes();
        let first = [byte_at(bytes, start), byte_at(bytes, start + 1)];
        if self.starts.get(usize::from(u16::from_be_bytes(first))).copied().unwrap_or(false) {
            let known = self.by_start.get(&first).into_iter().flatten();
            let matches = known.filter_map(|provider| Some((provider, provider.token_end(text, start)?)));
            if let Some((SecretTokenPattern { kind, .. }, end)) =
                matches.max_by_key(|(provider, end)| (*end, provider.prefix.len()))
            {
                found.push(SecretFinding { kind, span: start..end });
                return;
            }
        }
        let Some(run) = text.get(start..end) else { return };
        let shape = match first {
            [b'e', b'y'] => jwt_length(run).map(|len| ("jwt", len)),
            [b'Z', b'X'] if run.starts_with("ZXlK") && run.len() >= 60 && is_random(run) => Some(("jwt", run.len())),
            [b'M' | b'N' | b'O' | b'A', _] => discord_token_length(run).map(|len| ("discord-token", len)),
            _ => mailchimp_key_length(run).map(|len| ("mailchimp-key", len)),
        };
        let shape = shape
            .or_else(|| prefixed_token_length(run).map(|len| ("prefixed-token", len)))
            .or_else(|| numbered_token_length(text, start, end).map(|len| ("numbered-token", len)))
            .or_else(|| rapidapi_key_length(run).map(|len| ("rapidapi-key", len)))
            .or_else(|| assigned_key_length(text, start, end).map(|len| ("high-entropy", len)));
        if let Some((kind, len)) = shape {
            found.push(SecretFinding { kind, span: start..start + len });
        }
    }
}

impl SecretTokenPattern {
    /// Returns the end of the token that starts here, if it matches this pattern.
    pub(super) fn token_end(&self, text: &str, start: usize) -> Option<usize> {
        let rest = text.get(start..)?.strip_prefix(self.prefix)?;
        let in_set = |byte: u8| self.set.contains(byte);
        let len =
            rest.bytes().take(self.max + 1).position(|byte| !in_set(byte)).unwrap_or(rest.len().min(self.max + 1));
        let tail = rest.get(..len)?.trim_end_matches(['.', '-']);
        if tail.len() < self.min || tail.len() > self.max {
            return None;
        }
        // Inside a longer row of base64 three letters mean nothing.
        let neighbours =
            (byte_before(text.as_bytes(), start), byte_at(text.as_bytes(), start + self.prefix.len() + tail.len()));
        let in_blob =
            matches!(neighbours, (b'+', _) | (_, b'+')) || self.look == TokenRequirement::Any && neighbours.1 == b'/';
        if in_blob && self.set != TokenCharacterSet::Base64 {
            return None;
        }
        let fits = match self.look {
            TokenRequirement::Any => true,
            TokenRequirement::Masked => value_shape::is_mask(tail) || tail.bytes().any(|byte| byte.is_ascii_digit()),
            TokenRequirement::Mixed => {
                !value_shape::is_mask(tail) && value_shape::shannon_entropy(tail) >= 2.0 && has_digit_or_case(tail)
            }
            TokenRequirement::Random => !value_shape::is_mask(tail) && is_random(tail),
        };
        (fits && !tail.ends_with("EXAMPLE")).then(|| start + self.prefix.len() + tail.len())
    }
}

fn has_digit_or_case(tail: &str) -> bool {
    let has = |test: fn(&u8) -> bool| tail.bytes().any(|byte| test(&byte));
    has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}

/// Returns the length of a JWT: two or three parts of base64 with dots between, where each JSON object begins with `{`,
/// that is `ey`.
fn jwt_length(run: &str) -> Option<usize> {
    let mut parts = run.split('.');
    let (head, body) = (parts.next()?, parts.next()?);
    let is_body =
        body.starts_with("ey") || (head.starts_with("eyJ") && parts.clone().next().is_some_and(|p| p.len() > 9));
    let fits = head.len() >= 15 && body.len() >= 10 && is_body && is_random(head);
    fits.then(|| run.trim_end_matches('.').len())
}

/// Returns the length of a Discord token: a user's number in base64, six characters of time, a signature.
fn discord_token_length(run: &str) -> Option<usize> {
    let mut parts = run.split('.');
    let (user, time, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = (23..=28).contains(&user.len()) && time.len() == 6 && (27..=38).contains(&signature.len());
    (fits && is_random(user)).then(|| user.len() + time.len() + signature.len() + 2)
}

/// Returns the length of a Mailchimp key: 32 hexadecimal digits and a data centre.
fn mailchimp_key_length(run: &str) -> Option<usize> {
    let (key, centre) = run.split_once("-us")?;
    let is_key = key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = centre.bytes().take_while(u8::is_ascii_digit).count();
    (is_key && (1..=2).contains(&digits) && digits == centre.len()).then_some(run.len())
}

/// Returns the length of the number of an app or a user with its secret: Facebook's `1308…|rhoK…`, Asana's
/// `1/0958…:2de9…`.
fn numbered_token_length(text: &str, start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_number = bytes.get(start..end)?.iter().all(u8::is_ascii_digit) && (15..=17).contains(&(end - start));
    let stop = skip_while(bytes, end + 1, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let secret = text.get(end + 1..stop)?;
    let fits = match byte_at(bytes, end) {
        b'|' => (26..=28).contains(&secret.len()),
        b':' => secret.len() == 32 && bytes.get(start.checked_sub(2)?..start)?.ends_with(b"/"),
        _ => false,
    };
    (is_number && fits && is_random(secret)).then(|| stop - start)
}

/// Returns the length of a RapidAPI key: hexadecimal digits with `msh`, `p1` and `jsn` among them.
fn rapidapi_key_length(run: &str) -> Option<usize> {
    let in_place = |place: usize, word: &str| run.get(place..).is_some_and(|rest| rest.starts_with(word));
    (run.len() == 50 && in_place(10, "msh") && in_place(28, "p1") && in_place(35, "jsn")).then_some(50)
}

/// Returns the length of a string that code assigns to some name, if only keys are that random: no hash, no word.
fn assigned_key_length(text: &str, start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = byte_before(bytes, start);
    if !is_quote(quote) || end - start < MIN_UNKNOWN_BYTES {
        return None;
    }
    let operator = skip_back_while(bytes, start - 1, 4, is_blank);
    let value = text.get(start..end)?;
    let is_given = byte_before(bytes, operator) == b'=' && byte_at(bytes, end) == quote;
    let is_plain = value.len() <= MAX_ASSIGNED_BYTES && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let has_cases = value.bytes().any(|b| b.is_ascii_uppercase()) && value.bytes().any(|b| b.is_ascii_lowercase());
    (is_given && is_plain && has_cases && is_dense(value) && value_shape::shannon_entropy(value) >= 3.8)
        .then_some(end - start)
}

/// The most bytes of an assigned key; a longer string is data.
const MAX_ASSIGNED_BYTES: usize = 100;

/// The parts of a prefix that announce a secret in any provider's tokens.
const SECRET_PARTS: &[&str] = &[
    "sk", "rk", "key", "apikey", "token", "tkn", "pat", "secret", "pw", "sat", "aat", "oat", "cred", "api", "live",
    "auth", "access", "refresh", "admin", "service",
];

/// The number of these parts, from the first, that announce nothing else; the others may also precede a hash.
const ONLY_SECRET_PARTS: usize = 13;

/// The fewest bytes of the random part of an unknown provider's token.
const MIN_UNKNOWN_BYTES: usize = 20;

/// Returns the length of an unknown provider's token: a prefix with a secret's word in it, then a long random part.
fn prefixed_token_length(run: &str) -> Option<usize> {
    if run.len() < MIN_UNKNOWN_BYTES + 3 {
        return None;
    }
    let tail_start =
        run.char_indices().filter(|(_, c)| matches!(c, '_' | '-')).map(|(place, _)| place + 1).find(|place| {
            let says_secret = |part: &str| SECRET_PARTS.contains(&part.to_ascii_lowercase().as_str());
            run.get(..place - 1).is_some_and(|head| head.len() <= 24 && head.split(['_', '-']).any(says_secret))
        })?;
    let tail = run.get(tail_start..)?.trim_end_matches(['.', '-', '_']);
    let longest = tail.split(['_', '-', '.']).max_by_key(|part| part.len())?;
    let head = run.get(..tail_start)?.to_ascii_lowercase();
    let is_sure =
        head.split(['_', '-']).any(|part| SECRET_PARTS.iter().take(ONLY_SECRET_PARTS).any(|word| *word == part));
    let has_cases = longest.bytes().any(|b| b.is_ascii_uppercase()) && longest.bytes().any(|b| b.is_ascii_lowercase());
    (longest.len() >= MIN_UNKNOWN_BYTES && is_dense(longest) && (is_sure || has_cases)).then(|| tail_start + tail.len())
}

/// Returns true if upper case, lower case and digits, or hexadecimal digits, are mixed throughout.
fn is_dense(part: &str) -> bool {
    let count = |test: fn(&u8) -> bool| part.bytes().filter(test).count();
    let (digits, uppers, lowers) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    !value_shape::is_mask(part)
        && is_random(part)
        && digits >= 3
        && (uppers.min(lowers) >= 3 || uppers.min(lowers) == 0)
}
