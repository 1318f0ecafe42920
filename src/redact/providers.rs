//! Tokens that say themselves whose they are: a provider's prefix, then so many characters of a known set.

use std::collections::HashMap;

use super::Finding;
use super::bytes::{at, before, is_blank, is_quote, skip, skip_back};
use super::value::{self, is_random};

#[path = "provider_table.rs"]
mod table;

use table::{Look, PROVIDERS, Provider, Set};

#[cfg(test)]
#[path = "providers_tests.rs"]
mod tests;

/// The table, found by the first two bytes of a token.
#[derive(Debug)]
pub(super) struct Providers {
    by_start: HashMap<[u8; 2], Vec<&'static Provider>>,
    /// One bit for each possible pair of first bytes.
    starts: Vec<bool>,
}

impl Providers {
    pub(super) fn new() -> Self {
        let mut by_start: HashMap<[u8; 2], Vec<&'static Provider>> = HashMap::new();
        let mut starts = vec![false; 1 << 16];
        for provider in PROVIDERS {
            let bytes = provider.prefix.as_bytes();
            let start = [at(bytes, 0), at(bytes, 1)];
            by_start.entry(start).or_default().push(provider);
            if let Some(bit) = starts.get_mut(usize::from(u16::from_be_bytes(start))) {
                *bit = true;
            }
        }
        Self { by_start, starts }
    }

    /// Judges the run from `start` to `end`.
    pub(super) fn find(&self, text: &str, start: usize, end: usize, found: &mut Vec<Finding>) {
        let bytes = text.as_bytes();
        let first = [at(bytes, start), at(bytes, start + 1)];
        if self.starts.get(usize::from(u16::from_be_bytes(first))).copied().unwrap_or(false) {
            let known = self.by_start.get(&first).into_iter().flatten();
            let matches = known.filter_map(|provider| Some((provider, provider.end(text, start)?)));
            if let Some((Provider { kind, .. }, end)) =
                matches.max_by_key(|(provider, end)| (*end, provider.prefix.len()))
            {
                found.push(Finding { kind, span: start..end });
                return;
            }
        }
        let Some(run) = text.get(start..end) else { return };
        let shape = match first {
            [b'e', b'y'] => jwt(run).map(|len| ("jwt", len)),
            [b'Z', b'X'] if run.starts_with("ZXlK") && run.len() >= 60 && is_random(run) => Some(("jwt", run.len())),
            [b'M' | b'N' | b'O' | b'A', _] => discord(run).map(|len| ("discord-token", len)),
            _ => mailchimp(run).map(|len| ("mailchimp-key", len)),
        };
        let shape = shape
            .or_else(|| self_described(run).map(|len| ("prefixed-token", len)))
            .or_else(|| numbered(text, start, end).map(|len| ("numbered-token", len)))
            .or_else(|| middle_marked(run).map(|len| ("rapidapi-key", len)))
            .or_else(|| assigned(text, start, end).map(|len| ("high-entropy", len)));
        if let Some((kind, len)) = shape {
            found.push(Finding { kind, span: start..start + len });
        }
    }
}

impl Provider {
    /// Where the token that starts here ends, if it is one of this provider's.
    pub(super) fn end(&self, text: &str, start: usize) -> Option<usize> {
        let rest = text.get(start..)?.strip_prefix(self.prefix)?;
        let in_set = |byte: u8| self.set.has(byte);
        let len =
            rest.bytes().take(self.max + 1).position(|byte| !in_set(byte)).unwrap_or(rest.len().min(self.max + 1));
        let tail = rest.get(..len)?.trim_end_matches(['.', '-']);
        if tail.len() < self.min || tail.len() > self.max {
            return None;
        }
        // Inside a longer row of base64 three letters mean nothing.
        let neighbours = (before(text.as_bytes(), start), at(text.as_bytes(), start + self.prefix.len() + tail.len()));
        let in_blob = matches!(neighbours, (b'+', _) | (_, b'+')) || self.look == Look::Any && neighbours.1 == b'/';
        if in_blob && self.set != Set::Base64 {
            return None;
        }
        let fits = match self.look {
            Look::Any => true,
            Look::Masked => value::is_mask(tail) || tail.bytes().any(|byte| byte.is_ascii_digit()),
            Look::Mixed => !value::is_mask(tail) && value::entropy(tail) >= 2.0 && has_digit_or_case(tail),
            Look::Random => !value::is_mask(tail) && is_random(tail),
        };
        (fits && !tail.ends_with("EXAMPLE")).then(|| start + self.prefix.len() + tail.len())
    }
}

