//! Tokens that name their provider: a provider's prefix, then a number of characters of a known set.

use std::collections::HashMap;

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_blank, is_quote, skip_back_while, skip_while};
use super::token_runs::{MIN_RUN_BYTES, is_run_byte};
use super::token_shapes::{jwt_length, shaped_token};
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

/// The place in a run at which a token begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenBoundary {
    /// The token begins the run.
    Start,
    /// The token follows a `-`, `_` or `.` of the run, as in `prod_TOKEN`.
    Joint,
}

impl SecretTokenTable {
    pub(super) fn new() -> Self {
        let mut by_start: HashMap<[u8; 2], Vec<&'static SecretTokenPattern>> = HashMap::new();
        let mut starts = vec![false; 1 << 16];
        let mut add_start = |start: [u8; 2]| {
            if let Some(bit) = starts.get_mut(usize::from(u16::from_be_bytes(start))) {
                *bit = true;
            }
        };
        add_start(JWT_START);
        for provider in PROVIDERS {
            let bytes = provider.prefix.as_bytes();
            let start = [byte_at(bytes, 0), byte_at(bytes, 1)];
            by_start.entry(start).or_default().push(provider);
            add_start(start);
        }
        Self { by_start, starts }
    }

    /// Judges the run at `start..end`, and adds its tokens to `found`.
    pub(super) fn find_tokens(&self, text: &str, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
        let bytes = text.as_bytes();
        let known = found.len();
        let mut place = start;
        if let Some(finding) = self.known_token(text, start, end, TokenBoundary::Start) {
            place = finding.span.end;
            found.push(finding);
        }
        let mut tried = 0;
        while place + MIN_RUN_BYTES <= end {
            place += 1;
            if !matches!(byte_before(bytes, place), b'_' | b'-' | b'.') || !self.may_start(bytes, place) {
                continue;
            }
            // A run of prefixes without end is not worth a look at each.
            tried += 1;
            if tried > MAX_JOINTS + (place - start) / BYTES_PER_JOINT {
                continue;
            }
            if let Some(finding) = self.known_token(text, place, end, TokenBoundary::Joint) {
                place = finding.span.end;
                found.push(finding);
            }
        }
        if found.len() == known {
            found.extend(shaped_token(text, start, end));
        }
    }

    /// Returns true if some token begins with the two bytes here.
    fn may_start(&self, bytes: &[u8], place: usize) -> bool {
        let first = [byte_at(bytes, place), byte_at(bytes, place + 1)];
        self.starts.get(usize::from(u16::from_be_bytes(first))).copied().unwrap_or(false)
    }

    /// Returns the token of a known prefix that begins at `start`, in a run that ends at `end`.
    fn known_token(&self, text: &str, start: usize, end: usize, boundary: TokenBoundary) -> Option<SecretFinding> {
        let bytes = text.as_bytes();
        if !self.may_start(bytes, start) {
            return None;
        }
        let first = [byte_at(bytes, start), byte_at(bytes, start + 1)];
        let known = self.by_start.get(&first).into_iter().flatten();
        let matches = known.filter_map(|provider| Some((provider, provider.token_end(text, start, boundary)?)));
        if let Some((provider, end)) = matches.max_by_key(|(provider, end)| (*end, provider.prefix.len())) {
            return Some(SecretFinding { kind: provider.kind, span: start..end });
        }
        let end = (first == JWT_START).then(|| jwt_end(text, start, end)).flatten()?;
        Some(SecretFinding { kind: "jwt", span: start..end })
    }
}

/// The number of joints of any run at which a token is searched, and the bytes of a long run for each further one.
const MAX_JOINTS: usize = 16;
const BYTES_PER_JOINT: usize = 512;

/// The first bytes of a JWT: `{"` in base64.
const JWT_START: [u8; 2] = *b"ey";

/// Prefixes that are words of names, so that a hash after them is no token unless they stand alone.
const PLAIN_WORDS: &[&str] = &["key-", "pubkey-", "fc-"];

/// The entropy in bits a character that no joined words have.
const MIN_KEY_ENTROPY: f64 = 4.2;

/// The fewest bytes of a token's longest piece where its prefix says little.
const MIN_DENSE_BYTES: usize = 20;

