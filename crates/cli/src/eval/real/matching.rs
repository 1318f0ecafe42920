//! Decides whether a lesson is a gold one: it quotes one of its steps and shares enough words with it.

use std::collections::BTreeSet;

use super::labels::GoldLesson;
use archivist_core::distill::is_generic_word;
use archivist_core::domain::Candidate;
use archivist_core::text::split_words;

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;

/// The number of distinctive words that a lesson must share with a gold one.
const SHARED_WORDS: usize = 3;

/// Tells whether a lesson is a gold one.
pub(super) fn is_gold(lesson: &Candidate, gold: &GoldLesson) -> bool {
    cites_gold_step(lesson, gold) && count_shared_words(&lesson_text(lesson), &gold.matter) >= SHARED_WORDS
}

fn cites_gold_step(lesson: &Candidate, gold: &GoldLesson) -> bool {
    lesson.evidence.quotes.iter().any(|quote| gold.rests_on_step(quote.step))
}

fn lesson_text(lesson: &Candidate) -> String {
    let texts = [Some(&lesson.summary), lesson.rule.as_ref(), lesson.detail.as_ref()];
    texts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Counts the distinctive words that two texts share; generic words are ignored.
fn count_shared_words(one: &str, other: &str) -> usize {
    let telling = |text: &str| -> BTreeSet<String> {
        split_words(text).into_iter().filter(|word| word.len() > 1 && !is_generic_word(word)).collect()
    };
    telling(one).intersection(&telling(other)).count()
}
