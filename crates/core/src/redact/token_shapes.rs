//! Tokens that have no prefix of their own and are known by their shape: JWTs, Discord's and Mailchimp's tokens, prefixes
//! of unknown providers that announce a secret.

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_blank, is_quote, skip_back_while, skip_while};
use super::value_shape::{self, is_random};

/// Returns the token at the start of a run that is known by its shape alone.
pub(super) fn shaped_token(text: &str, start: usize, end: usize) -> Option<SecretFinding> {
    let run = text.get(start..end)?;
    let shape = match run.as_bytes() {
        [b'e', b'y', ..] => None,
        [b'Z', b'X', ..] if run.starts_with("ZXlK") && run.len() >= 60 && is_random(run) => Some(("jwt", run.len())),
        [b'M' | b'N' | b'O' | b'A', ..] => discord_token_length(run).map(|len| ("discord-token", len)),
        _ => mailchimp_key_length(run).map(|len| ("mailchimp-key", len)),
    };
    let (kind, len) = shape
        .or_else(|| prefixed_token_length(run).map(|len| ("prefixed-token", len)))
        .or_else(|| numbered_token_length(text, start, end).map(|len| ("numbered-token", len)))
        .or_else(|| rapidapi_key_length(run).map(|len| ("rapidapi-key", len)))
        .or_else(|| assigned_key_length(text, start, end).map(|len| ("high-entropy", len)))?;
    Some(SecretFinding { kind, span: start..start + len })
}

/// Returns the length of a JWT: two or three parts of base64 with dots between, where each JSON object begins with `{`,
/// that is `ey`.
pub(super) fn jwt_length(run: &str) -> Option<usize> {
    let mut parts = run.split('.');
    let (head, body) = (parts.next()?, parts.next()?);
    let is_body =
        body.starts_with("ey") || (head.starts_with("eyJ") && parts.clone().next().is_some_and(|p| p.len() > 9));
    let fits = head.len() >= 15 && body.len() >= 10 && is_body && is_random(head);
    let whole = run.trim_end_matches('.');
    // `TOKEN.json` is a file.
    let file = whole.rsplit_once('.').filter(|(name, ending)| {
        name.matches('.').count() >= 2
            && (2..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    fits.then(|| file.map_or(whole, |(name, _)| name).len())
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

/// The parts of a prefix that make its key one that everybody may know.
const OPEN_PARTS: &[&str] = &["cache", "public", "primary", "foreign", "partition", "sort", "idempotency"];

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
    if head.split(['_', '-']).any(|part| OPEN_PARTS.contains(&part)) {
        return None;
    }
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
