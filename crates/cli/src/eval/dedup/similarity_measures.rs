//! Similarity measures for two texts: Archivist's own, and the simple baselines it has to beat.

use std::collections::{BTreeMap, BTreeSet};

use archivist_core::domain::{FacetValues, MemoryCategory, MemoryKind};
use archivist_core::judge::{LessonFeatures, LessonStatement, WordFrequencies, measure_similarity};
use archivist_core::model::embed::EmbeddingVector;
use archivist_core::text::WordSplitter;

#[cfg(test)]
#[path = "similarity_measures_tests.rs"]
mod tests;

/// The number of letters below which a word is ignored by the overlap measure.
const OVERLAP_LETTERS: usize = 3;

/// The number of leading characters of a text that character-level measures compare.
const MAX_LETTERS: usize = 128;

/// A way to measure how similar two texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SimilarityMeasure {
    /// Archivist's own similarity, by words alone.
    Archivist,
    /// Archivist's own similarity, with embeddings.
    Embedded,
    /// The cosine of the embeddings alone.
    Cosine,
    /// The share of the new text's words that the stored text contains.
    Overlap,
    /// The share of all words of both texts that they have in common.
    Jaccard,
    /// The Jaro-Winkler similarity, by common characters and their order.
    JaroWinkler,
    /// The token set ratio, which compares the common words with the remaining words of each text.
    TokenSet,
    /// The cosine of words weighted by their rarity.
    TfIdf,
}

impl SimilarityMeasure {
    /// The measures that need no sentence model.
    pub(super) const PLAIN: [Self; 6] =
        [Self::Archivist, Self::Overlap, Self::Jaccard, Self::JaroWinkler, Self::TokenSet, Self::TfIdf];
    /// The measures that need a sentence model.
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

    /// Returns the fixed threshold of a measure that has one; the others are scored at their best threshold.
    pub(super) fn fixed_threshold(self) -> Option<f64> {
        (self == Self::Overlap).then_some(0.5)
    }
}

/// The embeddings of many texts, in the order of the texts.
pub(super) struct TextEmbeddings(Vec<EmbeddingVector>);

impl TextEmbeddings {
    pub(super) fn from_vectors(vectors: Vec<EmbeddingVector>) -> Self {
        Self(vectors)
    }

    pub(super) fn cosine_between(&self, one: usize, other: usize) -> Option<f64> {
        Some(f64::from(self.0.get(one)?.cosine_similarity(self.0.get(other)?)))
    }
}

/// Many texts, with everything precomputed that the measures need.
pub(super) struct ComparedTexts {
    items: Vec<ComparedText>,
    background: WordFrequencies,
    meanings: Option<TextEmbeddings>,
}

struct ComparedText {
    features: LessonFeatures,
    lower: String,
    words: BTreeSet<String>,
    rare: BTreeMap<String, f64>,
}

impl ComparedTexts {
    pub(super) fn new(texts: &[String], meanings: Option<TextEmbeddings>) -> Self {
        let mut cutter = WordSplitter::default();
        let mut holders: BTreeMap<String, f64> = BTreeMap::new();
        let lists: Vec<Vec<String>> = texts.iter().map(|text| split_plain_words(text)).collect();
        for word in lists.iter().flat_map(|list| list.iter().collect::<BTreeSet<_>>()) {
            *holders.entry(word.clone()).or_default() += 1.0;
        }
        let items: Vec<ComparedText> = texts
            .iter()
            .zip(&lists)
            .map(|(text, list)| ComparedText {
                features: LessonFeatures::extract(&statement_from_text(text, &FacetValues::default()), &mut cutter),
                lower: text.to_lowercase().chars().take(MAX_LETTERS).collect(),
                words: list.iter().cloned().collect(),
                rare: tf_idf_weights(list, &holders, texts.len() as f64),
            })
            .collect();
        let background = WordFrequencies::from_lessons(items.iter().map(|item| &item.features));
        Self { items, background, meanings }
    }

    pub(super) fn word_frequencies(&self) -> &WordFrequencies {
        &self.background
    }

    pub(super) fn features_at(&self, index: usize) -> Option<&LessonFeatures> {
        self.items.get(index).map(|item| &item.features)
    }

