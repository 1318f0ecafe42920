//! Entries that repeat an earlier one, word for word or in other words.
//!
//! Never all pairs: what says the same shares words that few others have, so an entry is held only against those
//! earlier ones that share its rarest words. An entry that repeats another is not held against any more, so that a
//! thousand copies of one cost a thousand comparisons and not half a million.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Entry;
use crate::domain::{Facets, MemoryCategory, MemoryKind};
use crate::judge::{Background, Features, Kin, Saying, Thresholds, relate};
use crate::text::{Cutter, thesaurus};

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;

/// So many places in the lists of words are looked at for one entry, those of the rarest words first.
const MAX_VISITS: usize = 2_000;

/// And it is held against so many others, those with most of its rare words.
const MAX_HELD: usize = 24;

/// With less of their words in common, two entries do not say the same: no need to look closer.
const MIN_COMMON: f64 = 0.3;

/// As much of an entry as is compared, as the judge has it.
const MAX_BYTES: usize = 4_000;

/// What an entry repeats, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    /// To the letter but for case and blanks.
    Exactly(usize),
    /// In other words.
    Nearly(usize),
}

/// For each entry the earlier one that it repeats, if there is one. The entries come in order of seniority.
pub(super) fn find(entries: &[&Entry], thresholds: &Thresholds) -> Vec<Option<Copied>> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut copied: Vec<Option<Copied>> = Vec::with_capacity(entries.len());
    let mut originals: Vec<usize> = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let original = *first.entry(plain(&entry.text)).or_insert(place);
        copied.push((original != place).then_some(Copied::Exactly(original)));
        if original == place {
            originals.push(place);
        }
    }
    let texts: Vec<&str> =
        originals.iter().filter_map(|&at| entries.get(at)).map(|entry| entry.text.as_str()).collect();
    for (index, near) in near(&texts, thresholds).into_iter().enumerate() {
        let places = near.and_then(|of| Some((*originals.get(index)?, *originals.get(of)?)));
        if let Some((place, of)) = places
            && let Some(copied) = copied.get_mut(place)
        {
            *copied = Some(Copied::Nearly(of));
        }
    }
    copied
}

/// For each text the earlier one that says the same, if there is one that repeats nothing itself.
fn near(texts: &[&str], thresholds: &Thresholds) -> Vec<Option<usize>> {
    let mut cutter = Cutter::default();
    let features: Vec<Features> = texts.iter().map(|text| features(text, &mut cutter)).collect();
    let background = Background::of(&features);
    let mut blocks = Blocks::new(texts, &mut cutter);
    let mut found = Vec::with_capacity(texts.len());
    for (index, own) in features.iter().enumerate() {
        let mut best: Option<(f64, usize)> = None;
        for other in blocks.candidates(index) {
            let Some(others) = features.get(other) else { continue };
            let likeness = relate(own, others, &background, None, thresholds);
            let is_said_again = likeness.similarity >= thresholds.same_above
                && matches!(likeness.relation, Kin::Same | Kin::Refines | Kin::Unsure);
            if is_said_again && best.is_none_or(|(most, _)| likeness.similarity > most) {
                best = Some((likeness.similarity, other));
            }
        }
        if best.is_none() {
            blocks.keep(index);
        }
        found.push(best.map(|(_, other)| other));
    }
    found
}

/// The words of many texts, and which of the texts that are kept have which.
struct Blocks {
    /// The words of each text by their numbers, the rarest first.
    words: Vec<Vec<usize>>,
    /// What each word weighs: more, the fewer texts have it.
    weights: Vec<f64>,
    /// What all words of each text weigh.
    totals: Vec<f64>,
    /// The kept texts that have a word.
    holders: Vec<Vec<usize>>,
}

impl Blocks {
    fn new(texts: &[&str], cutter: &mut Cutter) -> Self {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut counts: Vec<usize> = Vec::new();
        let mut words: Vec<Vec<usize>> = Vec::with_capacity(texts.len());
        for text in texts {
            let meanings: BTreeSet<String> =
                cutter.words(beginning(text)).into_iter().map(thesaurus::meaning).collect();
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

    /// Lets later texts be held against this one.
    fn keep(&mut self, text: usize) {
        for &word in self.words.get(text).map(Vec::as_slice).unwrap_or_default() {
            if let Some(holders) = self.holders.get_mut(word) {
                holders.push(text);
            }
        }
    }

    /// The kept texts that may say the same as this one, the likeliest first.
    fn candidates(&self, text: usize) -> Vec<usize> {
        let own = self.words.get(text).map(Vec::as_slice).unwrap_or_default();
        let mut shared: HashMap<usize, f64> = HashMap::new();
        let mut visits = 0;
        for &word in own {
            let holders = self.holders.get(word).map(Vec::as_slice).unwrap_or_default();
            for &holder in holders.iter().take(MAX_VISITS - visits) {
                *shared.entry(holder).or_default() += self.weight(word);
            }
            visits = (visits + holders.len()).min(MAX_VISITS);
        }
        let mut likely: Vec<(usize, f64)> = shared.into_iter().collect();
        likely.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        likely.truncate(MAX_HELD);
        let own: HashSet<usize> = own.iter().copied().collect();
        likely.retain(|(other, _)| self.common(text, &own, *other) >= MIN_COMMON);
        likely.into_iter().map(|(other, _)| other).collect()
    }

    /// How much of the lighter of two texts both have; `own` are the words of the one.
    fn common(&self, one: usize, own: &HashSet<usize>, other: usize) -> f64 {
        let others = self.words.get(other).map(Vec::as_slice).unwrap_or_default();
        let both: f64 = others.iter().filter(|word| own.contains(word)).map(|&word| self.weight(word)).sum();
        let total = |text: usize| self.totals.get(text).copied().unwrap_or_default();
        both / total(one).min(total(other)).max(f64::MIN_POSITIVE)
    }

    fn weight(&self, word: usize) -> f64 {
        self.weights.get(word).copied().unwrap_or_default()
    }
}

/// What the judge compares. A line that is a rule beside other lines is the entry's rule.
fn features(text: &str, cutter: &mut Cutter) -> Features {
    let is_rule = |line: &&str| line.trim_start().starts_with("IF ") && line.contains(" THEN ");
    let rule = text.lines().find(is_rule).filter(|rule| rule.trim().len() < text.trim().len());
    let rest = rule.map(|rule| text.lines().filter(|line| *line != rule).collect::<Vec<_>>().join("\n"));
    let saying = Saying {
        summary: rest.as_deref().unwrap_or(text),
        rule: rule.map(str::trim),
        tags: &[],
        facets: &Facets::default(),
        kind: &MemoryKind::Lesson,
        category: &MemoryCategory::Heuristic,
    };
    Features::of(&saying, cutter)
}

/// A text in lower case with single blanks.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// A number for a row of words, the same on every machine.
pub(super) fn fingerprint<'a>(words: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for word in words {
        for byte in word.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}
