use super::super::WordSplitter;
use super::{canonical_stem, is_everyday_word, is_ordinary_word, related_stems};

#[test]
fn words_that_mean_the_same_have_one_meaning() {
    let meaning_of =
        |word: &str| WordSplitter::default().split_words(word).into_iter().map(canonical_stem).collect::<Vec<_>>();
    let check = |one, other| assert_eq!(meaning_of(one), meaning_of(other), "{one} {other}");
    check("folder", "directories");
    check("removing", "deleted");
    check("repo", "repository");
    check("zebra", "zebras");
    assert_ne!(meaning_of("redis"), meaning_of("kafka"));
}

#[test]
fn everyday_words_are_ordinary_and_names_are_not() {
    assert!(is_everyday_word("certain") && is_ordinary_word("certain"));
    assert!(!is_everyday_word("delet") && is_ordinary_word("delet"));
    assert!(!is_ordinary_word("redi"));
}

#[test]
fn a_word_is_found_by_its_like_and_by_what_is_typed_for_it() {
    let share =
        |of: &str, other: &str| related_stems(of).iter().find(|(word, _)| word == other).map(|(_, share)| *share);
    assert_eq!(share("copi", "cp"), Some(0.6));
    assert_eq!(share("cp", "copi"), None, "what is typed is no talk");
    assert_eq!(share("repair", "fix"), Some(0.35));
    assert_eq!(share("fix", "repair"), Some(0.35));
    assert!(related_stems("zebra").is_empty());
}
