//! How much two lessons are about the same, from 0 to 1.
//!
//! A handful of signals, each a number from 0 to 1, are weighed and added up, and the sum is bent into a share. The
//! weights were fitted once, outside the program, on labelled pairs of lessons and on one half of public sets of
//! paraphrases; `docs/benchmarks.md` has the figures. Whether the two agree is another question: see `conflict.rs`.

use super::background::Background;
use super::features::{Bag, Features};
use crate::text::thesaurus;

#[cfg(test)]
#[path = "similarity_tests.rs"]
mod tests;

/// Nothing weighs less than this, so that a text without words divides nothing by nothing.
const LEAST: f64 = 1e-9;

/// So many marks that only one side has are as bad as any more.
const MANY_MARKS: f64 = 3.0;

/// What each signal adds to or takes from the sum.
#[derive(Debug, Clone, Copy)]
struct Weights {
    /// Where the sum starts: two lessons of which nothing is known have nothing to do with each other.
    start: f64,
    /// The words, the rare ones counting more.
    words: f64,
    /// How much of the shorter one stands in the longer one.
    contained: f64,
    /// How much of all that is said is said by both.
    shared: f64,
    /// The spelling of the summaries, which forgives inflection and typing errors.
    spelling: f64,
    /// The most alike of summaries and rules, as one may say in its rule what the other says in its summary.
    parts: f64,
    /// Neighbouring words that are neighbours in both. Next to the others it takes away: word for word alike but for a
    /// few words is how lessons on two matters look.
    order: f64,
    /// Names that each has and the other has not.
    strange: f64,
    /// A difference in length, where neither has a rule.
    uneven: f64,
    /// A difference in length, where one has a rule and so says more anyway.
    uneven_ruled: f64,
    /// Advice of each that the other does not know.
    rival: f64,
    /// Commands, paths and identifiers that each has and the other has not.
    lone: f64,
    /// A rule: words come twice, so that fewer of them are alike by chance.
    ruled: f64,
    /// A number that only one of them has.
    counted: f64,
}

/// As fitted. News sentences, where nearly everything is alike, count three times as much as each other set: otherwise
/// the fit gives them up for the rest.
const WEIGHTS: Weights = Weights {
    start: -3.8,
    words: 1.15,
    contained: 0.63,
    shared: 2.81,
    spelling: 4.11,
    parts: 1.26,
    order: -2.82,
    strange: -0.38,
    uneven: -0.22,
    uneven_ruled: 1.52,
    rival: -3.82,
    lone: -1.67,
    ruled: 2.37,
    counted: -0.21,
};

/// Where the sum starts beside an embedding.
const EMBEDDED_START: f64 = -10.2;
/// What the cosine of two embeddings adds: it knows paraphrases that share no word.
const EMBEDDED_COSINE: f64 = 14.7;
/// What is left of the sum of the other signals: they know names and numbers, which look alike to an embedding.
const EMBEDDED_REST: f64 = 0.55;

/// How much two lessons are about the same, from 0 to 1. It does not matter which is which.
///
/// `cosine` is that of their embeddings, where there are any.
pub fn similarity(one: &Features, other: &Features, background: &Background, cosine: Option<f64>) -> f64 {
    if one.plain == other.plain {
        return 1.0;
    }
    Signals::between(one, other, background).similarity(cosine)
}

/// What can be seen of two lessons side by side, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signals {
    words: f64,
    contained: f64,
    shared: f64,
    spelling: f64,
    parts: f64,
    order: f64,
    pub(super) strange: f64,
    uneven: f64,
    rival: f64,
    pub(super) lone: f64,
    is_ruled: bool,
    is_counted: bool,
}

impl Signals {
    /// Looks at two lessons side by side.
    pub(super) fn between(one: &Features, other: &Features, background: &Background) -> Self {
        let weighed = Weighed::of(&one.whole, &other.whole, background);
        let pairs = one.pairs.intersection(&other.pairs).count() as f64;
        let lengths = (one.whole.len() as f64, other.whole.len() as f64);
        let lone = lone_marks(one, other).min(lone_marks(other, one)) as f64;
        Self {
            words: cosine(&one.whole, &other.whole, background),
            contained: weighed.both / weighed.one.min(weighed.other).max(LEAST),
            shared: weighed.both / (weighed.one + weighed.other - weighed.both).max(LEAST),
            spelling: spelling(&one.grams, &other.grams),
            parts: parts(one, other, background),
            order: 2.0 * pairs / ((one.pairs.len() + other.pairs.len()) as f64).max(1.0),
            strange: strange(one, other, background),
            uneven: 1.0 - lengths.0.min(lengths.1) / lengths.0.max(lengths.1).max(1.0),
            rival: rival(one, other, background),
            lone: lone.min(MANY_MARKS) / MANY_MARKS,
            is_ruled: one.rule.is_some() || other.rule.is_some(),
            is_counted: one.numbers != other.numbers,
        }
    }

    /// Their weighed sum, bent into a share.
    pub(super) fn similarity(&self, cosine: Option<f64>) -> f64 {
        let weights = &WEIGHTS;
        let (ruled, uneven) = if self.is_ruled { (weights.ruled, weights.uneven_ruled) } else { (0.0, weights.uneven) };
        let sum = weights.start
            + weights.words * self.words
            + weights.contained * self.contained
            + weights.shared * self.shared
            + weights.spelling * self.spelling
            + weights.parts * self.parts
            + weights.order * self.order
            + weights.strange * self.strange
            + uneven * self.uneven
            + weights.rival * self.rival
            + weights.lone * self.lone
            + ruled
            + if self.is_counted { weights.counted } else { 0.0 };
        let sum = match cosine.filter(|cosine| cosine.is_finite()) {
            Some(cosine) => EMBEDDED_START + EMBEDDED_COSINE * cosine + EMBEDDED_REST * sum,
            None => sum,
        };
        1.0 / (1.0 + (-sum).exp())
    }
}

