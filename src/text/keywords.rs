//! How much of a short text another one holds, by its words alone.

use std::borrow::Cow;
use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

#[cfg(test)]
#[path = "keywords_tests.rs"]
mod tests;

/// Shorter words are not looked at.
const FEWEST_CHARACTERS: usize = 3;

/// Words that only hold a sentence together, of those that are long enough to be looked at.
const JOINTS: &[&str] = &[
    "and", "are", "but", "for", "from", "has", "have", "into", "its", "that", "the", "then", "there", "they", "this",
    "was", "were", "when", "which", "with", "you", "your",
];

/// What share of the first text's different words stand in the second; 0 of a text without any. Words that only hold a
/// sentence together are left out.
pub fn keyword_share(text: &str, other: &str) -> f64 {
    let (own, theirs) = (without_joints(text), without_joints(other));
    if own.is_empty() { 0.0 } else { own.intersection(&theirs).count() as f64 / own.len() as f64 }
}

/// The same with every word of three characters or more, in whole percent, rounded down: as ArcheFlow counts.
pub fn overlap_percent(text: &str, other: &str) -> usize {
    let (own, theirs) = (plain_words(text), plain_words(other));
    percent(own.intersection(&theirs).count(), own.len())
}

/// So many of so many, in whole percent, rounded down; 0 of none.
pub fn percent(part: usize, whole: usize) -> usize {
    part.saturating_mul(100).checked_div(whole).unwrap_or_default()
}

/// The different words of a text, in lower case: runs of letters and digits of three characters or more.
pub fn plain_words(text: &str) -> BTreeSet<String> {
    words_of(text, FEWEST_CHARACTERS).into_iter().collect()
}

/// The words of a text that have so many characters at least, in lower case and in their order.
pub fn words_of(text: &str, fewest: usize) -> Vec<String> {
    // A letter and its accent may be one character or two; compared, they are one.
    let text = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect::<String>()) };
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= fewest);
    words.map(str::to_lowercase).collect()
}

fn without_joints(text: &str) -> BTreeSet<String> {
    let mut words = plain_words(text);
    words.retain(|word| JOINTS.binary_search(&word.as_str()).is_err());
    words
}
