use proptest::prelude::*;

use super::*;

#[test]
fn blanks_are_folded_and_places_are_kept() {
    let original = "  one\t two\r\n\r\nthree\u{a0}vier\n";
    let folded = FoldedText::new(original);
    assert_eq!(folded.text(), "one two three vier");
    let at = folded.text().find("two three").unwrap();
    assert_eq!(original.get(folded.original_range(at..at + 9)).unwrap(), "two\r\n\r\nthree");
    assert_eq!(FoldedText::new(" \n").text(), "");
}

proptest! {
    #[test]
    fn every_word_is_found_again(original in "[ab é\t\n\u{a0}漢]{0,60}") {
        let folded = FoldedText::new(&original);
        prop_assert_eq!(folded.text(), original.split_whitespace().collect::<Vec<_>>().join(" "));
        for (at, word) in words_with_offsets(folded.text()) {
            prop_assert_eq!(original.get(folded.original_range(at..at + word.len())), Some(word));
        }
    }
}
