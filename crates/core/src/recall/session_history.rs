//! The history of a failure or a request: what earlier sessions met, told by counts alone.
//!
//! It stands in for a lesson where none was learned. It says what happened and never what to do, and it holds only names
//! of programs, counts, dates and words of ours, so that no text of an output can speak through it.

use std::collections::HashSet;

use super::sanitize::sanitize_for_prompt;
use crate::domain::{Episode, EpisodeId, EpisodeStatus, ErrorFamily, FailureRecord, Timestamp};
use crate::text::plain_words;

#[cfg(test)]
#[path = "session_history_tests.rs"]
mod tests;

/// The smallest number of different words by which a request can be known again.
const MIN_REQUEST_WORDS: usize = 6;

/// The share of words that two forms of one request have in common.
const SAME_REQUEST: f64 = 0.8;

/// The number of failures that the history of a request names.
const MAX_NAMED_FAILURES: usize = 3;

/// The most characters of a name.
const NAME_CHARACTERS: usize = 60;

/// What earlier sessions met, in one sentence or two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHistory {
    /// The episodes of the sessions that it tells of.
    pub episodes: Vec<EpisodeId>,
    /// The history in words, on one line.
    pub text: String,
}

/// Returns the history of a failure. A failure that came once and was fixed in that session has none.
pub fn find_failure_history(episodes: &[Episode], family: &ErrorFamily) -> Option<SessionHistory> {
    let met: Vec<(&Episode, &FailureRecord)> = episodes
        .iter()
        .filter_map(|episode| Some((episode, episode.failures.iter().find(|record| record.error_family == *family)?)))
        .collect();
    let times: u64 = met.iter().map(|(_, record)| u64::from(record.times)).sum();
    let fixed = met.iter().filter(|(_, record)| record.fixed).count();
    let (last, record) = met.iter().max_by_key(|(episode, _)| episode.finished_at)?;
    if times < 2 && fixed > 0 {
        return None;
    }
    let outcome = match (fixed, met.len()) {
        (0, 1) => "the same command never passed in it".to_owned(),
        (0, _) => "the same command never passed in any of them".to_owned(),
        (_, 1) => "the same command passed later in it".to_owned(),
        (fixed, _) => format!("the same command passed later in {fixed} of them"),
    };
    let text = format!(
        "This failure of {} was met {} in {}, last on {}; {outcome}.",
        describe_failure(record),
        count_noun(times, "time"),
        count_noun(u64::try_from(met.len()).unwrap_or(u64::MAX), "earlier session"),
        show_day(last.finished_at),
    );
    Some(SessionHistory { episodes: met.iter().map(|(episode, _)| episode.id.clone()).collect(), text })
}

/// Returns true if a text has enough words to be known again as a request.
pub fn is_recognizable_request(text: &str) -> bool {
    request_words(text).len() >= MIN_REQUEST_WORDS
}

/// Returns the history of a request that an earlier session had in nearly the same words. Sessions that succeeded without
/// a failure have none.
pub fn find_request_history(episodes: &[Episode], request: &str) -> Option<SessionHistory> {
    let asked = request_words(request);
    if asked.len() < MIN_REQUEST_WORDS {
        return None;
    }
    let same: Vec<&Episode> = episodes
        .iter()
        .filter(|episode| {
            episode.request.as_deref().is_some_and(|other| is_same_request(&asked, &request_words(other)))
        })
        .collect();
    let last = same.iter().max_by_key(|episode| episode.finished_at)?;
    let open: Vec<&FailureRecord> = last.failures.iter().filter(|record| !record.fixed).collect();
    if open.is_empty() && last.status == EpisodeStatus::Success {
        return None;
    }
    let named = open
        .iter()
        .take(MAX_NAMED_FAILURES)
        .map(|record| format!("{} {}", describe_failure(record), count_noun(u64::from(record.times), "time")));
    let named = named.collect::<Vec<_>>().join(", ");
    let failures = if named.is_empty() { String::new() } else { format!("; what failed and never passed: {named}") };
    let text = format!(
        "This request was worked on in {}; the last, on {}, ended as {}{failures}.",
        count_noun(u64::try_from(same.len()).unwrap_or(u64::MAX), "earlier session"),
        show_day(last.finished_at),
        sanitize_for_prompt(last.status.as_str(), NAME_CHARACTERS),
    );
    Some(SessionHistory { episodes: same.iter().map(|episode| episode.id.clone()).collect(), text })
}

/// Returns the different words of the part of a request that episodes keep.
fn request_words(request: &str) -> HashSet<String> {
    plain_words(&Episode::shorten_request(request)).into_iter().collect()
}

fn is_same_request(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let (shared, all) = (one.intersection(other).count(), one.union(other).count());
    all > 0 && shared as f64 >= SAME_REQUEST * all as f64
}

fn describe_failure(record: &FailureRecord) -> String {
    let action = sanitize_for_prompt(&record.action.replace('`', ""), NAME_CHARACTERS);
    match record.error_class.as_deref().map(|class| sanitize_for_prompt(class, NAME_CHARACTERS)) {
        Some(class) if !class.is_empty() => format!("`{action}` ({})", class.replace('_', " ")),
        _ => format!("`{action}`"),
    }
}

fn count_noun(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn show_day(at: Timestamp) -> String {
    at.format("%Y-%m-%d").to_string()
}
