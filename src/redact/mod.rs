//! Secrets out of text, before anything else sees it.
//!
//! A secret is known by one of three things: its own shape (a provider's prefix, a key block, a JWT), the place it
//! stands in (a URL, a header, a command's flag), or the name it is given (`password`, `api_key`). Shapes are looked for
//! in long runs of letters and digits only; places and names by a handful of words in one pass. A found secret becomes
//! a mark such as `[redacted:github-token:3f9a1c]`: the same secret gives the same mark, and a mark is never touched
//! again.

mod assignment;
mod blocks;
mod bytes;
mod commands;
mod eval;
mod headers;
mod keys;
mod mark;
mod operators;
mod providers;
mod repeats;
mod runs;
mod urls;
mod value;
mod words;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

pub use eval::{Benign, BenignScore, Labelled, RuleScore, Scores, SetScore, score};

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;

/// A round may uncover another secret beside a fresh mark; nothing real needs more rounds than this.
const MAX_ROUNDS: usize = 16;

/// What a redactor found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of secret, as the mark names it.
    pub kind: &'static str,
    /// Where, in bytes of the text as it was given.
    pub span: Range<usize>,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// Borrowed when nothing was found.
    pub text: Cow<'t, str>,
    /// In order of place, never overlapping.
    pub found: Vec<Finding>,
}

/// Takes secrets out of text. Made once, used for everything.
#[derive(Debug, Default)]
pub struct Redactor {
    tables: OnceLock<Tables>,
}

/// What is built on first use.
#[derive(Debug)]
struct Tables {
    words: words::Words,
    providers: providers::Providers,
}

impl Redactor {
    /// Costs nothing; tables are built when the first text comes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text with every secret replaced by its mark.
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        let mut found: Vec<Finding> = Vec::new();
        let mut current = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            let fresh = self.find(&current);
            if fresh.is_empty() {
                break;
            }
            let map = Offsets::new(&found);
            found.extend(fresh.into_iter().filter_map(|finding| map.to_original(finding)));
            found = merge(found);
            current = Cow::Owned(render(text, &found));
        }
        Redacted { text: current, found }
    }

    /// The secrets of a text, merged where they overlap, marks left alone.
    fn find(&self, text: &str) -> Vec<Finding> {
        let tables =
            self.tables.get_or_init(|| Tables { words: words::Words::new(), providers: providers::Providers::new() });
        let mut found = Vec::new();
        runs::find(text, &tables.providers, &mut found);
        let marks = mark::spans(text);
        tables.words.find(text, &marks, &mut found);
        if found.is_empty() {
            return found;
        }
        let is_free = |finding: &Finding| {
            text.get(finding.span.clone()).is_some_and(|secret| !secret.is_empty())
                && marks
                    .get(marks.partition_point(|mark| mark.end <= finding.span.start))
                    .is_none_or(|mark| finding.span.end <= mark.start)
        };
        found.retain(is_free);
        let mut found = merge(found);
        let repeats = repeats::find(text, &found);
        found.extend(repeats.into_iter().filter(is_free));
        merge(found)
    }
}

/// Sorted, overlapping findings joined under the name of the longest.
fn merge(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| (finding.span.start, usize::MAX - finding.span.end));
    let mut merged: Vec<Finding> = Vec::with_capacity(found.len());
    for finding in found {
        match merged.last_mut() {
            Some(last) if finding.span.start < last.span.end => {
                last.kind = more_telling(last, &finding);
                last.span.end = last.span.end.max(finding.span.end);
            }
            _ => merged.push(finding),
        }
    }
    merged
}

/// A shape's own name says more than the name of the place; of two shapes the longer one.
fn more_telling(a: &Finding, b: &Finding) -> &'static str {
    match (keys::is_place(a.kind), keys::is_place(b.kind)) {
        (true, false) => b.kind,
        (false, true) => a.kind,
        _ if b.span.len() > a.span.len() => b.kind,
        _ => a.kind,
    }
}

fn render(text: &str, found: &[Finding]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for finding in found {
        out.push_str(text.get(from..finding.span.start).unwrap_or_default());
        mark::push(&mut out, finding.kind, text.get(finding.span.clone()).unwrap_or_default());
        from = finding.span.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Turns places in a text with marks into places in the original.
struct Offsets {
    /// End of each mark in the marked text, and what to add to places after it.
    steps: Vec<(usize, isize)>,
}

impl Offsets {
    fn new(found: &[Finding]) -> Self {
        let mut shift = 0isize;
        let steps = found
            .iter()
            .map(|finding| {
                let start = finding.span.start.saturating_add_signed(-shift);
                let end = start + mark::len(finding.kind);
                shift += finding.span.len().cast_signed() - mark::len(finding.kind).cast_signed();
                (end, shift)
            })
            .collect();
        Self { steps }
    }

    fn to_original(&self, finding: Finding) -> Option<Finding> {
        let passed = self.steps.partition_point(|(end, _)| *end <= finding.span.start);
        let shift = passed.checked_sub(1).and_then(|last| self.steps.get(last)).map_or(0, |step| step.1);
        let start = finding.span.start.checked_add_signed(shift)?;
        let end = finding.span.end.checked_add_signed(shift)?;
        Some(Finding { kind: finding.kind, span: start..end })
    }
}
