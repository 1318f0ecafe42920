use super::{JOINTS, keyword_share};

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
