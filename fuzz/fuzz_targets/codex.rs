#![no_main]

mod support;

use archivist_core::ingest::LogFormat::{Codex, CodexExec};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[Codex, CodexExec], data);
});
