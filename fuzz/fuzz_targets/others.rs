#![no_main]

mod support;

use archivist_core::ingest::Format::{ArcheFlow, Gemini, Generic, OpenCode};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[ArcheFlow, Gemini, Generic, OpenCode], data);
});
