//! The report of an audit.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{AuditEntry, EntryFlaw, JunkKind};
use archivist_core::redact::Redactor;
use archivist_core::text::{JoinerPolicy, one_line, strip_hidden_text};

/// The maximum length of an excerpt.
const MAX_EXCERPT_CHARACTERS: usize = 120;

/// The maximum length of a name or a reason.
const MAX_NAME_CHARACTERS: usize = 200;

/// How much of a memory is junk.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
pub(crate) struct AuditReport {
    /// Entries in use. Every share is one of these.
    pub total: usize,
    /// Entries out of use, which were not looked at.
    pub retired: usize,
    /// Entries with anything wrong with them; each counts once.
    pub junk: usize,
    /// Their share, from 0 to 1.
    pub junk_share: f64,
    /// The same for each sort. What the store does not tell is not here: `neverUsed`, where it does not count uses.
    pub sorts: BTreeMap<JunkKind, JunkTally>,
}

/// How much there is of one sort.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Tally")]
pub(crate) struct JunkTally {
    /// Entries of this sort.
    pub count: usize,
    /// Their share, from 0 to 1.
    pub share: f64,
    /// Some of them, the earliest first.
    pub examples: Vec<JunkExample>,
}

/// An entry of some sort, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Example")]
pub(crate) struct JunkExample {
    /// Its id, or where it stands.
    pub name: String,
    /// How it begins, on one line.
    pub excerpt: String,
    /// What it is known by.
    pub why: String,
}

/// Sums up the flaws of the entries at these places.
pub(super) fn summarize_flaws(
    entries: &[AuditEntry],
    flawed: &[(usize, Vec<EntryFlaw>)],
    examples: usize,
    redactor: &Redactor,
) -> AuditReport {
    let mut sorts: BTreeMap<JunkKind, JunkTally> =
        JunkKind::ALL.into_iter().map(|sort| (sort, JunkTally::default())).collect();
    if !entries.iter().any(|entry| !entry.is_retired && entry.used.is_some()) {
        sorts.remove(&JunkKind::NeverUsed);
    }
    for (place, flaws) in flawed {
        for flaw in flaws {
            let Some(tally) = sorts.get_mut(&flaw.sort) else { continue };
            tally.count += 1;
            if tally.examples.len() < examples {
                tally
                    .examples
                    .extend(entries.get(*place).map(|entry| JunkExample::from_entry(entry, &flaw.why, redactor)));
            }
        }
    }
    let total = flawed.len();
    for tally in sorts.values_mut() {
        tally.share = compute_share(tally.count, total);
    }
    let junk = flawed.iter().filter(|(_, flaws)| !flaws.is_empty()).count();
    AuditReport { total, retired: entries.len() - total, junk, junk_share: compute_share(junk, total), sorts }
}

impl JunkExample {
    fn from_entry(entry: &AuditEntry, why: &str, redactor: &Redactor) -> Self {
        // Secrets are searched for in the whole text: one that is cut in two would not be recognized.
        // For the same reason, nothing hidden may be inside it.
        let shown = |text: &str, longest| {
            let visible = strip_hidden_text(text, JoinerPolicy::Keep);
            truncate_text(&one_line(&redactor.redact(&visible).text), longest)
        };
        Self {
            name: shown(&entry.name, MAX_NAME_CHARACTERS),
            excerpt: shown(&entry.text, MAX_EXCERPT_CHARACTERS),
            why: shown(why, MAX_NAME_CHARACTERS),
        }
    }
}

fn truncate_text(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

fn compute_share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
