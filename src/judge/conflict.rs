//! Whether two lessons on one matter say different things of it.

use super::background::Background;
use super::features::Features;
use super::lexicon;
use super::similarity::walk;

#[cfg(test)]
#[path = "conflict_tests.rs"]
mod tests;

/// So much of what is in common must be turned round for it to be more than a turn of speech.
const TURNED_SHARE: f64 = 0.1;

/// In what way two lessons disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conflict {
    /// What the one tells to do the other tells not to do.
    Turned,
    /// Opposites stand in them.
    Opposed,
    /// What comes first in the one comes last in the other.
    Reordered,
    /// One of them says that things are no longer as they were.
    Changed,
    /// Each has a number that the other does not have, or one place has two.
    Number,
    /// A name of the one stands in the other with something added to it.
    Renamed,
}

/// In what way two lessons disagree, if they do. It asks only for signs: a person or a model would know.
pub(super) fn conflict(one: &Features, other: &Features, background: &Background) -> Option<Conflict> {
    if one.plain == other.plain {
        None
    } else if numbers_differ(one, other) {
        Some(Conflict::Number)
    } else if one.changed != other.changed {
        Some(Conflict::Changed)
    } else if lexicon::opposed(&one.spoken, &other.spoken) {
        Some(Conflict::Opposed)
    } else if reordered(&one.sequence, &other.sequence) {
        Some(Conflict::Reordered)
    } else if turned(one, other, background) > TURNED_SHARE {
        Some(Conflict::Turned)
    } else if renamed(one, other) || renamed(other, one) {
        Some(Conflict::Renamed)
    } else {
        None
    }
}

/// Whether two names that both have stand in one order here and in the other there.
fn reordered(one: &[String], other: &[String]) -> bool {
    let places: Vec<usize> = one.iter().filter_map(|name| other.iter().position(|also| also == name)).collect();
    places.windows(2).any(|pair| matches!(pair, [first, second] if first > second))
}

fn numbers_differ(one: &Features, other: &Features) -> bool {
    let has_own = |a: &Features, b: &Features| a.numbers.difference(&b.numbers).next().is_some();
    let is_other =
        |(word, numbers): (&String, _)| other.slots.get(word).is_some_and(|others| others.is_disjoint(numbers));
    (has_own(one, other) && has_own(other, one)) || one.slots.iter().any(is_other)
}

/// Whether a name of the one begins like a name of the other and goes on, where neither knows the other's: `shop` and
/// `shop-v2`.
fn renamed(one: &Features, other: &Features) -> bool {
    let goes_on = |long: &str, short: &str| {
        long.strip_prefix(short).and_then(|rest| rest.chars().next()).is_some_and(|next| !next.is_alphabetic())
    };
    let knows = |features: &Features, mark: &str| features.marks.contains(mark) || features.spoken.contains(mark);
    let longer = one.marks.iter().filter(|long| !knows(other, long));
    longer.into_iter().any(|long| other.marks.iter().any(|short| goes_on(long, short) && !knows(one, short)))
}

/// How much of what both speak of is turned round in what one of them advises and not in the other.
fn turned(one: &Features, other: &Features, background: &Background) -> f64 {
    // What settles something says what is to be done with every word.
    let advises = |features: &Features, word: &str| {
        features.settles
            || features.marks.contains(word)
            || features.advice.binary_search_by(|(own, _)| own.as_str().cmp(word)).is_ok()
    };
    let turns = |here: &Features, there: &Features, word: &str| {
        here.turned.contains(word)
            && (!here.straight.contains(word) || advises(here, word))
            && there.straight.contains(word)
            && !there.turned.contains(word)
            && advises(there, word)
    };
    let is_advised = |features: &Features, word: &str| {
        features.rule.is_some() && features.advice.binary_search_by(|(own, _)| own.as_str().cmp(word)).is_ok()
    };
    let (mut all, mut turned) = (0.0, 0.0);
    walk(&one.whole, &other.whole, |word, here, there| {
        if here > 0.0 && there > 0.0 {
            let rarity = background.rarity(word);
            all += rarity;
            if turns(one, other, word) || turns(other, one, word) {
                // What both rules advise on is what they are about, however much else they have in common.
                let is_the_matter = is_advised(one, word) && is_advised(other, word);
                turned += if is_the_matter { f64::INFINITY } else { rarity };
            }
        }
    });
    if all > 0.0 { turned / all } else { 0.0 }
}
