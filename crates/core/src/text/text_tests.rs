use proptest::prelude::*;

use super::{STOP_WORDS, split_words};

fn check(text: &str, expected: &[&str]) {
    assert_eq!(split_words(text), expected, "{text:?}");
}

#[test]
fn plain_words_are_lowered_and_stemmed() {
    check("Running tests before committing", &["run", "test", "commit"]);
    check("The flaky TEST", &["flaki", "test"]);
    check("", &[]);
    check("a the of", &[]);
}

#[test]
fn identifiers_stay_whole_and_come_apart() {
    check("fixTypecheckErrors", &["fixtypecheckerrors", "fix", "typecheck", "error"]);
    check("FM_MAX_CONTEXT_CHARS", &["fm_max_context_chars", "fm", "max", "context", "char"]);
    check("src/auth/login.rs", &["src/auth/login.rs", "src", "auth", "login", "rs"]);
    check("--no-verify", &["no-verify", "verifi"]);
    check("HTTPServer", &["httpserver", "http", "server"]);
    check("error E0502:", &["error", "e0502"]);
    check("std::io::Error", &["std::io::error", "std", "io", "error"]);
    check("aB", &["ab"]);
}

#[test]
fn other_scripts_are_words_too() {
    check("Größe prüfen", &["größe", "prüfen"]);
    check("日本語", &["日本", "本語"]);
    check("テスト", &["テス", "スト"]);
    check("cafe\u{301}", &["café"]);
}

#[test]
fn data_is_not_a_word() {
    check(&"x".repeat(65), &[]);
    check(&"x".repeat(64), &["x".repeat(64).as_str()]);
}

#[test]
fn stop_words_are_sorted() {
    assert!(STOP_WORDS.is_sorted());
}

proptest! {
    #[test]
    fn any_text_gives_words_of_bounded_length(text in ".{0,400}") {
        for word in split_words(&text) {
            prop_assert!(!word.is_empty());
            prop_assert!(word.chars().count() <= 3 * super::MAX_WORD_CHARACTERS);
        }
    }
}
