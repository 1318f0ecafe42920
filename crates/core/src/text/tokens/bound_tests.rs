use proptest::prelude::*;

use super::super::Tokenizer;
use super::{SEVERAL, STOP_WORDS, thesaurus, token_upper_bound};

#[test]
fn the_list_of_words_of_several_tokens_is_right() {
    let listed = STOP_WORDS.iter().copied().chain(thesaurus::listed_words());
    let mut several: Vec<&str> =
        listed.filter(|word| Tokenizer::new().count_tokens(&format!("x {word}")) != 2).collect();
    several.sort_unstable();
    several.dedup();
    assert_eq!(SEVERAL, several);
}

#[test]
fn plain_talk_is_not_taken_for_much_more_than_it_costs() {
    let text = "The tests fail when the database is not running, so start it first and run them again.";
    assert!(token_upper_bound(text) <= 3 * Tokenizer::new().count_tokens(text), "{}", token_upper_bound(text));
}

proptest! {
    #[test]
    fn no_text_costs_more(
        text in prop::collection::vec(
            prop_oneof![
                4 => "[a-z]{1,12}",
                4 => prop::sample::select(vec!["the ", " file", " not", "Use ", " test, ", " run\n", "'s ", " don't", ".start", "(fix "]).prop_map(str::to_owned),
                2 => Just(" ".to_owned()),
                1 => "[A-Z][a-z]{0,8}",
                1 => "[ \t\r\n]{1,6}",
                1 => "[0-9]{1,8}",
                1 => "[-/.,:;#>'\"…`_()]{1,4}",
                1 => "\\PC{1,6}",
            ],
            0..60,
        ).prop_map(|parts| parts.concat())
    ) {
        prop_assert!(token_upper_bound(&text) >= Tokenizer::new().count_tokens(&text), "{text:?}");
    }
}
