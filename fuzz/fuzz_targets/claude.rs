#![no_main]

mod support;

use archivist_core::ingest::LogFormat::{ClaudeCode};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[ClaudeCode], data);
});
