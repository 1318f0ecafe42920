//! Key blocks, and tokens known by something in their middle.

use memchr::memmem;

use super::Finding;
use super::bytes::{at, before, is_name, skip, skip_back};
use super::value::{entropy, is_mask, is_placeholder, is_random};

/// A block's title is not longer.
const MAX_TITLE_BYTES: usize = 80;

/// PuTTY's largest keys have fewer lines.
const MAX_PUTTY_LINES: usize = 200;

/// A block with less inside is an example.
const MIN_BLOCK_BYTES: usize = 24;

/// A row of base64 as only keys have it.
const MIN_ROW_BYTES: usize = 20;

/// A line above the last one of a key is at least so long.
const MIN_LINE_BYTES: usize = 16;

/// The private key that begins or ends at `start`: PEM, OpenSSH, PGP, PuTTY.
pub(super) fn find(text: &str, start: usize, found: &mut Vec<Finding>) {
    let Some(rest) = text.get(start..) else { return };
    let is_end = rest.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("-----end"));
    let span = if rest.starts_with(['P', 'p']) {
        putty(rest).map(|(from, to)| start + from..start + to)
    } else if is_end {
        severed(text, start)
    } else {
        pem(rest).map(|len| start..start + len)
    };
    if let Some(span) = span {
        found.push(Finding { kind: "private-key", span });
    }
}

/// How long the title with its dashes is that stands here, if it is that of a private key.
fn title(rest: &str) -> Option<usize> {
    let dashes = rest.bytes().take_while(|byte| *byte == b'-').count();
    let near = rest.get(..rest.floor_char_boundary(MAX_TITLE_BYTES))?;
    let words = near.get(dashes..)?;
    let len = words.find(if dashes == 4 { "----" } else { "-----" })?;
    let upper = words.get(..len)?.to_ascii_uppercase();
    let is_private = upper.contains("PRIVATE KEY") || upper.contains("STATIC KEY");
    (is_private && !upper.contains(['\n', '\\'])).then(|| dashes + len + if dashes == 4 { 4 } else { 5 })
}

