//! How well a lesson meets a question, from 0 to 1.
//!
//! Words are weighed by BM25, as a share of what the question's words are worth together. A word is also met, for less,
//! by one that says the same and by what is typed for it. The share is then bent so that one floor means the same in a
//! memory of ten lessons and of a hundred thousand. The constants were fitted on public sets; `docs/benchmarks.md` has
//! the figures.

use std::collections::BTreeMap;

use crate::domain::{AgentMemory, Facet, FacetSet};
use crate::text::{Cutter, thesaurus};

#[cfg(test)]
#[path = "relevance_tests.rs"]
mod tests;

/// Saturation: how little the tenth mention of a word adds. A long lesson wears its words out in proportion.
const K1: f64 = 2.0;
/// So many words are added to the length of every lesson, so that the shortest do not win by being short.
const LENGTH_ADDED: f64 = 5.0;
/// What a word of everyday talk is worth beside others.
const EVERYDAY_SHARE: f64 = 0.85;
/// A word this rare, as a share of the rarest there could be, tells what a question is about.
const TELLING_SHARE: f64 = 0.4;

/// Before a lesson is looked at, words are taken to have been met in so many: of two lessons nobody learns which words are
/// rare. Names in nearly none of them, words that people use for many things in a few.
const PRIOR_LESSONS: f64 = 50.0;
const PRIOR_NAME: f64 = 0.2;
const PRIOR_ORDINARY: f64 = 3.0;

/// A word in more than this share of the lessons does not bring a lesson up by itself, in memories of so many and more:
/// looking at a tenth of everything for the sake of "test" takes longer than all the rest.
const COMMON_SHARE: f64 = 0.05;
const MANY_LESSONS: u64 = 2_000;

/// How overlap becomes relevance: where it starts, what the covered share adds, what each telling word adds up to so many
/// of them, what the sum adds, and what each e-fold of lessons takes away, as more of them are alike by chance.
const START: f64 = -2.33;
const COVERED: f64 = 7.585;
const TELLING: f64 = 0.964;
const MANY_TELLING: f64 = 10.0;
const SUM: f64 = 0.096;
const SIZE: f64 = -0.48;
/// In a question of more telling words than these some stand in any lesson by chance: what each of them, and the sum, adds
/// falls with the square root of their number. Chosen on real instructions; see `docs/benchmarks.md`.
const USUAL_TELLING: f64 = 12.0;
/// Fewer lessons count as so many, and more as so many.
const SMALL: f64 = 20.0;
const LARGE: f64 = 20_000.0;
/// The same beside an embedding, whose cosine then says most of it.
const EMBEDDED_START: f64 = -4.15;
const EMBEDDED_COVERED: f64 = 5.14;
const EMBEDDED_COSINE: f64 = 18.98;
const EMBEDDED_SIZE: f64 = -0.7;

/// The same failure is nearly all one can ask for.
const ERROR_FAMILY_SHARE: f64 = 0.9;
/// All the tags asked for, and nothing else in common.
const TAGS_SHARE: f64 = 0.6;
/// Each other circumstance that is the same.
const FACET_SHARE: f64 = 0.15;

/// How much closer the same failure brings a lesson, beside words whose share is about 1 at best; and each other
/// circumstance that is the same.
const ERROR_FAMILY_NEARNESS: f64 = 3.0;
const FACET_NEARNESS: f64 = 0.4;

/// A word counts this many halves where it stands: tags are chosen words, a detail is talk.
const TAG_WEIGHT: u32 = 3;
const SUMMARY_WEIGHT: u32 = 2;
const RULE_WEIGHT: u32 = 2;
const DETAIL_WEIGHT: u32 = 1;
/// Weights are counted in halves of a mention.
const HALVES: f64 = 2.0;

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
        for word in cutter.terms(text) {
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

/// The words of a question, and by which terms each may be met.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// Everything to look for, each once.
    terms: Vec<String>,
    /// For each of them, in how many of the lessons that nobody looked at it is taken to stand.
    priors: Vec<f64>,
    slots: Vec<Slot>,
}

/// One word of a question.
#[derive(Debug, Clone, PartialEq)]
struct Slot {
    /// How much it counts beside the others.
    weight: f64,
    /// Whether it is a name of something, and not a word for many things.
    is_name: bool,
    /// Places of terms that meet it, each with how much of it that counts. The word itself comes first.
    met_by: Vec<(usize, f64)>,
}

