//! What a text is found by: its words, and other forms in which somebody may ask for them.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::{Cutter, MAX_WORD_CHARACTERS, identifier_parts, is_joiner, is_unspaced, push_pairs};

#[cfg(test)]
#[path = "terms_tests.rs"]
mod tests;

/// Words by which nobody finds anything, besides those that say nothing anyway.
const ASKING_WORDS: &[&str] = &[
    "among", "around", "between", "during", "however", "like", "need", "per", "please", "since", "tell", "though",
    "upon", "use", "used", "using", "via", "want", "within", "without",
];

/// What may follow an apostrophe and say nothing: whose it is, or half of a "not".
const TAILS: &[&str] = &["d", "ll", "m", "re", "s", "t", "ve"];

impl Cutter {
    /// The terms of a text, in order, repeats included.
    pub fn terms(&mut self, text: &str) -> Vec<String> {
        let text = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) };
        let mut terms = Vec::new();
        let mut is_tail = false;
        for (chunk, end) in chunks(&text) {
            let is_apostrophe = matches!(end, Some('\'' | '’'));
            if !(is_tail && TAILS.contains(&chunk.to_lowercase().as_str())) {
                self.push_chunk(&mut terms, chunk.trim_matches(is_joiner));
            }
            is_tail = is_apostrophe && !chunk.is_empty();
        }
        terms
    }

    fn push_chunk(&mut self, terms: &mut Vec<String>, chunk: &str) {
        let parts: Vec<Vec<&str>> = chunk.split(is_joiner).filter(|piece| !piece.is_empty()).map(parts_of).collect();
        let is_compound = parts.iter().map(Vec::len).sum::<usize>() > 1;
        if is_compound && chunk.chars().count() <= MAX_WORD_CHARACTERS {
            terms.push(self.stemmed(chunk.to_lowercase()));
        }
        for pieces in &parts {
            if parts.len() > 1 && pieces.len() > 1 {
                terms.push(self.stemmed(pieces.concat().to_lowercase()));
            }
            for part in pieces {
                if part.chars().any(is_unspaced) {
                    push_pairs(terms, part);
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

    /// A name without signs in it is stemmed as a word is, so that `DataFrames` is `dataframe`.
    fn stemmed(&self, name: String) -> String {
        let is_english = name.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_english { self.stemmer.stem(&name).into_owned() } else { name }
    }
}

/// The runs of letters, digits and joiners in a text, each with the sign that ends it.
fn chunks(text: &str) -> impl Iterator<Item = (&str, Option<char>)> {
    let is_sign = |c: char| !(c.is_alphanumeric() || is_joiner(c));
    text.split_inclusive(is_sign).map(move |piece| match piece.chars().next_back().filter(|last| is_sign(*last)) {
        Some(sign) => (piece.strip_suffix(sign).unwrap_or(piece), Some(sign)),
        None => (piece, None),
    })
}

/// The parts of a piece between joiners. An acronym in the plural, `APIs`, is one part.
fn parts_of(piece: &str) -> Vec<&str> {
    let acronym = piece.strip_suffix('s').unwrap_or_default();
    if acronym.len() > 1 && acronym.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return vec![piece];
    }
    identifier_parts(piece)
}
