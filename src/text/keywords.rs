//! How much of a short text another one holds, by its words alone.

use std::collections::BTreeSet;

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

/// What share of the first text's different words stand in the second; 0 of a text without any.
pub fn keyword_share(text: &str, other: &str) -> f64 {
    let (own, theirs) = (keywords(text), keywords(other));
    if own.is_empty() { 0.0 } else { own.intersection(&theirs).count() as f64 / own.len() as f64 }
}

fn keywords(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= FEWEST_CHARACTERS);
    words.map(str::to_lowercase).filter(|word| JOINTS.binary_search(&word.as_str()).is_err()).collect()
}
