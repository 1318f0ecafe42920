//! The findings of a review, and the search for the lesson that says the same.

use std::collections::HashMap;

use serde_json::Value;

use super::lesson::json_to_text;
use archivist_core::domain::StableHash;
use archivist_core::text::{one_line, plain_words, whole_percent};

#[cfg(test)]
#[path = "finding_tests.rs"]
mod tests;

/// The percentage of a finding's words that a lesson must contain to match it.
pub(super) const MATCH_PERCENT: usize = 50;

/// The domain that applies everywhere.
pub(super) const GENERAL: &str = "general";

const BUGS: &[&str] = &["blocker", "bug", "critical", "error", "fatal", "high", "major", "severe"];
const INFOS: &[&str] = &["", "info", "informational", "information", "low", "minor", "nit", "note", "trivial"];
const RECOMMENDATIONS: &[&str] = &["advice", "recommendation", "suggestion"];

/// The severity of a finding. Reviewers use many words for it; ArcheFlow uses these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FindingSeverity {
    /// Something is broken.
    Bug,
    /// Something is likely to break.
    Warning,
    /// Something is good to know.
    Info,
    /// Something could be better.
    Recommendation,
}

impl FindingSeverity {
    /// Reads a reviewer's word for a severity. An unknown word counts as a warning, so that it is not ignored.
    pub(super) fn from_word(word: &str) -> Self {
        let word = word.trim().to_lowercase();
        match word.as_str() {
            word if BUGS.contains(&word) => Self::Bug,
            word if INFOS.contains(&word) => Self::Info,
            word if RECOMMENDATIONS.contains(&word) => Self::Recommendation,
            _ => Self::Warning,
        }
    }

    /// Returns the word for it in ArcheFlow's files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Recommendation => "recommendation",
        }
    }

    /// Returns true if a single finding of this severity is enough to create a lesson.
    pub(super) fn is_serious(self) -> bool {
        matches!(self, Self::Bug | Self::Warning)
    }
}

/// A finding of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewFinding {
    /// The archetype that reported it.
    pub source: String,
    /// The severity of the finding.
    pub severity: FindingSeverity,
    /// The text of the finding.
    pub description: String,
    /// The domain of the finding, or `general` if none was given.
    pub category: String,
}

impl ReviewFinding {
    /// Reads one item of `data.findings`; returns `None` if it has no description.
    pub(super) fn from_json(value: Value, source: &str) -> Option<Self> {
        let (severity, description, category) = match value {
            Value::Object(mut fields) => {
                let mut take = |key: &str| json_to_text(fields.remove(key).unwrap_or_default());
                (take("severity"), take("description"), take("category"))
            }
            Value::String(text) => (String::new(), text, String::new()),
            _ => return None,
        };
        if description.trim().is_empty() {
            return None;
        }
        let category = if category.trim().is_empty() { GENERAL.to_owned() } else { category };
        Some(Self { source: source.to_owned(), severity: FindingSeverity::from_word(&severity), description, category })
    }

    /// Returns a hash that identifies the finding within its run, whichever archetype reported it.
    pub(super) fn fingerprint(&self) -> String {
        let parts = [self.severity.as_str(), &self.category, &self.description].join("\0");
        StableHash::from_text(&parts).to_digits(16)
    }
}

/// An index of lessons by their words, so that a finding is compared only with those that share some.
#[derive(Debug, Default)]
pub(super) struct LessonMatcher {
    domains: Vec<String>,
    by_word: HashMap<String, Vec<usize>>,
    by_text: HashMap<String, Vec<usize>>,
}

impl LessonMatcher {
    /// Adds a lesson, or a placeholder that matches nothing. Both are numbered in order from 0.
    pub(super) fn add_lesson(&mut self, lesson: Option<(&str, &str, &[String])>) {
        let number = self.domains.len();
        let (domain, description, tags) = lesson.unwrap_or_default();
        self.domains.push(domain.to_owned());
        if lesson.is_none() {
            return;
        }
        let text = [description, &tags.join(" ")].join(" ");
        for word in plain_words(&text) {
            self.by_word.entry(word).or_default().push(number);
        }
        self.by_text.entry(normalize_text(description)).or_default().push(number);
    }

    /// Returns the lesson that contains most of a finding's words, if it contains at least half of them and the domains
    /// match; the first of several equals. A finding without any word to compare must match the whole text.
    pub(super) fn find_best_match(&self, finding: &ReviewFinding) -> Option<usize> {
        let words = plain_words(&finding.description);
        let is_akin = |number: &usize| {
            self.domains.get(*number).is_some_and(|domain| is_matching_domain(domain, &finding.category))
        };
        if words.is_empty() {
            return self.by_text.get(&normalize_text(&finding.description))?.iter().copied().find(is_akin);
        }
        let mut common: HashMap<usize, usize> = HashMap::new();
        for number in words.iter().filter_map(|word| self.by_word.get(word)).flatten() {
            *common.entry(*number).or_default() += 1;
        }
        let close = common
            .into_iter()
            .filter(|(number, common)| whole_percent(*common, words.len()) >= MATCH_PERCENT && is_akin(number));
        close.max_by(|(left, most), (right, more)| most.cmp(more).then(right.cmp(left))).map(|(number, _)| number)
    }
}

fn is_matching_domain(domain: &str, category: &str) -> bool {
    let everywhere = |word: &str| word.is_empty() || word == GENERAL;
    domain == category || everywhere(domain) || everywhere(category)
}

fn normalize_text(text: &str) -> String {
    one_line(text).to_lowercase()
}
