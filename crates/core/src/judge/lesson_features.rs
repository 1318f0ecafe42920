//! The features of a lesson, computed once so that comparing it with many others is cheap.

use std::collections::{BTreeMap, BTreeSet};

use super::lexicon;
use super::statement::LessonStatement;
use super::text_chunks::{ChunkShape, LessonChunk, split_chunks};
use crate::domain::{FacetValues, MemoryCategory, MemoryKind};
use crate::text::{WordSplitter, thesaurus};

#[cfg(test)]
#[path = "lesson_features_tests.rs"]
mod tests;

/// The number of consecutive letters in one gram.
const GRAM: usize = 4;

/// The number of words that a negation affects.
const REACH: usize = 6;

/// The separator between a rule's condition and its recommendation.
const THEN: &str = " THEN ";

/// The most bytes of a text that are read: a lesson is a few sentences.
const MAX_BYTES: usize = 4_000;

/// Words in alphabetical order, each with its count.
pub(super) type Bag = Vec<(String, f64)>;

/// The text of a lesson, split into comparable features.
#[derive(Debug, Clone)]
pub struct LessonFeatures {
    /// Summary and rule in lower case with single spaces, to detect exact copies.
    pub(super) plain: String,
    /// The words of summary and rule, each by its meaning.
    pub(super) whole: Bag,
    /// The words of the summary.
    pub(super) summary: Bag,
    /// The words of the rule.
    pub(super) rule: Option<Bag>,
    /// The pairs of adjacent words.
    pub(super) pairs: BTreeSet<(String, String)>,
    /// Letter grams of the summary, by their hashes.
    pub(super) grams: Vec<(u32, f64)>,
    /// Commands, paths, flags and identifiers.
    pub(super) marks: BTreeSet<String>,
    /// Numbers and versions.
    pub(super) numbers: BTreeSet<String>,
    /// Numbers by the word that they follow.
    pub(super) slots: BTreeMap<String, BTreeSet<String>>,
    /// Plain words as they were written, in lower case.
    pub(super) spoken: BTreeSet<String>,
    /// Words that something negates.
    pub(super) turned: BTreeSet<String>,
    /// Words that nothing negates.
    pub(super) straight: BTreeSet<String>,
    /// The names in the recommendation, in the order of the text, where words such as `before` or `first` make that
    /// order matter.
    pub(super) sequence: Vec<String>,
    /// Commands, paths, flags and identifiers in the recommendation of the rule.
    pub(super) advised_marks: BTreeSet<String>,
    /// True if it says that things have changed.
    pub(super) changed: bool,
    /// The words of the recommendation: what the rule says after THEN, or else the summary.
    pub(super) recommendation: Bag,
    /// True if it is a decision or a preference.
    pub(super) settles: bool,
    /// The facets of the lesson.
    pub(super) facets: FacetValues,
}

impl LessonFeatures {
    /// Extracts the features of a lesson or a candidate.
    pub fn extract(claim: &LessonStatement<'_>, cutter: &mut WordSplitter) -> Self {
        let (summary_text, rule_text) = (cut_to_limit(claim.summary), claim.rule.map(cut_to_limit));
        let summary_words = word_meanings(summary_text, cutter);
        let rule_words = rule_text.map(|rule| word_meanings(rule, cutter));
        let mut pairs: BTreeSet<(String, String)> = adjacent_pairs(&summary_words);
        pairs.extend(rule_words.iter().flat_map(|words| adjacent_pairs(words)));
        let recommendation = rule_text.and_then(|rule| rule.split_once(THEN)).map(|(_, recommendation)| recommendation);
        let mut features = Self {
            plain: normalize_text(summary_text, rule_text),
            whole: count_words(summary_words.iter().chain(rule_words.iter().flatten())),
            summary: count_words(&summary_words),
            rule: rule_words.as_ref().map(count_words),
            pairs,
            grams: count_letter_grams(summary_text),
            marks: BTreeSet::new(),
            numbers: BTreeSet::new(),
            slots: BTreeMap::new(),
            spoken: BTreeSet::new(),
            turned: BTreeSet::new(),
            straight: BTreeSet::new(),
            sequence: Vec::new(),
            advised_marks: BTreeSet::new(),
            changed: lexicon::reports_change(summary_text) || rule_text.is_some_and(lexicon::reports_change),
            recommendation: recommendation.map_or_else(
                || count_words(&summary_words),
                |recommendation| count_words(&word_meanings(recommendation, cutter)),
            ),
            settles: matches!(claim.kind, MemoryKind::Decision | MemoryKind::Preference)
                || matches!(claim.category, MemoryCategory::Decision | MemoryCategory::Preference),
            facets: claim.facets.clone(),
        };
        let summary_chunks = split_chunks(summary_text);
        features.read_chunks(&summary_chunks, cutter);
        features.read_chunks(&split_chunks(rule_text.unwrap_or_default()), cutter);
        features.read_recommendation(&split_chunks(recommendation.unwrap_or_default()), &summary_chunks, cutter);
        features
    }

