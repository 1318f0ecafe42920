//! Splits texts into words for comparison (lower case, stemmed, identifiers whole and in parts) and into terms for
//! search, counts tokens as models do, splits shell lines into commands, and removes what cannot be seen.
//!
//! Every memory indexes the terms and every query is split into them, so that all of them rank alike. Any change of the
//! results must raise [`VERSION`], so that derived indexes are rebuilt.

use std::borrow::Cow;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

mod ansi_escapes;
mod document_index;
mod hidden_characters;
mod markdown_lines;
mod one_line;
mod plain_views;
mod searched_text;
pub mod shell_lexer;
mod terms;
pub mod thesaurus;
mod tokens;
mod word_overlap;

pub use document_index::{DocumentIndex, DocumentPlace};
pub use hidden_characters::{
    JoinerPolicy, is_hidden_character, strip_control_strings, strip_hidden_text, visible_spans,
};
pub use markdown_lines::{MarkdownLine, MarkdownLineKind, first_link_target, read_markdown_lines, split_front_matter};
pub use one_line::one_line;
pub(crate) use plain_views::{find_encoded_words, fold_lookalikes, plain_views};
pub use searched_text::SearchedText;
pub use tokens::Tokenizer;
pub use word_overlap::{keyword_share, overlap_percent, plain_words, whole_percent, words_of_length};

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;

/// The version of the words; it increases when the same text gives other words.
pub const VERSION: u32 = 3;

/// The longest word, in characters; anything longer is data.
const MAX_WORD_CHARACTERS: usize = 64;

/// The number of words that are remembered, more than a large project's lessons have.
const MAX_KNOWN: usize = 100_000;

/// Words that say nothing about the subject of a lesson, sorted.
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

/// Splits a text into words, in order, including repeats.
pub fn split_words(text: &str) -> Vec<String> {
    WordSplitter::default().split_words(text)
}

/// Splits many texts into words. It remembers the result for each word, because stemming is expensive.
pub struct WordSplitter {
    stemmer: Stemmer,
    /// The search form of each lower-case word; `None` for words that say nothing.
    known: HashMap<String, Option<String>>,
}

impl Default for WordSplitter {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), known: HashMap::new() }
    }
}

impl std::fmt::Debug for WordSplitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WordSplitter").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl WordSplitter {
    /// Splits a text into words, in order, including repeats.
    pub fn split_words(&mut self, text: &str) -> Vec<String> {
        // A letter and its accent may be one character or two; they are searched as one.
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
                if part.chars().any(is_unspaced_script) {
                    push_character_pairs(&mut words, part);
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
        let searched_by = self.search_form(&word);
        words.extend(searched_by.clone());
        if self.known.len() < MAX_KNOWN {
            self.known.insert(word.into_owned(), searched_by);
        }
    }

    fn search_form(&self, word: &str) -> Option<String> {
        if word.chars().count() > MAX_WORD_CHARACTERS || STOP_WORDS.binary_search(&word).is_ok() {
            return None;
        }
        let is_english = word.bytes().all(|byte| byte.is_ascii_alphabetic());
        Some(if is_english { self.stemmer.stem(word).into_owned() } else { word.to_owned() })
    }
}

/// Returns true for scripts without spaces between words: Thai, Kana, Han.
fn is_unspaced_script(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}')
}

/// Pushes every two neighbouring characters as a word, where words cannot be separated.
fn push_character_pairs(words: &mut Vec<String>, run: &str) {
    let characters: Vec<char> = run.chars().collect();
    match characters.as_slice() {
        [] => {}
        [single] => words.push(single.to_string()),
        many => words.extend(many.windows(2).map(|pair| pair.iter().collect::<String>().to_lowercase())),
    }
}

/// Returns true for characters that join the parts of an identifier, a path or a flag.
fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | ':')
}

/// Splits an identifier: `fixTypecheck_errors` into `fix`, `Typecheck`, `errors`; `HTTPServer` into `HTTP`, `Server`.
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
