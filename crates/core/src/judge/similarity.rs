//! The similarity of the subjects of two lessons, from 0 to 1.
//!
//! Several signals, each a number from 0 to 1, are weighted and added up, and the sum is mapped to a share. The
//! weights were fitted once, outside the program, on labelled pairs of lessons and on one half of public sets of
//! paraphrases; `docs/benchmarks.md` has the figures. Whether the two lessons agree is decided in `conflict.rs`.

use super::lesson_features::{Bag, LessonFeatures};
use super::word_rarity::WordFrequencies;
use crate::text::thesaurus;

#[cfg(test)]
#[path = "similarity_tests.rs"]
mod tests;

/// The least divisor, so that a text without words causes no division by zero.
const LEAST: f64 = 1e-9;

/// The number of marks that only one side has from which more make no difference.
const MANY_MARKS: f64 = 3.0;

/// The weight of each signal in the sum.
#[derive(Debug, Clone, Copy)]
struct SimilarityWeights {
    /// The start of the sum: two lessons are unrelated unless something else is known.
    start: f64,
    /// The shared words, with rare ones counting more.
    words: f64,
    /// The share of the shorter one that the longer one contains.
    contained: f64,
    /// The share of all words that both have.
    shared: f64,
    /// The spelling of the summaries, which tolerates inflection and typing errors.
    spelling: f64,
    /// The greatest similarity of summaries and rules, as one may say in its rule what the other says in its summary.
    parts: f64,
    /// Adjacent words that are adjacent in both. Next to the others it reduces the sum: lessons on two subjects are
    /// often alike word for word except for a few words.
    order: f64,
    /// Names that each has and the other does not have.
    strange: f64,
    /// The difference in length, where neither has a rule.
    uneven: f64,
    /// The difference in length, where one has a rule and so says more anyway.
    uneven_ruled: f64,
    /// Recommendations of each that the other does not contain.
    rival: f64,
    /// Commands, paths and identifiers that each has and the other does not have.
    lone: f64,
    /// The presence of a rule: words come twice, so that fewer of them are alike by chance.
    ruled: f64,
    /// A number that only one of them has.
    counted: f64,
}

