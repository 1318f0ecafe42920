//! Splits a text into search terms: its words, and other forms in which they may be searched for.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::{MAX_WORD_CHARACTERS, WordSplitter, identifier_parts, is_joiner, is_unspaced_script, push_character_pairs};

#[cfg(test)]
#[path = "terms_tests.rs"]
mod tests;

/// Words that are useless in a search, besides the stop words, sorted.
const ASKING_WORDS: &[&str] = &[
    "among", "around", "between", "during", "however", "like", "need", "per", "please", "since", "tell", "though",
    "upon", "use", "used", "using", "via", "want", "within", "without",
];

/// Endings after an apostrophe that say nothing.
const TAILS: &[&str] = &["d", "ll", "m", "re", "s", "t", "ve"];

impl WordSplitter {
    /// Splits a text into search terms, in order, including repeats.
    pub fn split_terms(&mut self, text: &str) -> Vec<String> {
        let text = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) };
        let mut terms = Vec::new();
        let mut is_tail = false;
        for (chunk, end) in split_chunks(&text) {
            let is_apostrophe = matches!(end, Some('\'' | '’'));
            if !(is_tail && TAILS.contains(&chunk.to_lowercase().as_str())) {
                self.push_chunk(&mut terms, chunk.trim_matches(is_joiner));
            }
            is_tail = is_apostrophe && !chunk.is_empty();
        }
        terms
    }

    fn push_chunk(&mut self, terms: &mut Vec<String>, chunk: &str) {
        let parts: Vec<Vec<&str>> = chunk.split(is_joiner).filter(|piece| !piece.is_empty()).map(piece_parts).collect();
        let is_compound = parts.iter().map(Vec::len).sum::<usize>() > 1;
        if is_compound && chunk.chars().count() <= MAX_WORD_CHARACTERS {
            terms.push(self.stem_name(chunk.to_lowercase()));
        }
        for pieces in &parts {
            if parts.len() > 1 && pieces.len() > 1 {
                terms.push(self.stem_name(pieces.concat().to_lowercase()));
            }
            for part in pieces {
                if part.chars().any(is_unspaced_script) {
                    push_character_pairs(terms, part);
                } else {
                    self.push_term(terms, &part.to_lowercase());
                }
            }
        }
    }

    fn push_term(&mut self, terms: &mut Vec<String>, word: &str) {
        if ASKING_WORDS.binary_search(&word).is_ok() {
            return;
        }
        self.push_word(terms, word);
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        if digits == 0 || digits == word.len() || !word.is_ascii() {
            return;
        }
        // `python3` is found by `python`, `20gb` by `20`.
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        if letters.len() > 1 && letters.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.push_word(terms, letters);
        }
        let number = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            self.push_word(terms, number);
        }
    }

    /// Stems a name that consists of letters alone, as words are: `DataFrames` becomes `dataframe`.
    fn stem_name(&self, name: String) -> String {
        let is_english = name.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_english { self.stemmer.stem(&name).into_owned() } else { name }
    }
}

/// Splits a text into series of letters, digits and joiners, each with the character that ends it.
fn split_chunks(text: &str) -> impl Iterator<Item = (&str, Option<char>)> {
    let is_sign = |c: char| !(c.is_alphanumeric() || is_joiner(c));
    text.split_inclusive(is_sign).map(move |piece| match piece.chars().next_back().filter(|last| is_sign(*last)) {
        Some(sign) => (piece.strip_suffix(sign).unwrap_or(piece), Some(sign)),
        None => (piece, None),
    })
}

/// Returns the parts of a piece between joiners. An acronym in the plural, such as `APIs`, is one part.
fn piece_parts(piece: &str) -> Vec<&str> {
    let acronym = piece.strip_suffix('s').unwrap_or_default();
    if acronym.len() > 1 && acronym.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return vec![piece];
    }
    identifier_parts(piece)
}
