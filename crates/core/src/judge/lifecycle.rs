//! The lifecycle state of a lesson, derived from the records; only a person or a merge stores one.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;

use crate::domain::{
    AgentMemory, EvidenceLevel, Fact, FactKey, FeedbackVerdict, LessonCounters, MemoryKind, MemorySource, MemoryState,
    Quote, Timestamp,
};

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;

/// The rules by which a lesson rises and ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LifecycleRules {
    /// The number of sessions in which a lesson must have been seen to become a candidate.
    pub candidate_sightings: u32,
    /// The importance from which a lesson that is proved by output or a citation is a candidate at once.
    pub candidate_importance: f64,
    /// The number of different contexts in which a candidate must have been seen to count as verified.
    pub verified_contexts: u32,
    /// The number of sessions without a sighting that take one sighting away; 0 takes none away.
    pub decay_runs: u32,
    /// The number of days before the last session within which a sighting keeps a lesson from expiring.
    pub grace_days: u32,
    /// The trust below which a lesson is deprecated.
    pub deprecate_below: f64,
}

/// The end times of a project's sessions, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionEnds(Vec<Timestamp>);

impl SessionEnds {
    /// Sorts the end times of all sessions, given in any order.
    pub fn new(finished: impl IntoIterator<Item = Timestamp>) -> Self {
        let mut finished: Vec<Timestamp> = finished.into_iter().collect();
        finished.sort_unstable();
        Self(finished)
    }

    /// Counts the sessions that ended later than this.
    pub fn count_since(&self, at: Timestamp) -> usize {
        self.0.len() - self.0.partition_point(|finished| *finished <= at)
    }

    /// Tells whether the last of them ended more than `days` days later than this.
    fn extend_beyond(&self, days: u32, at: Timestamp) -> bool {
        self.0.last().is_some_and(|last| *last - at > TimeDelta::days(i64::from(days)))
    }
}

/// The state of a lesson, and the reason where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateWithReason {
    /// The state itself.
    pub state: MemoryState,
    /// The reason for it.
    pub reason: Option<String>,
}

impl StateWithReason {
    /// Deprecates a lesson that sessions show to do harm, unless a person stands behind it or decided otherwise; in
    /// that case the state stays.
    #[must_use]
    pub fn deprecate_harmful(self, harm: &str) -> Self {
        use MemoryState::{Candidate, Deprecated, Observed, Verified};
        match self.state {
            Observed | Candidate | Verified => Self { state: Deprecated, reason: Some(format!("does harm: {harm}")) },
            _ => self,
        }
    }
}

/// Derives the state of a lesson from its facts. Facts about other lessons, repeats and the order do not matter.
///
/// It never makes a lesson active: only a person does.
pub fn derive_state<'f>(
    memory: &AgentMemory,
    facts: impl IntoIterator<Item = &'f Fact>,
    runs: &SessionEnds,
    rules: &LifecycleRules,
) -> StateWithReason {
    if let Some(state) = find_decided_state(memory) {
        return StateWithReason { state, reason: memory.state_reason.clone() };
    }
    let life = LessonLife::from_facts(memory, facts);
    if let Some(reason) = life.end_reason(memory, runs, rules) {
        return StateWithReason { state: MemoryState::Deprecated, reason: Some(reason) };
    }
    let state = match () {
        () if !life.is_candidate(memory, rules) => MemoryState::Observed,
        () if !life.is_verified(rules) => MemoryState::Candidate,
        () => MemoryState::Verified,
    };
    StateWithReason { state, reason: None }
}

/// Returns the state that a person, a merge or a newer version decided, which no record changes.
fn find_decided_state(memory: &AgentMemory) -> Option<MemoryState> {
    use MemoryState::{Active, Archived, Candidate, Deprecated, Observed, Quarantined, Superseded, Verified};
    match &memory.state {
        Some(state @ (Archived | Superseded | Quarantined | MemoryState::Other(_))) => Some(state.clone()),
        _ if memory.superseded_by.is_some() => Some(Superseded),
        Some(Active) => Some(Active),
        Some(Observed | Candidate | Verified | Deprecated) | None => None,
    }
}

