use proptest::prelude::*;

use super::super::{MAX_WORD_CHARACTERS, WordSplitter};
use super::{ASKING_WORDS, TAILS};

fn check(text: &str, expected: &[&str]) {
    assert_eq!(WordSplitter::default().split_terms(text), expected, "{text:?}");
}

#[test]
fn what_only_asks_or_only_binds_finds_nothing() {
    check("Please tell me what to use", &[]);
    check("Caroline's tests don't pass", &["carolin", "test", "don", "pass"]);
    check("Caroline’s", &["carolin"]);
    check("it is 5 o'clock", &["5", "o", "clock"]);
}

#[test]
fn names_are_found_by_other_forms_of_them() {
    check("APIs", &["api"]);
    check("DataFrames", &["datafram", "data", "frame"]);
    check("pandas.DataFrame", &["pandas.dataframe", "panda", "datafram", "data", "frame"]);
    check("python3", &["python3", "python"]);
    check("20GB", &["20gb", "20"]);
    check("e0502", &["e0502"]);
    check("src/auth/login.rs", &["src/auth/login.rs", "src", "auth", "login", "rs"]);
    check("日本語", &["日本", "本語"]);
}

#[test]
fn the_lists_are_sorted() {
    assert!(ASKING_WORDS.is_sorted() && TAILS.is_sorted());
}

proptest! {
    #[test]
    fn any_text_gives_terms_of_bounded_length(text in ".{0,400}") {
        for term in WordSplitter::default().split_terms(&text) {
            prop_assert!(!term.is_empty());
            prop_assert!(term.chars().count() <= 3 * MAX_WORD_CHARACTERS);
        }
    }
}
