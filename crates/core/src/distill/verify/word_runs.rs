//! Splits texts into words, runs of words and stretches, as provenance compares them.

use crate::text::{JoinerPolicy, WordSplitter, strip_hidden_text};

/// The number of consecutive words that are no coincidence.
pub(super) const SHINGLE: usize = 4;

/// The most bytes of a stretch, in which words belong together.
pub(super) const WINDOW_BYTES: usize = 800;

/// A word by its number in the vocabulary of a log.
pub(super) type WordNumber = u32;

/// A run of consecutive words.
pub(super) type WordRun = [WordNumber; SHINGLE];

/// Returns the meaningful words of a text in order; an identifier, a path or an address is one word.
pub(super) fn word_sequence(text: &str, cutter: &mut WordSplitter) -> Vec<String> {
    let is_joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let mut sequence = Vec::new();
    let visible = strip_hidden_text(text, JoinerPolicy::Remove);
    for piece in visible.split(|c: char| !is_joined(c)).filter(|piece| !piece.is_empty()) {
        let words = cutter.split_words(piece);
        if piece.is_ascii() || piece.chars().all(|c| u32::from(c) < 0x0E00) {
            sequence.extend(words.into_iter().next());
        } else {
            sequence.extend(words);
        }
    }
    sequence
}

/// Returns every run of consecutive words.
pub(super) fn word_runs(words: &[WordNumber]) -> impl Iterator<Item = WordRun> {
    words.windows(SHINGLE).filter_map(|run| WordRun::try_from(run).ok())
}

/// Returns every run of consecutive words that are all known.
pub(super) fn runs_without_gaps(words: &[Option<WordNumber>]) -> impl Iterator<Item = WordRun> {
    words.windows(SHINGLE).filter_map(|run| {
        let run: Option<Vec<WordNumber>> = run.iter().copied().collect();
        WordRun::try_from(run?).ok()
    })
}

/// Splits a text into stretches: paragraphs, with long ones in pieces.
pub(super) fn split_stretches(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").flat_map(|paragraph| {
        let mut rest = paragraph;
        std::iter::from_fn(move || {
            if rest.trim().is_empty() {
                return None;
            }
            let end = rest.floor_char_boundary(WINDOW_BYTES);
            let piece = rest.get(..end).unwrap_or(rest);
            let cut = if end == rest.len() {
                end
            } else {
                piece.rfind('\n').or_else(|| piece.rfind(' ')).map_or(end, |at| at + 1)
            };
            let (piece, after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
            rest = after;
            Some(piece)
        })
    })
}
