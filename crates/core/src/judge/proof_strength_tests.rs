use super::{FileCitation, RESULTS, TALK, classify_evidence, find_citations};
use crate::domain::EvidenceLevel::{self, Citation as Cited, Execution, Reasoning};

fn check(text: &str, expected: EvidenceLevel) {
    assert_eq!(classify_evidence(text, |_| true), expected, "{text}");
}

#[test]
fn what_ran_and_what_it_printed_is_level_one() {
    check("$ pytest tests/billing -q\n3 passed in 1.97s", Execution);
    check("```\n$ cargo test\n   Compiling shop v0.1.0\ntest result: ok. 14 passed; 0 failed\n```", Execution);
    check("`npm test` prints:\n\n```\nTests  31 passed (31)\n```", Execution);
    check("I checked it.\n$ make\nmake: Nothing to be done\nexit 0", Execution);
    check("$ cargo build\nerror[E0502]: cannot borrow `cart` as mutable", Execution);
}

#[test]
fn a_line_of_a_file_with_its_words_is_level_two() {
    check("src/cart.rs:48 reads `let coupon = query.get(\"coupon\")`", Cited);
    check("See src/cart.rs:48:\n> let coupon = check(query);", Cited);
    check("(`src/cart.rs:48`) \"the coupon is checked\"", Cited);
    check("src/cart.rs:48\n```\nlet coupon = `x + y`;\n```", Cited);
}

#[test]
fn to_say_that_it_was_run_is_level_three() {
    check("I ran it and all tests pass.", Reasoning);
    check("I ran `cargo test` and it passed with 14 tests.", Reasoning);
    check("$ cargo test\nI ran this, 14 tests passed", Reasoning);
    check("$ cargo test", Reasoning);
    check("Output:\n14 passed", Reasoning);
}

#[test]
fn to_suppose_that_it_works_is_level_three() {
    check("This should work.", Reasoning);
    check("$ cargo test\nshould print 14 passed", Reasoning);
    check("The fix looks right, and it is likely that the 3 tests pass.", Reasoning);
    check("", Reasoning);
}

#[test]
fn a_file_without_a_line_or_a_line_without_its_words_is_level_three() {
    check("src/cart.rs checks the coupon", Reasoning);
    check("src/cart.rs:48", Reasoning);
    check("src/cart.rs: `let coupon = check(query)`", Reasoning);
    check("src/cart.rs:48 `x`", Reasoning);
    check("At 12:48 `the coupon was checked`", Reasoning);
    check("http://localhost:6379 says \"connection refused\"", Reasoning);
}

#[test]
fn a_citation_outside_the_diff_is_level_three() {
    let diff = "--- a/src/cart.rs\n+++ b/src/cart.rs\n@@ -48 +48 @@\n+let coupon = check(query);\n";
    check(&format!("{diff}\nsrc/cart.rs:48 now has `let coupon = check(query);`"), Cited);
    check(&format!("{diff}\nsrc/basket.rs:7 has `let basket = Basket::new();`"), Reasoning);
}

#[test]
fn a_citation_that_is_not_true_is_level_three() {
    let text = "src/cart.rs:48 has `let coupon = check(query);`";
    let stands = |citation: &FileCitation<'_>| citation.line == 47;
    assert_eq!(classify_evidence(text, stands), Reasoning);
    let cited = [FileCitation { path: "src/cart.rs", line: 48, quote: "let coupon = check(query);" }];
    assert_eq!(find_citations(text), cited);
}

#[test]
fn the_lists_are_sorted() {
    assert!(TALK.is_sorted() && RESULTS.is_sorted());
}

proptest::proptest! {
    #[test]
    fn any_text_has_a_level(text in "[ -~\n`“”:é]{0,200}") {
        classify_evidence(&text, |_| true);
    }
}
