//! How well a lesson meets a question, from 0 to 1.

use std::collections::BTreeMap;

use crate::domain::{AgentMemory, Facet, FacetSet};
use crate::text::Cutter;

/// Saturation: how little the tenth mention of a word adds.
const K1: f64 = 1.2;
/// How much a long lesson is held against its many words.
const B: f64 = 0.75;

/// The relevance of a lesson of average length that holds every word of the question once.
const FULL: f64 = 0.9;

/// In a question of this many words or more, one word in common is chance, not a topic.
const LONG_QUESTION: usize = 4;

/// The same failure is nearly all one can ask for.
const ERROR_FAMILY_SHARE: f64 = 0.9;
/// All the tags asked for, and nothing else in common.
const TAGS_SHARE: f64 = 0.6;
/// Each other circumstance that is the same.
const FACET_SHARE: f64 = 0.15;

/// A word counts this many times where it stands: tags are chosen words, a detail is talk.
const TAG_WEIGHT: u32 = 3;
const SUMMARY_WEIGHT: u32 = 2;
const RULE_WEIGHT: u32 = 2;
const DETAIL_WEIGHT: u32 = 1;

/// The words of one lesson and how much each counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Weighted count of each word.
    pub counts: BTreeMap<String, u32>,
    /// Their sum.
    pub length: u32,
}

/// The words of a lesson, weighted by where they stand.
pub fn terms_of(cutter: &mut Cutter, memory: &AgentMemory) -> Terms {
    let mut terms = Terms::default();
    let mut add = |text: &str, weight: u32| {
        for word in cutter.words(text) {
            let count = terms.counts.entry(word).or_default();
            *count = count.saturating_add(weight);
            terms.length = terms.length.saturating_add(weight);
        }
    };
    add(&memory.summary, SUMMARY_WEIGHT);
    add(memory.rule.as_deref().unwrap_or_default(), RULE_WEIGHT);
    add(memory.detail.as_deref().unwrap_or_default(), DETAIL_WEIGHT);
    for tag in &memory.tags {
        add(tag, TAG_WEIGHT);
    }
    terms
}

/// What a collection of lessons knows about the words of one question.
///
/// Any memory that can fill this in, whether by walking postings or by reading everything, gives the same relevance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vocabulary {
    /// How many lessons there are.
    pub documents: u64,
    /// How long they are together.
    pub length: u64,
    /// For each word of the question, in its order, how many lessons hold it.
    pub holders: Vec<u64>,
}

impl Vocabulary {
    /// Works out once what every lesson is then measured with.
    pub fn measure(&self) -> Measure {
        let average = (self.length as f64 / self.documents.max(1) as f64).max(1.0);
        let rarities: Vec<f64> = self.holders.iter().map(|&holders| self.rarity(holders)).collect();
        let whole: f64 = rarities.iter().sum();
        let shares = rarities.iter().map(|rarity| (K1 + 1.0) * rarity / whole).collect();
        Measure { shares, short: K1 * (1.0 - B), long: K1 * B / average }
    }

    fn rarity(&self, holders: u64) -> f64 {
        let (documents, holders) = (self.documents as f64, holders as f64);
        (1.0 + (documents - holders + 0.5) / (holders + 0.5)).ln()
    }
}

/// Measures lessons against one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// For each word, what it would be worth without end.
    shares: Vec<f64>,
    /// How fast a word wears off in a lesson without length, and by how much more for each word in it.
    short: f64,
    long: f64,
}

impl Measure {
    /// BM25 over the weighted words, as a share of what a lesson of average length gets that holds every word once.
    ///
    /// Such a lesson has `FULL`. What goes beyond counts for the rest, and never reaches 1: of two good answers the
    /// better one is still the better one.
    pub fn relevance(&self, counts: &[u32], length: u32) -> f64 {
        let wear = self.short + self.long * f64::from(length);
        let (mut sum, mut held) = (0.0, 0);
        for (&count, share) in counts.iter().zip(&self.shares) {
            if count > 0 {
                let count = f64::from(count);
                sum += share * count / (count + wear);
                held += 1;
            }
        }
        if held < 2 && self.shares.len() >= LONG_QUESTION {
            return 0.0;
        }
        if sum <= 1.0 { FULL * sum } else { 1.0 - (1.0 - FULL) / sum }
    }
}

/// Joins what words, tags and circumstances say; each can only raise it, none can pass 1.
///
/// `tags` is the share of the asked tags that the lesson has.
pub fn relevance(text: f64, tags: f64, facets: FacetSet) -> f64 {
    if tags == 0.0 && facets.is_empty() {
        return text;
    }
    let mut missed = (1.0 - text) * (1.0 - TAGS_SHARE * tags);
    for facet in facets.iter() {
        missed *= if facet == Facet::ErrorFamily { 1.0 - ERROR_FAMILY_SHARE } else { 1.0 - FACET_SHARE };
    }
    1.0 - missed
}

/// Whether the lesson is on the question's topic at all: by a word, a tag or the failure. Circumstances alone are not
/// a topic.
pub fn meets_topic(text: f64, tags: f64, facets: FacetSet, floor: f64) -> bool {
    let topical = relevance(text, tags, facets.and(FacetSet::of(Facet::ErrorFamily)));
    topical > 0.0 && topical >= floor
}