/// The fitted weights. News sentences, where nearly everything is alike, count three times as much as each other set:
/// otherwise the fit neglects them.
const WEIGHTS: SimilarityWeights = SimilarityWeights {
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

/// The start of the sum where embeddings are used.
const EMBEDDED_START: f64 = -10.2;
/// The weight of the cosine of two embeddings, which detects paraphrases that share no word.
const EMBEDDED_COSINE: f64 = 14.7;
/// The weight of the other signals next to it: they detect names and numbers, which look alike to an embedding.
const EMBEDDED_REST: f64 = 0.55;

/// Returns the similarity of the subjects of two lessons, from 0 to 1. It is symmetric.
///
/// The `cosine` is that of their embeddings, where there are any.
pub fn measure_similarity(
    one: &LessonFeatures,
    other: &LessonFeatures,
    background: &WordFrequencies,
    cosine: Option<f64>,
) -> f64 {
    if one.plain == other.plain {
        return 1.0;
    }
    SimilaritySignals::compare(one, other, background).weighted_similarity(cosine)
}

/// The signals of two lessons compared with each other, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SimilaritySignals {
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

impl SimilaritySignals {
    /// Measures the signals of two lessons.
    pub(super) fn compare(one: &LessonFeatures, other: &LessonFeatures, background: &WordFrequencies) -> Self {
        let weighed = WordWeights::measure(&one.whole, &other.whole, background);
        let pairs = one.pairs.intersection(&other.pairs).count() as f64;
        let lengths = (one.whole.len() as f64, other.whole.len() as f64);
        let lone = count_lone_marks(one, other).min(count_lone_marks(other, one)) as f64;
        Self {
            words: cosine_similarity(&one.whole, &other.whole, background),
            contained: weighed.both / weighed.one.min(weighed.other).max(LEAST),
            shared: weighed.both / (weighed.one + weighed.other - weighed.both).max(LEAST),
            spelling: spelling_similarity(&one.grams, &other.grams),
            parts: best_part_similarity(one, other, background),
            order: 2.0 * pairs / ((one.pairs.len() + other.pairs.len()) as f64).max(1.0),
            strange: strange_share(one, other, background),
            uneven: 1.0 - lengths.0.min(lengths.1) / lengths.0.max(lengths.1).max(1.0),
            rival: rival_share(one, other, background),
            lone: lone.min(MANY_MARKS) / MANY_MARKS,
            is_ruled: one.rule.is_some() || other.rule.is_some(),
            is_counted: one.numbers != other.numbers,
        }
    }

    /// Returns the weighted sum of the signals, mapped to a share.
    pub(super) fn weighted_similarity(&self, cosine: Option<f64>) -> f64 {
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

/// The weights of the words of two lessons.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordWeights {
    /// The weight of the words of the one.
    pub(super) one: f64,
    /// The weight of the words of the other.
    pub(super) other: f64,
    /// The weight of the words that both have.
    pub(super) both: f64,
}

impl WordWeights {
    pub(super) fn measure(one: &Bag, other: &Bag, background: &WordFrequencies) -> Self {
        let mut weighed = Self::default();
        visit_words(one, other, |word, here, there| {
            let rarity = background.word_rarity(word);
            weighed.one += if here > 0.0 { rarity } else { 0.0 };
            weighed.other += if there > 0.0 { rarity } else { 0.0 };
            weighed.both += if here > 0.0 && there > 0.0 { rarity } else { 0.0 };
        });
        weighed
    }

    /// Returns the share of the one that the other has as well.
    pub(super) fn covered_share(&self) -> f64 {
        self.both / self.one.max(LEAST)
    }
}

/// Walks over two bags in parallel; `visit` gets each word and its counts in both.
pub(super) fn visit_words(one: &Bag, other: &Bag, mut visit: impl FnMut(&str, f64, f64)) {
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

fn cosine_similarity(one: &Bag, other: &Bag, background: &WordFrequencies) -> f64 {
    // The weight of a word grows less with each repeat.
    let worn = |count: f64| if count > 0.0 { 1.0 + count.ln() } else { 0.0 };
    let (mut left, mut right, mut both) = (0.0, 0.0, 0.0);
    visit_words(one, other, |word, here, there| {
        let rarity = background.word_rarity(word);
        let (here, there) = (worn(here) * rarity, worn(there) * rarity);
        left += here * here;
        right += there * there;
        both += here * there;
    });
    both / f64::sqrt(left * right).max(LEAST)
}

fn best_part_similarity(one: &LessonFeatures, other: &LessonFeatures, background: &WordFrequencies) -> f64 {
    let others = || std::iter::once(&other.summary).chain(&other.rule);
    let pairs = std::iter::once(&one.summary).chain(&one.rule).flat_map(|own| others().map(move |other| (own, other)));
    pairs.map(|(own, other)| cosine_similarity(own, other, background)).fold(0.0, f64::max)
}

fn spelling_similarity(one: &[(u32, f64)], other: &[(u32, f64)]) -> f64 {
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

/// Counts the marks of one lesson that the other does not have, neither whole nor by their parts.
fn count_lone_marks(features: &LessonFeatures, other: &LessonFeatures) -> usize {
    features.marks.iter().filter(|mark| !knows_mark(other, mark)).count()
}

fn knows_mark(features: &LessonFeatures, mark: &str) -> bool {
    let has = |part: &str| {
        features.spoken.contains(part)
            || features.whole.binary_search_by(|(word, _)| word.as_str().cmp(part)).is_ok()
            || features.marks.iter().any(|own| mark_pieces(own).any(|piece| piece == part))
    };
    features.marks.contains(mark)
        || features.spoken.contains(mark)
        || (mark_pieces(mark).next().is_some() && mark_pieces(mark).all(has))
}

/// Returns the parts of a mark that have more than one letter.
fn mark_pieces(mark: &str) -> impl Iterator<Item = &str> {
    mark.split(|c: char| !c.is_alphanumeric()).filter(|piece| piece.chars().nth(1).is_some())
}

/// Returns the share of names that only one lesson has, on the side that has fewer of them.
fn strange_share(one: &LessonFeatures, other: &LessonFeatures, background: &WordFrequencies) -> f64 {
    let (mut here_only, mut there_only, mut all) = (0.0, 0.0, 0.0);
    visit_words(&one.whole, &other.whole, |word, here, there| {
        if thesaurus::is_ordinary_word(word) {
            return;
        }
        let rarity = background.word_rarity(word);
        all += rarity;
        here_only += if there == 0.0 { rarity } else { 0.0 };
        there_only += if here == 0.0 { rarity } else { 0.0 };
    });
    2.0 * f64::min(here_only, there_only) / f64::max(all, LEAST)
}

/// Returns the share of each rule's recommendation that the other lesson does not contain, whichever is less.
fn rival_share(one: &LessonFeatures, other: &LessonFeatures, background: &WordFrequencies) -> f64 {
    if one.rule.is_none() || other.rule.is_none() {
        return 0.0;
    }
    let missing = |recommendation: &Bag, whole: &Bag| {
        1.0 - WordWeights::measure(recommendation, whole, background).covered_share()
    };
    missing(&one.recommendation, &other.whole).min(missing(&other.recommendation, &one.whole))
}
