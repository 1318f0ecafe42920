//! The relevance of a lesson to a question, from 0 to 1.
//!
//! Words are weighed by BM25, as a share of the total worth of the question's words. A word is also matched, for less,
//! by a synonym and by what is typed for it in a shell or as a flag. The share is then rescaled so that one floor means
//! the same in a memory of ten lessons and of a hundred thousand. The constants were fitted on public sets;
//! `docs/benchmarks.md` has the figures.

use std::collections::BTreeMap;

use crate::domain::{AgentMemory, Facet, FacetSet};
use crate::text::{WordSplitter, thesaurus};

#[cfg(test)]
#[path = "relevance_tests.rs"]
mod tests;

/// The saturation: how little the tenth mention of a word adds. A long lesson dilutes its words in proportion.
const K1: f64 = 2.0;
/// The number of words added to the length of every lesson, so that the shortest do not win by being short.
const LENGTH_ADDED: f64 = 5.0;
/// The worth of an everyday word compared with others.
const EVERYDAY_SHARE: f64 = 0.85;
/// The rarity, as a share of the highest possible, from which a word counts as distinctive for a question.
const TELLING_SHARE: f64 = 0.4;

/// The prior counts: two lessons cannot show which words are rare, so words are taken to have occurred in this many
/// lessons before any is read. Names occur in nearly none of them, ordinary words in a few.
const PRIOR_LESSONS: f64 = 50.0;
const PRIOR_NAME: f64 = 0.2;
const PRIOR_ORDINARY: f64 = 3.0;

/// The share of the lessons above which a word does not retrieve a lesson by itself, in memories of this many lessons
/// and more: reading a tenth of everything for the word "test" takes longer than all the rest.
const COMMON_SHARE: f64 = 0.05;
const MANY_LESSONS: u64 = 2_000;

/// The parameters that turn overlap into relevance: the start, the gain by the covered share, the gain by each
/// distinctive word up to this many, the gain by the sum, and the loss by each e-fold of lessons, because more of them
/// match by chance.
const START: f64 = -2.33;
const COVERED: f64 = 7.585;
const TELLING: f64 = 0.964;
const MANY_TELLING: f64 = 10.0;
const SUM: f64 = 0.096;
const SIZE: f64 = -0.48;
/// The number of distinctive words above which some occur in any lesson by chance: the gain by each of them, and by the
/// sum, falls with the square root of their number. Chosen on real instructions; see `docs/benchmarks.md`.
const USUAL_TELLING: f64 = 12.0;
/// The bounds on the number of lessons: fewer count as the first, more as the second.
const SMALL: f64 = 20.0;
const LARGE: f64 = 20_000.0;
/// The parameters beside an embedding, whose cosine then decides most.
const EMBEDDED_START: f64 = -4.15;
const EMBEDDED_COVERED: f64 = 5.14;
const EMBEDDED_COSINE: f64 = 18.98;
const EMBEDDED_SIZE: f64 = -0.7;

/// The relevance by the same error family alone, which is nearly the highest.
const ERROR_FAMILY_SHARE: f64 = 0.9;
/// The relevance by all requested tags and nothing else in common.
const TAGS_SHARE: f64 = 0.6;
/// The relevance by each other facet in common.
const FACET_SHARE: f64 = 0.15;

/// The closeness added by the same error family, compared with a word share of about 1 at best; and by each other facet
/// in common.
const ERROR_FAMILY_NEARNESS: f64 = 3.0;
const FACET_NEARNESS: f64 = 0.4;

/// The weight of a word by the field it appears in, in halves: tags are chosen words, a detail is prose.
const TAG_WEIGHT: u32 = 3;
const SUMMARY_WEIGHT: u32 = 2;
const RULE_WEIGHT: u32 = 2;
const DETAIL_WEIGHT: u32 = 1;
/// The unit of the weights, which are counted in halves of a mention.
const HALVES: f64 = 2.0;

/// The words of one lesson with their weights.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LessonTerms {
    /// The weighted count of each word.
    pub counts: BTreeMap<String, u32>,
    /// The sum of the counts.
    pub length: u32,
}

