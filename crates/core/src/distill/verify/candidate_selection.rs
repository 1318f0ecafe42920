//! Selects the candidates that stay: the most important ones, without repeats.

use std::collections::BTreeSet;

use super::CandidateLimits;
use crate::domain::{Candidate, DropReason, DroppedCandidate};

#[cfg(test)]
#[path = "candidate_selection_tests.rs"]
mod tests;

/// The share of common words from which two candidates say the same.
const SAME_SHARE: f64 = 0.9;

/// Sorts candidates by importance, and drops those that matter too little, repeat another one or exceed the limit.
pub(super) fn rank_candidates(
    mut candidates: Vec<Candidate>,
    limits: &CandidateLimits,
    dropped: &mut Vec<DroppedCandidate>,
) -> Vec<Candidate> {
    let mut drop = |candidate: Candidate, why: DropReason, detail: String| {
        dropped.push(DroppedCandidate { summary: candidate.summary, why, detail });
    };
    candidates.sort_by(|a, b| {
        let by_importance = b.importance.value().total_cmp(&a.importance.value());
        by_importance.then_with(|| a.summary.cmp(&b.summary)).then_with(|| a.rule.cmp(&b.rule))
    });
    let mut kept: Vec<(CandidateWords, Candidate)> = Vec::new();
    for candidate in candidates {
        if candidate.importance.value() < limits.min_importance {
            let detail = format!("importance {}, and {:.2} is asked for", candidate.importance, limits.min_importance);
            drop(candidate, DropReason::Unimportant, detail);
            continue;
        }
        let said = CandidateWords::from_candidate(&candidate);
        if let Some((_, other)) = kept.iter().find(|(known, _)| known.says_same(&said)) {
            let detail = format!("“{}” says it", other.summary);
            drop(candidate, DropReason::Repeated, detail);
        } else if kept.len() >= limits.max_candidates {
            drop(candidate, DropReason::TooMany, format!("{} are kept", limits.max_candidates));
        } else {
            kept.push((said, candidate));
        }
    }
    kept.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The words of a candidate, for comparison.
struct CandidateWords {
    summary: Vec<String>,
    rule: Vec<String>,
    all: BTreeSet<String>,
}

impl CandidateWords {
    fn from_candidate(candidate: &Candidate) -> Self {
        let summary = crate::text::split_words(&candidate.summary);
        let rule = candidate.rule.as_deref().map(crate::text::split_words).unwrap_or_default();
        let all = summary.iter().cloned().collect();
        Self { summary, rule, all }
    }

    fn says_same(&self, other: &Self) -> bool {
        let shared = self.all.intersection(&other.all).count();
        let either = self.all.union(&other.all).count();
        let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
        let is_alike = either > 0 && number(shared) >= SAME_SHARE * number(either);
        self.summary == other.summary || (!self.rule.is_empty() && self.rule == other.rule) || is_alike
    }
}