fn in_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// From `-----BEGIN … PRIVATE KEY-----` to the end of its `-----END …-----`. Where that was cut off, as far as lines
/// look like a key.
fn pem(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let body_start = title(rest)?;
    // No line of a body has so many dashes, so the next ones belong to this block's end or to another block.
    let next = memmem::find(bytes.get(body_start..)?, b"----").map(|len| body_start + len);
    let end = next.filter(|end| {
        rest.get(*end..).is_some_and(|tail| tail.trim_start_matches('-').trim_start().starts_with("END"))
    });
    if let Some(end) = end {
        let body = bytes.get(body_start..end)?;
        let is_key = body.chunk_by(|a, b| in_base64(*a) && in_base64(*b)).any(|row| row.len() >= MIN_ROW_BYTES)
            || !body.iter().any(|byte| matches!(byte, b'(' | b'"' | b'\'' | b'`' | b'.'));
        let len = title(rest.get(end..)?).unwrap_or(MIN_TAIL_BYTES);
        return (body.len() >= MIN_BLOCK_BYTES && is_key).then(|| (end + len).min(rest.len()));
    }
    let limit = next.unwrap_or(rest.len());
    let mut body_end = body_start;
    let mut place = body_start;
    loop {
        let line_start = skip(bytes, place, usize::MAX, is_between_lines);
        // Escaped line ends: `\n` in a string, and the `n` of it.
        let line_start = if before(bytes, line_start) == b'\\' { line_start + 1 } else { line_start };
        let line_end =
            skip(bytes, line_start, usize::MAX, |byte| in_base64(byte) || matches!(byte, b':' | b',' | b'-'));
        let is_header = memchr::memchr(b':', bytes.get(line_start..line_end).unwrap_or_default()).is_some();
        let line_end = if is_header {
            skip(bytes, line_end, MAX_TITLE_BYTES, |byte| byte != b'\n' && byte != b'\\')
        } else {
            line_end
        };
        let is_line = matches!(at(bytes, line_end), 0 | b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`');
        if line_end <= line_start || line_start >= limit || !is_line {
            break;
        }
        body_end = line_end.min(limit);
        place = line_end;
    }
    if body_end - body_start < MIN_BLOCK_BYTES {
        // Someone wrote words where the key stood.
        let line_start = skip(bytes, body_start, 4, is_between_lines);
        body_end = skip(bytes, line_start, 2048, |byte| in_base64(byte) || byte == b' ').min(limit);
    }
    (body_end - body_start >= MIN_BLOCK_BYTES).then_some(body_end)
}

/// `-----END` and its dashes.
const MIN_TAIL_BYTES: usize = 13;

fn is_between_lines(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'"' | b'\'')
}

/// The lines above an `-----END … PRIVATE KEY-----` whose beginning was cut off.
fn severed(text: &str, end: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let len = title(text.get(end..)?)?;
    let mut body_start = end;
    let mut place = end;
    while place > 0 {
        // The `n` of an escaped line end is no part of a line.
        let escapes = usize::from(at(bytes, place.saturating_sub(1)) == b'n' && before(bytes, place - 1) == b'\\');
        let line_end = skip_back(bytes, place - escapes, usize::MAX, is_between_lines);
        let row = skip_back(bytes, line_end, usize::MAX, in_base64);
        let line_start = row + usize::from(before(bytes, row) == b'\\');
        let is_whole = row == 0 || is_between_lines(before(bytes, row));
        let is_last = body_start == end;
        if line_start >= line_end || !(is_last || line_end - line_start >= MIN_LINE_BYTES) {
            break;
        }
        body_start = line_start;
        if !is_whole {
            break;
        }
        place = line_start;
    }
    (end - body_start >= MIN_BLOCK_BYTES).then(|| body_start..end + len)
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
        Some(":5432:" | ":*:") => return find_pgpass(text, start, found),
        Some(word) if word.eq_ignore_ascii_case(":apa91b") => {
            let from = skip_back(bytes, start, 16, |byte| is_name(byte) && byte != b'.');
            ("firebase-key", from, skip(bytes, end, 160, |byte| is_name(byte) && byte != b'.'))
        }
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
///
/// Says how far it looked: whatever begins before that ends in the same digest.
pub(super) fn find_hash(text: &str, start: usize, found: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let is_crypt = at(bytes, start) == b'$';
    let is_ldap = at(bytes, start) == b'{';
    let end = skip(bytes, start, 256, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'$' | b'.' | b'/' | b'+' | b'=' | b',' | b'-' | b'_')
            || byte == b':' && !is_crypt
            || matches!(byte, b'{' | b'}') && is_ldap
    });
    let Some(hash) = text.get(start..end) else { return end };
    let digest = hash.rsplit(['$', ':', '}']).next().unwrap_or_default();
    let is_hash = (is_ldap || hash.matches('$').count() >= 2)
        && digest.len() >= 22
        && entropy(digest) >= 3.5
        && has_both(digest)
        && !is_mask(digest);
    if is_hash {
        found.push(Finding { kind: "password-hash", span: start..end });
    }
    end
}

/// Letters and something else.
fn has_both(digest: &str) -> bool {
    let has = |test: fn(&u8) -> bool| digest.bytes().any(|byte| test(&byte));
    has(u8::is_ascii_lowercase) && (has(u8::is_ascii_uppercase) || has(u8::is_ascii_digit))
}

/// A line of `.pgpass`: `host:port:database:user:password`.
fn find_pgpass(text: &str, middle: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let in_line = |byte: u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'/' | b'@' | b'(');
    let from = skip_back(bytes, middle, 128, in_line);
    let to = skip(bytes, middle, 256, in_line);
    let is_line = (from == 0 || before(bytes, from) == b'\n') && matches!(at(bytes, to), 0 | b'\n' | b'\r');
    let Some(line) = text.get(from..to).filter(|_| is_line) else { return };
    let mut fields = line.split(':');
    let port = fields.nth(1).unwrap_or_default();
    let is_port = port == "*" || !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let password = fields.nth(2).unwrap_or_default();
    if is_port && fields.next().is_none() && password.len() >= 4 && !is_placeholder(password) {
        found.push(Finding { kind: "password", span: to - password.len()..to });
    }
}
