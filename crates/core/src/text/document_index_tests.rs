use proptest::prelude::*;

use super::*;

const README: &str = "# Shop\n\nRun `npm run dev` to start the server on port 3000.\n\
    The database must be migrated with `npm run migrate` before the first start.\n\n\
    - Never push to main; open a pull request and ask for two reviews.\n\
    - Translations are kept in `locales/` and are checked by the script `check-locales`.\n\
    - Prices are whole cents, and rounding happens in the cart only.\n";

const STYLE: &str = "Components are functions. Class components are not allowed in new code.\n\
    Colours come from the theme, a literal colour is refused by the linter.\n";

fn said_in(text: &str) -> Option<String> {
    let index = DocumentIndex::new([("README.md", README), ("docs/style.md", STYLE)]);
    index.find_restated_place(text).map(|place| place.path.to_owned())
}

#[test]
fn what_a_document_says_is_restated() {
    for text in [
        "Run `npm run dev` to start the server on port 3000.",
        "run npm run dev to start the server on port 3000",
        "The database must be migrated with npm run migrate before the first start",
        "Never push to main: open a pull request and ask for two reviews!",
        "Note: never push to main; open a pull request and ask for two reviews.",
        "Translations are kept in locales/ and checked by the script check-locales.",
        "Prices are whole cents; rounding happens in the cart only",
        "Price is in whole cents, and rounding happens in the cart only",
    ] {
        assert_eq!(said_in(text).as_deref(), Some("README.md"), "{text}");
    }
    for text in [
        "Components are functions. Class components are not allowed in new code.",
        "Colours come from the theme; a literal colour is refused by the linter",
    ] {
        assert_eq!(said_in(text).as_deref(), Some("docs/style.md"), "{text}");
    }
}

#[test]
fn what_a_document_does_not_say_is_news() {
    for text in [
        "The server on port 3000 hangs when two tabs are open; restart it.",
        "`npm run migrate` needs the variable PGHOST, or it migrates the wrong database.",
        "Reviews by two people are only asked for on Fridays.",
        "check-locales ignores plural forms, look at those by hand.",
        "Rounding in the cart is wrong for gift cards.",
        "Prices of the supplier come with a comma.",
        "Class components in the checkout stay until the payment widget is replaced.",
        "Use pnpm",
        "npm run dev",
        "",
    ] {
        assert_eq!(said_in(text), None, "{text}");
    }
}

#[test]
fn words_from_two_documents_are_not_one_document() {
    let text = "Never push to main; open a pull request. Class components are not allowed in new code, colours come from the theme and locales are elsewhere.";
    assert_eq!(said_in(text), None);
}

#[test]
fn several_lines_of_a_document_are_restated_together() {
    for text in [
        "Never push to main; open a pull request and ask for two reviews. Prices are whole cents, and rounding happens in the cart only.",
        "- Never push to main; open a pull request and ask for two reviews\n- Prices are whole cents, rounding happens in the cart only\n- Translations are kept in locales and are checked by the script check-locales",
    ] {
        assert_eq!(said_in(text).as_deref(), Some("README.md"), "{text}");
    }
    let half_news = "Never push to main; open a pull request and ask for two reviews. Reviewers of the checkout are listed in the wiki of the payments team, and change every spring.";
    assert_eq!(said_in(half_news), None);
}

#[test]
fn the_words_of_a_long_paragraph_are_a_coincidence() {
    let filler = (0..40).map(|number| format!("filler{number}")).collect::<Vec<_>>().join(" ");
    let document = format!("End-to-end checks {filler} run against {filler} a staging cluster");
    let index = DocumentIndex::new([("README.md", document.as_str())]);
    assert_eq!(index.find_restated_place("Run checks against the staging cluster"), None);
}

#[test]
fn order_and_endings_do_not_matter() {
    for text in [
        "Before the first start, migrate the database with npm run migrate",
        "In the cart only, prices are rounded to whole cents: rounding happens there",
    ] {
        assert_eq!(said_in(text).as_deref(), Some("README.md"), "{text}");
    }
}

proptest! {
    #[test]
    fn without_documents_nothing_is_restated(text in "\\PC{0,200}") {
        let nothing = DocumentIndex::default();
        prop_assert_eq!(nothing.find_restated_place(&text), None);
    }

    #[test]
    fn a_document_restates_itself(words in proptest::collection::vec("[b-z]{4,9}", 6..30)) {
        let text = words.join(" ");
        let document = format!("Before. {text}. Behind.");
        prop_assume!(split_distinct_words(&text, &mut WordSplitter::default()).len() >= MIN_WORDS);
        let index = DocumentIndex::new([("it", document.as_str())]);
        prop_assert_eq!(index.find_restated_place(&text), Some(DocumentPlace { path: "it", line: 1 }));
    }
}
