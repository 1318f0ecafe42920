//! Which logs tell of the same run, though their ids differ.

use chrono::{NaiveDateTime, TimeDelta};

use crate::domain::Timestamp;

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;

/// How far the clocks of two logs of one run may be apart.
const SLACK: TimeDelta = TimeDelta::seconds(5);

/// A shorter id could stand in a text by chance.
const MIN_ID_BYTES: usize = 6;

/// What is known of a run from one of its logs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The session as this log names it.
    pub session_id: Option<String>,
    /// The task worked on.
    pub task_id: Option<String>,
    /// First sign of life.
    pub started: Option<Timestamp>,
    /// Last sign of life.
    pub finished: Option<Timestamp>,
    /// What was said first.
    pub first_text: Option<String>,
}

/// Whether two logs tell of one run: they have the same id, one names the other's in what was said first, or they
/// overlap in time and are about the same task or begin with the same words.
pub fn link(a: &Facts, b: &Facts) -> bool {
    if a.session_id.is_some() && a.session_id == b.session_id {
        return true;
    }
    if names(a, b.session_id.as_deref()) || names(b, a.session_id.as_deref()) {
        return true;
    }
    if !overlap(a, b) {
        return false;
    }
    match (&a.task_id, &b.task_id) {
        (Some(one), Some(other)) => one == other,
        (Some(task), None) => names(b, Some(task)) || begin_alike(a, b),
        (None, Some(task)) => names(a, Some(task)) || begin_alike(a, b),
        (None, None) => begin_alike(a, b),
    }
}

/// The moment that an id was made from: `session-2025-12-05T08-07-41-875Z-ebphxk`, `run-20251202-185110-33ph`.
pub(super) fn moment_in(id: &str) -> Option<Timestamp> {
    for (at, _) in id.match_indices('-') {
        let rest = id.get(at + 1..)?;
        let forms =
            [(24, "%Y-%m-%dT%H-%M-%S-%3fZ"), (19, "%Y-%m-%dT%H-%M-%S"), (16, "%Y-%m-%dT%H-%M"), (15, "%Y%m%d-%H%M%S")];
        for (length, form) in forms {
            let moment = rest.get(..length).and_then(|text| NaiveDateTime::parse_from_str(text, form).ok());
            if let Some(moment) = moment {
                return Some(moment.and_utc());
            }
        }
    }
    None
}

/// Whether what was said first holds this id as a word of its own.
fn names(facts: &Facts, id: Option<&str>) -> bool {
    let (Some(text), Some(id)) = (&facts.first_text, id) else { return false };
    let goes_on = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    id.len() >= MIN_ID_BYTES
        && text.match_indices(id).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + id.len()..).and_then(|behind| behind.chars().next());
            !goes_on(before) && !goes_on(behind)
        })
}

fn begin_alike(a: &Facts, b: &Facts) -> bool {
    match (&a.first_text, &b.first_text) {
        (Some(one), Some(other)) => !one.trim().is_empty() && one.trim() == other.trim(),
        _ => false,
    }
}

/// Whether both were alive at one moment. A log without an end was alive at its beginning.
fn overlap(a: &Facts, b: &Facts) -> bool {
    let (Some((a_from, a_to)), Some((b_from, b_to))) = (life(a), life(b)) else { return false };
    let reaches = |to: Timestamp, from: Timestamp| from.signed_duration_since(to) <= SLACK;
    reaches(a_to, b_from) && reaches(b_to, a_from)
}

fn life(facts: &Facts) -> Option<(Timestamp, Timestamp)> {
    let from = facts.started.or(facts.finished)?;
    let to = facts.finished.unwrap_or(from);
    Some((from.min(to), from.max(to)))
}
