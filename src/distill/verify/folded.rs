//! A text with its blanks folded, and the way back to the original.

use std::ops::Range;

#[cfg(test)]
#[path = "folded_tests.rs"]
mod tests;

/// A text in which every run of blanks is one space, with none at the ends.
#[derive(Debug)]
pub(super) struct Folded {
    text: String,
    /// Where the distance to the original changes: a place here, and the same place there.
    turns: Vec<(usize, usize)>,
}

impl Folded {
    pub(super) fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut turns = Vec::new();
        let mut distance = None;
        for (at, word) in words(original) {
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

    /// The bytes of the original that a stretch of the folded text stands for. It begins and ends within words.
    pub(super) fn original(&self, span: Range<usize>) -> Range<usize> {
        let last = span.end.saturating_sub(1).max(span.start);
        self.place(span.start)..self.place(last) + 1
    }

    fn place(&self, at: usize) -> usize {
        let passed = self.turns.partition_point(|(here, _)| *here <= at);
        let turn = passed.checked_sub(1).and_then(|index| self.turns.get(index));
        turn.map_or(at, |(here, there)| there + (at - here))
    }
}

/// The words between blanks, each with its place.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(char::is_whitespace).filter_map(move |word| {
        let start = at;
        let behind = text.get(start + word.len()..).and_then(|rest| rest.chars().next());
        at = start + word.len() + behind.map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}
