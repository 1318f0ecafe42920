//! How well secrets are found: recall on labelled lines, false hits on lines without any.

use std::collections::BTreeMap;

use super::Redactor;

#[cfg(test)]
#[path = "eval_tests.rs"]
mod tests;

/// A line that another scanner's tests call a secret or not.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Labelled {
    /// The line, or several.
    pub text: String,
    /// 1 if there is a secret of this rule in it, 0 if there is none of this rule; another may still be there.
    pub label: u8,
    /// Which rule of the other scanner.
    pub rule: String,
}

/// A named set of lines without secrets.
#[derive(Debug, Clone, Copy)]
pub struct Benign<'a> {
    /// What it is called in the figures.
    pub name: &'a str,
    /// Texts of any number of lines.
    pub texts: &'a [String],
}

/// Secrets found among those of one rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct RuleScore {
    /// Lines that have one.
    pub total: usize,
    /// Those where something was found.
    pub found: usize,
}

/// The figures of one labelled set.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct SetScore {
    /// The set's name.
    pub name: String,
    /// Found among those labelled 1.
    pub recall: f64,
    /// Recall of each rule, averaged.
    pub macro_recall: f64,
    /// Lines labelled 0.
    pub others: usize,
    /// Those of them where something was found: false hits, or secrets of another kind.
    pub others_hit: usize,
    /// By rule.
    pub rules: BTreeMap<String, RuleScore>,
}

/// The figures of one set without secrets.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BenignScore {
    /// The set's name.
    pub name: String,
    /// Its lines.
    pub lines: usize,
    /// Findings in it.
    pub hits: usize,
    /// Findings for each thousand lines.
    pub per_thousand: f64,
}

/// All figures.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Scores {
    /// Of sets with secrets.
    pub sets: Vec<SetScore>,
    /// Of sets without.
    pub benign: Vec<BenignScore>,
}

/// Runs a redactor over sets with and without secrets.
pub fn score(redactor: &Redactor, sets: &[(&str, &[Labelled])], benign: &[Benign<'_>]) -> Scores {
    Scores {
        sets: sets.iter().map(|(name, lines)| score_set(redactor, name, lines)).collect(),
        benign: benign.iter().map(|set| score_benign(redactor, set)).collect(),
    }
}

fn score_set(redactor: &Redactor, name: &str, lines: &[Labelled]) -> SetScore {
    let mut score = SetScore { name: name.to_owned(), ..SetScore::default() };
    for line in lines {
        let is_hit = !redactor.redact(&line.text).found.is_empty();
        if line.label == 0 {
            score.others += 1;
            score.others_hit += usize::from(is_hit);
        } else {
            let rule = score.rules.entry(line.rule.clone()).or_default();
            rule.total += 1;
            rule.found += usize::from(is_hit);
        }
    }
    let total: usize = score.rules.values().map(|rule| rule.total).sum();
    let found: usize = score.rules.values().map(|rule| rule.found).sum();
    score.recall = ratio(found, total);
    let each: f64 = score.rules.values().map(|rule| ratio(rule.found, rule.total)).sum();
    score.macro_recall = if score.rules.is_empty() { 0.0 } else { each / score.rules.len() as f64 };
    score
}

fn score_benign(redactor: &Redactor, set: &Benign<'_>) -> BenignScore {
    let lines = set.texts.iter().map(|text| text.lines().count()).sum();
    let hits = set.texts.iter().map(|text| redactor.redact(text).found.len()).sum();
    BenignScore { name: set.name.to_owned(), lines, hits, per_thousand: ratio(hits, lines) * 1000.0 }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
