//! Private key blocks, and tokens recognized by a piece in their middle.

use memchr::memmem;

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_name_byte, skip_back_while, skip_while};
use super::value_shape::{is_mask, is_placeholder, is_random, shannon_entropy};

/// The most bytes of a block's title.
const MAX_TITLE_BYTES: usize = 80;

/// The most lines of a PuTTY key; its largest keys have fewer.
const MAX_PUTTY_LINES: usize = 200;

/// The fewest bytes of a block's body; a block with less is an example.
const MIN_BLOCK_BYTES: usize = 24;

/// The length of a row of base64 that only keys have.
const MIN_ROW_BYTES: usize = 20;

/// The fewest bytes of a key's line, except the last one.
const MIN_LINE_BYTES: usize = 16;

/// Finds the private key that begins or ends at `start`: PEM, OpenSSH, PGP, PuTTY.
pub(super) fn find_private_key(text: &str, start: usize, found: &mut Vec<SecretFinding>) {
    let Some(rest) = text.get(start..) else { return };
    let is_end = rest.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("-----end"));
    let span = if rest.starts_with(['P', 'p']) {
        putty_key_span(rest).map(|(from, to)| start + from..start + to)
    } else if is_end {
        headless_block(text, start)
    } else {
        pem_block_length(rest).map(|len| start..start + len)
    };
    if let Some(span) = span {
        found.push(SecretFinding { kind: "private-key", span });
    }
}

/// Returns the length of the title with its dashes, if it is that of a private key.
fn title_length(rest: &str) -> Option<usize> {
    let dashes = rest.bytes().take_while(|byte| *byte == b'-').count();
    let near = rest.get(..rest.floor_char_boundary(MAX_TITLE_BYTES))?;
    let words = near.get(dashes..)?;
    let len = words.find(if dashes == 4 { "----" } else { "-----" })?;
    let upper = words.get(..len)?.to_ascii_uppercase();
    let is_private = upper.contains("PRIVATE KEY") || upper.contains("STATIC KEY");
    (is_private && !upper.contains(['\n', '\\'])).then(|| dashes + len + if dashes == 4 { 4 } else { 5 })
}

