#![no_main]

use archivist_core::context::Gathering;
use archivist_core::ingest::{Reading, Rules};
use archivist_core::redact::Redactor;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let redactor = Redactor::new();
    let mut gathering = Gathering::new(&redactor);
    let _ = Reading::new(Rules { strict: true }).read(&mut &data[..], &mut gathering);
    gathering.finish();
});
