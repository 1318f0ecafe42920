//! When a lesson is the gold one: it quotes one of its steps and is about the same matter.

use std::collections::BTreeSet;

use super::labels::GoldLesson;
use crate::distill::is_generic_word;
use crate::domain::Candidate;
use crate::text::words;

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;

/// So many telling words must be shared.
const SHARED_WORDS: usize = 3;

/// Tells whether a lesson is a gold one.
pub(super) fn is_gold(lesson: &Candidate, gold: &GoldLesson) -> bool {
    cites_gold_step(lesson, gold) && shared_words(&lesson_text(lesson), &gold.matter) >= SHARED_WORDS
}

fn cites_gold_step(lesson: &Candidate, gold: &GoldLesson) -> bool {
    lesson.evidence.quotes.iter().any(|quote| gold.rests_on(quote.step))
}

fn lesson_text(lesson: &Candidate) -> String {
    let texts = [Some(&lesson.summary), lesson.rule.as_ref(), lesson.detail.as_ref()];
    texts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Counts the words that two texts share and that are not in every lesson.
fn shared_words(one: &str, other: &str) -> usize {
    let telling = |text: &str| -> BTreeSet<String> {
        words(text).into_iter().filter(|word| word.len() > 1 && !is_generic_word(word)).collect()
    };
    telling(one).intersection(&telling(other)).count()
}
