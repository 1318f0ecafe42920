//! How much of a memory is junk: copies, recalled text stored again, secrets, what is stale, never used, restated, too
//! long, or an event that teaches nothing. Pure: entries in, a report out; the order of the entries does not matter.
//!
//! An entry is any note of any store, by its words alone. `docs/audit.md` says what each sort catches and misses.

mod copies;
mod incident;
mod length;
mod loops;
mod paths;
mod report;
mod restated;
mod sort;

use crate::domain::Timestamp;
use crate::judge::Thresholds;
use crate::redact::Redactor;

use self::copies::Copied;

pub use self::loops::{is_recall_heading, recall_block_end};
pub use self::report::{Example, Report, Tally};
pub use self::sort::Sort;

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

/// An entry that could not have been used yet is not called unused: it is given so many days.
const DAYS_TO_BE_USED: i64 = 7;

/// A note in somebody's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id, or where it stands.
    pub name: String,
    /// All of its words.
    pub text: String,
    /// When it was written, where the store tells.
    pub at: Option<Timestamp>,
    /// How often it was used. `None`: the store does not tell.
    pub used: Option<u64>,
    /// Whether it is out of use. Such an entry is counted and not looked at.
    pub is_retired: bool,
}

/// What the project says, to hold entries against.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// Documents that agents are given anyway, each by its name.
    pub documents: &'a [(String, String)],
    /// Whether the project has this path.
    pub is_there: &'a dyn Fn(&str) -> bool,
}

/// By what entries are judged.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Where the judge's same ends and its different begins.
    pub thresholds: Thresholds,
    /// So many examples of each sort are shown.
    pub examples: usize,
    /// What time it is; without it an entry that was written just now is as old as any other.
    pub now: Option<Timestamp>,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// What sort of junk that makes it.
    pub sort: Sort,
    /// What it is known by, as in "the same as m-001". It may quote the entry, secrets and all.
    pub why: String,
}

/// Looks at all entries and adds up what is wrong with them.
pub fn audit(entries: &[Entry], ground: &Ground<'_>, rules: &Rules) -> Report {
    let redactor = Redactor::new();
    let flawed = found(entries, ground, rules, &redactor);
    report::sum(entries, &flawed, rules.examples, &redactor)
}

/// What is wrong with each entry, in their order; nothing with those that are retired.
pub fn flaws(entries: &[Entry], ground: &Ground<'_>, rules: &Rules) -> Vec<Vec<Flaw>> {
    let mut flaws = vec![Vec::new(); entries.len()];
    for (place, found) in found(entries, ground, rules, &Redactor::new()) {
        if let Some(flaws) = flaws.get_mut(place) {
            *flaws = found;
        }
    }
    flaws
}

/// The place of each entry in use and what is wrong with it, the earliest entry first.
fn found(entries: &[Entry], ground: &Ground<'_>, rules: &Rules, redactor: &Redactor) -> Vec<(usize, Vec<Flaw>)> {
    let mut live: Vec<(usize, &Entry)> = entries.iter().enumerate().filter(|(_, entry)| !entry.is_retired).collect();
    live.sort_by(|(_, a), (_, b)| seniority(a).cmp(&seniority(b)));
    let ordered: Vec<&Entry> = live.iter().map(|(_, entry)| *entry).collect();
    let copies = copies::find(&ordered, &rules.thresholds);
    let loops = loops::find(&ordered);
    let restated = restated::Documents::new(ground.documents).find(&ordered);
    let name = |place: usize| ordered.get(place).map_or("", |entry| entry.name.as_str());
    let mut found = Vec::with_capacity(live.len());
    for ((((place, entry), copied), looped), restated) in live.into_iter().zip(copies).zip(loops).zip(restated) {
        let mut flaws = Vec::new();
        let mut add = |sort: Sort, why: Option<String>| flaws.extend(why.map(|why| Flaw { sort, why }));
        match copied {
            Some(Copied::Exactly(of)) => add(Sort::ExactDuplicates, Some(format!("the same as {}", name(of)))),
            // Another entry in a few more words is known for what it is.
            Some(Copied::Nearly(_)) if looped.is_some() => {}
            Some(Copied::Nearly(of)) => add(Sort::NearDuplicates, Some(format!("says what {} says", name(of)))),
            None => {}
        }
        add(Sort::RecallLoop, looped.map(|looped| looped.described(name)));
        let secret = redactor.redact(&entry.text).found.first().map(|finding| finding.kind.to_owned());
        add(Sort::Secrets, secret);
        add(Sort::StalePaths, paths::missing(&entry.text, ground.is_there).map(|path| format!("{path} is not there")));
        add(Sort::NeverUsed, is_unused(entry, rules.now).then(|| "was never used".to_owned()));
        add(Sort::RestatedDocumentation, restated.map(|document| format!("stands in {document}")));
        add(Sort::OverLong, length::excess(&entry.text));
        add(Sort::Incidents, incident::told(&entry.text));
        found.push((place, flaws));
    }
    found
}

/// The order in which entries are taken to have been written. Those without a date come last, by their names: the
/// shorter first, so that line 9 is before line 10. Entries that are equal in all of this are equal.
fn seniority(entry: &Entry) -> impl Ord + '_ {
    (entry.at.is_none(), entry.at, entry.name.len(), entry.name.as_str(), entry.text.as_str(), entry.used)
}

fn is_unused(entry: &Entry, now: Option<Timestamp>) -> bool {
    let is_young = |(at, now): (Timestamp, Timestamp)| (now - at).num_days() < DAYS_TO_BE_USED;
    entry.used == Some(0) && !entry.at.zip(now).is_some_and(is_young)
}
