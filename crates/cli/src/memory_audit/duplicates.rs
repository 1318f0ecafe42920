//! Finds entries that repeat an earlier one, either exactly or in other words.
//!
//! Not all pairs are compared: entries that say the same share words that few others have, so an entry is compared only
//! with the earlier ones that share its rarest words. An entry that repeats another is not compared with later ones, so
//! that a thousand copies of one entry cost a thousand comparisons and not half a million.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::AuditEntry;
use archivist_core::domain::{FacetValues, MemoryCategory, MemoryKind};
use archivist_core::judge::{
    JudgedRelation, LessonFeatures, LessonStatement, SimilarityThresholds, WordFrequencies, relate_lessons,
};
use archivist_core::text::{WordSplitter, thesaurus};

#[cfg(test)]
#[path = "duplicates_tests.rs"]
mod tests;

/// The most index positions visited for one entry, those of its rarest words first.
const MAX_VISITS: usize = 2_000;

/// The most other entries compared with one entry, those that share most of its rare words.
const MAX_HELD: usize = 24;

/// Two entries that share less than this part of their word weight are not compared any closer.
const MIN_COMMON: f64 = 0.3;

/// The number of bytes of an entry that are compared, as in the judge.
const MAX_BYTES: usize = 4_000;

/// The earlier entry that an entry repeats, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DuplicateMatch {
    /// The texts are equal except for case and whitespace.
    Exactly(usize),
    /// The texts say the same in other words.
    Nearly(usize),
}

/// Returns for each entry the earlier one that it repeats, if any. The entries must be in order of seniority.
pub(super) fn find_duplicates(
    entries: &[&AuditEntry],
    thresholds: &SimilarityThresholds,
) -> Vec<Option<DuplicateMatch>> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut copied: Vec<Option<DuplicateMatch>> = Vec::with_capacity(entries.len());
    let mut originals: Vec<usize> = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let original = *first.entry(normalize_text(&entry.text)).or_insert(place);
        copied.push((original != place).then_some(DuplicateMatch::Exactly(original)));
        if original == place {
            originals.push(place);
        }
    }
    let texts: Vec<&str> =
        originals.iter().filter_map(|&at| entries.get(at)).map(|entry| entry.text.as_str()).collect();
    for (index, near) in find_near_duplicates(&texts, thresholds).into_iter().enumerate() {
        let places = near.and_then(|of| Some((*originals.get(index)?, *originals.get(of)?)));
        if let Some((place, of)) = places
            && let Some(copied) = copied.get_mut(place)
        {
            *copied = Some(DuplicateMatch::Nearly(of));
        }
    }
    copied
}

/// Returns for each text the earlier one that says the same, if there is one that is no duplicate itself.
fn find_near_duplicates(texts: &[&str], thresholds: &SimilarityThresholds) -> Vec<Option<usize>> {
    let mut cutter = WordSplitter::default();
    let statements: Vec<ComparedEntry> = texts.iter().map(|text| ComparedEntry::from_text(text, &mut cutter)).collect();
    let judge = EntryComparer {
        background: WordFrequencies::from_lessons(statements.iter().map(|cut| &cut.said)),
        thresholds: *thresholds,
    };
    let mut blocks = RareWordIndex::new(texts, &mut cutter);
    let mut found = Vec::with_capacity(texts.len());
    for (index, own) in statements.iter().enumerate() {
        let mut best: Option<(f64, usize)> = None;
        for other in blocks.find_candidates(index) {
            let likeness = statements.get(other).and_then(|others| judge.measure_duplicate(own, others));
            if let Some(likeness) = likeness
                && best.is_none_or(|(most, _)| likeness > most)
            {
                best = Some((likeness, other));
            }
        }
        if best.is_none() {
            blocks.add_original(index);
        }
        found.push(best.map(|(_, other)| other));
    }
    found
}

/// The features by which the judge compares an entry.
struct ComparedEntry {
    /// The features of the text without its rule.
    said: LessonFeatures,
    /// The features of the text and its rule, if it has one: a line IF … THEN … among others.
    ruled: Option<LessonFeatures>,
}

impl ComparedEntry {
    fn from_text(text: &str, cutter: &mut WordSplitter) -> Self {
        let is_rule = |line: &&str| line.trim_start().starts_with("IF ") && line.contains(" THEN ");
        let rule = text.lines().find(is_rule).filter(|rule| rule.trim().len() < text.trim().len());
        let Some(rule) = rule else { return Self { said: extract_features(text, None, cutter), ruled: None } };
        let rest = text.lines().filter(|line| *line != rule).collect::<Vec<_>>().join("\n");
        Self {
            said: extract_features(&rest, None, cutter),
            ruled: Some(extract_features(&rest, Some(rule.trim()), cutter)),
        }
    }
}

/// Compares entries by the judge's measure and thresholds.
struct EntryComparer {
    background: WordFrequencies,
    thresholds: SimilarityThresholds,
}