    /// Returns the cosine of two texts' embeddings, or `None` if there are no embeddings.
    pub(super) fn embedding_cosine(&self, known: usize, new: usize) -> Option<f64> {
        self.meanings.as_ref().and_then(|meanings| meanings.cosine_between(known, new))
    }

    /// Returns the similarity of a stored and a new text by one measure.
    pub(super) fn measure_similarity(&self, measure: SimilarityMeasure, known: usize, new: usize) -> f64 {
        let (Some(one), Some(other)) = (self.items.get(known), self.items.get(new)) else { return 0.0 };
        let ours = |cosine| measure_similarity(&other.features, &one.features, &self.background, cosine);
        match measure {
            SimilarityMeasure::Archivist => ours(None),
            SimilarityMeasure::Embedded => ours(self.embedding_cosine(known, new)),
            SimilarityMeasure::Cosine => self.embedding_cosine(known, new).unwrap_or_default(),
            SimilarityMeasure::Overlap => overlap_ratio(&one.words, &other.words),
            SimilarityMeasure::Jaccard => jaccard_index(&one.words, &other.words),
            SimilarityMeasure::JaroWinkler => strsim::jaro_winkler(&one.lower, &other.lower),
            SimilarityMeasure::TokenSet => token_set_ratio(&one.words, &other.words),
            SimilarityMeasure::TfIdf => dot_product(&one.rare, &other.rare),
        }
    }
}

/// Returns a text as the statement of a lesson that has only a summary.
fn statement_from_text<'a>(text: &'a str, facets: &'a FacetValues) -> LessonStatement<'a> {
    LessonStatement {
        summary: text,
        rule: None,
        tags: &[],
        facets,
        kind: &MemoryKind::Lesson,
        category: &MemoryCategory::Heuristic,
    }
}

fn split_plain_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().nth(1).is_some());
    words.map(str::to_owned).collect()
}

fn overlap_ratio(known: &BTreeSet<String>, new: &BTreeSet<String>) -> f64 {
    let counts = |word: &&String| word.chars().count() >= OVERLAP_LETTERS;
    let shared = new.intersection(known).filter(counts).count() as f64;
    shared / (new.iter().filter(counts).count() as f64).max(1.0)
}

fn jaccard_index(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    shared as f64 / ((one.len() + other.len() - shared) as f64).max(1.0)
}

/// Compares the common words, alone and with the rest of each text, and returns the highest of the three ratios.
fn token_set_ratio(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let joined = |words: Vec<&String>| words.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let shared = joined(one.intersection(other).collect());
    let rest = |a: &BTreeSet<String>, b: &BTreeSet<String>| joined(a.difference(b).collect());
    let (left, right) = (rest(one, other), rest(other, one));
    if !shared.is_empty() && (left.is_empty() || right.is_empty()) {
        return 1.0;
    }
    let with = |rest: &str| if shared.is_empty() { rest.to_owned() } else { format!("{shared} {rest}") };
    let (left, right) = (with(&left), with(&right));
    let both = common_subsequence_length(&left, &right);
    let ratio = |common: usize, a: &str, b: &str| {
        2.0 * common as f64 / ((a.chars().count() + b.chars().count()) as f64).max(1.0)
    };
    let alone = shared.chars().count();
    ratio(both, &left, &right).max(ratio(alone, &shared, &left)).max(ratio(alone, &shared, &right))
}

/// Returns the length of the longest common subsequence of two texts, within the compared characters.
fn common_subsequence_length(one: &str, other: &str) -> usize {
    let mut places: BTreeMap<char, u128> = BTreeMap::new();
    for (at, letter) in one.chars().take(MAX_LETTERS).enumerate() {
        *places.entry(letter).or_default() |= 1 << at;
    }
    let length = one.chars().take(MAX_LETTERS).count();
    // Each cleared bit is a character of the subsequence; bit-parallel, one character extends all positions at once.
    let mut open = u128::MAX;
    for letter in other.chars() {
        let met = open & places.get(&letter).copied().unwrap_or_default();
        open = open.wrapping_add(met) | (open - met);
    }
    (0..length).filter(|at| open & (1 << at) == 0).count()
}

fn tf_idf_weights(words: &[String], holders: &BTreeMap<String, f64>, texts: f64) -> BTreeMap<String, f64> {
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

fn dot_product(one: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>) -> f64 {
    one.iter().filter_map(|(word, weight)| Some(weight * other.get(word)?)).sum()
}
