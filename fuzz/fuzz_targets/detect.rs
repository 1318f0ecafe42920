#![no_main]

use archivist_core::context::LogGatherer;
use archivist_core::ingest::{SessionReader, ReaderSettings};
use archivist_core::redact::Redactor;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let redactor = Redactor::new();
    let mut gathering = LogGatherer::new(&redactor);
    let _ = SessionReader::new(ReaderSettings { strict: true }).read_log(&mut &data[..], &mut gathering);
    gathering.finish();
});
