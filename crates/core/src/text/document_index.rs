//! Finds the place of a document that says what a text says. Agents are given the documents of a project anyway, so a
//! lesson that only restates one teaches nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::WordSplitter;

#[cfg(test)]
#[path = "document_index_tests.rs"]
mod tests;

/// The share of a text's words that must appear in one line, sentence or paragraph, or in several of one document.
const MIN_SHARE: f64 = 0.8;

/// The shares of the line and of the text that are enough together.
const MIN_LINE_SHARE: f64 = 0.9;
const MIN_REST_SHARE: f64 = 0.6;

/// Fewer shared words than this are a coincidence.
const MIN_WORDS: usize = 4;

/// A line, sentence or paragraph with this many times the words of a text has them by chance.
const MAX_TIMES_LONGER: usize = 5;

/// The number of bytes of a document or a text that are read.
const MAX_BYTES: usize = 1024 * 1024;

/// A line of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPlace<'a> {
    /// The path of the document.
    pub path: &'a str,
    /// The number of the line, from 1.
    pub line: usize,
}

/// An index of the lines, sentences and paragraphs of documents by their words.
#[derive(Debug, Default)]
pub struct DocumentIndex {
    paths: Vec<String>,
    units: Vec<DocumentUnit>,
    /// The number of each word.
    numbers: HashMap<String, usize>,
    /// The units that contain a word, by its number.
    units_by_word: Vec<Vec<usize>>,
}

/// A line, a sentence or a paragraph of a document.
#[derive(Debug)]
struct DocumentUnit {
    document: usize,
    line: usize,
    /// The numbers of its words.
    words: Vec<usize>,
}

impl DocumentIndex {
    /// Makes an index of documents, each given by its path and its text.
    pub fn new<'d>(documents: impl IntoIterator<Item = (&'d str, &'d str)>) -> Self {
        let mut index = Self::default();
        let mut splitter = WordSplitter::default();
        for (path, text) in documents {
            index.paths.push(path.to_owned());
            let mut paragraph = String::new();
            let mut begin = 1;
            for (number, line) in (1..).zip(limit_text(text).lines().chain([""])) {
                if line.trim().is_empty() || line.trim_start().starts_with(['-', '*', '#', '|', '>']) {
                    index.add_paragraph(begin, &paragraph, &mut splitter);
                    paragraph.clear();
                    begin = number;
                }
                index.add_unit(number, line, &mut splitter);
                paragraph.push_str(line.trim());
                paragraph.push(' ');
            }
            index.add_paragraph(begin, &paragraph, &mut splitter);
        }
        index
    }

    /// Returns the first place that says what `text` says, if there is one.
    ///
    /// Either one line, sentence or paragraph has most words of the text, in any order, or most sentences of the text
    /// stand in one document, each in a line, sentence or paragraph of its own.
    pub fn find_restated_place(&self, text: &str) -> Option<DocumentPlace<'_>> {
        let text = limit_text(text);
        let mut splitter = WordSplitter::default();
        let whole = self.number_words(&split_distinct_words(text, &mut splitter));
        if let Some(unit) = self.find_units(&whole).into_iter().next() {
            return self.place_of_unit(unit);
        }
        self.find_restated_sentences(text, &mut splitter)
    }

    fn find_restated_sentences(&self, text: &str, splitter: &mut WordSplitter) -> Option<DocumentPlace<'_>> {
        let mut total = 0;
        // The first unit of each document, and the number of words of the sentences that stand there.
        let mut found: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for sentence in split_sentences(text) {
            let words = split_distinct_words(sentence, splitter);
            total += words.len();
            let mut documents = BTreeSet::new();
            for number in self.find_units(&self.number_words(&words)) {
                let Some(unit) = self.units.get(number) else { continue };
                if documents.insert(unit.document) {
                    found.entry(unit.document).or_insert((number, 0)).1 += words.len();
                }
            }
        }
        let (unit, _) = found.into_values().find(|(_, restated)| share_of(*restated, total) >= MIN_SHARE)?;
        self.place_of_unit(unit)
    }

    fn place_of_unit(&self, number: usize) -> Option<DocumentPlace<'_>> {
        let unit = self.units.get(number)?;
        Some(DocumentPlace { path: self.paths.get(unit.document)?, line: unit.line })
    }

    /// Returns the number of each word, or `None` for a word that is in no document.
    fn number_words(&self, words: &BTreeSet<String>) -> Vec<Option<usize>> {
        words.iter().map(|word| self.numbers.get(word).copied()).collect()
    }

    /// Returns the units that have enough of the words, in the order of the documents.
    fn find_units(&self, words: &[Option<usize>]) -> BTreeSet<usize> {
        let own: BTreeSet<usize> = words.iter().flatten().copied().collect();
        let is_enough = |shared: usize| shared >= MIN_WORDS && share_of(shared, words.len()) >= MIN_REST_SHARE;
        // A unit that lacks all of the rarest words cannot have enough of the others, so only units with one of them
        // are compared.
        let mut rarest: Vec<&[usize]> =
            own.iter().filter_map(|word| self.units_by_word.get(*word)).map(Vec::as_slice).collect();
        rarest.sort_by_key(|units| units.len());
        let mut compared = BTreeSet::new();
        for (checked, units) in rarest.iter().enumerate() {
            if !is_enough(own.len().saturating_sub(checked)) {
                break;
            }
            compared.extend(units.iter().copied());
        }
        compared.retain(|number| {
            self.units.get(*number).is_some_and(|unit| {
                let shared = unit.words.iter().filter(|word| own.contains(word)).count();
                let is_most = share_of(shared, words.len()) >= MIN_SHARE;
                let is_long = unit.words.len() > words.len().saturating_mul(MAX_TIMES_LONGER);
                is_enough(shared) && !is_long && (is_most || share_of(shared, unit.words.len()) >= MIN_LINE_SHARE)
            })
        });
        compared
    }

    fn add_paragraph(&mut self, line: usize, paragraph: &str, splitter: &mut WordSplitter) {
        self.add_unit(line, paragraph, splitter);
        for sentence in paragraph.split(". ").filter(|sentence| sentence.len() < paragraph.trim_end().len()) {
            self.add_unit(line, sentence, splitter);
        }
    }

    /// Adds a unit of the last document.
    fn add_unit(&mut self, line: usize, text: &str, splitter: &mut WordSplitter) {
        let words = split_distinct_words(text, splitter);
        if words.len() < MIN_WORDS {
            return;
        }
        let unit = self.units.len();
        let mut numbers = Vec::with_capacity(words.len());
        for word in words {
            let number = *self.numbers.entry(word).or_insert(self.units_by_word.len());
            match self.units_by_word.get_mut(number) {
                Some(units) => units.push(unit),
                None => self.units_by_word.push(vec![unit]),
            }
            numbers.push(number);
        }
        self.units.push(DocumentUnit { document: self.paths.len().saturating_sub(1), line, words: numbers });
    }
}

fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split(". "))
}

fn split_distinct_words(text: &str, splitter: &mut WordSplitter) -> BTreeSet<String> {
    // "isn't" and "is not" are stop words; splitting the former at its apostrophe would leave a fragment.
    splitter.split_words(&text.replace("n't", " not").replace("n’t", " not")).into_iter().collect()
}

fn limit_text(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}

fn share_of(part: usize, whole: usize) -> f64 {
    let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    number(part) / number(whole.max(1))
}
