#![no_main]

mod support;

use archivist::ingest::Format::{Atif, AtifStream};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[Atif, AtifStream], data);
});
