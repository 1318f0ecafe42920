//! An evaluation of the redactor: recall on labelled lines, false hits on lines without secrets.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Redactor;

#[cfg(test)]
#[path = "evaluation_tests.rs"]
mod tests;

/// A line that another scanner's tests label as a secret or not.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct LabelledSecretLine {
    /// The text, of one line or several.
    pub text: String,
    /// The label: 1 if it contains a secret of this rule, 0 if it contains none of this rule; another may still be
    /// there.
    pub label: u8,
    /// The rule of the other scanner.
    pub rule: String,
    /// The secret itself, if the set says which it is. The line counts as found only if nothing of it is left.
    #[serde(default)]
    pub secret: Option<String>,
}

/// A named set of lines without secrets.
#[derive(Debug, Clone, Copy)]
pub struct BenignTextSet<'a> {
    /// The name of the set in the figures.
    pub name: &'a str,
    /// The texts, of any number of lines.
    pub texts: &'a [String],
}

/// The score of one rule: the secrets found among its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct RuleScore {
    /// The number of lines with a secret.
    pub total: usize,
    /// The number of those lines where something was found.
    pub found: usize,
}

/// The figures of one labelled set.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct SecretSetScore {
    /// The name of the set.
    pub name: String,
    /// The share of the lines labelled 1 where something was found.
    pub recall: f64,
    /// The mean of the recall of each rule.
    pub macro_recall: f64,
    /// The number of lines labelled 0.
    pub others: usize,
    /// The number of those lines where something was found: false hits, or secrets of another kind.
    pub others_hit: usize,
    /// The score of each rule.
    pub rules: BTreeMap<String, RuleScore>,
}

/// A finding in a text without secrets.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FalseHit {
    /// The kind of secret that it was taken for.
    pub kind: &'static str,
    /// The words that were found, with those before and behind them.
    pub words: String,
}

/// The figures of one set without secrets.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct BenignScore {
    /// The name of the set.
    pub name: String,
    /// The number of its lines.
    pub lines: usize,
    /// The number of findings in it.
    pub hits: usize,
    /// The findings for each thousand lines.
    pub per_thousand: f64,
    /// The findings, in the order of the texts.
    pub findings: Vec<FalseHit>,
}

/// The figures of all sets.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct RedactionScores {
    /// The figures of the sets with secrets.
    pub sets: Vec<SecretSetScore>,
    /// The figures of the sets without secrets.
    pub benign: Vec<BenignScore>,
}

/// Runs a redactor over sets with and without secrets and returns the figures.
pub fn score_redactor(
    redactor: &Redactor,
    sets: &[(&str, &[LabelledSecretLine])],
    benign: &[BenignTextSet<'_>],
) -> RedactionScores {
    RedactionScores {
        sets: sets.iter().map(|(name, lines)| score_set(redactor, name, lines)).collect(),
        benign: benign.iter().map(|set| score_benign(redactor, set)).collect(),
    }
}

fn score_set(redactor: &Redactor, name: &str, lines: &[LabelledSecretLine]) -> SecretSetScore {
    let mut score = SecretSetScore { name: name.to_owned(), ..SecretSetScore::default() };
    for line in lines {
        let redacted = redactor.redact(&line.text);
        let is_left = line.secret.as_ref().is_some_and(|secret| redacted.text.contains(secret.as_str()));
        let is_hit = !redacted.found.is_empty() && !is_left;
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

fn score_benign(redactor: &Redactor, set: &BenignTextSet<'_>) -> BenignScore {
    let lines = set.texts.iter().map(|text| text.lines().count()).sum();
    let hits_of = |text: &String| {
        let found = redactor.redact(text).found;
        found
            .into_iter()
            .map(|finding| FalseHit { kind: finding.kind, words: words_around(text, finding.span) })
            .collect::<Vec<_>>()
    };
    let findings: Vec<FalseHit> = set.texts.iter().flat_map(hits_of).collect();
    let hits = findings.len();
    BenignScore { name: set.name.to_owned(), lines, hits, per_thousand: ratio(hits, lines) * 1000.0, findings }
}

/// Returns a span of a text in brackets, with a few words around it.
fn words_around(text: &str, span: Range<usize>) -> String {
    let before = text.get(text.ceil_char_boundary(span.start.saturating_sub(SHOWN_BYTES))..span.start);
    let after = text.get(span.end..text.floor_char_boundary(span.end + SHOWN_BYTES));
    let found = text.get(span.start..span.end.min(text.floor_char_boundary(span.start + 2 * SHOWN_BYTES)));
    let [before, found, after] = [before, found, after].map(Option::unwrap_or_default);
    crate::text::one_line(&format!("{before}⟦{found}⟧{after}"))
}

/// The number of bytes that are shown on each side of a finding.
const SHOWN_BYTES: usize = 60;

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
