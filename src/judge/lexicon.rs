//! Words that say the opposite, words that turn a sentence round, and numbers. English only.

use std::collections::BTreeSet;

#[cfg(test)]
#[path = "lexicon_tests.rs"]
mod tests;

/// Words on the two sides turn a lesson into its opposite: one side stands in the one lesson, the other in the other.
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

/// Words that turn round what follows them.
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

/// Words by which it matters what is named first.
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

/// Those of them that turn the order round where a clause begins with them.
const FRONTED: &[&str] = &["after", "before", "once", "prior", "until"];

/// Words by which the newer of two lessons says that things are no longer as they were.
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

/// Words that bear a "not".
const BEARING: &[&str] = &[
    "are", "be", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may", "must", "should", "was",
    "were", "will", "would",
];

/// Whether a text says that things are no longer as they were.
pub(super) fn tells_of_change(text: &str) -> bool {
    let text = format!(" {} ", text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " "));
    CHANGED.iter().any(|words| text.contains(&format!(" {words} ")))
}

/// Whether it matters by this word what is named first.
pub(super) fn orders(word: &str) -> bool {
    ORDERING.binary_search(&word).is_ok()
}

/// Whether it turns the order round where a clause begins with it.
pub(super) fn may_be_fronted(word: &str) -> bool {
    FRONTED.contains(&word)
}

/// Whether a word turns round what follows it.
pub(super) fn turns(word: &str) -> bool {
    TURNING.binary_search(&word).is_ok()
}

/// Whether the words of one lesson and those of another hold opposites, neither of them both.
pub(super) fn opposed(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let has = |set: &BTreeSet<String>, words: &str| words.split(' ').any(|word| set.contains(word));
    OPPOSITE.iter().any(|&(left, right)| {
        let (a, b) = ((has(one, left), has(one, right)), (has(other, left), has(other, right)));
        matches!((a, b), ((true, false), (false, true)) | ((false, true), (true, false)))
    })
}

/// Whether a word bears a "not": what stands before it in the clause is turned round as well.
pub(super) fn bears(word: &str) -> bool {
    BEARING.binary_search(&word).is_ok()
}

/// The number that a word is.
pub(super) fn number(word: &str) -> Option<&'static str> {
    NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
}