fn is_base64_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns the length from `-----BEGIN … PRIVATE KEY-----` to the end of its `-----END …-----`. If that was cut off,
/// the block ends where lines no longer look like a key.
fn pem_block_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let body_start = title_length(rest)?;
    // No line of a body has so many dashes, so the next ones belong to this block's end or to another block.
    let next = memmem::find(bytes.get(body_start..)?, b"----").map(|len| body_start + len);
    let end = next.filter(|end| {
        rest.get(*end..).is_some_and(|tail| tail.trim_start_matches('-').trim_start().starts_with("END"))
    });
    if let Some(end) = end {
        let body = bytes.get(body_start..end)?;
        let is_key =
            body.chunk_by(|a, b| is_base64_byte(*a) && is_base64_byte(*b)).any(|row| row.len() >= MIN_ROW_BYTES)
                || !body.iter().any(|byte| matches!(byte, b'(' | b'"' | b'\'' | b'`' | b'.'));
        let len = title_length(rest.get(end..)?).unwrap_or(MIN_TAIL_BYTES);
        return (body.len() >= MIN_BLOCK_BYTES && is_key).then(|| (end + len).min(rest.len()));
    }
    let limit = next.unwrap_or(rest.len());
    let mut body_end = body_start;
    let mut place = body_start;
    loop {
        let line_start = skip_while(bytes, place, usize::MAX, is_between_lines);
        // Skips the `n` of an escaped line end, `\n` in a string.
        let line_start = if byte_before(bytes, line_start) == b'\\' { line_start + 1 } else { line_start };
        let line_end = skip_while(bytes, line_start, usize::MAX, |byte| {
            is_base64_byte(byte) || matches!(byte, b':' | b',' | b'-')
        });
        let is_header = memchr::memchr(b':', bytes.get(line_start..line_end).unwrap_or_default()).is_some();
        let line_end = if is_header {
            skip_while(bytes, line_end, MAX_TITLE_BYTES, |byte| byte != b'\n' && byte != b'\\')
        } else {
            line_end
        };
        let is_line = matches!(byte_at(bytes, line_end), 0 | b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`');
        if line_end <= line_start || line_start >= limit || !is_line {
            break;
        }
        body_end = line_end.min(limit);
        place = line_end;
    }
    if body_end - body_start < MIN_BLOCK_BYTES {
        // Words were written in place of the key.
        let line_start = skip_while(bytes, body_start, 4, is_between_lines);
        body_end = skip_while(bytes, line_start, 2048, |byte| is_base64_byte(byte) || byte == b' ').min(limit);
    }
    (body_end - body_start >= MIN_BLOCK_BYTES).then_some(body_end)
}

/// The bytes of `-----END` and its dashes.
const MIN_TAIL_BYTES: usize = 13;

fn is_between_lines(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'"' | b'\'')
}

/// Returns the lines above an `-----END … PRIVATE KEY-----` whose beginning was cut off, with that end.
fn headless_block(text: &str, end: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let len = title_length(text.get(end..)?)?;
    let mut body_start = end;
    let mut place = end;
    while place > 0 {
        // The `n` of an escaped line end is not part of a line.
        let escapes =
            usize::from(byte_at(bytes, place.saturating_sub(1)) == b'n' && byte_before(bytes, place - 1) == b'\\');
        let line_end = skip_back_while(bytes, place - escapes, usize::MAX, is_between_lines);
        let row = skip_back_while(bytes, line_end, usize::MAX, is_base64_byte);
        let line_start = row + usize::from(byte_before(bytes, row) == b'\\');
        let is_whole = row == 0 || is_between_lines(byte_before(bytes, row));
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

/// Returns the span of the lines after `Private-Lines: 14`.
fn putty_key_span(rest: &str) -> Option<(usize, usize)> {
    let head = rest.bytes().take(40).position(|byte| byte == b'\n')? + 1;
    let is_body = |line: &&str| {
        !line.trim_end().is_empty()
            && line.trim_end().bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
    };
    let lines = rest.get(head..)?.split_inclusive('\n').take_while(is_body).take(MAX_PUTTY_LINES);
    let body: usize = lines.map(str::len).sum();
    (body >= MIN_BLOCK_BYTES).then_some((head, head + body))
}

/// Finds the token around a telling piece: Azure's `Q~`, Terraform's `.atlasv1.`, Telegram's `:AA`, OpenShift's
/// `sha256~`.
pub(super) fn find_token_by_middle(text: &str, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let wide = |byte: u8| is_name_byte(byte) || byte == b'~' || byte == b'=';
    let (kind, from, to) = match text.get(start..end) {
        Some("Q~") => {
            let (from, to) = (
                skip_back_while(bytes, start, 5, |byte| is_name_byte(byte) || byte == b'~'),
                skip_while(bytes, end, 40, wide),
            );
            if !(3..=4).contains(&(start - from))
                || !(31..=34).contains(&(to - end))
                || !byte_at(bytes, start - 1).is_ascii_digit()
            {
                return;
            }
            ("azure-client-secret", from, to)
        }
        Some(".atlasv1.") => (
            "terraform-token",
            skip_back_while(bytes, start, 16, |byte| byte.is_ascii_alphanumeric()),
            skip_while(bytes, end, 90, wide),
        ),
        Some(":5432:" | ":*:") => return find_pgpass(text, start, found),
        Some("@tcp(") => return find_driver_password(text, start, found),
        Some("IBAAK" | "IBADAN") => return find_first_key_line(text, start, found),
        Some("JQQJ99") => (
            "azure-key",
            skip_back_while(bytes, start, 60, |byte| byte.is_ascii_alphanumeric()),
            skip_while(bytes, end, 40, is_base64_byte),
        ),
        Some(word) if word.eq_ignore_ascii_case("ibaak") || word.eq_ignore_ascii_case("ibadan") => return,
        Some(word) if word.eq_ignore_ascii_case(":apa91b") => {
            let from = skip_back_while(bytes, start, 16, |byte| is_name_byte(byte) && byte != b'.');
            ("firebase-key", from, skip_while(bytes, end, 160, |byte| is_name_byte(byte) && byte != b'.'))
        }
        Some("sha256~") => {
            ("openshift-token", start, skip_while(bytes, end, 50, |byte| is_name_byte(byte) && byte != b'.'))
        }
        _ => {
            let (from, to) = (
                skip_back_while(bytes, start, 17, |byte| byte.is_ascii_digit()),
                skip_while(bytes, end, 40, |byte| is_name_byte(byte) && byte != b'.'),
            );
            if !(5..=16).contains(&(start - from))
                || !(32..=35).contains(&(to - end))
                || byte_at(bytes, start + 1) != b'A'
            {
                return;
            }
            ("telegram-token", from, to)
        }
    };
    let is_token = text.get(from..to).is_some_and(|token| token.len() >= 36 && is_random(token) && !is_mask(token));
    if is_token {
        found.push(SecretFinding { kind, span: from..to });
    }
}

/// Finds the lines of a private key whose title is missing: the first one says what it is by the numbers that every
/// RSA key and every PKCS#8 key begins with.
fn find_first_key_line(text: &str, middle: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let Some(start) =
        middle.checked_sub(6).filter(|start| text.get(*start..).is_some_and(|row| row.starts_with("MII")))
    else {
        return;
    };
    let mut end = skip_while(bytes, start, 8192, is_base64_byte);
    if end - start < MIN_KEY_ROW_BYTES || is_base64_byte(byte_before(bytes, start)) {
        return;
    }
    for _ in 0..MAX_PUTTY_LINES {
        // Real line ends, and escaped ones of a string.
        let next = skip_while(bytes, end, 12, |byte| is_between_lines(byte) || matches!(byte, b'+' | b'>' | b'|'));
        let next = next + usize::from(byte_before(bytes, next) == b'\\' && byte_at(bytes, next) == b'n');
        let next_end = skip_while(bytes, next, 8192, is_base64_byte);
        if next == end || next_end - next < MIN_LINE_BYTES || !text.get(next..next_end).is_some_and(is_random) {
            break;
        }
        end = next_end;
    }
    found.push(SecretFinding { kind: "private-key", span: start..end });
}

/// The fewest bytes of a key's first line.
const MIN_KEY_ROW_BYTES: usize = 40;

/// Finds the password in the address of a database driver: `name:password@tcp(host:3306)/name`.
fn find_driver_password(text: &str, middle: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let in_pair = |byte: u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'/' | b'=' | b'(');
    let from = skip_back_while(bytes, middle, 128, in_pair);
    let Some((name, password)) = text.get(from..middle).and_then(|pair| pair.split_once(':')) else { return };
    let is_secret = !name.is_empty() && password.len() >= 4 && !is_placeholder(password) && !password.contains("%s");
    if is_secret {
        found.push(SecretFinding { kind: "url-password", span: middle - password.len()..middle });
    }
}

/// Finds the hash of a password as `crypt` and similar tools write it: `$2b$12$…`, `$6$salt$…`, `$argon2id$…`,
/// `pbkdf2:…`.
///
/// Returns the end of the examined text: whatever begins before that ends in the same digest.
pub(super) fn find_password_hash(text: &str, start: usize, found: &mut Vec<SecretFinding>) -> usize {
    let bytes = text.as_bytes();
    let is_crypt = byte_at(bytes, start) == b'$';
    let is_ldap = byte_at(bytes, start) == b'{';
    let end = skip_while(bytes, start, 256, |byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'$' | b'.' | b'/' | b'+' | b'=' | b',' | b'-' | b'_')
            || byte == b':' && !is_crypt
            || matches!(byte, b'{' | b'}') && is_ldap
    });
    let Some(hash) = text.get(start..end) else { return end };
    let digest = hash.rsplit(['$', ':', '}']).next().unwrap_or_default();
    let is_hash = (is_ldap || hash.matches('$').count() >= 2)
        && digest.len() >= 22
        && shannon_entropy(digest) >= 3.5
        && has_lower_and_other(digest)
        && !is_mask(digest);
    if is_hash {
        found.push(SecretFinding { kind: "password-hash", span: start..end });
    }
    end
}

/// Returns true if it has small letters, and capitals or digits.
fn has_lower_and_other(digest: &str) -> bool {
    let has = |test: fn(&u8) -> bool| digest.bytes().any(|byte| test(&byte));
    has(u8::is_ascii_lowercase) && (has(u8::is_ascii_uppercase) || has(u8::is_ascii_digit))
}

/// Finds the password in a line of `.pgpass`: `host:port:database:user:password`.
fn find_pgpass(text: &str, middle: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let in_line = |byte: u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'/' | b'@' | b'(');
    let from = skip_back_while(bytes, middle, 128, in_line);
    let to = skip_while(bytes, middle, 256, in_line);
    let is_line = (from == 0 || byte_before(bytes, from) == b'\n') && matches!(byte_at(bytes, to), 0 | b'\n' | b'\r');
    let Some(line) = text.get(from..to).filter(|_| is_line) else { return };
    let mut fields = line.split(':');
    let port = fields.nth(1).unwrap_or_default();
    let is_port = port == "*" || !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let password = fields.nth(2).unwrap_or_default();
    if is_port && fields.next().is_none() && password.len() >= 4 && !is_placeholder(password) {
        found.push(SecretFinding { kind: "password", span: to - password.len()..to });
    }
}
