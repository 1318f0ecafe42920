//! How rare a word is: what two lessons share says the more, the fewer lessons have it.

use std::collections::HashMap;

use super::features::Features;
use crate::text::thesaurus;

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;

/// Before any lesson was counted, words are taken to have been met in so many.
const PRIOR_LESSONS: f64 = 200.0;
/// In so many of them, where they are words that people use for many things.
const PRIOR_ORDINARY: f64 = 12.0;
/// And in so many, where they are not.
const PRIOR_RARE: f64 = 0.5;

/// How often words are met in the lessons around.
#[derive(Debug, Clone, Default)]
pub struct Background {
    lessons: f64,
    holders: HashMap<String, f64>,
}

impl Background {
    /// Counts the words of these lessons.
    pub fn of<'a>(lessons: impl IntoIterator<Item = &'a Features>) -> Self {
        let mut background = Self::default();
        for lesson in lessons {
            background.lessons += 1.0;
            for (word, _) in &lesson.whole {
                *background.holders.entry(word.clone()).or_default() += 1.0;
            }
        }
        background
    }

    /// From about 1 for what everybody says to about 6 and more for a name.
    pub(super) fn rarity(&self, word: &str) -> f64 {
        let prior = if thesaurus::is_ordinary(word) { PRIOR_ORDINARY } else { PRIOR_RARE };
        let holders = self.holders.get(word).copied().unwrap_or_default() + prior;
        ((self.lessons + PRIOR_LESSONS + 1.0) / (holders + 0.5)).ln()
    }
}
