//! Measures how much of a memory is junk: duplicates, recalled text stored again, secrets, and entries that are stale,
//! never used, restated from documentation, too long, or mere incidents. It has no side effects: entries go in and a
//! report comes out, whatever the order of the entries.
//!
//! An entry is a note from any store, judged by its text alone. `docs/audit.md` describes what each kind of junk covers
//! and misses.

mod duplicates;
mod junk_kind;
mod missing_paths;
mod overlong;
mod recalled_text;
mod report;
mod single_events;

use archivist_core::domain::Timestamp;
use archivist_core::judge::SimilarityThresholds;
use archivist_core::redact::Redactor;
use archivist_core::text::DocumentIndex;

use self::duplicates::DuplicateMatch;

pub(crate) use self::junk_kind::JunkKind;
pub(crate) use self::recalled_text::{is_recall_heading, recall_closing_tag};
pub(crate) use self::report::AuditReport;

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

/// An entry younger than this many days does not count as unused.
const DAYS_TO_BE_USED: i64 = 7;

/// A note in any memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuditEntry {
    /// The id of the entry, or its place in the store.
    pub name: String,
    /// The whole text of the entry.
    pub text: String,
    /// The time at which it was written, if the store records it.
    pub at: Option<Timestamp>,
    /// The number of times it was used, or `None` if the store does not record it.
    pub used: Option<u64>,
    /// True if it is out of use. Such an entry is counted but not examined.
    pub is_retired: bool,
}

/// The documents and files of the project, with which entries are compared.
#[derive(Clone, Copy)]
pub(crate) struct AuditProjectView<'a> {
    /// The documents that agents are given anyway, by name and text.
    pub documents: &'a [(String, String)],
    /// Returns true if the project has this path.
    pub is_there: &'a dyn Fn(&str) -> bool,
}

/// The rules by which entries are judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditRules {
    /// The judge's limits between same and different.
    pub thresholds: SimilarityThresholds,
    /// The number of examples to show of each kind of junk.
    pub examples: usize,
    /// The current time; without it a recent entry can count as unused like any other.
    pub now: Option<Timestamp>,
}

/// A flaw of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryFlaw {
    /// The kind of junk that the flaw makes it.
    pub sort: JunkKind,
    /// The reason, such as "the same as m-001". It may quote the entry, including its secrets.
    pub why: String,
}

/// Examines all entries and sums up their flaws.
pub(crate) fn audit_entries(entries: &[AuditEntry], ground: &AuditProjectView<'_>, rules: &AuditRules) -> AuditReport {
    let redactor = Redactor::new();
    let flawed = find_live_flaws(entries, ground, rules, &redactor);
    report::summarize_flaws(entries, &flawed, rules.examples, &redactor)
}

/// Returns the flaws of each entry, in their order; retired entries have none.
pub(crate) fn find_flaws(
    entries: &[AuditEntry],
    ground: &AuditProjectView<'_>,
    rules: &AuditRules,
) -> Vec<Vec<EntryFlaw>> {
    let mut flaws = vec![Vec::new(); entries.len()];
    for (place, found) in find_live_flaws(entries, ground, rules, &Redactor::new()) {
        if let Some(flaws) = flaws.get_mut(place) {
            *flaws = found;
        }
    }
    flaws
}

/// Returns the place and the flaws of each entry in use, the earliest entry first.
fn find_live_flaws(
    entries: &[AuditEntry],
    ground: &AuditProjectView<'_>,
    rules: &AuditRules,
    redactor: &Redactor,
) -> Vec<(usize, Vec<EntryFlaw>)> {
    let mut live: Vec<(usize, &AuditEntry)> =
        entries.iter().enumerate().filter(|(_, entry)| !entry.is_retired).collect();
    live.sort_by(|(_, a), (_, b)| seniority_key(a).cmp(&seniority_key(b)));
    let ordered: Vec<&AuditEntry> = live.iter().map(|(_, entry)| *entry).collect();
    let copies = duplicates::find_duplicates(&ordered, &rules.thresholds);
    let loops = recalled_text::find_recall_loops(&ordered);
    let documents = DocumentIndex::new(ground.documents.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let name = |place: usize| ordered.get(place).map_or("", |entry| entry.name.as_str());
    let mut found = Vec::with_capacity(live.len());
    for (((place, entry), copied), looped) in live.into_iter().zip(copies).zip(loops) {
        let mut flaws = Vec::new();
        let mut add = |sort: JunkKind, why: Option<String>| flaws.extend(why.map(|why| EntryFlaw { sort, why }));
        match copied {
            Some(DuplicateMatch::Exactly(of)) => {
                add(JunkKind::ExactDuplicates, Some(format!("the same as {}", name(of))));
            }
            // A near duplicate that is also a recall loop is reported as a recall loop only.
            Some(DuplicateMatch::Nearly(_)) if looped.is_some() => {}
            Some(DuplicateMatch::Nearly(of)) => {
                add(JunkKind::NearDuplicates, Some(format!("says what {} says", name(of))));
            }
            None => {}
        }
        add(JunkKind::RecallLoop, looped.map(|looped| looped.describe_sign(name)));
        let secret = redactor.redact(&entry.text).found.first().map(|finding| finding.kind.to_owned());
        add(JunkKind::Secrets, secret);
        add(
            JunkKind::StalePaths,
            missing_paths::find_missing_path(&entry.text, ground.is_there).map(|path| format!("{path} is not there")),
        );
        add(JunkKind::NeverUsed, is_unused(entry, rules.now).then(|| "was never used".to_owned()));
        let restated = documents.find_restated_place(&entry.text);
        add(JunkKind::RestatedDocumentation, restated.map(|place| format!("stands in {}", place.path)));
        add(JunkKind::OverLong, overlong::describe_excess_length(&entry.text));
        add(JunkKind::Incidents, single_events::describe_incident(&entry.text));
        found.push((place, flaws));
    }
    found
}

/// Returns the key by which entries are ordered by age. Entries without a date come last, ordered by name with shorter
/// names first, so that line 9 comes before line 10. Entries with equal keys are interchangeable.
fn seniority_key(entry: &AuditEntry) -> impl Ord + '_ {
    (entry.at.is_none(), entry.at, entry.name.len(), entry.name.as_str(), entry.text.as_str(), entry.used)
}

fn is_unused(entry: &AuditEntry, now: Option<Timestamp>) -> bool {
    let is_young = |(at, now): (Timestamp, Timestamp)| (now - at).num_days() < DAYS_TO_BE_USED;
    entry.used == Some(0) && !entry.at.zip(now).is_some_and(is_young)
}
