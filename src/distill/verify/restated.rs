//! Whether a lesson only says what a document of the project says. Agents are given those anyway.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Document;
use super::rule::Rule;
use crate::distill::claim::Claim;
use crate::text::Cutter;

#[cfg(test)]
#[path = "restated_tests.rs"]
mod tests;

/// So much of what a lesson says must stand in one line or sentence.
const MIN_SHARE: f64 = 0.8;

/// Or so much of the line in the lesson, if little else stands in it.
const MIN_LINE_SHARE: f64 = 0.9;
const MIN_REST_SHARE: f64 = 0.6;

/// Fewer words than this are shared by chance.
const MIN_WORDS: usize = 4;

/// As much of one document as is read.
const MAX_DOCUMENT_BYTES: usize = 512 * 1024;

/// Lines and sentences of documents, by their words.
#[derive(Debug, Default)]
pub(super) struct Restated {
    units: Vec<Unit>,
    by_word: HashMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct Unit {
    path: String,
    line: usize,
    words: usize,
}

impl Restated {
    pub(super) fn new(documents: &[Document]) -> Self {
        let mut restated = Self::default();
        let mut cutter = Cutter::default();
        for document in documents {
            let text = document.text.get(..document.text.floor_char_boundary(MAX_DOCUMENT_BYTES)).unwrap_or_default();
            let mut paragraph = String::new();
            let mut begins = 1;
            for (index, line) in text.lines().chain([""]).enumerate() {
                let is_new = line.trim().is_empty() || line.trim_start().starts_with(['-', '*', '#', '|', '>']);
                if is_new {
                    restated.sentences(&document.path, begins, &paragraph, &mut cutter);
                    paragraph.clear();
                    begins = index + 1;
                }
                restated.unit(&document.path, index + 1, line, &mut cutter);
                paragraph.push_str(line.trim());
                paragraph.push(' ');
            }
            restated.sentences(&document.path, begins, &paragraph, &mut cutter);
        }
        restated
    }

    fn sentences(&mut self, path: &str, line: usize, paragraph: &str, cutter: &mut Cutter) {
        self.unit(path, line, paragraph, cutter);
        for sentence in paragraph.split(". ").filter(|sentence| sentence.len() < paragraph.trim_end().len()) {
            self.unit(path, line, sentence, cutter);
        }
    }

    fn unit(&mut self, path: &str, line: usize, text: &str, cutter: &mut Cutter) {
        let words: BTreeSet<String> = cutter.words(text).into_iter().collect();
        if words.len() < MIN_WORDS {
            return;
        }
        let unit = self.units.len();
        self.units.push(Unit { path: path.to_owned(), line, words: words.len() });
        for word in words {
            self.by_word.entry(word).or_default().push(unit);
        }
    }

    /// The document and line that say everything a claim says, if they do: its summary and, if it has one, its rule.
    pub(super) fn by(&self, claim: &Claim) -> Option<String> {
        let summary = self.said_in(&[&claim.summary])?;
        let rule = claim.rule.as_deref().map(|rule| match Rule::parse(rule) {
            Ok(rule) => self.said_in(&[&rule.condition, &rule.advice]),
            Err(_) => self.said_in(&[rule]),
        });
        let is_restated = !matches!(rule, Some(None));
        let unit = self.units.get(summary).filter(|_| is_restated)?;
        Some(format!("{}: {}", unit.path, unit.line))
    }

    fn said_in(&self, texts: &[&str]) -> Option<usize> {
        let words: BTreeSet<String> = texts.iter().flat_map(|text| crate::text::words(text)).collect();
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