impl EntryComparer {
    /// Returns the similarity of two entries if one says what the other says. A rule restates the text around it and
    /// makes any two lessons more alike, so it may keep two entries apart but never make them duplicates.
    fn measure_duplicate(&self, own: &ComparedEntry, other: &ComparedEntry) -> Option<f64> {
        let likeness = self.measure_similarity(&own.said, &other.said)?;
        let are_told_apart = own
            .ruled
            .as_ref()
            .zip(other.ruled.as_ref())
            .is_some_and(|(own, other)| self.measure_similarity(own, other).is_none());
        (!are_told_apart).then_some(likeness)
    }

    fn measure_similarity(&self, own: &LessonFeatures, other: &LessonFeatures) -> Option<f64> {
        let likeness = relate_lessons(own, other, &self.background, None, &self.thresholds);
        let is_said_again = likeness.similarity >= self.thresholds.same_above
            && matches!(likeness.relation, JudgedRelation::Same | JudgedRelation::Refines | JudgedRelation::Unsure);
        is_said_again.then_some(likeness.similarity)
    }
}

/// An index of the words of many texts, and of the original texts that contain each word.
struct RareWordIndex {
    /// The words of each text by their numbers, the rarest first.
    words: Vec<Vec<usize>>,
    /// The weight of each word, which is higher the fewer texts contain it.
    weights: Vec<f64>,
    /// The total weight of the words of each text.
    totals: Vec<f64>,
    /// The original texts that contain each word.
    holders: Vec<Vec<usize>>,
}

impl RareWordIndex {
    fn new(texts: &[&str], cutter: &mut WordSplitter) -> Self {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut counts: Vec<usize> = Vec::new();
        let mut words: Vec<Vec<usize>> = Vec::with_capacity(texts.len());
        for text in texts {
            let meanings: BTreeSet<String> =
                cutter.split_words(truncate_text(text)).into_iter().map(thesaurus::canonical_stem).collect();
            let mut own = Vec::with_capacity(meanings.len());
            for word in meanings {
                let fresh = numbers.len();
                let number = *numbers.entry(word).or_insert(fresh);
                if number == fresh {
                    counts.push(0);
                }
                if let Some(count) = counts.get_mut(number) {
                    *count += 1;
                }
                own.push(number);
            }
            words.push(own);
        }
        let count_of = |word: usize| counts.get(word).copied().unwrap_or_default();
        for own in &mut words {
            own.sort_unstable_by_key(|&word| (count_of(word), word));
        }
        let weights: Vec<f64> =
            counts.iter().map(|&count| (1.0 + texts.len() as f64 / count.max(1) as f64).ln()).collect();
        let weigh = |own: &Vec<usize>| own.iter().filter_map(|&word| weights.get(word)).sum();
        let totals = words.iter().map(weigh).collect();
        let holders = vec![Vec::new(); counts.len()];
        Self { words, weights, totals, holders }
    }

    /// Adds a text to the originals, with which later texts are compared.
    fn add_original(&mut self, text: usize) {
        for &word in self.words.get(text).map(Vec::as_slice).unwrap_or_default() {
            if let Some(holders) = self.holders.get_mut(word) {
                holders.push(text);
            }
        }
    }

    /// Returns the original texts that may say the same as this one, the likeliest first.
    fn find_candidates(&self, text: usize) -> Vec<usize> {
        let own = self.words.get(text).map(Vec::as_slice).unwrap_or_default();
        let mut shared: HashMap<usize, f64> = HashMap::new();
        let mut visits = 0;
        for &word in own {
            let holders = self.holders.get(word).map(Vec::as_slice).unwrap_or_default();
            for &holder in holders.iter().take(MAX_VISITS - visits) {
                *shared.entry(holder).or_default() += self.word_weight(word);
            }
            visits = (visits + holders.len()).min(MAX_VISITS);
        }
        let mut likely: Vec<(usize, f64)> = shared.into_iter().collect();
        likely.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        likely.truncate(MAX_HELD);
        let own: HashSet<usize> = own.iter().copied().collect();
        likely.retain(|(other, _)| self.measure_overlap(text, &own, *other) >= MIN_COMMON);
        likely.into_iter().map(|(other, _)| other).collect()
    }

    /// Returns the shared weight of two texts as a part of the lighter one; `own` holds the words of the first.
    fn measure_overlap(&self, one: usize, own: &HashSet<usize>, other: usize) -> f64 {
        let others = self.words.get(other).map(Vec::as_slice).unwrap_or_default();
        let both: f64 = others.iter().filter(|word| own.contains(word)).map(|&word| self.word_weight(word)).sum();
        let total = |text: usize| self.totals.get(text).copied().unwrap_or_default();
        both / total(one).min(total(other)).max(f64::MIN_POSITIVE)
    }

    fn word_weight(&self, word: usize) -> f64 {
        self.weights.get(word).copied().unwrap_or_default()
    }
}

fn extract_features(summary: &str, rule: Option<&str>, cutter: &mut WordSplitter) -> LessonFeatures {
    let statement = LessonStatement {
        summary,
        rule,
        tags: &[],
        facets: &FacetValues::default(),
        kind: &MemoryKind::Lesson,
        category: &MemoryCategory::Heuristic,
    };
    LessonFeatures::extract(&statement, cutter)
}

/// Returns the text in lower case with single spaces.
fn normalize_text(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn truncate_text(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}
