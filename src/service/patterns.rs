//! When several runs are worth looking at together: they share a failure, or there was much to learn from them. Pure.

use crate::domain::{Episode, EpisodeId, ErrorFamily};

#[cfg(test)]
#[path = "patterns_tests.rs"]
mod tests;

/// More runs than this are not looked at together; the newest count.
const MAX_RUNS: usize = 12;

/// When runs are looked at together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatternRules {
    /// Runs that must share a failure.
    pub episodes: usize,
    /// The importance that runs must add up to; 0: never.
    pub importance_sum: f64,
}

/// Runs to look at together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) cause: Cause,
    /// The newest of them, the oldest first: those that are read.
    pub(super) runs: Vec<EpisodeId>,
    /// All of them.
    pub(super) marked: Vec<EpisodeId>,
}

/// Why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// All of them met it.
    Family(ErrorFamily),
    /// Together they matter.
    Weight,
}

/// What a run that was just reflected on gives cause to look at. A family is looked at once, and so is the weight of a run.
pub(super) fn due(this: &Episode, all: &[Episode], rules: &PatternRules) -> Option<Pattern> {
    let looked_at = |family: &ErrorFamily| {
        all.iter().filter_map(|one| one.reflected.as_ref()).any(|reflected| reflected.patterns.contains(family))
    };
    for family in this.error_families.iter().filter(|family| !looked_at(family)) {
        let met: Vec<&Episode> = all.iter().filter(|one| one.error_families.contains(family)).collect();
        if met.len() >= rules.episodes {
            return Some(pattern(Cause::Family(family.clone()), met));
        }
    }
    let weighty: Vec<&Episode> = all.iter().filter(|one| weight(one) > 0.0).collect();
    let sum: f64 = weighty.iter().map(|one| weight(one)).sum();
    (rules.importance_sum > 0.0 && sum >= rules.importance_sum).then(|| pattern(Cause::Weight, weighty))
}

/// What a run adds to the sum, until it was looked at with others.
fn weight(episode: &Episode) -> f64 {
    match &episode.reflected {
        Some(reflected) if reflected.pondered_with.is_none() => reflected.importance.value(),
        _ => 0.0,
    }
}

fn pattern(cause: Cause, mut episodes: Vec<&Episode>) -> Pattern {
    episodes.sort_by(|a, b| (a.finished_at, &a.id).cmp(&(b.finished_at, &b.id)));
    let marked: Vec<EpisodeId> = episodes.into_iter().map(|episode| episode.id.clone()).collect();
    let first = marked.len().saturating_sub(MAX_RUNS);
    Pattern { cause, runs: marked.iter().skip(first).cloned().collect(), marked }
}
