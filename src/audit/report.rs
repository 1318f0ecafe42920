//! What an audit comes to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Entry, Flaw, Sort};
use crate::redact::Redactor;
use crate::text::one_line;

/// So much of an entry is shown.
const MAX_EXCERPT_CHARACTERS: usize = 120;

/// A name or a reason is not longer than this.
const MAX_NAME_CHARACTERS: usize = 200;

/// How much of a memory is junk.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Entries in use. Every share is one of these.
    pub total: usize,
    /// Entries out of use, which were not looked at.
    pub retired: usize,
    /// Entries with anything wrong with them; each counts once.
    pub junk: usize,
    /// Their share, from 0 to 1.
    pub junk_share: f64,
    /// The same for each sort. What the store does not tell is not here: `neverUsed`, where it does not count uses.
    pub sorts: BTreeMap<Sort, Tally>,
}

/// How much there is of one sort.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Entries of this sort.
    pub count: usize,
    /// Their share, from 0 to 1.
    pub share: f64,
    /// Some of them, the earliest first.
    pub examples: Vec<Example>,
}

/// An entry of some sort, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Example {
    /// Its id, or where it stands.
    pub name: String,
    /// How it begins, on one line.
    pub excerpt: String,
    /// What it is known by.
    pub why: String,
}

/// Adds up what is wrong with the entries at these places.
pub(super) fn sum(entries: &[Entry], flawed: &[(usize, Vec<Flaw>)], examples: usize, redactor: &Redactor) -> Report {
    let mut sorts: BTreeMap<Sort, Tally> = Sort::ALL.into_iter().map(|sort| (sort, Tally::default())).collect();
    if !entries.iter().any(|entry| !entry.is_retired && entry.used.is_some()) {
        sorts.remove(&Sort::NeverUsed);
    }
    for (place, flaws) in flawed {
        for flaw in flaws {
            let Some(tally) = sorts.get_mut(&flaw.sort) else { continue };
            tally.count += 1;
            if tally.examples.len() < examples {
                tally.examples.extend(entries.get(*place).map(|entry| Example::of(entry, &flaw.why, redactor)));
            }
        }
    }
    let total = flawed.len();
    for tally in sorts.values_mut() {
        tally.share = share(tally.count, total);
    }
    let junk = flawed.iter().filter(|(_, flaws)| !flaws.is_empty()).count();
    Report { total, retired: entries.len() - total, junk, junk_share: share(junk, total), sorts }
}

impl Example {
    fn of(entry: &Entry, why: &str, redactor: &Redactor) -> Self {
        // A secret is found in the whole text: one that a cut goes through would be a stranger.
        let shown = |text: &str, longest| cut(&one_line(&redactor.redact(text).text), longest);
        Self {
            name: shown(&entry.name, MAX_NAME_CHARACTERS),
            excerpt: shown(&entry.text, MAX_EXCERPT_CHARACTERS),
            why: shown(why, MAX_NAME_CHARACTERS),
        }
    }
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
