//! Four ways to order lessons: our own, and those of three other memory tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HalfLives, RecallScore, recency_score};
use crate::domain::{
    AgentMemory, InvalidValue, LessonCounters, MemoryCategory, MemoryKind, MemoryScope, MemorySource, MemoryState,
    Timestamp,
};

#[cfg(test)]
#[path = "ranking_profiles_tests.rs"]
mod tests;

const MILLISECONDS_A_DAY: f64 = 86_400_000.0;

/// The days after which an unconfirmed pattern is worth about a third.
const PATTERN_DAYS: f64 = 14.0;
/// The number of reinforcements after which a pattern no longer ages.
const REINFORCED_FOR_GOOD: f64 = 3.0;
/// The weight of similarity beside a pattern's score, if it is known; the rest is the score.
const SIMILARITY_SHARE: f64 = 0.6;

/// By what lessons are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Profile")]
pub enum RankingProfile {
    /// By importance, recency and relevance, weighted.
    Balanced,
    /// By how many runs saw it, less what silence took away.
    Frequency,
    /// By how often it held against how often it was noise, while it is fresh.
    Patterns,
    /// By whether it meets the question at all, and by age.
    Decisions,
}

impl RankingProfile {
    /// All profiles, in the order of their words.
    pub const ALL: [Self; 4] = [Self::Balanced, Self::Frequency, Self::Patterns, Self::Decisions];

    /// The words for the profiles in configuration and on the command line.
    pub const WORDS: &'static [&'static str] = &["balanced", "frequency", "patterns", "decisions"];

    /// Returns the word for this profile.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Frequency => "frequency",
            Self::Patterns => "patterns",
            Self::Decisions => "decisions",
        }
    }

    /// Returns the value by which a lesson is ordered, the highest first; `None` if it is not to be injected at all.
    ///
    /// - `balanced`: the score it came with.
    /// - `frequency`: [`effective_frequency`]; a lesson whose frequency is 0 is no longer injected.
    /// - `patterns`: [`ScoredPattern::score`] of [`ScoredPattern::from_lesson`], blended with the similarity if that is
    ///   known; below `min_score` the lesson is not injected.
    /// - `decisions`: [`decision_score`], where any relevance above 0 counts as a keyword match.
    pub fn rate_lesson(self, lesson: &RatedLesson<'_>, rules: &ProfileRules, now: Timestamp) -> Option<f64> {
        let RatedLesson { memory, counters, score, .. } = lesson;
        match self {
            Self::Balanced => Some(score.score),
            Self::Frequency => {
                let frequency = effective_frequency(memory, counters, lesson.unseen_runs, rules.decay_runs);
                (frequency > 0).then_some(frequency as f64)
            }
            Self::Patterns => {
                let own = ScoredPattern::from_lesson(memory, counters, now).score();
                let blended = lesson.similarity.map_or(own, |similarity| blend_scores(similarity, own));
                (blended >= rules.min_score).then_some(blended)
            }
            Self::Decisions => {
                let keyword = if score.relevance > 0.0 { KeywordMatch::Met } else { KeywordMatch::Missed };
                Some(decision_score(keyword, decision_recency(memory, now, rules.half_lives.decision)))
            }
        }
    }
}

impl std::str::FromStr for RankingProfile {
    type Err = InvalidValue;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|profile| profile.as_str() == word);
        known.ok_or_else(|| crate::domain::word_enum::unknown_word_error("a profile", word, Self::WORDS))
    }
}

impl std::fmt::Display for RankingProfile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// The numbers behind the profiles. Every one is a configuration key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileRules {
    /// The half-lives by which decisions age.
    pub half_lives: HalfLives,
    /// The number of sessions without a sighting that removes one sighting; 0 removes none.
    pub decay_runs: u32,
    /// The lowest score of a pattern that is injected.
    pub min_score: f64,
}

/// A lesson with what a profile needs to rate it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatedLesson<'a> {
    /// The lesson itself.
    pub memory: &'a AgentMemory,
    /// The lesson's counters.
    pub counters: &'a LessonCounters,
    /// The balanced score for the question.
    pub score: RecallScore,
    /// The sessions of the project since the lesson was last seen.
    pub unseen_runs: u64,
    /// The similarity to the question, from 0 to 1, if embeddings are available.
    pub similarity: Option<f64>,
}

/// Sorts by rate, the highest first. Equal rates keep their order, and NaN goes last.
pub fn sort_by_rate<T>(mut rated: Vec<(T, f64)>) -> Vec<T> {
    let key = |rate: f64| if rate.is_nan() { f64::NEG_INFINITY } else { rate };
    rated.sort_by(|(_, left), (_, right)| key(*right).total_cmp(&key(*left)));
    rated.into_iter().map(|(row, _)| row).collect()
}

/// Returns how often a lesson counts as seen: the sessions that saw it, at least one, less one for every `decay_runs`
/// sessions without a sighting. Preferences, decisions and other confirmed lessons do not fade.
pub fn effective_frequency(memory: &AgentMemory, counters: &LessonCounters, unseen_runs: u64, decay_runs: u32) -> u64 {
    let seen = counters.sightings.max(1);
    if is_lasting(memory) { seen } else { FrequencyDecay::after_silence(seen, unseen_runs, decay_runs).frequency }
}

