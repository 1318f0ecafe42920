//! Long runs of letters and digits, in which tokens with a shape of their own are searched.
//!
//! Most text has none, so the search reads every twelfth byte only and looks closer if that one is part of a run.

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, skip_while};
use super::providers::SecretTokenTable;

/// The fewest bytes of a run; no shape is shorter.
pub(super) const MIN_RUN_BYTES: usize = 12;

/// The table of bytes that belong to a run.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        #[allow(clippy::indexing_slicing, reason = "a constant, checked when compiled")]
        {
            table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        }
        byte += 1;
    }
    table
};

/// Returns true for bytes of a run: letters, digits and the signs that join them.
pub(super) fn is_run_byte(byte: u8) -> bool {
    IN_RUN.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Adds every token of a known shape to `found`.
pub(super) fn find_tokens(text: &str, providers: &SecretTokenTable, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let mut floor = 0;
    let mut probe = MIN_RUN_BYTES - 1;
    while let Some(byte) = bytes.get(probe) {
        if !is_run_byte(*byte) {
            floor = probe + 1;
            probe += MIN_RUN_BYTES;
            continue;
        }
        let mut start = probe;
        while start > floor && is_run_byte(byte_at(bytes, start - 1)) {
            start -= 1;
        }
        let mut end = probe + 1;
        while is_run_byte(byte_at(bytes, end)) {
            end += 1;
        }
        if end - start >= MIN_RUN_BYTES {
            providers.find_tokens(text, unescaped_start(bytes, start, end), end, found);
        }
        floor = end;
        probe = end + MIN_RUN_BYTES;
    }
}

/// Skips what an escape leaves at the start of a run and is not part of a token: the `n` of `\n`, the `3D` of `%3D`, the
/// `u003d` of `\u003d`, the `31m` of a colour.
fn unescaped_start(bytes: &[u8], start: usize, end: usize) -> usize {
    let skipped = match (byte_before(bytes, start), byte_at(bytes, start)) {
        (b'\\', b'n' | b't' | b'r') => 1,
        (b'\\', b'x') => 3,
        (b'\\', b'u') => 5,
        (b'%', b'0'..=b'9' | b'A'..=b'F' | b'a'..=b'f') => 2,
        (b'[' | b';', b'0'..=b'9') => {
            let digits = skip_while(bytes, start, 3, |byte| byte.is_ascii_digit()) - start;
            if byte_at(bytes, start + digits) == b'm' { digits + 1 } else { 0 }
        }
        _ => 0,
    };
    (start + skipped).min(end)
}
