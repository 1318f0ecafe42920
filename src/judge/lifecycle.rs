//! Where a lesson stands in its life, read off the records: never stored by anybody but a person or a merge.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;

use crate::domain::{
    AgentMemory, Counters, EvidenceLevel, Fact, FactKey, FeedbackVerdict, MemoryKind, MemorySource, MemoryState, Quote,
    Timestamp,
};

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;

/// When a lesson rises, and when it ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lifecycle {
    /// Runs in which a lesson must have been seen to become a candidate.
    pub candidate_sightings: u32,
    /// A lesson at least this important that is proved by output or a citation is a candidate at once.
    pub candidate_importance: f64,
    /// Different circumstances in which a candidate must have been seen to count as verified.
    pub verified_contexts: u32,
    /// So many runs without a sighting take one sighting away; none are taken where it is 0.
    pub decay_runs: u32,
    /// Silence ends no lesson that was seen within so many days before the last run.
    pub grace_days: u32,
    /// A lesson that is trusted less than this is deprecated.
    pub deprecate_below: f64,
}

/// When the runs of a project were over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs(Vec<Timestamp>);

impl Runs {
    /// From the ends of all runs, in any order.
    pub fn new(finished: impl IntoIterator<Item = Timestamp>) -> Self {
        let mut finished: Vec<Timestamp> = finished.into_iter().collect();
        finished.sort_unstable();
        Self(finished)
    }

    /// How many were over later than this.
    pub fn since(&self, at: Timestamp) -> usize {
        self.0.len() - self.0.partition_point(|finished| *finished <= at)
    }

    /// Whether the last of them was over more than so many days later than this.
    fn go_on_for(&self, days: u32, at: Timestamp) -> bool {
        self.0.last().is_some_and(|last| *last - at > TimeDelta::days(i64::from(days)))
    }
}

/// Where a lesson stands, and why, where there is something to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Where.
    pub state: MemoryState,
    /// Why.
    pub reason: Option<String>,
}

impl Standing {
    /// The same for a lesson of which runs show that it does harm: it is over, unless a person stands behind it or
    /// decided otherwise.
    #[must_use]
    pub fn of_harmful(self, harm: &str) -> Self {
        use MemoryState::{Candidate, Deprecated, Observed, Verified};
        match self.state {
            Observed | Candidate | Verified => Self { state: Deprecated, reason: Some(format!("does harm: {harm}")) },
            _ => self,
        }
    }
}

/// Where a lesson stands by what is known of it. Facts about other lessons, repeats and the order count for nothing.
///
/// It never makes a lesson active: a person does.
pub fn state<'f>(
    memory: &AgentMemory,
    facts: impl IntoIterator<Item = &'f Fact>,
    runs: &Runs,
    rules: &Lifecycle,
) -> Standing {
    if let Some(state) = decided(memory) {
        return Standing { state, reason: memory.state_reason.clone() };
    }
    let life = Life::of(memory, facts);
    if let Some(reason) = life.end(memory, runs, rules) {
        return Standing { state: MemoryState::Deprecated, reason: Some(reason) };
    }
    let state = match () {
        () if !life.is_candidate(memory, rules) => MemoryState::Observed,
        () if !life.is_verified(rules) => MemoryState::Candidate,
        () => MemoryState::Verified,
    };
    Standing { state, reason: None }
}

/// What a person, a merge or a newer version decided, which no record changes.
fn decided(memory: &AgentMemory) -> Option<MemoryState> {
    use MemoryState::{Active, Archived, Candidate, Deprecated, Observed, Quarantined, Superseded, Verified};
    match &memory.state {
        Some(state @ (Archived | Superseded | Quarantined | MemoryState::Other(_))) => Some(state.clone()),
        _ if memory.superseded_by.is_some() => Some(Superseded),
        Some(Active) => Some(Active),
        Some(Observed | Candidate | Verified | Deprecated) | None => None,
    }
}

