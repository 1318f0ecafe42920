#![no_main]

mod support;

use archivist_core::ingest::LogFormat::{Atif, AtifStream};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[Atif, AtifStream], data);
});