/// Returns the words of a lesson, weighted by the field they appear in.
pub fn collect_lesson_terms(cutter: &mut WordSplitter, memory: &AgentMemory) -> LessonTerms {
    let mut terms = LessonTerms::default();
    let mut add = |text: &str, weight: u32| {
        for word in cutter.split_terms(text) {
            let count = terms.counts.entry(word).or_default();
            *count = count.saturating_add(weight);
            terms.length = terms.length.saturating_add(weight);
        }
    };
    add(&memory.summary, SUMMARY_WEIGHT);
    add(memory.rule.as_deref().unwrap_or_default(), RULE_WEIGHT);
    add(memory.detail.as_deref().unwrap_or_default(), DETAIL_WEIGHT);
    add(memory.situation.as_deref().unwrap_or_default(), DETAIL_WEIGHT);
    for tag in &memory.tags {
        add(tag, TAG_WEIGHT);
    }
    terms
}

/// The words of a question, and the terms that match each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelevanceQuery {
    /// All terms to search for, each once.
    terms: Vec<String>,
    /// The prior count of each term.
    priors: Vec<f64>,
    slots: Vec<RelevanceWord>,
}

/// One word of a question.
#[derive(Debug, Clone, PartialEq)]
struct RelevanceWord {
    /// The weight of the word compared with the others.
    weight: f64,
    /// True if it is a name of something, and not an ordinary word.
    is_name: bool,
    /// The indexes of the terms that match it, each with the share that it counts. The word itself comes first.
    met_by: Vec<(usize, f64)>,
}

impl RelevanceQuery {
    /// Splits a question's text into words.
    pub fn from_text(text: &str) -> Self {
        let mut repeats: BTreeMap<String, f64> = BTreeMap::new();
        for word in WordSplitter::default().split_terms(text) {
            *repeats.entry(word).or_default() += 1.0;
        }
        let mut terms: Vec<String> = repeats.keys().cloned().collect();
        let own = terms.len();
        let mut slots = Vec::new();
        for (place, (word, repeats)) in repeats.into_iter().enumerate() {
            let mut met_by = vec![(place, 1.0)];
            for (other, share) in thesaurus::related_stems(&word) {
                let known = terms.iter().position(|term| term == other);
                // A term that the question itself contains matches only itself.
                if known.is_none_or(|known| known >= own) {
                    met_by.push((known.unwrap_or(terms.len()), *share));
                }
                if known.is_none() {
                    terms.push(other.clone());
                }
            }
            let everyday = if thesaurus::is_everyday_word(&word) { EVERYDAY_SHARE } else { 1.0 };
            let weight = 2.0 * repeats / (repeats + 1.0) * everyday;
            slots.push(RelevanceWord { weight, is_name: !thesaurus::is_ordinary_word(&word), met_by });
        }
        let prior = |term: &String| if thesaurus::is_ordinary_word(term) { PRIOR_ORDINARY } else { PRIOR_NAME };
        Self { priors: terms.iter().map(prior).collect(), terms, slots }
    }

    /// Returns all terms to search for, each once.
    pub fn terms(&self) -> &[String] {
        &self.terms
    }
}

/// The statistics of a collection of lessons for the terms of one question.
///
/// Every memory that can provide them, by postings or by a full scan, gives the same relevance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TermStatistics {
    /// The number of lessons.
    pub documents: u64,
    /// The total length of all lessons.
    pub length: u64,
    /// The number of lessons with each term of the question, in its order.
    pub holders: Vec<u64>,
}

impl TermStatistics {
    /// Returns the statistics of an empty collection.
    pub fn empty(question: &RelevanceQuery) -> Self {
        Self { documents: 0, length: 0, holders: vec![0; question.terms.len()] }
    }

    /// Computes the measure for every lesson once.
    pub fn build_measure(&self, question: &RelevanceQuery) -> RelevanceMeasure {
        let documents = self.documents.max(1) as f64;
        let average = self.length as f64 / HALVES / documents + LENGTH_ADDED;
        let holders = self.holders.iter().zip(&question.priors);
        let rarities: Vec<f64> = holders.map(|(&holders, prior)| self.term_rarity(holders as f64 + prior)).collect();
        let rarity = |term: usize| rarities.get(term).copied().unwrap_or_default();
        let rarest = self.term_rarity(PRIOR_NAME);
        let mut slots = Vec::new();
        for slot in &question.slots {
            let own = slot.met_by.first().map_or(0.0, |(term, _)| rarity(*term));
            let met_by = slot.met_by.iter();
            slots.push(WeighedWord {
                worth: slot.weight * own,
                tells: slot.is_name && own >= TELLING_SHARE * rarest,
                met_by: met_by.map(|&(term, share)| (term, share * slot.weight * (K1 + 1.0) * rarity(term))).collect(),
            });
        }
        let telling = slots.iter().filter(|slot| slot.tells).map(|_| 1.0).sum::<f64>();
        RelevanceMeasure {
            dilution: (USUAL_TELLING / telling.max(USUAL_TELLING)).sqrt(),
            whole: slots.iter().map(|slot| slot.worth).sum::<f64>().max(LEAST),
            slots,
            brings: self.retrieving_terms(),
            short: K1 * LENGTH_ADDED / average,
            long: K1 / HALVES / average,
            size: documents.clamp(SMALL, LARGE).ln(),
        }
    }