impl SecretTokenPattern {
    /// Returns the end of the token that starts here, if it matches this pattern.
    pub(super) fn token_end(&self, text: &str, start: usize, boundary: TokenBoundary) -> Option<usize> {
        let rest = text.get(start..)?.strip_prefix(self.prefix)?;
        let tail_start = start + self.prefix.len();
        if boundary == TokenBoundary::Joint && PLAIN_WORDS.contains(&self.prefix) {
            return None;
        }
        let len = rest
            .bytes()
            .take(self.max + MAX_ENDING_BYTES)
            .position(|byte| !self.set.contains(byte))
            .unwrap_or(rest.len().min(self.max + MAX_ENDING_BYTES));
        let whole = rest.get(..len)?;
        let Some(tail) = self.fit_tail(whole) else {
            return self.split_token_end(text, tail_start, whole);
        };
        let end = tail_start + tail.len();
        // Inside a longer row of base64 three letters mean nothing.
        let neighbours = (byte_before(text.as_bytes(), start), byte_at(text.as_bytes(), end));
        let in_blob = matches!(neighbours, (b'+', _) | (_, b'+'))
            || self.look == TokenRequirement::Any && neighbours.1 == b'/' && is_random_run(text, end + 1);
        if in_blob && self.set != TokenCharacterSet::Base64 {
            return None;
        }
        let is_token = self.fits_requirement(tail)
            && (boundary == TokenBoundary::Start || self.is_telling() || has_dense_piece(tail));
        let is_cut = tail.len() < SHORT_TOKEN_BYTES;
        // Two strings that are joined are one token, whatever its prefix says.
        let may_wrap = self.is_telling() || is_quote(byte_at(text.as_bytes(), end));
        is_token.then(|| if may_wrap { wrapped_end(text, end, is_cut) } else { end })
    }

    /// Returns what belongs to the token of the characters that may: without a file's ending, and without words joined
    /// to it if it would be too long with them.
    fn fit_tail<'t>(&self, whole: &'t str) -> Option<&'t str> {
        let fits = |tail: &str| (self.min..=self.max).contains(&tail.len());
        let mut tail = whole.trim_end_matches(['.', '-']);
        if let Some((name, ending)) = tail.rsplit_once('.')
            && (2..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_lowercase())
            && fits(name)
        {
            tail = name;
        }
        while tail.len() > self.max && self.is_telling() {
            tail = tail.get(..tail.rfind(['_', '-', '.', '='])?)?;
        }
        Some(tail).filter(|tail| fits(tail))
    }

    fn fits_requirement(&self, tail: &str) -> bool {
        match self.look {
            TokenRequirement::Any => true,
            TokenRequirement::Masked => value_shape::is_mask(tail) || tail.bytes().any(|byte| byte.is_ascii_digit()),
            TokenRequirement::Mixed => {
                !value_shape::is_blotted(tail) && value_shape::shannon_entropy(tail) >= 2.0 && has_digit_or_case(tail)
            }
            TokenRequirement::Random => !value_shape::is_blotted(tail) && (is_random(tail) || has_dense_piece(tail)),
        }
    }

    /// Returns true if no other text has this prefix, wherever it stands.
    fn is_telling(&self) -> bool {
        self.prefix.len() >= 4 && matches!(self.look, TokenRequirement::Any | TokenRequirement::Mixed)
    }

    /// Returns the end of a token whose first characters are the last of their line.
    fn split_token_end(&self, text: &str, tail_start: usize, first: &str) -> Option<usize> {
        let end = tail_start + first.len();
        let is_joined = is_quote(byte_at(text.as_bytes(), end));
        if !(self.is_telling() || is_joined) || first.len() >= self.min {
            return None;
        }
        let next = next_line_run(text, end)?;
        let second = text.get(next.clone())?;
        let whole = format!("{first}{second}");
        let tail = self.fit_tail(&whole)?;
        let is_token = second.bytes().all(|byte| self.set.contains(byte))
            && second.bytes().any(|byte| byte.is_ascii_digit())
            && (is_random(tail) || has_dense_piece(tail) || value_shape::shannon_entropy(tail) >= MIN_KEY_ENTROPY)
            && !value_shape::is_blotted(tail);
        is_token.then_some(next.end)
    }
}

/// The number of bytes that are enough to judge a JWT.
const MAX_JWT_JUDGED_BYTES: usize = 4096;

