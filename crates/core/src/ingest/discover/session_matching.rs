//! Decides which logs belong to the same session though their ids differ.

use chrono::{NaiveDateTime, TimeDelta};

use crate::domain::Timestamp;

#[cfg(test)]
#[path = "session_matching_tests.rs"]
mod tests;

/// The maximum difference between the clocks of two logs of one session.
const SLACK: TimeDelta = TimeDelta::seconds(5);

/// The minimum length of an id; a shorter one could occur in a text by chance.
const MIN_ID_BYTES: usize = 6;

/// The facts about a session that one of its logs states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// The session id as this log states it.
    pub session_id: Option<String>,
    /// The id of the task that was worked on.
    pub task_id: Option<String>,
    /// The earliest time in the log.
    pub started: Option<Timestamp>,
    /// The latest time in the log.
    pub finished: Option<Timestamp>,
    /// The first text of the session, usually the prompt.
    pub first_text: Option<String>,
}

/// Returns true if two logs belong to one session: they have the same id, the first text of one mentions the other's
/// id, or they overlap in time and have the same task or the same first text.
pub fn is_same_session(a: &SessionFacts, b: &SessionFacts) -> bool {
    if a.session_id.is_some() && a.session_id == b.session_id {
        return true;
    }
    if mentions_id(a, b.session_id.as_deref()) || mentions_id(b, a.session_id.as_deref()) {
        return true;
    }
    if !overlap_in_time(a, b) {
        return false;
    }
    match (&a.task_id, &b.task_id) {
        (Some(one), Some(other)) => one == other,
        (Some(task), None) => mentions_id(b, Some(task)) || have_same_first_text(a, b),
        (None, Some(task)) => mentions_id(a, Some(task)) || have_same_first_text(a, b),
        (None, None) => have_same_first_text(a, b),
    }
}

/// Returns the time in an id: `session-2025-12-05T08-07-41-875Z-ebphxk`, `run-20251202-185110-33ph`.
pub(super) fn parse_time_in_id(id: &str) -> Option<Timestamp> {
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

/// Returns true if the first text contains this id as a separate word.
fn mentions_id(facts: &SessionFacts, id: Option<&str>) -> bool {
    let (Some(text), Some(id)) = (&facts.first_text, id) else { return false };
    let goes_on = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    id.len() >= MIN_ID_BYTES
        && text.match_indices(id).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + id.len()..).and_then(|behind| behind.chars().next());
            !goes_on(before) && !goes_on(behind)
        })
}

fn have_same_first_text(a: &SessionFacts, b: &SessionFacts) -> bool {
    match (&a.first_text, &b.first_text) {
        (Some(one), Some(other)) => !one.trim().is_empty() && one.trim() == other.trim(),
        _ => false,
    }
}

/// Returns true if both were active at the same time. A log without an end counts as active at its start.
fn overlap_in_time(a: &SessionFacts, b: &SessionFacts) -> bool {
    let (Some((a_from, a_to)), Some((b_from, b_to))) = (active_span(a), active_span(b)) else { return false };
    let reaches = |to: Timestamp, from: Timestamp| from.signed_duration_since(to) <= SLACK;
    reaches(a_to, b_from) && reaches(b_to, a_from)
}

fn active_span(facts: &SessionFacts) -> Option<(Timestamp, Timestamp)> {
    let from = facts.started.or(facts.finished)?;
    let to = facts.finished.unwrap_or(from);
    Some((from.min(to), from.max(to)))
}
