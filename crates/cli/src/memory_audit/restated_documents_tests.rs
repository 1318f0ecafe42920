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
    let documents = [("README.md".to_owned(), README.to_owned()), ("docs/style.md".to_owned(), STYLE.to_owned())];
    DocumentPhraseIndex::new(&documents).find_source_document(text).map(str::to_owned)
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

proptest! {
    #[test]
    fn without_documents_nothing_is_restated(text in "\\PC{0,200}") {
        prop_assert_eq!(DocumentPhraseIndex::new(&[]).find_source_document(&text), None);
    }

    #[test]
    fn a_document_restates_itself(words in proptest::collection::vec("[b-z]{4,9}", 6..30)) {
        let text = words.join(" ");
        let documents = [("it".to_owned(), format!("Before. {text}. Behind."))];
        let rows: HashSet<u64> = fingerprint_rows(&text, &mut WordSplitter::default()).into_iter().collect();
        prop_assume!(rows.len() >= MIN_ROWS);
        prop_assert_eq!(DocumentPhraseIndex::new(&documents).find_source_document(&text), Some("it"));
    }
}
