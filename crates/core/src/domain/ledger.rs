//! Facts about lessons. Counters are computed from these facts and never stored.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::word_enum::words;
use super::{EpisodeId, EvidenceLevel, Extra, MemoryId, Quote, RunId, Timestamp};

/// One thing that happened to one lesson. Saying it again changes nothing: see [`Fact::key`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "fact", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Fact {
    /// The lesson was seen to hold in an episode.
    Sighting {
        /// The id of the lesson.
        memory: MemoryId,
        /// The episode of the session.
        episode: EpisodeId,
        /// When the episode was.
        at: Timestamp,
        /// How well it is proved.
        #[serde(default)]
        level: EvidenceLevel,
        /// In what circumstances: the task and who worked on it. What holds in two of them is no accident of one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        /// The words that show it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        quotes: Vec<Quote>,
        /// What this version does not know.
        #[serde(flatten)]
        extra: Extra,
    },
    /// The lesson was chosen for a run's prompt.
    Injection {
        /// The session that got it.
        run: RunId,
        /// The id of the lesson.
        memory: MemoryId,
        /// Where in the run: `orchestrator`, `subagent`.
        point: String,
        /// Its place in the list, from 1.
        rank: u32,
        /// Whether the run really saw it.
        exposure: Exposure,
        /// The time of the injection.
        at: Timestamp,
        /// What this version does not know.
        #[serde(flatten)]
        extra: Extra,
    },
    /// Somebody judged the lesson by what it did in an episode.
    Feedback {
        /// The id of the lesson.
        memory: MemoryId,
        /// The episode of the session.
        episode: EpisodeId,
        /// How it was judged.
        verdict: FeedbackVerdict,
        /// How much the judgement counts.
        weight: f64,
        /// The role that judged it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// On what grounds.
        #[serde(default)]
        level: EvidenceLevel,
        /// The time of the feedback.
        at: Timestamp,
        /// What this version does not know.
        #[serde(flatten)]
        extra: Extra,
    },
    /// What became of the lesson's matter in a run that had been given it, or had not.
    Effect {
        /// The session that got it.
        run: RunId,
        /// The id of the lesson.
        memory: MemoryId,
        /// What became of it.
        effect: Effect,
        /// The time of the finding.
        at: Timestamp,
        /// What this version does not know.
        #[serde(flatten)]
        extra: Extra,
    },
}

/// The key that identifies a fact: two facts with one key are the same fact.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactKey(String);

impl FactKey {
    /// Returns the key as a term for an index.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Fact {
    /// Returns the lesson that the fact is about.
    pub fn memory_id(&self) -> &MemoryId {
        match self {
            Self::Sighting { memory, .. }
            | Self::Injection { memory, .. }
            | Self::Feedback { memory, .. }
            | Self::Effect { memory, .. } => memory,
        }
    }

    /// Returns the time at which it happened.
    pub fn happened_at(&self) -> Timestamp {
        match self {
            Self::Sighting { at, .. }
            | Self::Injection { at, .. }
            | Self::Feedback { at, .. }
            | Self::Effect { at, .. } => *at,
        }
    }

    /// Returns the key of the fact; facts with equal keys count once.
    pub fn key(&self) -> FactKey {
        let words: [&str; 5] = match self {
            Self::Sighting { memory, episode, .. } => ["s", memory.as_str(), episode.as_str(), "", ""],
            Self::Injection { run, memory, point, .. } => ["i", memory.as_str(), run.as_str(), point, ""],
            Self::Feedback { memory, episode, verdict, role, .. } => {
                ["f", memory.as_str(), episode.as_str(), verdict.as_str(), role.as_deref().unwrap_or_default()]
            }
            // A session may be examined again when more of it is known, so the effect is part of the key.
            Self::Effect { run, memory, effect, .. } => ["e", memory.as_str(), run.as_str(), effect.as_str(), ""],
        };
        FactKey(words.join(" "))
    }

    /// Returns true if the fact affects the rank of the lesson, and not only its number of exposures.
    pub fn affects_rank(&self) -> bool {
        matches!(self, Self::Sighting { .. } | Self::Feedback { .. })
    }
}

words! {
    /// Tells whether a session saw a lesson that was selected for it.
    Exposure, "an exposure" {
        /// The session saw the lesson.
        Exposed = "exposed",
        /// The lesson was withheld for the control group, to measure whether it helps.
        Withheld = "withheld",
    }
}

words! {
    /// The judgement of a lesson by feedback.
    FeedbackVerdict, "a verdict" {
        /// The lesson proved right.
        Validated = "validated",
        /// The lesson was noise.
        Ignored = "ignored",
    }
}

words! {
    /// The effect of a lesson in a session. If several are recorded for one session, the first of these counts: a
    /// session that went well at first may still fail.
    Effect, "an effect" {
        /// The problem that the lesson is about recurred.
        Recurred = "recurred",
        /// The problem did not recur although it could have.
        Prevented = "prevented",
        /// The effect cannot be determined.
        Unknown = "unknown",
    }
}

/// What the facts about one lesson add up to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Counters")]
pub struct LessonCounters {
    /// Distinct episodes in which it was seen.
    pub sightings: u64,
    /// The last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// Runs' prompts it stood in.
    pub exposures: u64,
    /// Runs' prompts it was held back from.
    pub withheld: u64,
    /// The last exposure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// Weight of the judgements for it.
    pub validated: f64,
    /// Weight of the judgements against it.
    pub ignored: f64,
    /// The last judgement for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_validated_at: Option<Timestamp>,
}

impl LessonCounters {
    /// Counts the facts of one lesson. Repeated facts count once, and their order does not matter.
    pub fn from_facts<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Self {
        let mut seen = BTreeSet::new();
        let mut sum = Self::default();
        for fact in facts {
            if seen.insert(fact.key()) {
                sum.add_fact(fact);
            }
        }
        sum
    }

    /// Returns the trust in the lesson that results from its feedback, or 1 without feedback.
    pub fn trust_score(&self) -> f64 {
        (1.0 + self.validated) / (1.0 + self.validated + self.ignored)
    }

    /// Returns the time of the last sighting or validation. An exposure confirms nothing.
    pub fn last_confirmed_at(&self) -> Option<Timestamp> {
        self.last_seen_at.max(self.last_validated_at)
    }

    /// Adds a fact that has not been counted yet.
    pub fn add_fact(&mut self, fact: &Fact) {
        match fact {
            Fact::Sighting { at, .. } => {
                self.sightings += 1;
                self.last_seen_at = self.last_seen_at.max(Some(*at));
            }
            Fact::Injection { exposure: Exposure::Exposed, at, .. } => {
                self.exposures += 1;
                self.last_used_at = self.last_used_at.max(Some(*at));
            }
            Fact::Injection { exposure: Exposure::Withheld, .. } => self.withheld += 1,
            Fact::Feedback { verdict: FeedbackVerdict::Validated, weight, at, .. } => {
                self.validated += clamp_weight(*weight);
                self.last_validated_at = self.last_validated_at.max(Some(*at));
            }
            Fact::Feedback { verdict: FeedbackVerdict::Ignored, weight, .. } => self.ignored += clamp_weight(*weight),
            Fact::Injection { .. } | Fact::Feedback { .. } | Fact::Effect { .. } => {}
        }
    }
}

/// Limits the weight of one judgement to the range from 0 to `HEAVIEST`.
fn clamp_weight(weight: f64) -> f64 {
    const HEAVIEST: f64 = 1000.0;
    if weight.is_nan() { 0.0 } else { weight.clamp(0.0, HEAVIEST) }
}
