//! Words as they are compared: lower case, stemmed, identifiers whole and in parts. Terms, by which texts are found.
//! And tokens as models count them.
//!
//! Every memory indexes the terms and every question is cut into them, so that all of them rank alike. Whoever
//! changes what comes out here raises [`VERSION`], and derived indexes are built anew.

use std::borrow::Cow;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

mod keywords;
mod line;
mod terms;
pub mod thesaurus;
mod tokens;

pub use keywords::{keyword_share, overlap_percent, percent, plain_words, words_of};
pub use line::one_line;
pub use tokens::Tokenizer;

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;

/// Goes up when the same text gives other words.
pub const VERSION: u32 = 3;

/// Longer runs of letters are data, not words.
const MAX_WORD_CHARACTERS: usize = 64;

/// So many words are remembered: more than a large project's lessons have.
const MAX_KNOWN: usize = 100_000;

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

/// Cuts many texts into words. It remembers what became of each, for stemming costs more than all the rest.
pub struct Cutter {
    stemmer: Stemmer,
    /// What a lower-case word is searched by; `None` if it says nothing.
    known: HashMap<String, Option<String>>,
}

impl Default for Cutter {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), known: HashMap::new() }
    }
}

impl std::fmt::Debug for Cutter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cutter").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl Cutter {
    /// The words of a text, in order, repeats included.
    pub fn words(&mut self, text: &str) -> Vec<String> {
        // A letter and its accent may be one character or two; searched, they are one.
        let text = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) };
        let mut words = Vec::new();
        for chunk in text.split(|c: char| !(c.is_alphanumeric() || is_joiner(c))) {
            let chunk = chunk.trim_matches(is_joiner);
            if chunk.bytes().all(|byte| byte.is_ascii_lowercase()) {
                if !chunk.is_empty() {
                    self.push_word(&mut words, chunk);
                }
                continue;
            }
            let parts = identifier_parts(chunk);
            if parts.len() > 1 && chunk.chars().count() <= MAX_WORD_CHARACTERS {
                words.push(chunk.to_lowercase());
            }
            for part in parts {
                if part.chars().any(is_unspaced) {
                    push_pairs(&mut words, part);
                } else {
                    self.push_word(&mut words, part);
                }
            }
        }
        words
    }

    fn push_word(&mut self, words: &mut Vec<String>, part: &str) {
        let is_plain = part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let word = if is_plain { Cow::Borrowed(part) } else { Cow::Owned(part.to_lowercase()) };
        if let Some(known) = self.known.get(&*word) {
            words.extend(known.clone());
            return;
        }
        let searched_by = self.searched_by(&word);
        words.extend(searched_by.clone());
        if self.known.len() < MAX_KNOWN {
            self.known.insert(word.into_owned(), searched_by);
        }
    }

    fn searched_by(&self, word: &str) -> Option<String> {
        if word.chars().count() > MAX_WORD_CHARACTERS || STOP_WORDS.binary_search(&word).is_ok() {
            return None;
        }
        let is_english = word.bytes().all(|byte| byte.is_ascii_alphabetic());
        Some(if is_english { self.stemmer.stem(word).into_owned() } else { word.to_owned() })
    }
}

/// Scripts that put no space between words: Thai, Kana, Han.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}')
}

/// Where words cannot be told apart, every two neighbouring characters are one.
fn push_pairs(words: &mut Vec<String>, run: &str) {
    let characters: Vec<char> = run.chars().collect();
    match characters.as_slice() {
        [] => {}
        [single] => words.push(single.to_string()),
        many => words.extend(many.windows(2).map(|pair| pair.iter().collect::<String>().to_lowercase())),
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
