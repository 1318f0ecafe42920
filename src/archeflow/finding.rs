//! What a reviewer found, and which lesson says the same.

use std::collections::HashMap;

use serde_json::Value;

use super::lesson::plain_text;
use crate::text::{one_line, percent, plain_words};

#[cfg(test)]
#[path = "finding_tests.rs"]
mod tests;

/// A finding matches a lesson that holds so many of its words, in percent.
pub(super) const MATCH_PERCENT: usize = 50;

/// What holds everywhere.
pub(super) const GENERAL: &str = "general";

const BUGS: &[&str] = &["blocker", "bug", "critical", "error", "fatal", "high", "major", "severe"];
const INFOS: &[&str] = &["", "info", "informational", "information", "low", "minor", "nit", "note", "trivial"];
const RECOMMENDATIONS: &[&str] = &["advice", "recommendation", "suggestion"];

/// How bad a finding is. Reviewers have many words for it; ArcheFlow has these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Something is broken.
    Bug,
    /// Something is likely to break.
    Warning,
    /// Good to know.
    Info,
    /// It could be better.
    Recommendation,
}

impl Severity {
    /// Reads a reviewer's word. One that nobody knows is taken for a warning: somebody wanted to be heard.
    pub(super) fn of(word: &str) -> Self {
        let word = word.trim().to_lowercase();
        match word.as_str() {
            word if BUGS.contains(&word) => Self::Bug,
            word if INFOS.contains(&word) => Self::Info,
            word if RECOMMENDATIONS.contains(&word) => Self::Recommendation,
            _ => Self::Warning,
        }
    }

    /// Its word in ArcheFlow's files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Recommendation => "recommendation",
        }
    }

    /// Whether it is bad enough to be learned from at the first sight.
    pub(super) fn is_grave(self) -> bool {
        matches!(self, Self::Bug | Self::Warning)
    }
}

/// A finding of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which archetype found it.
    pub source: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it says.
    pub description: String,
    /// What it is about: `general` where nobody said.
    pub category: String,
}

impl Finding {
    /// Reads one entry of `data.findings`; nothing if it says nothing.
    pub(super) fn of(value: Value, source: &str) -> Option<Self> {
        let (severity, description, category) = match value {
            Value::Object(mut fields) => {
                let mut take = |key: &str| plain_text(fields.remove(key).unwrap_or_default());
                (take("severity"), take("description"), take("category"))
            }
            Value::String(text) => (String::new(), text, String::new()),
            _ => return None,
        };
        if description.trim().is_empty() {
            return None;
        }
        let category = if category.trim().is_empty() { GENERAL.to_owned() } else { category };
        Some(Self { source: source.to_owned(), severity: Severity::of(&severity), description, category })
    }

    /// What tells it from every other finding of its run, whoever found it.
    pub(super) fn fingerprint(&self) -> String {
        let parts = [self.severity.as_str(), &self.category, &self.description].join("\0");
        blake3::hash(parts.as_bytes()).to_hex().chars().take(16).collect()
    }
}

/// Lessons by their words, so that a finding is held only against those that share some with it.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    domains: Vec<String>,
    by_word: HashMap<String, Vec<usize>>,
    by_text: HashMap<String, Vec<usize>>,
}

impl Matcher {
    /// Adds a lesson, or something that is none, and that nothing matches. They are counted from 0.
    pub(super) fn add(&mut self, lesson: Option<(&str, &str, &[String])>) {
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
        self.by_text.entry(folded(description)).or_default().push(number);
    }

    /// The lesson that holds most of a finding's words, if that is half of them at least and both are about the same; the
    /// first among equals. A finding without any word to compare must be said in the same way.
    pub(super) fn best(&self, finding: &Finding) -> Option<usize> {
        let words = plain_words(&finding.description);
        let is_akin = |number: &usize| self.domains.get(*number).is_some_and(|domain| akin(domain, &finding.category));
        if words.is_empty() {
            return self.by_text.get(&folded(&finding.description))?.iter().copied().find(is_akin);
        }
        let mut common: HashMap<usize, usize> = HashMap::new();
        for number in words.iter().filter_map(|word| self.by_word.get(word)).flatten() {
            *common.entry(*number).or_default() += 1;
        }
        let close = common
            .into_iter()
            .filter(|(number, common)| percent(*common, words.len()) >= MATCH_PERCENT && is_akin(number));
        close.max_by(|(left, most), (right, more)| most.cmp(more).then(right.cmp(left))).map(|(number, _)| number)
    }
}

fn akin(domain: &str, category: &str) -> bool {
    let everywhere = |word: &str| word.is_empty() || word == GENERAL;
    domain == category || everywhere(domain) || everywhere(category)
}

fn folded(text: &str) -> String {
    one_line(text).to_lowercase()
}
