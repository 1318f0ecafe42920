//! Four ways to put lessons in order: our own, and those of three memories that people come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HalfLives, Score, recency};
use crate::domain::{
    AgentMemory, Counters, Invalid, MemoryCategory, MemoryKind, MemoryScope, MemorySource, MemoryState, Timestamp,
};

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;

const MILLISECONDS_A_DAY: f64 = 86_400_000.0;

/// After so many days a pattern that nothing confirmed is worth a third.
const PATTERN_DAYS: f64 = 14.0;
/// A pattern that was reinforced this often no longer grows old.
const REINFORCED_FOR_GOOD: f64 = 3.0;
/// How much closeness in meaning counts beside a pattern's score, where it is known; the rest is the score.
const SIMILARITY_SHARE: f64 = 0.6;

/// By what lessons are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Profile {
    /// By importance, recency and relevance, weighted.
    Balanced,
    /// By how many runs saw it, less what silence took away.
    Frequency,
    /// By how often it held against how often it was noise, while it is fresh.
    Patterns,
    /// By whether it meets the question at all, and by age.
    Decisions,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Balanced, Self::Frequency, Self::Patterns, Self::Decisions];

    /// Their words in configuration and on the command line.
    pub const WORDS: &'static [&'static str] = &["balanced", "frequency", "patterns", "decisions"];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Frequency => "frequency",
            Self::Patterns => "patterns",
            Self::Decisions => "decisions",
        }
    }

    /// What a lesson is ordered by, the highest first; `None` if it is not to be given at all.
    ///
    /// - `balanced`: the score it came with.
    /// - `frequency`: [`frequency_of`]; a lesson without one is no longer given.
    /// - `patterns`: [`Pattern::score`] of [`Pattern::of`], blended with the closeness in meaning where that is known;
    ///   below `min_score` it is not given.
    /// - `decisions`: [`decision_score`], the keyword being met by any relevance above 0.
    pub fn rate(self, lesson: &Rated<'_>, rules: &ProfileRules, now: Timestamp) -> Option<f64> {
        let Rated { memory, counters, score, .. } = lesson;
        match self {
            Self::Balanced => Some(score.score),
            Self::Frequency => {
                let frequency = frequency_of(memory, counters, lesson.unseen_runs, rules.decay_runs);
                (frequency > 0).then_some(frequency as f64)
            }
            Self::Patterns => {
                let own = Pattern::of(memory, counters, now).score();
                let blended = lesson.similarity.map_or(own, |similarity| blended(similarity, own));
                (blended >= rules.min_score).then_some(blended)
            }
            Self::Decisions => {
                let keyword = if score.relevance > 0.0 { Keyword::Met } else { Keyword::Missed };
                Some(decision_score(keyword, decision_recency(memory, now, rules.half_lives.decision)))
            }
        }
    }
}

impl std::str::FromStr for Profile {
    type Err = Invalid;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|profile| profile.as_str() == word);
        known.ok_or_else(|| crate::domain::words::unknown("a profile", word, Self::WORDS))
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// The numbers behind the profiles. Every one is a configuration key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileRules {
    /// How fast decisions grow old.
    pub half_lives: HalfLives,
    /// So many runs without a sighting take one sighting away; none are taken where it is 0.
    pub decay_runs: u32,
    /// A pattern that scores less than this is not given.
    pub min_score: f64,
}

/// A lesson as a profile sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rated<'a> {
    /// The lesson.
    pub memory: &'a AgentMemory,
    /// What happened to it.
    pub counters: &'a Counters,
    /// Its balanced score for the question.
    pub score: Score,
    /// Runs of the project since it was last seen.
    pub unseen_runs: u64,
    /// How close it is to the question in meaning, from 0 to 1, where a model told.
    pub similarity: Option<f64>,
}

/// The highest first. Equals keep the order in which they came, and whatever is no number goes last.
pub fn by_rate<T>(mut rated: Vec<(T, f64)>) -> Vec<T> {
    let key = |rate: f64| if rate.is_nan() { f64::NEG_INFINITY } else { rate };
    rated.sort_by(|(_, left), (_, right)| key(*right).total_cmp(&key(*left)));
    rated.into_iter().map(|(row, _)| row).collect()
}

/// How often a lesson counts as seen: the runs that saw it, one at least for it was seen when it was made, less one for
/// every `decay_runs` runs of silence. What somebody stands behind does not fade.
pub fn frequency_of(memory: &AgentMemory, counters: &Counters, unseen_runs: u64, decay_runs: u32) -> u64 {
    let seen = counters.sightings.max(1);
    if is_lasting(memory) { seen } else { Fading::after(seen, unseen_runs, decay_runs).frequency }
}

fn is_lasting(memory: &AgentMemory) -> bool {
    memory.evergreen
        || matches!(memory.kind, MemoryKind::Preference | MemoryKind::Decision)
        || memory.source == MemorySource::Manual
        || memory.state == Some(MemoryState::Active)
}

