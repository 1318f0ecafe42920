use chrono::{DateTime, Utc};

use super::*;

#[test]
fn a_cut_text_fits_by_what_the_eye_sees() {
    check_cut("short", 5, "short");
    check_cut("longer", 5, "long…");
    check_cut("ends here", 6, "ends…");
    check_cut("漢字漢字", 5, "漢字…");
    check_cut("漢字漢字", 4, "漢…");
    check_cut("anything", 1, "…");
    check_cut("anything", 0, "");
}

#[test]
fn wrapping_breaks_between_words() {
    assert_eq!(wrap_words("one two three", 7), ["one two", "three"]);
    assert_eq!(wrap_words("a averyverylongword b", 5), ["a", "averyverylongword", "b"]);
    assert_eq!(wrap_words("", 5), [""]);
}

#[test]
fn folding_breaks_long_words_too() {
    assert_eq!(wrap_strictly("one two three", 7), ["one two", "three"]);
    assert_eq!(wrap_strictly("a averyverylongword b", 5), ["a", "avery", "veryl", "ongwo", "rd", "b"]);
    assert_eq!(wrap_strictly("漢字漢字", 5), ["漢字", "漢字"]);
    assert_eq!(
        wrap_strictly("e\u{301}e\u{301}e\u{301}", 2),
        ["e\u{301}e\u{301}", "e\u{301}"],
        "an accent stays with its letter"
    );
    assert_eq!(wrap_strictly("漢", 1), ["漢"], "what fits nowhere has a line of its own");
    assert_eq!(wrap_strictly("", 5), [""]);
}

#[test]
fn ages_have_one_unit() {
    check_age("2026-01-01T00:00:00Z", "2026-01-01T00:00:59Z", "now");
    check_age("2026-01-01T00:00:00Z", "2026-01-01T00:59:59Z", "59m");
    check_age("2026-01-01T00:00:00Z", "2026-01-02T23:00:00Z", "47h");
    check_age("2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z", "2d");
    check_age("2023-01-01T00:00:00Z", "2026-01-03T00:00:00Z", "3y");
    check_age("2027-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "now");
}

#[test]
fn sizes_are_rounded_for_people() {
    assert_eq!(format_bytes(1023), "1023 B");
    assert_eq!(format_bytes(1024), "1.0 KiB");
    assert_eq!(format_bytes(1024 * 1024 - 1), "1.0 MiB");
    assert_eq!(format_bytes(u64::MAX), "16777216.0 TiB");
}

fn check_cut(text: &str, columns: usize, expected: &str) {
    let cut = cut_to_width(text, columns);
    assert_eq!(cut, expected);
    assert!(text_width(&cut) <= columns);
}

fn check_age(then: &str, now: &str, expected: &str) {
    let moment = |text: &str| DateTime::parse_from_rfc3339(text).expect("a moment").with_timezone(&Utc);
    assert_eq!(format_age(moment(then), moment(now)), expected);
}
