use proptest::prelude::*;

use super::*;

fn check(text: &str, other: &str, percent: u32) {
    let found = (keyword_share(text, other) * 100.0).floor();
    assert!((found - f64::from(percent)).abs() < 0.5, "{text:?} in {other:?}: {found}");
}

#[test]
fn what_another_program_counted() {
    check("Missing null check in API response handler", "Missing null check in API response handler", 100);
    check("alpha beta", "alpha gamma delta epsilon", 50);
    check("alpha gamma delta epsilon", "alpha beta", 25);
    check("alpha beta gamma", "alpha", 33);
    check("alpha", "alpha beta gamma", 100);
    check("is it ok", "is it ok", 0);
    check("", "alpha", 0);
    check("alpha", "", 0);
    check("Null-checks: missing!", "missing null checks", 100);
    check("test tests testing", "test", 33);
    check("one two three", "one two", 66);
    check("one two three four five", "one two", 40);
    check("a1b2 c3", "a1b2", 100);
    check("foo_bar baz", "foo bar", 66);
    check("don't repeat", "dont repeat", 50);
    check("v1.2.3 broke", "v1.2.3 fixed", 0);
    check("Timeline references must match story start day", "Timeline must match the story start day", 85);
}

#[test]
fn what_holds_a_sentence_together_is_no_likeness() {
    check("Rename the button", "The tests need the cache", 0);
    check("and the for with", "and the for with", 0);
    assert!(JOINTS.is_sorted());
}

#[test]
fn letters_are_letters_in_every_language() {
    check("Größe prüfen", "größe PRÜFEN", 100);
    check("Größe prüfen", "größe", 50);
    check("ÜBER", "über", 100);
    check("ÜBER", "aber", 0);
}

/// Pairs, and what ArcheFlow's script counts for them; where letters are not ASCII, what it should count.
const COUNTED: &[(&str, &str, usize)] = &[
    ("Missing null check in API response handler", "Missing null check in API response handler", 100),
    ("alpha beta", "alpha gamma delta epsilon", 50),
    ("alpha gamma delta epsilon", "alpha beta", 25),
    ("alpha beta gamma", "alpha", 33),
    ("alpha", "alpha beta gamma", 100),
    ("is it ok", "is it ok", 0),
    ("", "alpha", 0),
    ("alpha", "", 0),
    ("Null-checks: missing!", "missing null checks", 100),
    ("test tests testing", "test", 33),
    ("Größe prüfen", "größe PRÜFEN", 100),
    ("Größe prüfen", "größe", 50),
    ("Gro\u{308}ße", "größe", 100),
    ("ÜBER", "über", 100),
    ("ÜBER", "aber", 0),
    ("one two three four", "one two", 50),
    ("one two three", "one two", 66),
    ("one two three four five", "one two", 40),
    ("a1b2 c3", "a1b2", 100),
    ("foo_bar baz", "foo bar", 66),
    ("don't repeat", "dont repeat", 50),
    ("v1.2.3 broke", "v1.2.3 fixed", 0),
    ("Timeline references must match story start day", "Timeline must match the story start day", 85),
    ("Timeline must match the story start day", "Timeline references must match story start day", 85),
    ("the tests and the cache", "the and", 50),
];

#[test]
fn every_word_counts_where_another_program_counts_it() {
    for (text, other, expected) in COUNTED {
        assert_eq!(overlap_percent(text, other), *expected, "{text:?} in {other:?}");
    }
}

#[test]
fn words_come_in_their_order() {
    assert_eq!(words_of_length("Über die Größe, und den foo_bar", 4), ["über", "größe"]);
    assert_eq!(words_of_length("test Test tests", 4), ["test", "test", "tests"]);
    assert_eq!(whole_percent(2, 0), 0);
}

proptest! {
    #[test]
    fn a_text_holds_all_of_itself_or_has_no_words(text in ".*", other in ".*") {
        let own = overlap_percent(&text, &text);
        prop_assert_eq!(own, if plain_words(&text).is_empty() { 0 } else { 100 });
        prop_assert!(overlap_percent(&text, &other) <= 100);
    }
}
