//! Key blocks, and tokens known by something in their middle.

use memchr::memmem;

use super::Finding;
use super::bytes::{at, is_name, skip, skip_back};
use super::value::{is_mask, is_random};

/// A block without an end is at most so long.
const MAX_BLOCK_BYTES: usize = 16 * 1024;

/// PuTTY's largest keys have fewer lines.
const MAX_PUTTY_LINES: usize = 200;

/// A block with less inside is an example.
const MIN_BLOCK_BYTES: usize = 24;

/// The private key that begins at `start`: PEM, OpenSSH, PGP, PuTTY.
pub(super) fn find(text: &str, start: usize, found: &mut Vec<Finding>) {
    let Some(rest) = text.get(start..) else { return };
    let span = if rest.starts_with(['P', 'p']) { putty(rest) } else { pem(rest) };
    if let Some((from, to)) = span {
        found.push(Finding { kind: "private-key", span: start + from..start + to });
    }
}

/// From `-----BEGIN … PRIVATE KEY` to the end of its `-----END …-----`, or as far as it looks like a key.
fn pem(rest: &str) -> Option<(usize, usize)> {
    let head_end = rest.bytes().take(80).position(|byte| byte == b'\n' || byte == b'\\').unwrap_or(rest.len().min(80));
    let head = rest.get(..head_end)?;
    if !head.to_ascii_uppercase().contains("PRIVATE KEY") {
        return None;
    }
    let title_end = 11 + memmem::find(rest.as_bytes().get(11..)?, b"-----")? + 5;
    let bytes = rest.as_bytes();
    let limit = bytes.len().min(MAX_BLOCK_BYTES);
    let body_end = match memmem::find(bytes.get(title_end..limit)?, b"-----END") {
        Some(end) => {
            let end = title_end + end;
            let tail = memmem::find(bytes.get(end + 8..limit)?, b"-----").map(|tail| end + 8 + tail + 5)?;
            return (end - title_end >= MIN_BLOCK_BYTES).then_some((0, tail));
        }
        None => skip(bytes, title_end, MAX_BLOCK_BYTES, |byte| {
            byte.is_ascii_alphanumeric()
                || byte.is_ascii_whitespace()
                || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b':' | b',' | b'-')
        }),
    };
    (body_end - title_end >= MIN_BLOCK_BYTES).then_some((0, body_end))
}

/// The lines after `Private-Lines: 14`.
fn putty(rest: &str) -> Option<(usize, usize)> {
    let head = rest.bytes().take(40).position(|byte| byte == b'\n')? + 1;
    let is_body = |line: &&str| {
        !line.trim_end().is_empty()
            && line.trim_end().bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
    };
    let lines = rest.get(head..)?.split_inclusive('\n').take_while(is_body).take(MAX_PUTTY_LINES);
    let body: usize = lines.map(str::len).sum();
    (body >= MIN_BLOCK_BYTES).then_some((head, head + body))
}

/// The token around a telling piece: Azure's `Q~`, Terraform's `.atlasv1.`, Telegram's `:AA`, OpenShift's `sha256~`.
pub(super) fn find_by_middle(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let wide = |byte: u8| is_name(byte) || byte == b'~' || byte == b'=';
    let (kind, from, to) = match text.get(start..end) {
        Some("Q~") => {
            let (from, to) =
                (skip_back(bytes, start, 5, |byte| is_name(byte) || byte == b'~'), skip(bytes, end, 40, wide));
            if !(3..=4).contains(&(start - from))
                || !(31..=34).contains(&(to - end))
                || !at(bytes, start - 1).is_ascii_digit()
            {
                return;
            }
            ("azure-client-secret", from, to)
        }
        Some(".atlasv1.") => (
            "terraform-token",
            skip_back(bytes, start, 16, |byte| byte.is_ascii_alphanumeric()),
            skip(bytes, end, 90, wide),
        ),
        Some("sha256~") => ("openshift-token", start, skip(bytes, end, 50, |byte| is_name(byte) && byte != b'.')),
        _ => {
            let (from, to) = (
                skip_back(bytes, start, 17, |byte| byte.is_ascii_digit()),
                skip(bytes, end, 40, |byte| is_name(byte) && byte != b'.'),
            );
            if !(5..=16).contains(&(start - from)) || !(32..=35).contains(&(to - end)) || at(bytes, start + 1) != b'A' {
                return;
            }
            ("telegram-token", from, to)
        }
    };
    let is_token = text.get(from..to).is_some_and(|token| token.len() >= 36 && is_random(token) && !is_mask(token));
    if is_token {
        found.push(Finding { kind, span: from..to });
    }
}

/// The hash of a password as `crypt` and its like write it: `$2b$12$…`, `$6$salt$…`, `$argon2id$…`, `pbkdf2:…`.
pub(super) fn find_hash(text: &str, start: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let is_crypt = at(bytes, start) == b'$';
    let end = skip(bytes, start, 256, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'$' | b'.' | b'/' | b'+' | b'=' | b',' | b'-' | b'_')
            || byte == b':' && !is_crypt
    });
    let Some(hash) = text.get(start..end) else { return };
    let digest = hash.rsplit(['$', ':']).next().unwrap_or_default();
    let is_hash = hash.matches('$').count() >= 2 && digest.len() >= 22 && is_random(digest) && !is_mask(digest);
    if is_hash {
        found.push(Finding { kind: "password-hash", span: start..end });
    }
}