    /// Reads what only the order and the shape of words tell.
    fn read_chunks(&mut self, chunks: &[LessonChunk], cutter: &mut WordSplitter) {
        let mut clause: Vec<&LessonChunk> = Vec::new();
        let mut before: Option<&str> = None;
        for chunk in chunks {
            if chunk.begins {
                self.read_clause(&std::mem::take(&mut clause), cutter);
            }
            clause.push(chunk);
            match chunk.shape {
                ChunkShape::Word => self.spoken.insert(chunk.text.clone()),
                ChunkShape::Number => self.numbers.insert(strip_unit(&chunk.text)),
                ChunkShape::Mark => self.marks.insert(chunk.text.clone()),
            };
            if let Some(number) = lexicon::parse_number_word(&chunk.text) {
                self.numbers.insert(number.to_owned());
            }
            match (chunk.shape, before) {
                (ChunkShape::Number, Some(before)) => {
                    self.slots.entry(before.to_owned()).or_default().insert(strip_unit(&chunk.text));
                }
                _ => before = Some(&chunk.text),
            }
        }
        self.read_clause(&clause, cutter);
    }

    /// Records the names in the recommendation, and their order where that matters.
    fn read_recommendation(
        &mut self,
        recommendation: &[LessonChunk],
        summary: &[LessonChunk],
        cutter: &mut WordSplitter,
    ) {
        let marks = recommendation.iter().filter(|chunk| chunk.shape == ChunkShape::Mark);
        self.advised_marks = marks.map(|chunk| chunk.text.clone()).collect();
        let is_ordered = |chunks: &[LessonChunk]| chunks.iter().any(|chunk| lexicon::is_ordering_word(&chunk.text));
        // "Before the tests start redis" has its order inverted; whether that is so, only a reader knows.
        let is_fronted =
            summary.iter().chain(recommendation).any(|chunk| chunk.begins && lexicon::inverts_order(&chunk.text));
        if is_fronted || (!is_ordered(summary) && !is_ordered(recommendation)) {
            return;
        }
        let spoken = if is_ordered(recommendation) { recommendation } else { summary };
        let is_name =
            |chunk: &&LessonChunk| chunk.shape == ChunkShape::Mark || !thesaurus::is_ordinary_word(&chunk.text);
        for name in spoken.iter().filter(is_name).flat_map(|chunk| word_meanings(&chunk.text, cutter)) {
            if !self.sequence.contains(&name) {
                self.sequence.push(name);
            }
        }
    }

    /// Separates the negated words of a clause from the others.
    fn read_clause(&mut self, clause: &[&LessonChunk], cutter: &mut WordSplitter) {
        let mut words: Vec<(&LessonChunk, bool)> = Vec::new();
        let mut reach = 0;
        for (at, &chunk) in clause.iter().enumerate() {
            let next = clause.get(at + 1).map(|next| next.text.as_str()).unwrap_or_default();
            let is_turning =
                lexicon::is_negation(&chunk.text) || lexicon::is_negation(&format!("{} {next}", chunk.text));
            if is_turning && chunk.shape == ChunkShape::Word {
                reach = REACH;
                if words.last().is_some_and(|(last, _)| lexicon::is_auxiliary_verb(&last.text)) {
                    words.iter_mut().for_each(|(_, turned)| *turned = true);
                }
                continue;
            }
            match chunk.text.as_str() {
                "but" | "then" | "instead" | "because" | "so" | "since" => reach = 0,
                "alone" if words.iter().any(|(word, _)| word.text == "leave") => {
                    words
                        .iter_mut()
                        .skip_while(|(word, _)| word.text != "leave")
                        .for_each(|(_, turned)| *turned = true);
                }
                _ => {}
            }
            words.push((chunk, reach > 0));
            reach = reach.saturating_sub(1);
        }
        for (chunk, turned) in words {
            let side = if turned { &mut self.turned } else { &mut self.straight };
            side.extend(word_meanings(&chunk.text, cutter));
        }
    }
}

/// Returns a number without its unit or its sign.
fn strip_unit(text: &str) -> String {
    let text = text.trim_matches(|c: char| !c.is_ascii_digit());
    text.trim_end_matches(".0").to_owned()
}

/// Returns the words of a text, each by its meaning, in order.
fn word_meanings(text: &str, cutter: &mut WordSplitter) -> Vec<String> {
    cutter.split_words(text).into_iter().map(thesaurus::canonical_stem).collect()
}

fn count_words<'a>(words: impl IntoIterator<Item = &'a String>) -> Bag {
    let mut counts: BTreeMap<&String, f64> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1.0;
    }
    counts.into_iter().map(|(word, count)| (word.clone(), count)).collect()
}

fn adjacent_pairs(words: &[String]) -> BTreeSet<(String, String)> {
    words.iter().zip(words.iter().skip(1)).map(|(one, two)| (one.clone(), two.clone())).collect()
}

fn normalize_text(summary: &str, rule: Option<&str>) -> String {
    let words = summary
        .split_whitespace()
        .chain(rule.into_iter().flat_map(|rule| std::iter::once("/").chain(rule.split_whitespace())));
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Counts all letter grams of a text by their hashes; signs and white space count as one space.
fn count_letter_grams(text: &str) -> Vec<(u32, f64)> {
    let mut letters = vec![' '];
    for letter in text.chars().flat_map(char::to_lowercase) {
        let letter = if letter.is_alphanumeric() { letter } else { ' ' };
        if letter != ' ' || letters.last() != Some(&' ') {
            letters.push(letter);
        }
    }
    if letters.last() != Some(&' ') {
        letters.push(' ');
    }
    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
    for gram in letters.windows(GRAM) {
        *counts.entry(hash_letters(gram)).or_default() += 1.0;
    }
    counts.into_iter().collect()
}

fn hash_letters(letters: &[char]) -> u32 {
    letters.iter().fold(2_166_136_261, |hash, &letter| (hash ^ u32::from(letter)).wrapping_mul(16_777_619))
}

/// Returns at most `MAX_BYTES` bytes of a text.
fn cut_to_limit(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}
