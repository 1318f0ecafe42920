//! Ways to say how alike two texts are: ours, and the plain ones it has to be better than.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Facets, MemoryCategory, MemoryKind};
use crate::judge::{Background, Features, Saying, similarity};
use crate::model::embed::Vector;
use crate::text::Cutter;

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;

/// A word of fewer letters does not count for the overlap rule.
const OVERLAP_LETTERS: usize = 3;

/// No more of a text than this is compared letter by letter.
const MAX_LETTERS: usize = 128;

/// A way to say how alike two texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Ours, by words alone.
    Archivist,
    /// Ours, with an embedding.
    Embedded,
    /// The cosine of the embeddings alone.
    Cosine,
    /// The share of the new text's words that the known one has.
    Overlap,
    /// The share of all words that both have.
    Jaccard,
    /// Letters in common and their order.
    JaroWinkler,
    /// What is left when the words in common are set aside.
    TokenSet,
    /// The cosine of words weighted by how rare they are.
    TfIdf,
}

impl Measure {
    /// Those that need no model.
    pub(super) const PLAIN: [Self; 6] =
        [Self::Archivist, Self::Overlap, Self::Jaccard, Self::JaroWinkler, Self::TokenSet, Self::TfIdf];
    /// Those that need one.
    pub(super) const WITH_MODEL: [Self; 2] = [Self::Embedded, Self::Cosine];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Archivist => "archivist",
            Self::Embedded => "archivist with embeddings",
            Self::Cosine => "embeddings alone",
            Self::Overlap => "overlap",
            Self::Jaccard => "Jaccard",
            Self::JaroWinkler => "Jaro-Winkler",
            Self::TokenSet => "token set",
            Self::TfIdf => "TF-IDF cosine",
        }
    }

    /// The fixed threshold of a rule that has one; the others are given their best.
    pub(super) fn fixed(self) -> Option<f64> {
        (self == Self::Overlap).then_some(0.5)
    }
}

/// The vectors of many texts, in their order.
pub(super) struct Meanings(Vec<Vector>);

impl Meanings {
    pub(super) fn of(vectors: Vec<Vector>) -> Self {
        Self(vectors)
    }

    pub(super) fn cosine(&self, one: usize, other: usize) -> Option<f64> {
        Some(f64::from(self.0.get(one)?.cosine(self.0.get(other)?)))
    }
}

/// Many texts, with everything worked out that the measures ask for.
pub(super) struct Texts {
    items: Vec<Item>,
    background: Background,
    meanings: Option<Meanings>,
}

struct Item {
    features: Features,
    lower: String,
    words: BTreeSet<String>,
    rare: BTreeMap<String, f64>,
}

impl Texts {
    pub(super) fn new(texts: &[String], meanings: Option<Meanings>) -> Self {
        let mut cutter = Cutter::default();
        let mut holders: BTreeMap<String, f64> = BTreeMap::new();
        let lists: Vec<Vec<String>> = texts.iter().map(|text| plain_words(text)).collect();
        for word in lists.iter().flat_map(|list| list.iter().collect::<BTreeSet<_>>()) {
            *holders.entry(word.clone()).or_default() += 1.0;
        }
        let items: Vec<Item> = texts
            .iter()
            .zip(&lists)
            .map(|(text, list)| Item {
                features: Features::of(&saying(text, &Facets::default()), &mut cutter),
                lower: text.to_lowercase().chars().take(MAX_LETTERS).collect(),
                words: list.iter().cloned().collect(),
                rare: weighed(list, &holders, texts.len() as f64),
            })
            .collect();
        let background = Background::of(items.iter().map(|item| &item.features));
        Self { items, background, meanings }
    }

    pub(super) fn background(&self) -> &Background {
        &self.background
    }

    pub(super) fn features(&self, index: usize) -> Option<&Features> {
        self.items.get(index).map(|item| &item.features)
    }

    /// The cosine of two texts' embeddings, where there are any.
    pub(super) fn cosine(&self, known: usize, new: usize) -> Option<f64> {
        self.meanings.as_ref().and_then(|meanings| meanings.cosine(known, new))
    }