/// Tells whether a person stands behind it, so that it need not be seen first.
fn is_vouched_for(memory: &AgentMemory) -> bool {
    matches!(memory.kind, MemoryKind::Preference | MemoryKind::Decision) || memory.source == MemorySource::Manual
}

fn is_proof(level: &EvidenceLevel) -> bool {
    matches!(level, EvidenceLevel::Execution | EvidenceLevel::Citation)
}

/// A summary of the facts about one lesson.
struct LessonLife {
    counters: LessonCounters,
    /// The number of different contexts in which it was seen.
    contexts: usize,
    /// True if it is quoted from output or from a file.
    is_proved: bool,
    /// True if feedback with proof validated it.
    is_validated: bool,
}

impl LessonLife {
    fn from_facts<'f>(memory: &AgentMemory, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let facts = distinct_facts(facts.into_iter().filter(|fact| *fact.memory_id() == memory.id));
        let mut contexts = BTreeSet::new();
        let mut is_proved = has_proof(&memory.evidence.quotes);
        let mut is_validated = false;
        for fact in facts.values() {
            match fact {
                Fact::Sighting { episode, context, quotes, .. } => {
                    // Each episode counts as a context of its own if none was recorded.
                    contexts.insert(context.as_deref().ok_or(episode));
                    is_proved |= has_proof(quotes);
                }
                Fact::Feedback { verdict: FeedbackVerdict::Validated, level, weight, .. } => {
                    is_validated |= is_proof(level) && *weight > 0.0;
                }
                Fact::Feedback { .. } | Fact::Injection { .. } | Fact::Effect { .. } => {}
            }
        }
        Self {
            counters: LessonCounters::from_facts(facts.into_values()),
            contexts: contexts.len(),
            is_proved,
            is_validated,
        }
    }

    /// Returns why it is over, if it is: it was not seen for too long, or trust in it is too low.
    fn end_reason(&self, memory: &AgentMemory, runs: &SessionEnds, rules: &LifecycleRules) -> Option<String> {
        let trust = self.counters.trust_score();
        if trust < rules.deprecate_below {
            return Some(format!("judged to be noise too often: trust is {trust:.2}"));
        }
        if is_vouched_for(memory) || memory.evergreen {
            return None;
        }
        // A lesson without a known sighting was seen when it was made.
        let last_seen = self.counters.last_seen_at.unwrap_or(memory.created_at);
        // A busy day has as many sessions as a quiet month, and says no more about a lesson.
        if !runs.extend_beyond(rules.grace_days, last_seen) {
            return None;
        }
        let unseen = u64::try_from(runs.count_since(last_seen)).unwrap_or(u64::MAX);
        let taken = unseen.checked_div(u64::from(rules.decay_runs)).unwrap_or_default();
        (taken >= self.counters.sightings.max(1)).then(|| format!("not seen in {unseen} runs"))
    }

    fn is_candidate(&self, memory: &AgentMemory, rules: &LifecycleRules) -> bool {
        is_vouched_for(memory)
            || self.counters.sightings >= u64::from(rules.candidate_sightings)
            || (self.is_proved && memory.importance.value() >= rules.candidate_importance)
    }

    fn is_verified(&self, rules: &LifecycleRules) -> bool {
        self.is_validated || self.contexts >= usize::try_from(rules.verified_contexts).unwrap_or(usize::MAX)
    }
}

fn has_proof(quotes: &[Quote]) -> bool {
    quotes.iter().any(|quote| is_proof(&quote.level))
}

/// Returns each fact once. If one was recorded twice, the earlier counts, whichever comes first.
fn distinct_facts<'f>(facts: impl Iterator<Item = &'f Fact>) -> BTreeMap<FactKey, &'f Fact> {
    let mut distinct: BTreeMap<FactKey, &Fact> = BTreeMap::new();
    for fact in facts {
        let kept = distinct.entry(fact.key()).or_insert(fact);
        if kept
            .happened_at()
            .cmp(&fact.happened_at())
            .then_with(|| serialize_fact(kept).cmp(&serialize_fact(fact)))
            .is_gt()
        {
            *kept = fact;
        }
    }
    distinct
}

/// Serializes a fact, to order facts with the same key and time.
fn serialize_fact(fact: &Fact) -> String {
    serde_json::to_string(fact).unwrap_or_default()
}