    fn term_rarity(&self, holders: f64) -> f64 {
        let documents = self.documents as f64 + PRIOR_LESSONS;
        (1.0 + (documents - holders + 0.5) / (holders + 0.5)).ln()
    }

    /// Tells for each term whether it retrieves lessons; all do if none is rare enough.
    fn retrieving_terms(&self) -> Vec<bool> {
        let is_rare =
            |&holders: &u64| self.documents < MANY_LESSONS || holders as f64 <= COMMON_SHARE * self.documents as f64;
        let is_held = |holders: &&u64| **holders > 0;
        let all_common = !self.holders.iter().filter(is_held).any(is_rare);
        self.holders.iter().map(|holders| all_common || is_rare(holders)).collect()
    }
}

/// The lower bound of a weight, so that a question without words causes no division by zero.
const LEAST: f64 = 1e-9;

/// One word of a question with its computed worth.
#[derive(Debug, Clone, PartialEq)]
struct WeighedWord {
    /// The worth of the word in a lesson that contains it once.
    worth: f64,
    /// True if the word is distinctive for the question.
    tells: bool,
    /// The indexes of the matching terms, each with its worth at full saturation.
    met_by: Vec<(usize, f64)>,
}

/// A measure of lessons against one question.
#[derive(Debug, Clone, PartialEq)]
pub struct RelevanceMeasure {
    slots: Vec<WeighedWord>,
    /// The total worth of all words.
    whole: f64,
    /// True for each term that retrieves lessons.
    brings: Vec<bool>,
    /// The saturation of a word in a lesson of length zero, and its increase for each half of a mention in the lesson.
    short: f64,
    long: f64,
    /// The logarithm of the number of lessons.
    size: f64,
    /// The factor for the gain by distinctive words and by the sum, below 1 for a question of many distinctive words.
    dilution: f64,
}

/// The words that a lesson and a question have in common, as numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WordOverlap {
    /// The BM25 sum as a share of the worth of the question's words.
    pub share: f64,
    /// The share of that worth whose words occur in the lesson at all.
    pub covered: f64,
    /// The number of distinctive words that occur in it.
    pub telling: f64,
    /// The BM25 sum itself. In a long question a small share may be a lot.
    pub sum: f64,
}

impl RelevanceMeasure {
    /// Returns true if a term retrieves a lesson by itself.
    pub fn is_retrieving_term(&self, term: usize) -> bool {
        self.brings.get(term).copied().unwrap_or_default()
    }

    /// Returns the most that a term can add to the share of a lesson that contains it.
    pub fn max_share(&self, term: usize) -> f64 {
        self.max_sum(term, |_, worth| worth / self.whole)
    }

    /// Returns the most that a term can add to a lesson's gain by words; see [`Self::needed_gain`].
    pub fn max_gain(&self, term: usize) -> f64 {
        let covering = |slot: &WeighedWord| {
            COVERED * slot.worth / self.whole + if slot.tells { self.dilution * TELLING } else { 0.0 }
        };
        self.max_sum(term, |own, worth| own.map_or(0.0, covering) + self.dilution * SUM * worth)
    }

    /// Returns the gain by words alone that a lesson needs for this relevance. A lesson whose terms cannot add that
    /// much need not be read.
    pub fn needed_gain(&self, relevance: f64) -> f64 {
        (relevance / (1.0 - relevance)).ln() - START - SIZE * self.size
    }