/// What the words of two lessons weigh.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weighed {
    /// Those of the one.
    pub(super) one: f64,
    /// Those of the other.
    pub(super) other: f64,
    /// Those that both have.
    pub(super) both: f64,
}

impl Weighed {
    pub(super) fn of(one: &Bag, other: &Bag, background: &Background) -> Self {
        let mut weighed = Self::default();
        walk(one, other, |word, here, there| {
            let rarity = background.rarity(word);
            weighed.one += if here > 0.0 { rarity } else { 0.0 };
            weighed.other += if there > 0.0 { rarity } else { 0.0 };
            weighed.both += if here > 0.0 && there > 0.0 { rarity } else { 0.0 };
        });
        weighed
    }

    /// How much of the one the other has as well.
    pub(super) fn covered(&self) -> f64 {
        self.both / self.one.max(LEAST)
    }
}

/// Walks over two bags side by side; `visit` gets each word and how often it stands in each.
pub(super) fn walk(one: &Bag, other: &Bag, mut visit: impl FnMut(&str, f64, f64)) {
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some((word, count)), Some((same, others))) if word == same => {
                visit(word, *count, *others);
                left.next();
                right.next();
            }
            (Some((word, count)), Some((later, _))) if word < later => {
                visit(word, *count, 0.0);
                left.next();
            }
            (Some((word, count)), None) => {
                visit(word, *count, 0.0);
                left.next();
            }
            (_, Some((word, count))) => {
                visit(word, 0.0, *count);
                right.next();
            }
            (None, None) => return,
        }
    }
}

fn cosine(one: &Bag, other: &Bag, background: &Background) -> f64 {
    // A word's weight wears off with its repeats.
    let worn = |count: f64| if count > 0.0 { 1.0 + count.ln() } else { 0.0 };
    let (mut left, mut right, mut both) = (0.0, 0.0, 0.0);
    walk(one, other, |word, here, there| {
        let rarity = background.rarity(word);
        let (here, there) = (worn(here) * rarity, worn(there) * rarity);
        left += here * here;
        right += there * there;
        both += here * there;
    });
    both / f64::sqrt(left * right).max(LEAST)
}

fn parts(one: &Features, other: &Features, background: &Background) -> f64 {
    let others = || std::iter::once(&other.summary).chain(&other.rule);
    let pairs = std::iter::once(&one.summary).chain(&one.rule).flat_map(|own| others().map(move |other| (own, other)));
    pairs.map(|(own, other)| cosine(own, other, background)).fold(0.0, f64::max)
}

fn spelling(one: &[(u32, f64)], other: &[(u32, f64)]) -> f64 {
    let square = |grams: &[(u32, f64)]| grams.iter().map(|(_, count)| count * count).sum::<f64>();
    let mut both = 0.0;
    let mut rest = other.iter().peekable();
    for (gram, count) in one {
        while rest.next_if(|(other, _)| other < gram).is_some() {}
        if let Some((_, others)) = rest.next_if(|(other, _)| other == gram) {
            both += count * others;
        }
    }
    both / (square(one) * square(other)).sqrt().max(LEAST)
}

/// How many marks of one lesson the other does not know, as they are or by their parts.
fn lone_marks(features: &Features, other: &Features) -> usize {
    features.marks.iter().filter(|mark| !knows(other, mark)).count()
}

fn knows(features: &Features, mark: &str) -> bool {
    let has = |part: &str| {
        features.spoken.contains(part)
            || features.whole.binary_search_by(|(word, _)| word.as_str().cmp(part)).is_ok()
            || features.marks.iter().any(|own| pieces(own).any(|piece| piece == part))
    };
    features.marks.contains(mark)
        || features.spoken.contains(mark)
        || (pieces(mark).next().is_some() && pieces(mark).all(has))
}

/// The parts of a mark that are more than a letter.
fn pieces(mark: &str) -> impl Iterator<Item = &str> {
    mark.split(|c: char| !c.is_alphanumeric()).filter(|piece| piece.chars().nth(1).is_some())
}

/// How much of the names in both is known to one of them only, on the side that has less of that.
fn strange(one: &Features, other: &Features, background: &Background) -> f64 {
    let (mut here_only, mut there_only, mut all) = (0.0, 0.0, 0.0);
    walk(&one.whole, &other.whole, |word, here, there| {
        if thesaurus::is_ordinary(word) {
            return;
        }
        let rarity = background.rarity(word);
        all += rarity;
        here_only += if there == 0.0 { rarity } else { 0.0 };
        there_only += if here == 0.0 { rarity } else { 0.0 };
    });
    2.0 * f64::min(here_only, there_only) / f64::max(all, LEAST)
}

/// How much of what each rule tells to do stands nowhere in the other lesson.
fn rival(one: &Features, other: &Features, background: &Background) -> f64 {
    if one.rule.is_none() || other.rule.is_none() {
        return 0.0;
    }
    let missing = |advice: &Bag, whole: &Bag| 1.0 - Weighed::of(advice, whole, background).covered();
    missing(&one.advice, &other.whole).min(missing(&other.advice, &one.whole))
}