impl Question {
    /// Cuts a question's text into words.
    pub fn of(text: &str) -> Self {
        let mut repeats: BTreeMap<String, f64> = BTreeMap::new();
        for word in Cutter::default().terms(text) {
            *repeats.entry(word).or_default() += 1.0;
        }
        let mut terms: Vec<String> = repeats.keys().cloned().collect();
        let own = terms.len();
        let mut slots = Vec::new();
        for (place, (word, repeats)) in repeats.into_iter().enumerate() {
            let mut met_by = vec![(place, 1.0)];
            for (other, share) in thesaurus::others(&word) {
                let known = terms.iter().position(|term| term == other);
                // What is asked for by itself meets itself alone.
                if known.is_none_or(|known| known >= own) {
                    met_by.push((known.unwrap_or(terms.len()), *share));
                }
                if known.is_none() {
                    terms.push(other.clone());
                }
            }
            let everyday = if thesaurus::is_everyday(&word) { EVERYDAY_SHARE } else { 1.0 };
            let weight = 2.0 * repeats / (repeats + 1.0) * everyday;
            slots.push(Slot { weight, is_name: !thesaurus::is_ordinary(&word), met_by });
        }
        let prior = |term: &String| if thesaurus::is_ordinary(term) { PRIOR_ORDINARY } else { PRIOR_NAME };
        Self { priors: terms.iter().map(prior).collect(), terms, slots }
    }

    /// Everything to look for, each once.
    pub fn terms(&self) -> &[String] {
        &self.terms
    }
}

/// What a collection of lessons knows about the terms of one question.
///
/// Any memory that can fill this in, whether by walking postings or by reading everything, gives the same relevance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vocabulary {
    /// How many lessons there are.
    pub documents: u64,
    /// How long they are together.
    pub length: u64,
    /// For each term of the question, in its order, how many lessons hold it.
    pub holders: Vec<u64>,
}

impl Vocabulary {
    /// What a collection knows before anything of it was looked at.
    pub fn empty(question: &Question) -> Self {
        Self { documents: 0, length: 0, holders: vec![0; question.terms.len()] }
    }

    /// Works out once what every lesson is then measured with.
    pub fn measure(&self, question: &Question) -> Measure {
        let documents = self.documents.max(1) as f64;
        let average = self.length as f64 / HALVES / documents + LENGTH_ADDED;
        let holders = self.holders.iter().zip(&question.priors);
        let rarities: Vec<f64> = holders.map(|(&holders, prior)| self.rarity(holders as f64 + prior)).collect();
        let rarity = |term: usize| rarities.get(term).copied().unwrap_or_default();
        let rarest = self.rarity(PRIOR_NAME);
        let mut slots = Vec::new();
        for slot in &question.slots {
            let own = slot.met_by.first().map_or(0.0, |(term, _)| rarity(*term));
            let met_by = slot.met_by.iter();
            slots.push(Worth {
                worth: slot.weight * own,
                tells: slot.is_name && own >= TELLING_SHARE * rarest,
                met_by: met_by.map(|&(term, share)| (term, share * slot.weight * (K1 + 1.0) * rarity(term))).collect(),
            });
        }
        let telling = slots.iter().filter(|slot| slot.tells).map(|_| 1.0).sum::<f64>();
        Measure {
            dilution: (USUAL_TELLING / telling.max(USUAL_TELLING)).sqrt(),
            whole: slots.iter().map(|slot| slot.worth).sum::<f64>().max(LEAST),
            slots,
            brings: self.brings(),
            short: K1 * LENGTH_ADDED / average,
            long: K1 / HALVES / average,
            size: documents.clamp(SMALL, LARGE).ln(),
        }
    }

    fn rarity(&self, holders: f64) -> f64 {
        let documents = self.documents as f64 + PRIOR_LESSONS;
        (1.0 + (documents - holders + 0.5) / (holders + 0.5)).ln()
    }

    /// Which terms bring a lesson up; all of them where none is rare enough.
    fn brings(&self) -> Vec<bool> {
        let is_rare =
            |&holders: &u64| self.documents < MANY_LESSONS || holders as f64 <= COMMON_SHARE * self.documents as f64;
        let is_held = |holders: &&u64| **holders > 0;
        let all_common = !self.holders.iter().filter(is_held).any(is_rare);
        self.holders.iter().map(|holders| all_common || is_rare(holders)).collect()
    }
}

/// Nothing weighs less than this, so that a question without words divides nothing by nothing.
const LEAST: f64 = 1e-9;

/// One word of a question, weighed.
#[derive(Debug, Clone, PartialEq)]
struct Worth {
    /// What it is worth in a lesson that says it once.
    worth: f64,
    /// Whether it tells what the question is about.
    tells: bool,
    /// Places of terms, each with what it would be worth without end.
    met_by: Vec<(usize, f64)>,
}

