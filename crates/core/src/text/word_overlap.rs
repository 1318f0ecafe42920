//! Measures how much of a short text another one contains, by its words alone.

use std::borrow::Cow;
use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

#[cfg(test)]
#[path = "word_overlap_tests.rs"]
mod tests;

/// The fewest characters of a word that is compared.
const FEWEST_CHARACTERS: usize = 3;

/// Function words of three or more characters, sorted.
const JOINTS: &[&str] = &[
    "and", "are", "but", "for", "from", "has", "have", "into", "its", "that", "the", "then", "there", "they", "this",
    "was", "were", "when", "which", "with", "you", "your",
];

/// Returns the share of the first text's distinct words that occur in the second; 0 for a text without words. Function
/// words are left out.
pub fn keyword_share(text: &str, other: &str) -> f64 {
    let (own, theirs) = (content_words(text), content_words(other));
    if own.is_empty() { 0.0 } else { own.intersection(&theirs).count() as f64 / own.len() as f64 }
}

/// Returns that share in whole percent, rounded down, over all words of three or more characters, as ArcheFlow counts.
pub fn overlap_percent(text: &str, other: &str) -> usize {
    let (own, theirs) = (plain_words(text), plain_words(other));
    whole_percent(own.intersection(&theirs).count(), own.len())
}

/// Returns a part of a whole in percent, rounded down; 0 if the whole is 0.
pub fn whole_percent(part: usize, whole: usize) -> usize {
    part.saturating_mul(100).checked_div(whole).unwrap_or_default()
}

/// Returns the distinct words of a text, in lower case: series of letters and digits of three or more characters.
pub fn plain_words(text: &str) -> BTreeSet<String> {
    words_of_length(text, FEWEST_CHARACTERS).into_iter().collect()
}

/// Returns the words of a text with at least `fewest` characters, in lower case and in order.
pub fn words_of_length(text: &str, fewest: usize) -> Vec<String> {
    // A letter and its accent may be one character or two; they are compared as one.
    let text = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect::<String>()) };
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= fewest);
    words.map(str::to_lowercase).collect()
}

fn content_words(text: &str) -> BTreeSet<String> {
    let mut words = plain_words(text);
    words.retain(|word| JOINTS.binary_search(&word.as_str()).is_err());
    words
}