fn is_lasting(memory: &AgentMemory) -> bool {
    memory.evergreen
        || matches!(memory.kind, MemoryKind::Preference | MemoryKind::Decision)
        || memory.source == MemorySource::Manual
        || memory.state == Some(MemoryState::Active)
}

/// The sightings left after sessions without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrequencyDecay {
    /// The sightings that are left; at 0 the lesson is exhausted.
    pub frequency: u64,
    /// The sessions without a sighting since the last one was removed.
    pub silent_runs: u64,
}

impl FrequencyDecay {
    /// Decays a lesson that was seen `frequency` times and then not for `unseen_runs` sessions: every `decay_runs` of
    /// them remove one sighting, until none is left. A lesson seen 5 times lasts 50 sessions by default.
    pub fn after_silence(frequency: u64, unseen_runs: u64, decay_runs: u32) -> Self {
        let runs = u64::from(decay_runs);
        let taken = unseen_runs.checked_div(runs).unwrap_or_default();
        if taken >= frequency {
            return Self { frequency: 0, silent_runs: 0 };
        }
        Self { frequency: frequency - taken, silent_runs: unseen_runs.checked_rem(runs).unwrap_or(unseen_runs) }
    }

    /// Returns true if no sighting is left.
    pub fn is_exhausted(self) -> bool {
        self.frequency == 0
    }
}

/// The kind of a pattern: a rule is worth more than a cause, and a cause more than an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternKind {
    /// The pattern says what to do.
    Rule,
    /// The pattern says why something happens.
    Causal,
    /// The pattern says what was seen.
    Observation,
}

impl PatternKind {
    /// Returns the kind of a lesson: with a rule it is a rule; a bugfix pattern or an anti-pattern is causal; the rest
    /// are observations.
    pub fn from_lesson(memory: &AgentMemory) -> Self {
        let has_rule = memory.rule.as_deref().is_some_and(|rule| !rule.trim().is_empty());
        match memory.category {
            _ if has_rule => Self::Rule,
            MemoryCategory::BugfixPattern | MemoryCategory::AntiPattern => Self::Causal,
            _ => Self::Observation,
        }
    }

    fn kind_weight(self) -> f64 {
        match self {
            Self::Rule => 1.3,
            Self::Causal => 1.1,
            Self::Observation => 1.0,
        }
    }
}

/// The values by which a pattern is scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredPattern {
    /// The number of times it held.
    pub success: f64,
    /// The weight of the judgements that called it noise.
    pub ignored: f64,
    /// The days since it was last known to hold.
    pub days: f64,
    /// The weight of its reinforcements.
    pub reinforced: f64,
    /// The kind of pattern.
    pub sort: PatternKind,
}

impl ScoredPattern {
    /// Returns a lesson as a pattern.
    ///
    /// It held in each session that saw it, at least one, and by the weight of each judgement for it; these judgements
    /// are its reinforcements. Its age counts from the last sighting or judgement for it: being shown does not keep it
    /// fresh.
    pub fn from_lesson(memory: &AgentMemory, counters: &LessonCounters, now: Timestamp) -> Self {
        let last_sign = counters.last_confirmed_at().unwrap_or_else(|| memory.version_at());
        Self {
            success: counters.sightings.max(1) as f64 + counters.validated,
            ignored: counters.ignored,
            days: days_between(last_sign, now),
            reinforced: counters.validated,
            sort: PatternKind::from_lesson(memory),
        }
    }

    /// Returns `success / (success + ignored) · e^(−days/14) · kind`, without the middle factor once it was reinforced
    /// three times. A pattern that never held scores 0.
    pub fn score(&self) -> f64 {
        if self.success <= 0.0 {
            return 0.0;
        }
        let share = self.success / (self.success + self.ignored.max(0.0));
        let is_lasting = self.reinforced >= REINFORCED_FOR_GOOD;
        let freshness = if is_lasting { 1.0 } else { (-self.days.max(0.0) / PATTERN_DAYS).exp() };
        share * freshness * self.sort.kind_weight()
    }
}

/// Returns `0.6 · similarity + 0.4 · score`.
pub fn blend_scores(similarity: f64, score: f64) -> f64 {
    SIMILARITY_SHARE * similarity + (1.0 - SIMILARITY_SHARE) * score
}

/// The result of searching a decision for a word of the current work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordMatch {
    /// The decision contains one.
    Met,
    /// The decision contains none.
    Missed,
}

/// Returns the recency, plus 1 for a keyword match.
pub fn decision_score(keyword: KeywordMatch, recency: f64) -> f64 {
    match keyword {
        KeywordMatch::Met => 1.0 + recency,
        KeywordMatch::Missed => recency,
    }
}

/// Returns how recent a decision is: it halves with every half-life since the decision was made, and stays 1 for a
/// global or an evergreen one, as a constraint that code still refers to should be.
pub fn decision_recency(memory: &AgentMemory, now: Timestamp, half_life_days: f64) -> f64 {
    let is_exempt = memory.evergreen || memory.scope == MemoryScope::Global;
    let age = (now - memory.created_at).num_milliseconds();
    recency_score(age, (!is_exempt).then_some(half_life_days))
}

fn days_between(then: Timestamp, now: Timestamp) -> f64 {
    (now - then).num_milliseconds().max(0) as f64 / MILLISECONDS_A_DAY
}