/// Measures lessons against one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    slots: Vec<Worth>,
    /// What all words are worth together.
    whole: f64,
    /// Which terms bring a lesson up.
    brings: Vec<bool>,
    /// How fast a word wears off in a lesson without length, and by how much more for each half of a mention in it.
    short: f64,
    long: f64,
    /// The logarithm of how many lessons there are.
    size: f64,
    /// The part that counts of what telling words and the sum add, below 1 for a question of many telling words.
    dilution: f64,
}

/// What a lesson and a question have in common, by words.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Overlap {
    /// BM25 as a share of what the question's words are worth.
    pub share: f64,
    /// How much of what they are worth stands in the lesson at all.
    pub covered: f64,
    /// How many telling words stand there.
    pub telling: f64,
    /// BM25 itself. In a long question a small share may be a great deal.
    pub sum: f64,
}

impl Measure {
    /// Whether a term brings a lesson up by itself.
    pub fn brings(&self, term: usize) -> bool {
        self.brings.get(term).copied().unwrap_or_default()
    }

    /// The most that a term can add to the share of a lesson that holds it.
    pub fn most_share(&self, term: usize) -> f64 {
        self.most(term, |_, worth| worth / self.whole)
    }

    /// The most that a term can add to what a lesson must gain by its words: see [`Self::needed`].
    pub fn most_gain(&self, term: usize) -> f64 {
        let covering =
            |slot: &Worth| COVERED * slot.worth / self.whole + if slot.tells { self.dilution * TELLING } else { 0.0 };
        self.most(term, |own, worth| own.map_or(0.0, covering) + self.dilution * SUM * worth)
    }

    /// What a lesson must gain by its words alone to be this relevant, together with what no word can change. A lesson
    /// whose terms cannot add so much need not be looked at.
    pub fn needed(&self, relevance: f64) -> f64 {
        (relevance / (1.0 - relevance)).ln() - START - SIZE * self.size
    }

    /// The sum over the words that a term meets, each of them given where the term is the word itself, with what it would
    /// be worth without end.
    fn most(&self, term: usize, of: impl Fn(Option<&Worth>, f64) -> f64) -> f64 {
        let mut most = 0.0;
        for slot in &self.slots {
            let met = slot.met_by.iter().enumerate().filter(|(_, (met_by, _))| *met_by == term);
            most += met.map(|(place, (_, worth))| of((place == 0).then_some(slot), *worth)).sum::<f64>();
        }
        most
    }

    /// What a lesson has in common with the question; `None` if no word brings it up.
    pub fn overlap(&self, counts: &[u32], length: u32) -> Option<Overlap> {
        if !counts.iter().zip(&self.brings).any(|(count, brings)| *count > 0 && *brings) {
            return None;
        }
        let wear = self.short + self.long * f64::from(length);
        let mut overlap = Overlap::default();
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

    /// How relevant a lesson is, by what it has in common with the question and by the cosine of their embeddings.
    pub fn relevance(&self, overlap: Option<Overlap>, cosine: Option<f64>) -> f64 {
        let Overlap { share, covered, telling, sum } = overlap.unwrap_or_default();
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

/// How much a cosine counts beside the share of words. The share is absolute, so that a question whose words are unknown
/// leaves the order to the cosine by itself.
const COSINE_WEIGHT: f64 = 1.5;

/// What orders lessons by relevance alone: words, and the cosine of the embeddings where there is one.
pub fn closeness(overlap: Option<Overlap>, cosine: Option<f64>) -> f64 {
    overlap.map_or(0.0, |overlap| overlap.share) + COSINE_WEIGHT * cosine.unwrap_or_default()
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

/// How much closer tags and circumstances bring a lesson: the same failure before everything else, then what it is about,
/// then words.
pub fn nearness(tags: f64, facets: FacetSet) -> f64 {
    let near = |facet: Facet| if facet == Facet::ErrorFamily { ERROR_FAMILY_NEARNESS } else { FACET_NEARNESS };
    TAGS_SHARE * tags + facets.iter().map(near).sum::<f64>()
}

/// Whether the lesson is on the question's topic at all: by a tag, by the failure, or by words enough. Circumstances
/// alone are not a topic.
pub fn meets_topic(text: f64, tags: f64, facets: FacetSet, floor: f64) -> bool {
    tags > 0.0 || facets.contains(Facet::ErrorFamily) || (text > 0.0 && text >= floor)
}
