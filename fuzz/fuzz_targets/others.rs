#![no_main]

mod support;

use archivist_core::ingest::LogFormat::{ArcheFlow, Gemini, Generic, OpenCode};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[ArcheFlow, Gemini, Generic, OpenCode], data);
});
