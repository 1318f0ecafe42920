//! Words as search sees them: lower case, stemmed, identifiers whole and in parts.
//!
//! Every memory indexes these words and every question is cut into them, so that all of them rank alike. Whoever
//! changes what comes out here raises [`VERSION`], and derived indexes are built anew.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;

/// Goes up when the same text gives other words.
pub const VERSION: u32 = 1;

/// Longer runs of letters are data, not words.
const MAX_WORD_CHARACTERS: usize = 64;

/// So many stems are remembered: more than a large project's lessons have words.
const MAX_STEMS: usize = 100_000;

/// Words that say nothing about what a lesson is about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "always", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "done", "each",
    "either", "else", "even", "ever", "every", "for", "from", "get", "gets", "had", "has", "have", "having", "he",
    "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "may", "me", "might",
    "more", "most", "much", "must", "my", "no", "nor", "not", "now", "of", "off", "on", "once", "one", "only", "or",
    "other", "our", "out", "over", "own", "same", "shall", "she", "should", "so", "some", "such", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "until", "up",
    "us", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with",
    "would", "you", "your",
];

/// Cuts a text into words, in order, repeats included.
pub fn words(text: &str) -> Vec<String> {
    Cutter::default().words(text)
}

/// Cuts many texts into words and remembers stems, which cost more than all the rest.
pub struct Cutter {
    stemmer: Stemmer,
    stems: HashMap<String, String>,
}

impl Default for Cutter {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), stems: HashMap::new() }
    }
}

impl std::fmt::Debug for Cutter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cutter").field("stems", &self.stems.len()).finish_non_exhaustive()
    }
}

impl Cutter {
    /// The words of a text, in order, repeats included.
    pub fn words(&mut self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for chunk in text.split(|c: char| !(c.is_alphanumeric() || is_joiner(c))) {
            let chunk = chunk.trim_matches(is_joiner);
            if chunk.is_empty() {
                continue;
            }
            if chunk.bytes().all(|byte| byte.is_ascii_lowercase()) {
                self.push_word(&mut words, chunk);
                continue;
            }
            let parts = identifier_parts(chunk);
            if parts.len() > 1 && chunk.chars().count() <= MAX_WORD_CHARACTERS {
                words.push(chunk.to_lowercase());
            }
            for part in parts {
                self.push_word(&mut words, part);
            }
        }
        words
    }

    fn push_word(&mut self, words: &mut Vec<String>, part: &str) {
        if part.chars().count() > MAX_WORD_CHARACTERS {
            return;
        }
        let word = part.to_lowercase();
        if STOP_WORDS.binary_search(&word.as_str()).is_ok() {
            return;
        }
        if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            words.push(word);
        } else if let Some(stem) = self.stems.get(&word) {
            words.push(stem.clone());
        } else {
            let stem = self.stemmer.stem(&word).into_owned();
            words.push(stem.clone());
            if self.stems.len() < MAX_STEMS {
                self.stems.insert(word, stem);
            }
        }
    }
}

/// Characters that tie the parts of an identifier, a path or a flag together.
fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | ':')
}

/// `fixTypecheck_errors` is `fix`, `Typecheck`, `errors`; `HTTPServer` is `HTTP`, `Server`.
fn identifier_parts(chunk: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in chunk.split(is_joiner).filter(|piece| !piece.is_empty()) {
        let mut start = 0;
        let letters: Vec<(usize, char)> = piece.char_indices().collect();
        for window in letters.windows(3) {
            let [(_, a), (second, b), (third, c)] = window else {
                continue;
            };
            let cut = if a.is_lowercase() && b.is_uppercase() {
                *second
            } else if b.is_lowercase() && c.is_uppercase() {
                *third
            } else if a.is_uppercase() && b.is_uppercase() && c.is_lowercase() {
                *second
            } else {
                continue;
            };
            if let Some(part) = piece.get(start..cut)
                && !part.is_empty()
            {
                parts.push(part);
                start = cut;
            }
        }
        parts.extend(piece.get(start..).filter(|part| !part.is_empty()));
    }
    parts
}
