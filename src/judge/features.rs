//! What is worked out once of a lesson, so that holding it against many others is cheap.

use std::collections::{BTreeMap, BTreeSet};

use super::chunks::{Chunk, Shape, chunks};
use super::lexicon;
use super::saying::Saying;
use crate::domain::{Facets, MemoryCategory, MemoryKind};
use crate::text::{Cutter, thesaurus};

#[cfg(test)]
#[path = "features_tests.rs"]
mod tests;

/// So many letters in a row are one piece of spelling.
const GRAM: usize = 4;

/// A turning word reaches so many words far.
const REACH: usize = 6;

/// What stands between a rule's condition and its advice.
const THEN: &str = " THEN ";

/// As much of a text as is looked at: a lesson is a sentence or three.
const MAX_BYTES: usize = 4_000;

/// Words in order of the alphabet, each with how often it stands there.
pub(super) type Bag = Vec<(String, f64)>;

/// What a lesson says, cut into what can be compared.
#[derive(Debug, Clone)]
pub struct Features {
    /// Summary and rule in lower case with single blanks, to know what is the same to the letter.
    pub(super) plain: String,
    /// The words of summary and rule, each by what it means.
    pub(super) whole: Bag,
    /// Those of the summary.
    pub(super) summary: Bag,
    /// Those of the rule.
    pub(super) rule: Option<Bag>,
    /// Neighbouring words.
    pub(super) pairs: BTreeSet<(String, String)>,
    /// Pieces of spelling.
    pub(super) grams: Vec<(u32, f64)>,
    /// Commands, paths, flags and identifiers.
    pub(super) marks: BTreeSet<String>,
    /// Numbers and versions.
    pub(super) numbers: BTreeSet<String>,
    /// Numbers by the word they stand behind.
    pub(super) slots: BTreeMap<String, BTreeSet<String>>,
    /// Plain words as they were written, in lower case.
    pub(super) spoken: BTreeSet<String>,
    /// Words that something turns round.
    pub(super) turned: BTreeSet<String>,
    /// Words that nothing turns round.
    pub(super) straight: BTreeSet<String>,
    /// The names in what is to be done, in the order of the text, where words such as `before` or `first` make that
    /// order matter.
    pub(super) sequence: Vec<String>,
    /// Commands, paths, flags and identifiers in what the rule says is to be done.
    pub(super) advised_marks: BTreeSet<String>,
    /// Whether it says that things are no longer as they were.
    pub(super) changed: bool,
    /// The words of what is to be done: what the rule says behind THEN, or else the summary.
    pub(super) advice: Bag,
    /// Whether it settles something: a decision or a preference.
    pub(super) settles: bool,
    /// The circumstances.
    pub(super) facets: Facets,
}

impl Features {
    /// Cuts up what a lesson or a candidate says.
    pub fn of(saying: &Saying<'_>, cutter: &mut Cutter) -> Self {
        let (summary_text, rule_text) = (beginning(saying.summary), saying.rule.map(beginning));
        let summary_words = meanings(summary_text, cutter);
        let rule_words = rule_text.map(|rule| meanings(rule, cutter));
        let mut pairs: BTreeSet<(String, String)> = neighbours(&summary_words);
        pairs.extend(rule_words.iter().flat_map(|words| neighbours(words)));
        let advice = rule_text.and_then(|rule| rule.split_once(THEN)).map(|(_, advice)| advice);
        let mut features = Self {
            plain: plain(summary_text, rule_text),
            whole: bag(summary_words.iter().chain(rule_words.iter().flatten())),
            summary: bag(&summary_words),
            rule: rule_words.as_ref().map(bag),
            pairs,
            grams: grams(summary_text),
            marks: BTreeSet::new(),
            numbers: BTreeSet::new(),
            slots: BTreeMap::new(),
            spoken: BTreeSet::new(),
            turned: BTreeSet::new(),
            straight: BTreeSet::new(),
            sequence: Vec::new(),
            advised_marks: BTreeSet::new(),
            changed: lexicon::tells_of_change(summary_text) || rule_text.is_some_and(lexicon::tells_of_change),
            advice: advice.map_or_else(|| bag(&summary_words), |advice| bag(&meanings(advice, cutter))),
            settles: matches!(saying.kind, MemoryKind::Decision | MemoryKind::Preference)
                || matches!(saying.category, MemoryCategory::Decision | MemoryCategory::Preference),
            facets: saying.facets.clone(),
        };
        let summary_chunks = chunks(summary_text);
        features.read(&summary_chunks, cutter);
        features.read(&chunks(rule_text.unwrap_or_default()), cutter);
        features.read_advice(&chunks(advice.unwrap_or_default()), &summary_chunks, cutter);
        features
    }

