use proptest::prelude::*;

use super::*;

#[test]
fn plain_words_stay_plain() {
    for (value, line) in [
        ("plain words", "plain words"),
        ("a: b", "\"a: b\""),
        ("- a", "\"- a\""),
        ("", "\"\""),
        ("a\nb", "\"a\\nb\""),
        ("http://x", "http://x"),
    ] {
        assert_eq!(format_scalar(value), line);
    }
    assert_eq!(parse_scalar("'it''s'"), "it's");
    assert_eq!(parse_scalar("  bare  "), "bare");
}

proptest! {
    #[test]
    fn what_is_written_is_read(value in any::<String>()) {
        let line = format_scalar(&value);
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(parse_scalar(&line), value);
    }
}