/// Whether somebody stands behind it, so that it need not be seen first.
fn is_vouched_for(memory: &AgentMemory) -> bool {
    matches!(memory.kind, MemoryKind::Preference | MemoryKind::Decision) || memory.source == MemorySource::Manual
}

fn is_proof(level: &EvidenceLevel) -> bool {
    matches!(level, EvidenceLevel::Execution | EvidenceLevel::Citation)
}

/// What the facts about one lesson come to.
struct Life {
    counters: Counters,
    /// In how many different circumstances it was seen.
    contexts: usize,
    /// Whether it is quoted from output or from a file.
    is_proved: bool,
    /// Whether somebody found it to hold, with proof.
    is_validated: bool,
}

impl Life {
    fn of<'f>(memory: &AgentMemory, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let facts = distinct(facts.into_iter().filter(|fact| *fact.memory() == memory.id));
        let mut contexts = BTreeSet::new();
        let mut is_proved = proves(&memory.evidence.quotes);
        let mut is_validated = false;
        for fact in facts.values() {
            match fact {
                Fact::Sighting { episode, context, quotes, .. } => {
                    // Of circumstances that nobody noted each run has its own.
                    contexts.insert(context.as_deref().ok_or(episode));
                    is_proved |= proves(quotes);
                }
                Fact::Feedback { verdict: FeedbackVerdict::Validated, level, weight, .. } => {
                    is_validated |= is_proof(level) && *weight > 0.0;
                }
                Fact::Feedback { .. } | Fact::Injection { .. } | Fact::Effect { .. } => {}
            }
        }
        Self { counters: Counters::of(facts.into_values()), contexts: contexts.len(), is_proved, is_validated }
    }

    /// Why it is over, if it is: silence consumed its sightings, or nobody believes it.
    fn end(&self, memory: &AgentMemory, runs: &Runs, rules: &Lifecycle) -> Option<String> {
        let trust = self.counters.trust();
        if trust < rules.deprecate_below {
            return Some(format!("judged to be noise too often: trust is {trust:.2}"));
        }
        if is_vouched_for(memory) || memory.evergreen {
            return None;
        }
        // A lesson of which no sighting is known was seen when it was made.
        let last_seen = self.counters.last_seen_at.unwrap_or(memory.created_at);
        // A busy day has as many runs as a quiet month, and says no more about a lesson.
        if !runs.go_on_for(rules.grace_days, last_seen) {
            return None;
        }
        let unseen = u64::try_from(runs.since(last_seen)).unwrap_or(u64::MAX);
        let taken = unseen.checked_div(u64::from(rules.decay_runs)).unwrap_or_default();
        (taken >= self.counters.sightings.max(1)).then(|| format!("not seen in {unseen} runs"))
    }

    fn is_candidate(&self, memory: &AgentMemory, rules: &Lifecycle) -> bool {
        is_vouched_for(memory)
            || self.counters.sightings >= u64::from(rules.candidate_sightings)
            || (self.is_proved && memory.importance.value() >= rules.candidate_importance)
    }

    fn is_verified(&self, rules: &Lifecycle) -> bool {
        self.is_validated || self.contexts >= usize::try_from(rules.verified_contexts).unwrap_or(usize::MAX)
    }
}

fn proves(quotes: &[Quote]) -> bool {
    quotes.iter().any(|quote| is_proof(&quote.level))
}

/// Each fact once. Where one was told in two ways, the earlier counts, whichever comes first.
fn distinct<'f>(facts: impl Iterator<Item = &'f Fact>) -> BTreeMap<FactKey, &'f Fact> {
    let mut distinct: BTreeMap<FactKey, &Fact> = BTreeMap::new();
    for fact in facts {
        let kept = distinct.entry(fact.key()).or_insert(fact);
        if kept.at().cmp(&fact.at()).then_with(|| content(kept).cmp(&content(fact))).is_gt() {
            *kept = fact;
        }
    }
    distinct
}

/// What two facts of one key and one moment may differ in.
fn content(fact: &Fact) -> String {
    serde_json::to_string(fact).unwrap_or_default()
}
