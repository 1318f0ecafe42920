//! Detects lessons that only say what a document of the project says. Agents are given those documents anyway.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ProjectDocument;
use super::rule_form::LessonRule;
use crate::distill::unchecked_candidate::UncheckedCandidate;
use crate::text::WordSplitter;

#[cfg(test)]
#[path = "restated_documents_tests.rs"]
mod tests;

/// The share of a lesson's words that must appear in one line or sentence.
const MIN_SHARE: f64 = 0.8;

/// The shares of the line and of the lesson that are enough together.
const MIN_LINE_SHARE: f64 = 0.9;
const MIN_REST_SHARE: f64 = 0.6;

/// Fewer shared words than this are a coincidence.
const MIN_WORDS: usize = 4;

/// The most bytes of one document that are read.
const MAX_DOCUMENT_BYTES: usize = 512 * 1024;

/// An index of lines and sentences of documents by their words.
#[derive(Debug, Default)]
pub(super) struct DocumentLineIndex {
    units: Vec<DocumentUnit>,
    by_word: HashMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct DocumentUnit {
    path: String,
    line: usize,
    words: usize,
}

impl DocumentLineIndex {
    pub(super) fn new(documents: &[ProjectDocument]) -> Self {
        let mut restated = Self::default();
        let mut cutter = WordSplitter::default();
        for document in documents {
            let text = document.text.get(..document.text.floor_char_boundary(MAX_DOCUMENT_BYTES)).unwrap_or_default();
            let mut paragraph = String::new();
            let mut begins = 1;
            for (index, line) in text.lines().chain([""]).enumerate() {
                let is_new = line.trim().is_empty() || line.trim_start().starts_with(['-', '*', '#', '|', '>']);
                if is_new {
                    restated.add_sentences(&document.path, begins, &paragraph, &mut cutter);
                    paragraph.clear();
                    begins = index + 1;
                }
                restated.add_unit(&document.path, index + 1, line, &mut cutter);
                paragraph.push_str(line.trim());
                paragraph.push(' ');
            }
            restated.add_sentences(&document.path, begins, &paragraph, &mut cutter);
        }
        restated
    }

    fn add_sentences(&mut self, path: &str, line: usize, paragraph: &str, cutter: &mut WordSplitter) {
        self.add_unit(path, line, paragraph, cutter);
        for sentence in paragraph.split(". ").filter(|sentence| sentence.len() < paragraph.trim_end().len()) {
            self.add_unit(path, line, sentence, cutter);
        }
    }

    fn add_unit(&mut self, path: &str, line: usize, text: &str, cutter: &mut WordSplitter) {
        let words: BTreeSet<String> = cutter.split_words(text).into_iter().collect();
        if words.len() < MIN_WORDS {
            return;
        }
        let unit = self.units.len();
        self.units.push(DocumentUnit { path: path.to_owned(), line, words: words.len() });
        for word in words {
            self.by_word.entry(word).or_default().push(unit);
        }
    }

    /// Returns the document and line that say all of a candidate: its summary and, if it has one, its rule.
    pub(super) fn find_restatement(&self, claim: &UncheckedCandidate) -> Option<String> {
        let summary = self.find_unit(&[&claim.summary])?;
        let rule = claim.rule.as_deref().map(|rule| match LessonRule::parse(rule) {
            Ok(rule) => self.find_unit(&[&rule.condition, &rule.advice]),
            Err(_) => self.find_unit(&[rule]),
        });
        let is_restated = !matches!(rule, Some(None));
        let unit = self.units.get(summary).filter(|_| is_restated)?;
        Some(format!("{}: {}", unit.path, unit.line))
    }

    fn find_unit(&self, texts: &[&str]) -> Option<usize> {
        let words: BTreeSet<String> = texts.iter().flat_map(|text| crate::text::split_words(text)).collect();
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for word in &words {
            for unit in self.by_word.get(word).map(Vec::as_slice).unwrap_or_default() {
                *shared.entry(*unit).or_default() += 1;
            }
        }
        let share = |part: usize, whole: usize| {
            let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
            number(part) / number(whole.max(1))
        };
        shared
            .into_iter()
            .find(|(unit, count)| {
                let of_lesson = share(*count, words.len());
                let of_line = self.units.get(*unit).map_or(0.0, |unit| share(*count, unit.words));
                *count >= MIN_WORDS
                    && (of_lesson >= MIN_SHARE || (of_line >= MIN_LINE_SHARE && of_lesson >= MIN_REST_SHARE))
            })
            .map(|(unit, _)| unit)
    }
}
