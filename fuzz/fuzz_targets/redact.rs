#![no_main]

use std::sync::OnceLock;

use archivist_core::redact::Redactor;

static REDACTOR: OnceLock<Redactor> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let redactor = REDACTOR.get_or_init(Redactor::new);
    let once = redactor.redact(&text);
    let mut end = 0;
    for finding in &once.found {
        assert!(finding.span.start >= end && finding.span.end <= text.len(), "findings overlap");
        assert!(text.get(finding.span.clone()).is_some(), "a finding cuts a character");
        end = finding.span.end;
    }
    let twice = redactor.redact(&once.text);
    assert_eq!(twice.text, once.text, "a second pass finds more");
});
