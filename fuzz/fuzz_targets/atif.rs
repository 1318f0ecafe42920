#![no_main]

mod support;

use archivist_core::ingest::Format::{Atif, AtifStream};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    support::read_as(&[Atif, AtifStream], data);
});