fn has_digit_or_case(tail: &str) -> bool {
    let has = |test: fn(&u8) -> bool| tail.bytes().any(|byte| test(&byte));
    has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}

/// Two or three parts of base64 with dots between, each object of JSON beginning with `{`, that is `ey`.
fn jwt(run: &str) -> Option<usize> {
    let mut parts = run.split('.');
    let (head, body) = (parts.next()?, parts.next()?);
    let is_body =
        body.starts_with("ey") || (head.starts_with("eyJ") && parts.clone().next().is_some_and(|p| p.len() > 9));
    let fits = head.len() >= 15 && body.len() >= 10 && is_body && is_random(head);
    fits.then(|| run.trim_end_matches('.').len())
}

/// A user's number in base64, six characters of time, a signature.
fn discord(run: &str) -> Option<usize> {
    let mut parts = run.split('.');
    let (user, time, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = (23..=28).contains(&user.len()) && time.len() == 6 && (27..=38).contains(&signature.len());
    (fits && is_random(user)).then(|| user.len() + time.len() + signature.len() + 2)
}

/// 32 hexadecimal digits and a data centre.
fn mailchimp(run: &str) -> Option<usize> {
    let (key, centre) = run.split_once("-us")?;
    let is_key = key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = centre.bytes().take_while(u8::is_ascii_digit).count();
    (is_key && (1..=2).contains(&digits) && digits == centre.len()).then_some(run.len())
}

/// The number of an app or a user, then its secret: Facebook's `1308…|rhoK…`, Asana's `1/0958…:2de9…`.
fn numbered(text: &str, start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_number = bytes.get(start..end)?.iter().all(u8::is_ascii_digit) && (15..=17).contains(&(end - start));
    let stop = skip(bytes, end + 1, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let secret = text.get(end + 1..stop)?;
    let fits = match at(bytes, end) {
        b'|' => (26..=28).contains(&secret.len()),
        b':' => secret.len() == 32 && bytes.get(start.checked_sub(2)?..start)?.ends_with(b"/"),
        _ => false,
    };
    (is_number && fits && is_random(secret)).then(|| stop - start)
}

/// RapidAPI's keys: hexadecimal digits with `msh`, `p1` and `jsn` among them.
fn middle_marked(run: &str) -> Option<usize> {
    let in_place = |place: usize, word: &str| run.get(place..).is_some_and(|rest| rest.starts_with(word));
    (run.len() == 50 && in_place(10, "msh") && in_place(28, "p1") && in_place(35, "jsn")).then_some(50)
}

/// How long a string is that code gives to some name, if only keys are that random: no hash, no word.
fn assigned(text: &str, start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = before(bytes, start);
    if !is_quote(quote) || end - start < MIN_UNKNOWN_BYTES {
        return None;
    }
    let operator = skip_back(bytes, start - 1, 4, is_blank);
    let value = text.get(start..end)?;
    let is_given = before(bytes, operator) == b'=' && at(bytes, end) == quote;
    let is_plain = value.len() <= MAX_ASSIGNED_BYTES && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let has_cases = value.bytes().any(|b| b.is_ascii_uppercase()) && value.bytes().any(|b| b.is_ascii_lowercase());
    (is_given && is_plain && has_cases && is_dense(value) && value::entropy(value) >= 3.8).then_some(end - start)
}

/// What is longer is data.
const MAX_ASSIGNED_BYTES: usize = 100;

/// Parts of a prefix that say "what follows is secret" in any provider's tokens.
const SECRET_PARTS: &[&str] = &[
    "sk", "rk", "key", "apikey", "token", "tkn", "pat", "secret", "pw", "sat", "aat", "oat", "cred", "api", "live",
    "auth", "access", "refresh", "admin", "service",
];

/// So many of them, from the first, are said of nothing else; after the others even a hash may stand.
const ONLY_SECRET_PARTS: usize = 13;

/// The random part of a token that no table knows must be this long.
const MIN_UNKNOWN_BYTES: usize = 20;

/// A token of a provider nobody knows: a prefix with a secret's word in it, then a long random part.
fn self_described(run: &str) -> Option<usize> {
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

/// Upper case, lower case and digits all through, or hexadecimal digits all through.
fn is_dense(part: &str) -> bool {
    let count = |test: fn(&u8) -> bool| part.bytes().filter(test).count();
    let (digits, uppers, lowers) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    !value::is_mask(part) && is_random(part) && digits >= 3 && (uppers.min(lowers) >= 3 || uppers.min(lowers) == 0)
}
