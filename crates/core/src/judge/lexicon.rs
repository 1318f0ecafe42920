//! Opposite words, negations, ordering words and numbers. English only.

use std::collections::BTreeSet;

#[cfg(test)]
#[path = "lexicon_tests.rs"]
mod tests;

/// Pairs of opposites: a word of one side in one lesson and of the other side in the other make them contradict.
const OPPOSITE: &[(&str, &str)] = &[
    ("always", "never"),
    ("before prior", "after afterwards"),
    ("enable enabled enables enabling", "disable disabled disables disabling off"),
    ("on", "off"),
    ("with", "without"),
    ("allow allowed allows", "forbid forbidden forbids banned"),
    ("start", "stop"),
    ("add keep keeps", "remove removed delete deleted drop dropped"),
    ("into", "out"),
    ("increase raise raised", "decrease reduce lower lowered"),
    ("upgrade upgraded", "downgrade downgraded pin pinned"),
    ("true", "false"),
    ("required mandatory requires require needs", "optional rejects reject refuses refuse"),
    ("safe", "unsafe dangerous harmful"),
    ("sync synchronous", "async asynchronous"),
    ("parallel concurrently", "serial serially sequential sequentially"),
    ("first", "last second"),
    ("more", "less fewer"),
    ("above", "below"),
    ("inside", "outside"),
    ("merge squash", "rebase"),
    ("lock", "unlock"),
    ("include includes", "exclude excludes"),
    ("ascending", "descending"),
    ("lowercase", "uppercase"),
    ("public", "private"),
    ("global globally", "local locally"),
    ("prefer", "avoid"),
    ("tabs", "spaces"),
    ("works fine", "fails broken"),
    ("minimum", "maximum"),
    ("oldest", "newest"),
    ("weekly", "daily monthly nightly"),
    ("single", "double"),
    ("mock mocks mocked", "real"),
    ("any", "only"),
    ("automatically automatic", "manually manual hand"),
];

/// Words that negate what follows them.
const TURNING: &[&str] = &[
    "aint",
    "arent",
    "avoid",
    "banned",
    "cannot",
    "cant",
    "deprecated",
    "disable",
    "doesnt",
    "dont",
    "forbid",
    "forbidden",
    "harmful",
    "instead of",
    "isnt",
    "mustnt",
    "neither",
    "never",
    "no",
    "nor",
    "not",
    "nothing",
    "rather than",
    "refrain",
    "shouldnt",
    "skip",
    "stop",
    "unlike",
    "unnecessary",
    "wasnt",
    "without",
    "wont",
];

/// Words that make the order of names matter.
const ORDERING: &[&str] = &[
    "after",
    "afterwards",
    "ahead",
    "before",
    "finally",
    "first",
    "follows",
    "last",
    "next",
    "once",
    "over",
    "precedes",
    "prior",
    "second",
    "than",
    "then",
    "until",
];

/// Ordering words that invert the order where a clause begins with them.
const FRONTED: &[&str] = &["after", "before", "once", "prior", "until"];

/// Phrases by which the newer of two lessons says that things have changed.
const CHANGED: &[&str] = &[
    "any more",
    "anymore",
    "being removed",
    "by now",
    "gone",
    "harmful",
    "has become",
    "have become",
    "is deprecated",
    "moved to",
    "no longer",
    "nowadays",
    "obsolete",
    "raised to",
    "replaced by",
    "reverted",
    "switched to",
    "was closed",
    "was moved",
    "was removed",
    "was retired",
    "was shut",
    "were closed",
    "were moved",
    "were removed",
    "were retired",
];

/// Numbers that are written as words.
const NUMBERS: &[(&str, &str)] = &[
    ("one", "1"),
    ("once", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twice", "2"),
    ("half", "0.5"),
];

/// Auxiliary verbs, which a "not" may follow.
const BEARING: &[&str] = &[
    "are", "be", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may", "must", "should", "was",
    "were", "will", "would",
];

/// Tells whether a text says that things have changed.
pub(super) fn reports_change(text: &str) -> bool {
    let text = format!(" {} ", text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " "));
    CHANGED.iter().any(|words| text.contains(&format!(" {words} ")))
}

/// Tells whether a word makes the order of names matter.
pub(super) fn is_ordering_word(word: &str) -> bool {
    ORDERING.binary_search(&word).is_ok()
}

/// Tells whether a word inverts the order where a clause begins with it.
pub(super) fn inverts_order(word: &str) -> bool {
    FRONTED.contains(&word)
}

/// Tells whether a word negates what follows it.
pub(super) fn is_negation(word: &str) -> bool {
    TURNING.binary_search(&word).is_ok()
}

/// Tells whether two lessons have opposite words, and neither has both.
pub(super) fn are_opposed(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let has = |set: &BTreeSet<String>, words: &str| words.split(' ').any(|word| set.contains(word));
    OPPOSITE.iter().any(|&(left, right)| {
        let (a, b) = ((has(one, left), has(one, right)), (has(other, left), has(other, right)));
        matches!((a, b), ((true, false), (false, true)) | ((false, true), (true, false)))
    })
}

/// Tells whether a word is an auxiliary verb: a "not" after it negates what precedes it in the clause as well.
pub(super) fn is_auxiliary_verb(word: &str) -> bool {
    BEARING.binary_search(&word).is_ok()
}

/// Returns the number that a word stands for.
pub(super) fn parse_number_word(word: &str) -> Option<&'static str> {
    NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
}
