//! Long runs of letters and digits, in which tokens with a shape of their own are searched.
//!
//! Most text has none, so the search reads every twelfth byte only and looks closer if that one is part of a run.

use super::SecretFinding;
use super::bytes::{byte_at, byte_before};
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

fn is_run_byte(byte: u8) -> bool {
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
            providers.find_token(text, unescaped_start(bytes, start), end, found);
        }
        floor = end;
        probe = end + MIN_RUN_BYTES;
    }
}

/// Skips the `n` of `\n` and the `3D` of `%3D`, which come before a token and are not part of it.
fn unescaped_start(bytes: &[u8], start: usize) -> usize {
    match (byte_before(bytes, start), byte_at(bytes, start)) {
        (b'\\', b'n' | b't' | b'r') => start + 1,
        (b'%', b'0'..=b'9') => start + 2,
        _ => start,
    }
}
