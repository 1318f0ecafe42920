//! Long runs of letters and digits: where tokens with a shape of their own are looked for.
//!
//! Most text has none, so the search looks at every twelfth byte only and goes closer where that one is part of a run.

use super::Finding;
use super::bytes::{at, before};
use super::providers::Providers;

/// No shape is shorter.
pub(super) const MIN_RUN_BYTES: usize = 12;

/// Which bytes a run is made of.
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

fn in_run(byte: u8) -> bool {
    IN_RUN.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Puts every token of a known shape into `found`.
pub(super) fn find(text: &str, providers: &Providers, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let mut floor = 0;
    let mut probe = MIN_RUN_BYTES - 1;
    while let Some(byte) = bytes.get(probe) {
        if !in_run(*byte) {
            floor = probe + 1;
            probe += MIN_RUN_BYTES;
            continue;
        }
        let mut start = probe;
        while start > floor && in_run(at(bytes, start - 1)) {
            start -= 1;
        }
        let mut end = probe + 1;
        while in_run(at(bytes, end)) {
            end += 1;
        }
        if end - start >= MIN_RUN_BYTES {
            providers.find(text, unescaped_start(bytes, start), end, found);
        }
        floor = end;
        probe = end + MIN_RUN_BYTES;
    }
}

/// The `n` of `\n` and the `3D` of `%3D` stand before a token and are not part of it.
fn unescaped_start(bytes: &[u8], start: usize) -> usize {
    match (before(bytes, start), at(bytes, start)) {
        (b'\\', b'n' | b't' | b'r') => start + 1,
        (b'%', b'0'..=b'9') => start + 2,
        _ => start,
    }
}