    /// How alike a known and a new text are.
    pub(super) fn alike(&self, measure: Measure, known: usize, new: usize) -> f64 {
        let (Some(one), Some(other)) = (self.items.get(known), self.items.get(new)) else { return 0.0 };
        let ours = |cosine| similarity(&other.features, &one.features, &self.background, cosine);
        match measure {
            Measure::Archivist => ours(None),
            Measure::Embedded => ours(self.cosine(known, new)),
            Measure::Cosine => self.cosine(known, new).unwrap_or_default(),
            Measure::Overlap => overlap(&one.words, &other.words),
            Measure::Jaccard => jaccard(&one.words, &other.words),
            Measure::JaroWinkler => strsim::jaro_winkler(&one.lower, &other.lower),
            Measure::TokenSet => token_set(&one.words, &other.words),
            Measure::TfIdf => dot(&one.rare, &other.rare),
        }
    }
}

/// A text as a lesson that has nothing but a summary.
fn saying<'a>(text: &'a str, facets: &'a Facets) -> Saying<'a> {
    Saying {
        summary: text,
        rule: None,
        tags: &[],
        facets,
        kind: &MemoryKind::Lesson,
        category: &MemoryCategory::Heuristic,
    }
}

fn plain_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().nth(1).is_some());
    words.map(str::to_owned).collect()
}

fn overlap(known: &BTreeSet<String>, new: &BTreeSet<String>) -> f64 {
    let counts = |word: &&String| word.chars().count() >= OVERLAP_LETTERS;
    let shared = new.intersection(known).filter(counts).count() as f64;
    shared / (new.iter().filter(counts).count() as f64).max(1.0)
}

fn jaccard(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    shared as f64 / ((one.len() + other.len() - shared) as f64).max(1.0)
}

/// The words in common alone, with the rest of the one, and with the rest of the other: the two most alike of these.
fn token_set(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let joined = |words: Vec<&String>| words.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let shared = joined(one.intersection(other).collect());
    let rest = |a: &BTreeSet<String>, b: &BTreeSet<String>| joined(a.difference(b).collect());
    let (left, right) = (rest(one, other), rest(other, one));
    if !shared.is_empty() && (left.is_empty() || right.is_empty()) {
        return 1.0;
    }
    let with = |rest: &str| if shared.is_empty() { rest.to_owned() } else { format!("{shared} {rest}") };
    let (left, right) = (with(&left), with(&right));
    let both = common_letters(&left, &right);
    let ratio = |common: usize, a: &str, b: &str| {
        2.0 * common as f64 / ((a.chars().count() + b.chars().count()) as f64).max(1.0)
    };
    let alone = shared.chars().count();
    ratio(both, &left, &right).max(ratio(alone, &shared, &left)).max(ratio(alone, &shared, &right))
}

/// The length of the longest row of letters that stand in both in the same order, of what is compared.
fn common_letters(one: &str, other: &str) -> usize {
    let mut places: BTreeMap<char, u128> = BTreeMap::new();
    for (at, letter) in one.chars().take(MAX_LETTERS).enumerate() {
        *places.entry(letter).or_default() |= 1 << at;
    }
    let length = one.chars().take(MAX_LETTERS).count();
    // Each bit that is not set is a letter of the row: the row is made longer letter by letter, for all places at once.
    let mut open = u128::MAX;
    for letter in other.chars() {
        let met = open & places.get(&letter).copied().unwrap_or_default();
        open = open.wrapping_add(met) | (open - met);
    }
    (0..length).filter(|at| open & (1 << at) == 0).count()
}

fn weighed(words: &[String], holders: &BTreeMap<String, f64>, texts: f64) -> BTreeMap<String, f64> {
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    for word in words {
        *weights.entry(word.clone()).or_default() += 1.0;
    }
    for (word, weight) in &mut weights {
        let held = holders.get(word).copied().unwrap_or_default();
        *weight *= ((1.0 + texts) / (1.0 + held)).ln() + 1.0;
    }
    let length = weights.values().map(|weight| weight * weight).sum::<f64>().sqrt();
    for weight in weights.values_mut() {
        *weight /= length.max(f64::MIN_POSITIVE);
    }
    weights
}

fn dot(one: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>) -> f64 {
    one.iter().filter_map(|(word, weight)| Some(weight * other.get(word)?)).sum()
}
