//! The rarity of words: a shared word says the more, the fewer lessons have it.

use std::collections::HashMap;

use super::lesson_features::LessonFeatures;
use crate::text::thesaurus;

#[cfg(test)]
#[path = "word_rarity_tests.rs"]
mod tests;

/// The number of lessons that is assumed before any lesson is counted.
const PRIOR_LESSONS: f64 = 200.0;
/// The number of them that is assumed to have an ordinary word.
const PRIOR_ORDINARY: f64 = 12.0;
/// The number of them that is assumed to have any other word.
const PRIOR_RARE: f64 = 0.5;

/// The number of lessons that contain each word.
#[derive(Debug, Clone, Default)]
pub struct WordFrequencies {
    lessons: f64,
    holders: HashMap<String, f64>,
}

impl WordFrequencies {
    /// Counts the words of these lessons.
    pub fn from_lessons<'a>(lessons: impl IntoIterator<Item = &'a LessonFeatures>) -> Self {
        let mut background = Self::default();
        for lesson in lessons {
            background.lessons += 1.0;
            for (word, _) in &lesson.whole {
                *background.holders.entry(word.clone()).or_default() += 1.0;
            }
        }
        background
    }

    /// Returns the rarity of a word, from about 1 for a common one to about 6 and more for a name.
    pub(super) fn word_rarity(&self, word: &str) -> f64 {
        let prior = if thesaurus::is_ordinary_word(word) { PRIOR_ORDINARY } else { PRIOR_RARE };
        let holders = self.holders.get(word).copied().unwrap_or_default() + prior;
        ((self.lessons + PRIOR_LESSONS + 1.0) / (holders + 0.5)).ln()
    }
}