    /// Takes in what only the order and the look of words tell.
    fn read(&mut self, chunks: &[Chunk], cutter: &mut Cutter) {
        let mut clause: Vec<&Chunk> = Vec::new();
        let mut before: Option<&str> = None;
        for chunk in chunks {
            if chunk.begins {
                self.read_clause(&std::mem::take(&mut clause), cutter);
            }
            clause.push(chunk);
            match chunk.shape {
                Shape::Word => self.spoken.insert(chunk.text.clone()),
                Shape::Number => self.numbers.insert(digits(&chunk.text)),
                Shape::Mark => self.marks.insert(chunk.text.clone()),
            };
            if let Some(number) = lexicon::number(&chunk.text) {
                self.numbers.insert(number.to_owned());
            }
            match (chunk.shape, before) {
                (Shape::Number, Some(before)) => {
                    self.slots.entry(before.to_owned()).or_default().insert(digits(&chunk.text));
                }
                _ => before = Some(&chunk.text),
            }
        }
        self.read_clause(&clause, cutter);
    }

    /// Notes the names in what is to be done, and their order where that matters.
    fn read_advice(&mut self, advice: &[Chunk], summary: &[Chunk], cutter: &mut Cutter) {
        let marks = advice.iter().filter(|chunk| chunk.shape == Shape::Mark);
        self.advised_marks = marks.map(|chunk| chunk.text.clone()).collect();
        let is_ordered = |chunks: &[Chunk]| chunks.iter().any(|chunk| lexicon::orders(&chunk.text));
        // "Before the tests start redis" has its order turned round; whether that is so, only a reader knows.
        let is_fronted = summary.iter().chain(advice).any(|chunk| chunk.begins && lexicon::may_be_fronted(&chunk.text));
        if is_fronted || (!is_ordered(summary) && !is_ordered(advice)) {
            return;
        }
        let spoken = if is_ordered(advice) { advice } else { summary };
        let is_name = |chunk: &&Chunk| chunk.shape == Shape::Mark || !thesaurus::is_ordinary(&chunk.text);
        for name in spoken.iter().filter(is_name).flat_map(|chunk| meanings(&chunk.text, cutter)) {
            if !self.sequence.contains(&name) {
                self.sequence.push(name);
            }
        }
    }

    /// Tells the words of a clause that something turns round from the others.
    fn read_clause(&mut self, clause: &[&Chunk], cutter: &mut Cutter) {
        let mut words: Vec<(&Chunk, bool)> = Vec::new();
        let mut reach = 0;
        for (at, &chunk) in clause.iter().enumerate() {
            let next = clause.get(at + 1).map(|next| next.text.as_str()).unwrap_or_default();
            let is_turning = lexicon::turns(&chunk.text) || lexicon::turns(&format!("{} {next}", chunk.text));
            if is_turning && chunk.shape == Shape::Word {
                reach = REACH;
                if words.last().is_some_and(|(last, _)| lexicon::bears(&last.text)) {
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
            side.extend(meanings(&chunk.text, cutter));
        }
    }
}

/// A number without its unit or its sign.
fn digits(text: &str) -> String {
    let text = text.trim_matches(|c: char| !c.is_ascii_digit());
    text.trim_end_matches(".0").to_owned()
}

/// The words of a text, each by what it means, in order.
fn meanings(text: &str, cutter: &mut Cutter) -> Vec<String> {
    cutter.words(text).into_iter().map(thesaurus::meaning).collect()
}

fn bag<'a>(words: impl IntoIterator<Item = &'a String>) -> Bag {
    let mut counts: BTreeMap<&String, f64> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1.0;
    }
    counts.into_iter().map(|(word, count)| (word.clone(), count)).collect()
}

fn neighbours(words: &[String]) -> BTreeSet<(String, String)> {
    words.iter().zip(words.iter().skip(1)).map(|(one, two)| (one.clone(), two.clone())).collect()
}

fn plain(summary: &str, rule: Option<&str>) -> String {
    let words = summary
        .split_whitespace()
        .chain(rule.into_iter().flat_map(|rule| std::iter::once("/").chain(rule.split_whitespace())));
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Every few letters in a row, with a blank where signs or blanks stand, by a fingerprint of theirs.
fn grams(text: &str) -> Vec<(u32, f64)> {
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
        *counts.entry(fingerprint(gram)).or_default() += 1.0;
    }
    counts.into_iter().collect()
}

fn fingerprint(letters: &[char]) -> u32 {
    letters.iter().fold(2_166_136_261, |hash, &letter| (hash ^ u32::from(letter)).wrapping_mul(16_777_619))
}

/// As much of a text as is looked at.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}