/// Returns the end of the JWT at the start of a run, which may go on in the next lines.
fn jwt_end(text: &str, start: usize, end: usize) -> Option<usize> {
    let run = text.get(start..end.min(start + MAX_JWT_JUDGED_BYTES))?;
    if let Some(length) = jwt_length(run) {
        let is_cut = start + length == start + MAX_JWT_JUDGED_BYTES;
        return Some(wrapped_end(text, if is_cut { end } else { start + length }, false));
    }
    let next = next_line_run(text, end).filter(|_| run.starts_with("eyJ"))?;
    let rest = text.get(next.clone()).filter(|rest| is_random(rest))?;
    jwt_length(&format!("{run}{rest}")).map(|_| wrapped_end(text, next.end, false))
}

/// The most bytes behind the longest token that may be words joined to it.
const MAX_ENDING_BYTES: usize = 64;

/// The bytes after its prefix below which a token may be only the beginning of one.
const SHORT_TOKEN_BYTES: usize = 24;

/// The fewest bytes of a line that is full.
const MIN_LINE_BYTES: usize = 60;

/// The fewest bytes of a line that a token of the line before may continue in.
const MIN_WRAPPED_BYTES: usize = 8;

/// The most lines of one token.
const MAX_WRAPPED_LINES: usize = 40;

/// Returns true if the run that begins here is random, as in the middle of base64.
fn is_random_run(text: &str, start: usize) -> bool {
    let end = skip_while(text.as_bytes(), start, 64, is_run_byte);
    text.get(start..end).is_some_and(is_random)
}

/// Returns the end of a token whose line is full or which is cut short, with the lines below that hold nothing but the
/// rest of it.
fn wrapped_end(text: &str, end: usize, is_cut_short: bool) -> usize {
    let mut end = end;
    for line in 0..MAX_WRAPPED_LINES {
        let line_start = skip_back_while(text.as_bytes(), end, MIN_LINE_BYTES, |byte| byte != b'\n');
        // A string below a string is joined to it, however short its line is.
        let is_joined = is_quote(byte_at(text.as_bytes(), end));
        let is_full = end - line_start >= MIN_LINE_BYTES || is_joined || is_cut_short && line == 0;
        let Some(next) = next_line_run(text, end).filter(|_| is_full) else { break };
        let rest = text.get(next.clone()).unwrap_or_default();
        let is_rest = rest.len() >= MIN_WRAPPED_BYTES
            && (is_random(rest) || is_joined && has_digit_or_case(rest))
            && !rest.starts_with("ey")
            && !rest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_rest {
            break;
        }
        end = next.end;
    }
    end
}

/// Returns the span of the run that the next line consists of, if this one ends here. Both may be strings that are joined.
fn next_line_run(text: &str, end: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let quote = Some(byte_at(bytes, end)).filter(|byte| is_quote(*byte));
    let joined = end + usize::from(quote.is_some());
    let line_end = skip_while(bytes, joined, 4, |byte| is_blank(byte) || byte == b'+' || byte == b'\r');
    if byte_at(bytes, line_end) != b'\n' {
        return None;
    }
    let line_start = skip_while(bytes, line_end + 1, 64, |byte| is_blank(byte) || byte == b'+' && quote.is_some());
    let start = line_start + usize::from(quote.is_some_and(|quote| byte_at(bytes, line_start) == quote));
    if quote.is_some() && start == line_start {
        return None;
    }
    let stop = skip_while(bytes, start, 4096, is_run_byte);
    let after = skip_while(bytes, stop, 8, |byte| {
        is_blank(byte) || is_quote(byte) || matches!(byte, b',' | b';' | b'\r' | b')')
    });
    (stop > start && matches!(byte_at(bytes, after), 0 | b'\n')).then_some(start..stop)
}

fn has_digit_or_case(tail: &str) -> bool {
    let has = |test: fn(&u8) -> bool| tail.bytes().any(|byte| test(&byte));
    has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}

/// Returns true if a long piece between separators has digits and letters throughout, as keys have that somebody made
/// up.
fn has_dense_piece(tail: &str) -> bool {
    tail.split(['_', '-', '.']).any(|piece| {
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        let letters = piece.bytes().filter(u8::is_ascii_alphabetic).count();
        piece.len() >= MIN_DENSE_BYTES && digits.min(letters) >= 4 && value_shape::shannon_entropy(piece) >= 3.0
    })
}
