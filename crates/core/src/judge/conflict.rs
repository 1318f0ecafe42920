//! Detects two lessons on one subject that contradict each other.

use super::lesson_features::LessonFeatures;
use super::lexicon;
use super::similarity::visit_words;
use super::word_rarity::WordFrequencies;

#[cfg(test)]
#[path = "conflict_tests.rs"]
mod tests;

/// The share of common words that must be negated in one lesson for it to count.
const TURNED_SHARE: f64 = 0.1;

/// The way in which two lessons disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LessonConflict {
    /// One recommends what the other advises against.
    Turned,
    /// They contain opposite words.
    Opposed,
    /// They name the same things in a different order.
    Reordered,
    /// One of them says that things have changed.
    Changed,
    /// Each has a number that the other does not have, or one word has two numbers.
    Number,
    /// A name of one appears in the other with something added.
    Renamed,
}

/// Returns how two lessons disagree, if they do. It only looks for signs; a person or a model would know.
pub(super) fn find_conflict(
    one: &LessonFeatures,
    other: &LessonFeatures,
    background: &WordFrequencies,
) -> Option<LessonConflict> {
    if one.plain == other.plain {
        None
    } else if numbers_differ(one, other) {
        Some(LessonConflict::Number)
    } else if one.changed != other.changed {
        Some(LessonConflict::Changed)
    } else if lexicon::are_opposed(&one.spoken, &other.spoken) {
        Some(LessonConflict::Opposed)
    } else if is_reordered(&one.sequence, &other.sequence) {
        Some(LessonConflict::Reordered)
    } else if negated_share(one, other, background) > TURNED_SHARE {
        Some(LessonConflict::Turned)
    } else if is_renamed(one, other) || is_renamed(other, one) {
        Some(LessonConflict::Renamed)
    } else {
        None
    }
}

/// Tells whether two names that both have appear in different orders.
fn is_reordered(one: &[String], other: &[String]) -> bool {
    let places: Vec<usize> = one.iter().filter_map(|name| other.iter().position(|also| also == name)).collect();
    places.windows(2).any(|pair| matches!(pair, [first, second] if first > second))
}

fn numbers_differ(one: &LessonFeatures, other: &LessonFeatures) -> bool {
    let has_own = |a: &LessonFeatures, b: &LessonFeatures| a.numbers.difference(&b.numbers).next().is_some();
    let is_other =
        |(word, numbers): (&String, _)| other.slots.get(word).is_some_and(|others| others.is_disjoint(numbers));
    (has_own(one, other) && has_own(other, one)) || one.slots.iter().any(is_other)
}

/// Tells whether a name of one begins with a name of the other and goes on, where neither has the other's: `shop` and
/// `shop-v2`.
fn is_renamed(one: &LessonFeatures, other: &LessonFeatures) -> bool {
    let goes_on = |long: &str, short: &str| {
        long.strip_prefix(short).and_then(|rest| rest.chars().next()).is_some_and(|next| !next.is_alphabetic())
    };
    let knows = |features: &LessonFeatures, mark: &str| features.marks.contains(mark) || features.spoken.contains(mark);
    let longer = one.marks.iter().filter(|long| !knows(other, long));
    longer.into_iter().any(|long| other.marks.iter().any(|short| goes_on(long, short) && !knows(one, short)))
}

/// Returns the share of common words that one of them negates in its recommendation and the other does not.
fn negated_share(one: &LessonFeatures, other: &LessonFeatures, background: &WordFrequencies) -> f64 {
    // A decision or a preference says what to do with every word.
    let advises = |features: &LessonFeatures, word: &str| {
        features.settles
            || features.marks.contains(word)
            || features.recommendation.binary_search_by(|(own, _)| own.as_str().cmp(word)).is_ok()
    };
    let turns = |here: &LessonFeatures, there: &LessonFeatures, word: &str| {
        here.turned.contains(word)
            && (!here.straight.contains(word) || advises(here, word))
            && there.straight.contains(word)
            && !there.turned.contains(word)
            && advises(there, word)
    };
    let is_advised = |features: &LessonFeatures, word: &str| {
        features.rule.is_some() && features.recommendation.binary_search_by(|(own, _)| own.as_str().cmp(word)).is_ok()
    };
    let (mut all, mut turned) = (0.0, 0.0);
    visit_words(&one.whole, &other.whole, |word, here, there| {
        if here > 0.0 && there > 0.0 {
            let rarity = background.word_rarity(word);
            all += rarity;
            if turns(one, other, word) || turns(other, one, word) {
                // What both rules recommend on is their subject, however much else they have in common.
                let is_the_matter = is_advised(one, word) && is_advised(other, word);
                turned += if is_the_matter { f64::INFINITY } else { rarity };
            }
        }
    });
    if all > 0.0 { turned / all } else { 0.0 }
}
