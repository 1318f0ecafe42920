//! What happened to lessons. Counters are read off these facts, never stored.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{EpisodeId, EvidenceLevel, Extra, MemoryId, Quote, RunId, Timestamp};

/// One thing that happened to one lesson. Saying it again changes nothing: see [`Fact::key`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "fact", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Fact {
    /// The lesson was seen to hold in an episode.
    Sighting {
        /// Which lesson.
        memory: MemoryId,
        /// Where.
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
        /// Which run.
        run: RunId,
        /// Which lesson.
        memory: MemoryId,
        /// Where in the run: `orchestrator`, `subagent`.
        point: String,
        /// Its place in the list, from 1.
        rank: u32,
        /// Whether the run really saw it.
        exposure: Exposure,
        /// When.
        at: Timestamp,
        /// What this version does not know.
        #[serde(flatten)]
        extra: Extra,
    },
    /// Somebody judged the lesson by what it did in an episode.
    Feedback {
        /// Which lesson.
        memory: MemoryId,
        /// Where.
        episode: EpisodeId,
        /// How it was judged.
        verdict: FeedbackVerdict,
        /// How much the judgement counts.
        weight: f64,
        /// Who judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// On what grounds.
        #[serde(default)]
        level: EvidenceLevel,
        /// When.
        at: Timestamp,
        /// What this version does not know.
        #[serde(flatten)]
        extra: Extra,
    },
    /// What became of the lesson's matter in a run that had been given it, or had not.
    Effect {
        /// Which run.
        run: RunId,
        /// Which lesson.
        memory: MemoryId,
        /// What became of it.
        effect: Effect,
        /// When.
        at: Timestamp,
        /// What this version does not know.
        #[serde(flatten)]
        extra: Extra,
    },
}

/// What makes two facts the same fact.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactKey(String);

impl FactKey {
    /// As a term for an index.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Fact {
    /// Which lesson it is about.
    pub fn memory(&self) -> &MemoryId {
        match self {
            Self::Sighting { memory, .. }
            | Self::Injection { memory, .. }
            | Self::Feedback { memory, .. }
            | Self::Effect { memory, .. } => memory,
        }
    }

    /// When it happened.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Sighting { at, .. }
            | Self::Injection { at, .. }
            | Self::Feedback { at, .. }
            | Self::Effect { at, .. } => *at,
        }
    }

    /// Two facts with one key are one fact.
    pub fn key(&self) -> FactKey {
        let words: [&str; 5] = match self {
            Self::Sighting { memory, episode, .. } => ["s", memory.as_str(), episode.as_str(), "", ""],
            Self::Injection { run, memory, point, .. } => ["i", memory.as_str(), run.as_str(), point, ""],
            Self::Feedback { memory, episode, verdict, role, .. } => {
                ["f", memory.as_str(), episode.as_str(), verdict.as_str(), role.as_deref().unwrap_or_default()]
            }
            // A run may be looked at again when more of it is known.
            Self::Effect { run, memory, effect, .. } => ["e", memory.as_str(), run.as_str(), effect.as_str(), ""],
        };
        FactKey(words.join(" "))
    }

    /// Whether it bears on how the lesson ranks, and not only on how often it was shown.
    pub fn moves_rank(&self) -> bool {
        matches!(self, Self::Sighting { .. } | Self::Feedback { .. })
    }
}

words! {
    /// Whether a run saw a lesson that was chosen for it.
    Exposure, "an exposure" {
        /// It did.
        Exposed = "exposed",
        /// It was held back, to learn whether the lesson helps.
        Withheld = "withheld",
    }
}

words! {
    /// How a lesson was judged.
    FeedbackVerdict, "a verdict" {
        /// It held.
        Validated = "validated",
        /// It was noise.
        Ignored = "ignored",
    }
}

words! {
    /// What became of a lesson's matter in a run. Of several that are told of one run the first of these counts: a run
    /// that went well until noon may still fail.
    Effect, "an effect" {
        /// The trouble came back.
        Recurred = "recurred",
        /// It did not, where it could have.
        Prevented = "prevented",
        /// Nobody can tell.
        Unknown = "unknown",
    }
}

/// What the facts about one lesson add up to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counters {
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

impl Counters {
    /// Adds up the facts of one lesson. Repeats count once, and the order does not matter.
    pub fn of<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Self {
        let mut seen = BTreeSet::new();
        let mut sum = Self::default();
        for fact in facts {
            if seen.insert(fact.key()) {
                sum.absorb(fact);
            }
        }
        sum
    }

    /// How far the lesson is to be believed, from its feedback; 1 without any.
    pub fn trust(&self) -> f64 {
        (1.0 + self.validated) / (1.0 + self.validated + self.ignored)
    }

    /// The last sign that the lesson still holds. Being shown is no such sign.
    pub fn last_sign(&self) -> Option<Timestamp> {
        self.last_seen_at.max(self.last_validated_at)
    }

    /// Adds a fact that has not been counted yet.
    pub fn absorb(&mut self, fact: &Fact) {
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
                self.validated += bounded(*weight);
                self.last_validated_at = self.last_validated_at.max(Some(*at));
            }
            Fact::Feedback { verdict: FeedbackVerdict::Ignored, weight, .. } => self.ignored += bounded(*weight),
            Fact::Injection { .. } | Fact::Feedback { .. } | Fact::Effect { .. } => {}
        }
    }
}

/// One judgement counts for something, and for no more than this.
fn bounded(weight: f64) -> f64 {
    const HEAVIEST: f64 = 1000.0;
    if weight.is_nan() { 0.0 } else { weight.clamp(0.0, HEAVIEST) }
}
