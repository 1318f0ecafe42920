//! Bounds the number of tokens of a text without the vocabulary.
//!
//! No token is shorter than a byte, and an everyday word after a blank is one token.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::super::{STOP_WORDS, thesaurus};

#[cfg(test)]
#[path = "bound_tests.rs"]
mod tests;

/// Words of the lists that are more than one token after a blank, sorted.
const SEVERAL: &[&str] = &[
    "breakage",
    "checkin",
    "disallow",
    "k8s",
    "kubernetes",
    "linter",
    "memoize",
    "nondeterministic",
    "postgresql",
    "psql",
    "pullrequest",
    "reformat",
    "rerun",
    "retitle",
    "so-called",
    "subdirectory",
    "subfolder",
    "time-consuming",
    "typescript",
    "untar",
    "w/",
];

static SINGLE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = STOP_WORDS.iter().copied().chain(thesaurus::listed_words());
    words.filter(|word| SEVERAL.binary_search(word).is_err()).collect()
});

/// Returns an upper bound of the number of tokens of a text.
pub(super) fn token_upper_bound(text: &str) -> usize {
    let mut cost = text.len();
    let mut before = None;
    for piece in text.split_inclusive([' ', '\n']) {
        // A word alone between blanks takes the blank before it into its token.
        let word = piece.trim_end_matches([' ', '\n']).trim_end_matches(['.', ',', ';', ':', ')']);
        if before == Some(' ') && SINGLE.contains(word) {
            cost -= word.len();
        }
        before = piece.chars().next_back();
    }
    cost
}
