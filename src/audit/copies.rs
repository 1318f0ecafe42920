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
    let sayings: Vec<Cut> = texts.iter().map(|text| Cut::of(text, &mut cutter)).collect();
    let judge = Judge { background: Background::of(sayings.iter().map(|cut| &cut.said)), thresholds: *thresholds };
    let mut blocks = Blocks::new(texts, &mut cutter);
    let mut found = Vec::with_capacity(texts.len());
    for (index, own) in sayings.iter().enumerate() {
        let mut best: Option<(f64, usize)> = None;
        for other in blocks.candidates(index) {
            let likeness = sayings.get(other).and_then(|others| judge.said_again(own, others));
            if let Some(likeness) = likeness
                && best.is_none_or(|(most, _)| likeness > most)
            {
                best = Some((likeness, other));
            }
        }
        if best.is_none() {
            blocks.keep(index);
        }
        found.push(best.map(|(_, other)| other));
    }
    found
}

/// What the judge compares of an entry.
struct Cut {
    /// What it says beside its rule.
    said: Features,
    /// All of it, if it has a rule: a line IF … THEN … among others.
    ruled: Option<Features>,
}

impl Cut {
    fn of(text: &str, cutter: &mut Cutter) -> Self {
        let is_rule = |line: &&str| line.trim_start().starts_with("IF ") && line.contains(" THEN ");
        let rule = text.lines().find(is_rule).filter(|rule| rule.trim().len() < text.trim().len());
        let Some(rule) = rule else { return Self { said: features(text, None, cutter), ruled: None } };
        let rest = text.lines().filter(|line| *line != rule).collect::<Vec<_>>().join("\n");
        Self { said: features(&rest, None, cutter), ruled: Some(features(&rest, Some(rule.trim()), cutter)) }
    }
}

/// By what entries are held against each other.
struct Judge {
    background: Background,
    thresholds: Thresholds,
}

impl Judge {
    /// How alike two entries are, if the one says what the other says. A rule repeats in other words what is said
    /// beside it and makes any two lessons more alike: it may tell two apart and not make them one.
    fn said_again(&self, own: &Cut, other: &Cut) -> Option<f64> {
        let likeness = self.likeness(&own.said, &other.said)?;
        let are_told_apart = own
            .ruled
            .as_ref()
            .zip(other.ruled.as_ref())
            .is_some_and(|(own, other)| self.likeness(own, other).is_none());
        (!are_told_apart).then_some(likeness)
    }

    fn likeness(&self, own: &Features, other: &Features) -> Option<f64> {
        let likeness = relate(own, other, &self.background, None, &self.thresholds);
        let is_said_again = likeness.similarity >= self.thresholds.same_above
            && matches!(likeness.relation, Kin::Same | Kin::Refines | Kin::Unsure);
        is_said_again.then_some(likeness.similarity)
    }
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

fn features(summary: &str, rule: Option<&str>, cutter: &mut Cutter) -> Features {
    let saying = Saying {
        summary,
        rule,
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