    /// Returns the sum of `of` over the words that a term matches; it gets the word if the term is the word itself, and
    /// the worth at full saturation.
    fn max_sum(&self, term: usize, of: impl Fn(Option<&WeighedWord>, f64) -> f64) -> f64 {
        let mut most = 0.0;
        for slot in &self.slots {
            let met = slot.met_by.iter().enumerate().filter(|(_, (met_by, _))| *met_by == term);
            most += met.map(|(place, (_, worth))| of((place == 0).then_some(slot), *worth)).sum::<f64>();
        }
        most
    }

    /// Returns the overlap of a lesson with the question; `None` if no term retrieves it.
    pub fn measure_overlap(&self, counts: &[u32], length: u32) -> Option<WordOverlap> {
        if !counts.iter().zip(&self.brings).any(|(count, brings)| *count > 0 && *brings) {
            return None;
        }
        let wear = self.short + self.long * f64::from(length);
        let mut overlap = WordOverlap::default();
        for slot in &self.slots {
            let mut best = 0.0_f64;
            for (place, &(term, worth)) in slot.met_by.iter().enumerate() {
                let count = counts.get(term).copied().unwrap_or_default();
                if count > 0 {
                    let count = f64::from(count) / HALVES;
                    best = best.max(worth * count / (count + wear));
                    if place == 0 {
                        overlap.covered += slot.worth;
                        overlap.telling += if slot.tells { 1.0 } else { 0.0 };
                    }
                }
            }
            overlap.sum += best;
        }
        overlap.share = overlap.sum / self.whole;
        overlap.covered /= self.whole;
        Some(overlap)
    }

    /// Returns the relevance of a lesson by its overlap with the question and by the cosine of their embeddings.
    pub fn text_relevance(&self, overlap: Option<WordOverlap>, cosine: Option<f64>) -> f64 {
        let WordOverlap { share, covered, telling, sum } = overlap.unwrap_or_default();
        // In a long lesson much is covered by chance; there the share is the smaller of the two.
        let covered = covered.min(share);
        let bent = match (cosine, overlap) {
            (Some(cosine), _) => {
                EMBEDDED_START + EMBEDDED_COVERED * covered + EMBEDDED_COSINE * cosine + EMBEDDED_SIZE * self.size
            }
            (None, Some(_)) => {
                let telling = TELLING * telling.min(MANY_TELLING);
                START + COVERED * covered + self.dilution * (telling + SUM * sum) + SIZE * self.size
            }
            (None, None) => return 0.0,
        };
        1.0 / (1.0 + (-bent).exp())
    }
}

/// The weight of a cosine beside the share of words. The share is absolute, so that for a question of unknown words the
/// cosine alone decides the order.
const COSINE_WEIGHT: f64 = 1.5;

/// Returns the closeness by which lessons are ordered: by words, and by the cosine of the embeddings if there is one.
pub fn combined_closeness(overlap: Option<WordOverlap>, cosine: Option<f64>) -> f64 {
    overlap.map_or(0.0, |overlap| overlap.share) + COSINE_WEIGHT * cosine.unwrap_or_default()
}

/// Combines the relevance by text, tags and facets; each can only raise it, and none beyond 1.
///
/// `tags` is the share of the requested tags that the lesson has.
pub fn combined_relevance(text: f64, tags: f64, facets: FacetSet) -> f64 {
    if tags == 0.0 && facets.is_empty() {
        return text;
    }
    let mut missed = (1.0 - text) * (1.0 - TAGS_SHARE * tags);
    for facet in facets.iter() {
        missed *= if facet == Facet::ErrorFamily { 1.0 - ERROR_FAMILY_SHARE } else { 1.0 - FACET_SHARE };
    }
    1.0 - missed
}

/// Returns the closeness that tags and facets add: the same error family weighs most, then tags and facets, then words.
pub fn facet_nearness(tags: f64, facets: FacetSet) -> f64 {
    let near = |facet: Facet| if facet == Facet::ErrorFamily { ERROR_FAMILY_NEARNESS } else { FACET_NEARNESS };
    TAGS_SHARE * tags + facets.iter().map(near).sum::<f64>()
}

/// Returns true if the lesson is on the question's topic at all: by a tag, by the error family, or by enough words.
/// Other facets alone are not a topic.
pub fn meets_topic(text: f64, tags: f64, facets: FacetSet, floor: f64) -> bool {
    tags > 0.0 || facets.contains(Facet::ErrorFamily) || (text > 0.0 && text >= floor)
}
