//! Removes secrets from text before anything else reads it.
//!
//! A secret is recognized by one of three things: its own shape (a provider's prefix, a key block, a JWT), its place (a
//! URL, a header, a command's flag), or the name it is assigned to (`password`, `api_key`). Shapes are searched in long
//! runs of letters and digits only; places and names by a handful of words in one pass. A found secret becomes a mark
//! such as `[redacted:github-token:3f9a1c]`: the same secret gives the same mark, and a mark is never changed again.

mod assigned_values;
mod assignment;
mod bytes;
mod command_arguments;
mod evaluation;
mod http_headers;
mod key_blocks;
mod opaque_values;
mod prose_passwords;
mod providers;
mod redaction_mark;
mod repeated_secrets;
mod secret_names;
mod setting_lines;
mod table_columns;
mod token_runs;
mod token_shapes;
mod trigger_words;
mod urls;
mod value_shape;
mod visible_text;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

pub use evaluation::{
    BenignScore, BenignTextSet, FalseHit, LabelledSecretLine, RedactionScores, RuleScore, SecretSetScore,
    score_redactor,
};

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "token_grid_tests.rs"]
mod token_grid_tests;

/// The most rounds of redaction: a round may uncover another secret beside a new mark, but nothing real needs more.
const MAX_ROUNDS: usize = 16;

/// A secret that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFinding {
    /// The kind of secret, as the mark names it.
    pub kind: &'static str,
    /// The span in bytes of the original text.
    pub span: Range<usize>,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText<'t> {
    /// The redacted text, borrowed if nothing was found.
    pub text: Cow<'t, str>,
    /// The findings in order of position, never overlapping.
    pub found: Vec<SecretFinding>,
}

/// A redactor that removes secrets from text. Created once, used for everything.
#[derive(Debug, Default)]
pub struct Redactor {
    tables: OnceLock<DetectionTables>,
}

/// The search tables, which are built on first use.
#[derive(Debug)]
struct DetectionTables {
    words: trigger_words::SecretWordFinder,
    providers: providers::SecretTokenTable,
}

impl Redactor {
    /// Creates a redactor; its tables are built with the first text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the text with every secret replaced by its mark.
    pub fn redact<'t>(&self, text: &'t str) -> RedactedText<'t> {
        let mut found: Vec<SecretFinding> = Vec::new();
        let mut current = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            let fresh = self.find_secrets(&current);
            if fresh.is_empty() {
                break;
            }
            let map = MarkOffsets::new(&found);
            found.extend(fresh.into_iter().filter_map(|finding| map.to_original(finding)));
            found = merge_findings(found);
            current = Cow::Owned(replace_with_marks(text, &found));
        }
        RedactedText { text: current, found }
    }

    /// Returns the secrets of a text, those of its visible text among them, merged where they overlap, except marks.
    fn find_secrets(&self, text: &str) -> Vec<SecretFinding> {
        let mut found = self.find_plain_secrets(text);
        if let Some(visible) = visible_text::VisibleText::from_text(text) {
            let marks = redaction_mark::find_marks(text);
            let seen = self.find_plain_secrets(visible.as_str());
            let seen = seen.iter().filter_map(|finding| visible.to_original(finding));
            found.extend(seen.filter(|finding| is_outside_marks(finding, &marks)));
        }
        merge_findings(found)
    }

    /// Returns the secrets of a text as it is written, merged where they overlap, except marks.
    fn find_plain_secrets(&self, text: &str) -> Vec<SecretFinding> {
        let tables = self.tables.get_or_init(|| DetectionTables {
            words: trigger_words::SecretWordFinder::new(),
            providers: providers::SecretTokenTable::new(),
        });
        let mut found = Vec::new();
        token_runs::find_tokens(text, &tables.providers, &mut found);
        let marks = redaction_mark::find_marks(text);
        tables.words.find_secrets(text, &marks, &mut found);
        if found.is_empty() {
            return found;
        }
        let is_free = |finding: &SecretFinding| {
            text.get(finding.span.clone()).is_some_and(|secret| !secret.is_empty()) && is_outside_marks(finding, &marks)
        };
        found.retain(is_free);
        let mut found = merge_findings(found);
        let repeats = repeated_secrets::find_repeats(text, &found);
        found.extend(repeats.into_iter().filter(is_free));
        merge_findings(found)
    }
}

/// Returns true if a finding touches none of the marks, which are in order.
fn is_outside_marks(finding: &SecretFinding, marks: &[Range<usize>]) -> bool {
    marks
        .get(marks.partition_point(|mark| mark.end <= finding.span.start))
        .is_none_or(|mark| finding.span.end <= mark.start)
}

/// Returns the findings sorted, with overlapping ones joined under the more specific kind.
fn merge_findings(mut found: Vec<SecretFinding>) -> Vec<SecretFinding> {
    found.sort_by_key(|finding| (finding.span.start, usize::MAX - finding.span.end));
    let mut merged: Vec<SecretFinding> = Vec::with_capacity(found.len());
    for finding in found {
        match merged.last_mut() {
            Some(last) if finding.span.start < last.span.end => {
                last.kind = more_specific_kind(last, &finding);
                last.span.end = last.span.end.max(finding.span.end);
            }
            _ => merged.push(finding),
        }
    }
    merged
}

/// Returns the more specific kind: a shape says more than a place; of two shapes the longer one counts.
fn more_specific_kind(a: &SecretFinding, b: &SecretFinding) -> &'static str {
    match (secret_names::is_location_kind(a.kind), secret_names::is_location_kind(b.kind)) {
        (true, false) => b.kind,
        (false, true) => a.kind,
        _ if b.span.len() > a.span.len() => b.kind,
        _ => a.kind,
    }
}

fn replace_with_marks(text: &str, found: &[SecretFinding]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for finding in found {
        out.push_str(text.get(from..finding.span.start).unwrap_or_default());
        redaction_mark::push_mark(&mut out, finding.kind, text.get(finding.span.clone()).unwrap_or_default());
        from = finding.span.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// A mapping from positions in a text with marks to positions in the original.
struct MarkOffsets {
    /// The end of each mark in the marked text, and the shift of the positions after it.
    steps: Vec<(usize, isize)>,
}

impl MarkOffsets {
    fn new(found: &[SecretFinding]) -> Self {
        let mut shift = 0isize;
        let steps = found
            .iter()
            .map(|finding| {
                let start = finding.span.start.saturating_add_signed(-shift);
                let end = start + redaction_mark::mark_length(finding.kind);
                shift += finding.span.len().cast_signed() - redaction_mark::mark_length(finding.kind).cast_signed();
                (end, shift)
            })
            .collect();
        Self { steps }
    }

    fn to_original(&self, finding: SecretFinding) -> Option<SecretFinding> {
        let passed = self.steps.partition_point(|(end, _)| *end <= finding.span.start);
        let shift = passed.checked_sub(1).and_then(|last| self.steps.get(last)).map_or(0, |step| step.1);
        let start = finding.span.start.checked_add_signed(shift)?;
        let end = finding.span.end.checked_add_signed(shift)?;
        Some(SecretFinding { kind: finding.kind, span: start..end })
    }
}
