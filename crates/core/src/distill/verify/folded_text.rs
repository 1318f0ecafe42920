//! A text with its white space folded, and the mapping back to the original.

use std::ops::Range;

#[cfg(test)]
#[path = "folded_text_tests.rs"]
mod tests;

/// A text in which all white space is a single space, with none at the ends.
#[derive(Debug)]
pub(super) struct FoldedText {
    text: String,
    /// The positions where the offset to the original changes, each with its position in the original.
    turns: Vec<(usize, usize)>,
}

impl FoldedText {
    pub(super) fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut turns = Vec::new();
        let mut distance = None;
        for (at, word) in words_with_offsets(original) {
            if !text.is_empty() {
                text.push(' ');
            }
            let here = at.checked_sub(text.len());
            if here != distance {
                turns.push((text.len(), at));
                distance = here;
            }
            text.push_str(word);
        }
        Self { text, turns }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the original's bytes that a range of the folded text covers. The range must begin and end within words.
    pub(super) fn original_range(&self, span: Range<usize>) -> Range<usize> {
        let last = span.end.saturating_sub(1).max(span.start);
        self.original_offset(span.start)..self.original_offset(last) + 1
    }

    fn original_offset(&self, at: usize) -> usize {
        let passed = self.turns.partition_point(|(here, _)| *here <= at);
        let turn = passed.checked_sub(1).and_then(|index| self.turns.get(index));
        turn.map_or(at, |(here, there)| there + (at - here))
    }
}

/// Returns the words between white space, each with its position.
fn words_with_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(char::is_whitespace).filter_map(move |word| {
        let start = at;
        let behind = text.get(start + word.len()..).and_then(|rest| rest.chars().next());
        at = start + word.len() + behind.map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}
