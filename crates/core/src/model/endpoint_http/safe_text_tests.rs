use proptest::prelude::*;

use super::*;

fn mask(key: &str) -> KeyMask {
    KeyMask::new(Some(SecretString::from(key)))
}

#[test]
fn words_become_one_line() {
    assert_eq!(mask("none").sanitize_message("  a\r\n\tb\u{0}c\u{7f}\u{2028}d \u{202E}e \u{1b}[31m"), "a bc d e");
    assert_eq!(mask("none").sanitize_message(""), "");
}

#[test]
fn the_key_is_taken_out_however_it_is_spaced() {
    assert_eq!(
        mask("sk-1234").sanitize_message("sk-1234, sk-\u{200B}1234 and xsk-1234x"),
        "[the key], [the key] and x[the key]x"
    );
    assert_eq!(mask("two  words").sanitize_message("two  words"), "[the key]");
    assert_eq!(mask("sk-1234").sanitize_message("so sk-\n1234 it is"), "words with the key in them");
    assert_eq!(mask("no").sanitize_message("no, not at all"), "no, not at all");
}

proptest! {
    #[test]
    fn what_is_shown_is_short_plain_and_without_the_key(text in any::<String>(), key in "[!-~]{4,20}") {
        let said = mask(&key).sanitize_message(&format!("{text}{key}{text}"));
        prop_assert!(said.chars().count() <= 300);
        prop_assert!(!said.chars().any(crate::text::is_hidden_character));
        prop_assert!(!said.contains(&key) || "[the key] words with the key in them".contains(&key), "{}", said);
    }
}
