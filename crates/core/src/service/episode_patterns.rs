//! Decides when several episodes are reflected on together: by a shared error family, or by importance. It is pure.

use crate::domain::{Episode, EpisodeId, ErrorFamily};

#[cfg(test)]
#[path = "episode_patterns_tests.rs"]
mod tests;

/// The most episodes that are read together; the newest count.
const MAX_RUNS: usize = 12;

/// The rules for reflecting on several episodes together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatternRules {
    /// The number of episodes that must share an error family.
    pub episodes: usize,
    /// The importance that episodes must add up to; 0 disables it.
    pub importance_sum: f64,
}

/// The episodes to reflect on together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EpisodePattern {
    pub(super) cause: PatternCause,
    /// The newest episodes, which are read, the oldest of them first.
    pub(super) runs: Vec<EpisodeId>,
    /// All episodes of the pattern.
    pub(super) marked: Vec<EpisodeId>,
}

/// The cause of a pattern reflection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternCause {
    /// All episodes have this error family.
    Family(ErrorFamily),
    /// Together the episodes are important enough.
    Weight,
}

/// Returns the pattern that a new episode completes. Each error family, and the weight of each episode, counts once.
pub(super) fn find_due_pattern(this: &Episode, all: &[Episode], rules: &PatternRules) -> Option<EpisodePattern> {
    let looked_at = |family: &ErrorFamily| {
        all.iter().filter_map(|one| one.reflected.as_ref()).any(|reflected| reflected.patterns.contains(family))
    };
    for family in this.error_families.iter().filter(|family| !looked_at(family)) {
        let met: Vec<&Episode> = all.iter().filter(|one| one.error_families.contains(family)).collect();
        if met.len() >= rules.episodes {
            return Some(build_pattern(PatternCause::Family(family.clone()), met));
        }
    }
    let weighty: Vec<&Episode> = all.iter().filter(|one| episode_weight(one) > 0.0).collect();
    let sum: f64 = weighty.iter().map(|one| episode_weight(one)).sum();
    (rules.importance_sum > 0.0 && sum >= rules.importance_sum).then(|| build_pattern(PatternCause::Weight, weighty))
}

/// Returns what an episode adds to the sum of importance; 0 once it was part of a pattern reflection.
fn episode_weight(episode: &Episode) -> f64 {
    match &episode.reflected {
        Some(reflected) if reflected.pondered_with.is_none() => reflected.importance.value(),
        _ => 0.0,
    }
}

fn build_pattern(cause: PatternCause, mut episodes: Vec<&Episode>) -> EpisodePattern {
    episodes.sort_by(|a, b| (a.finished_at, &a.id).cmp(&(b.finished_at, &b.id)));
    let marked: Vec<EpisodeId> = episodes.into_iter().map(|episode| episode.id.clone()).collect();
    let first = marked.len().saturating_sub(MAX_RUNS);
    EpisodePattern { cause, runs: marked.iter().skip(first).cloned().collect(), marked }
}
