use proptest::prelude::*;

use super::{LONGEST, MOST_UNITS, closest_similarity, split_into_units};

#[test]
fn a_lesson_is_one_unit() {
    assert_eq!(split_into_units("Start redis first. It is needed."), ["Start redis first. It is needed."]);
    assert_eq!(split_into_units(""), [""]);
}

#[test]
fn a_long_text_is_cut_where_sentences_end() {
    let sentence = "one two three four five six seven eight nine ten. ";
    let cut = split_into_units(&sentence.repeat(20));
    assert!(cut.len() > 1 && cut.iter().all(|unit| unit.ends_with("ten.")), "{cut:?}");
}

#[test]
fn more_units_have_more_chances() {
    assert_eq!(closest_similarity([]), None);
    assert_eq!(closest_similarity([0.5]), Some(0.5));
    assert!(closest_similarity([0.5, 0.1]) < Some(0.5));
}

proptest! {
    #[test]
    fn units_are_bounded_and_keep_the_beginning(text in "[a-z .\n]{0,4000}") {
        let cut = split_into_units(&text);
        prop_assert!(!cut.is_empty() && cut.len() <= MOST_UNITS);
        prop_assert!(cut.iter().all(|unit| unit.split_whitespace().count() <= 2 * LONGEST));
        let (first, all) = (cut.first().cloned().unwrap_or_default(), text.split_whitespace().next());
        prop_assert_eq!(first.split_whitespace().next(), all);
    }
}
