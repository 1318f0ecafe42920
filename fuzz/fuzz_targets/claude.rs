#![no_main]

mod support;

use archivist_core::ingest::Format::{ClaudeCode};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[ClaudeCode], data);
});