/// What silence leaves of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fading {
    /// Sightings that are left; at 0 the lesson is over.
    pub frequency: u64,
    /// Runs of silence since the last sighting was taken away.
    pub silent_runs: u64,
}

impl Fading {
    /// A lesson that was seen `frequency` times and then not for `unseen_runs` runs: every `decay_runs` of them take one
    /// sighting away, and when none is left nothing is counted any more. A lesson seen 5 times lasts 50 runs by default.
    pub fn after(frequency: u64, unseen_runs: u64, decay_runs: u32) -> Self {
        let runs = u64::from(decay_runs);
        let taken = unseen_runs.checked_div(runs).unwrap_or_default();
        if taken >= frequency {
            return Self { frequency: 0, silent_runs: 0 };
        }
        Self { frequency: frequency - taken, silent_runs: unseen_runs.checked_rem(runs).unwrap_or(unseen_runs) }
    }

    /// Whether silence has taken every sighting.
    pub fn is_over(self) -> bool {
        self.frequency == 0
    }
}

/// What a pattern is: a hard rule is worth more than a cause, and a cause more than something that was merely seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternSort {
    /// It says what to do.
    Rule,
    /// It says why something happens.
    Causal,
    /// It says what was seen.
    Observation,
}

impl PatternSort {
    /// What sort of pattern a lesson is: with a rule it is one; a failure with its fix, and what was tried and failed,
    /// say why; the rest was seen.
    pub fn of(memory: &AgentMemory) -> Self {
        let has_rule = memory.rule.as_deref().is_some_and(|rule| !rule.trim().is_empty());
        match memory.category {
            _ if has_rule => Self::Rule,
            MemoryCategory::BugfixPattern | MemoryCategory::AntiPattern => Self::Causal,
            _ => Self::Observation,
        }
    }

    fn weight(self) -> f64 {
        match self {
            Self::Rule => 1.3,
            Self::Causal => 1.1,
            Self::Observation => 1.0,
        }
    }
}

/// What a pattern is scored by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pattern {
    /// How often it held.
    pub success: f64,
    /// Weight of the judgements that called it noise.
    pub ignored: f64,
    /// How long ago it was last known to hold, in days.
    pub days: f64,
    /// How often it was reinforced.
    pub reinforced: f64,
    /// What it is.
    pub sort: PatternSort,
}

impl Pattern {
    /// A lesson as a pattern.
    ///
    /// It held in each run that saw it, one at least, and by the weight of each judgement for it; these judgements are
    /// its reinforcements. Its age counts from the last sighting or judgement for it: being shown keeps nothing fresh.
    pub fn of(memory: &AgentMemory, counters: &Counters, now: Timestamp) -> Self {
        let last_sign = counters.last_sign().unwrap_or_else(|| memory.version_at());
        Self {
            success: counters.sightings.max(1) as f64 + counters.validated,
            ignored: counters.ignored,
            days: days_between(last_sign, now),
            reinforced: counters.validated,
            sort: PatternSort::of(memory),
        }
    }

    /// `success / (success + ignored) · e^(−days/14) · sort`, without the middle part once it was reinforced three
    /// times. What never held is worth nothing.
    pub fn score(&self) -> f64 {
        if self.success <= 0.0 {
            return 0.0;
        }
        let share = self.success / (self.success + self.ignored.max(0.0));
        let is_lasting = self.reinforced >= REINFORCED_FOR_GOOD;
        let freshness = if is_lasting { 1.0 } else { (-self.days.max(0.0) / PATTERN_DAYS).exp() };
        share * freshness * self.sort.weight()
    }
}

/// `0.6 · similarity + 0.4 · score`.
pub fn blended(similarity: f64, score: f64) -> f64 {
    SIMILARITY_SHARE * similarity + (1.0 - SIMILARITY_SHARE) * score
}

/// Whether a decision holds a word of what is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyword {
    /// It does.
    Met,
    /// It does not.
    Missed,
}

/// 1 for a keyword that is met, and the recency.
pub fn decision_score(keyword: Keyword, recency: f64) -> f64 {
    match keyword {
        Keyword::Met => 1.0 + recency,
        Keyword::Missed => recency,
    }
}

/// How recent a decision is: it halves with every half-life since it was made, and stays 1 for what holds everywhere or
/// is evergreen, as a constraint that code still refers to should be.
pub fn decision_recency(memory: &AgentMemory, now: Timestamp, half_life_days: f64) -> f64 {
    let is_exempt = memory.evergreen || memory.scope == MemoryScope::Global;
    let age = (now - memory.created_at).num_milliseconds();
    recency(age, (!is_exempt).then_some(half_life_days))
}

fn days_between(then: Timestamp, now: Timestamp) -> f64 {
    (now - then).num_milliseconds().max(0) as f64 / MILLISECONDS_A_DAY
}
