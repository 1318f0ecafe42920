#![no_main]

use archivist_core::ingest::parse_progress;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = parse_progress(&String::from_utf8_lossy(data));
});
