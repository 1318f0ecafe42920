//! The effect of a lesson: sessions that got it compared with a control group from which it was withheld.
//!
//! There are two questions. [`TrialArms::estimate_effect`] is shown to people: how large the difference is, as far as
//! is known now. [`LessonTrial::proven_harm`] decides, and it is checked after every session: an interval that is right
//! 95 times in 100 when looked at once is wrong sooner or later when looked at forever.

mod confidence_interval;
mod harm_evidence;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use self::harm_evidence::HarmEvidence;
use crate::domain::{Effect, Exposure, Fact, MemoryId, RunId, StableHash, Timestamp};

#[cfg(test)]
#[path = "effect_tests.rs"]
mod tests;

/// The domain separator that keeps these draws apart from other hashes of a session and a lesson.
const HOLDOUT_CONTEXT: &[u8] = b"archivist holdout 1";

/// The bound on false alarms: at most one in this many harmless lessons is ever taken for harmful, however often one
/// looks.
const ONE_IN: f64 = 40.0;

/// Draws whether a lesson is shown to a session or withheld, with the probability `holdout`.
///
/// The result depends on the arguments only: it is the same for repeated calls, and each lesson and each session has a
/// draw of its own. A lesson withheld at one probability is withheld at every higher one, and none is at 0.
pub fn draw_exposure(seed: u64, run: &RunId, memory: &MemoryId, holdout: f64) -> Exposure {
    let hash = StableHash::from_bytes(HOLDOUT_CONTEXT).with_bytes(&seed.to_le_bytes());
    let number = u64::from_be_bytes(hash.with_part(run.as_str()).with_text(memory.as_str()).to_bytes());
    // As many bits as a float holds exactly.
    let drawn = (number >> 11) as f64 / (1u64 << 53) as f64;
    if drawn < holdout { Exposure::Withheld } else { Exposure::Exposed }
}

/// Runs of one kind. Those of which nobody can tell what became of the matter are not among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Arm")]
pub struct TrialArm {
    /// The number of sessions.
    pub runs: u64,
    /// In how many of them the trouble came back.
    pub recurred: u64,
}

impl TrialArm {
    /// Returns the share of the sessions in which the failure recurred; `None` without sessions.
    pub fn recurrence_rate(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.recurred as f64 / self.runs as f64)
    }

    fn add_outcome(&mut self, ending: TrialOutcome) {
        self.runs = self.runs.saturating_add(1);
        if ending == TrialOutcome::Recurred {
            self.recurred = self.recurred.saturating_add(1);
        }
    }
}

/// The runs that had a lesson, beside those that it was held back from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Arms")]
pub struct TrialArms {
    /// Those that had it.
    pub exposed: TrialArm,
    /// Those that had not.
    pub withheld: TrialArm,
}

impl TrialArms {
    /// Counts the sessions of one lesson from its facts. Each session counts once, regardless of repeated facts and
    /// their order. A session that got the lesson at one point and not at another counts as exposed.
    pub fn from_facts<'f>(memory: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        LessonTrial::from_facts(memory, facts).arms
    }

    /// Returns the estimated difference that the lesson makes; `None` as long as one side has no sessions.
    pub fn estimate_effect(&self) -> Option<EffectEstimate> {
        confidence_interval::estimate_difference(&self.exposed, &self.withheld)
    }

    fn add_outcome(&mut self, side: TrialSide, ending: TrialOutcome) {
        match side {
            TrialSide::Exposed => self.exposed.add_outcome(ending),
            TrialSide::Withheld => self.withheld.add_outcome(ending),
        }
    }
}

impl fmt::Display for TrialArms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exposed, withheld } = self;
        let runs = if exposed.runs == 1 { "run" } else { "runs" };
        write!(
            f,
            "came back in {} of {} {runs} that had it, in {} of {} that had not",
            exposed.recurred, exposed.runs, withheld.recurred, withheld.runs
        )
    }
}

/// How much more often the trouble comes back in runs that had the lesson, with a 95 % interval for one look.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Estimate")]
pub struct EffectEstimate {
    /// The rate of those that had it less the rate of those that had not: below 0 the lesson helps.
    pub difference: f64,
    /// It is hardly less than this.
    pub low: f64,
    /// It is hardly more than this.
    pub high: f64,
    /// What that says.
    pub verdict: EffectVerdict,
}

/// What an interval says of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Verdict")]
pub enum EffectVerdict {
    /// All of it lies below 0.
    Helps,
    /// All of it lies above 0.
    Harms,
    /// Neither can be shown.
    Unclear,
}

/// A lesson does harm. As text it is the reason for which it is retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Harm")]
pub struct ProvenHarm {
    /// The runs as they were when that was certain enough.
    pub arms: TrialArms,
}

impl fmt::Display for ProvenHarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.arms.fmt(f)
    }
}

/// Returns the harm of a lesson by all its facts, if it is proven: see [`LessonTrial::proven_harm`].
pub fn find_harm<'f>(memory: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Option<ProvenHarm> {
    LessonTrial::from_facts(memory, facts).harm
}

/// The trial of one lesson, session after session.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonTrial {
    memory: MemoryId,
    arms: TrialArms,
    evidence: HarmEvidence,
    harm: Option<ProvenHarm>,
}

impl LessonTrial {
    /// Creates the trial of a lesson without any sessions.
    pub fn new(memory: &MemoryId) -> Self {
        Self { memory: memory.clone(), arms: TrialArms::default(), evidence: HarmEvidence::default(), harm: None }
    }

    /// Creates the trial of a lesson from all its facts. Repeats, the order and facts about other lessons do not
    /// matter.
    pub fn from_facts<'f>(memory: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let mut trial = Self::new(memory);
        trial.add_facts(facts);
        trial
    }

    /// Adds later sessions with all their facts. None of them may be in the trial already.
    pub fn add_facts<'f>(&mut self, facts: impl IntoIterator<Item = &'f Fact>) {
        for (side, ending) in collect_outcomes(&self.memory, facts) {
            self.arms.add_outcome(side, ending);
            self.evidence.add_outcome(side, ending);
            if self.harm.is_none() && self.evidence.is_multiplied_by(ONE_IN) {
                self.harm = Some(ProvenHarm { arms: self.arms });
            }
        }
    }

    /// Returns the counts of the sessions so far.
    pub fn arms(&self) -> &TrialArms {
        &self.arms
    }

    /// Returns the harm of the lesson, once it was proven at some time. It may be checked after every session: at most
    /// one in forty harmless lessons is ever found harmful.
    pub fn proven_harm(&self) -> Option<&ProvenHarm> {
        self.harm.as_ref()
    }
}

/// The side of the trial that a session is on: with the lesson, or without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TrialSide {
    Exposed,
    Withheld,
}

/// The known outcome of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TrialOutcome {
    Recurred,
    Prevented,
}

/// Returns the sessions that count, in the order in which their outcomes became known: later ones are added at the end.
fn collect_outcomes<'f>(
    memory: &MemoryId,
    facts: impl IntoIterator<Item = &'f Fact>,
) -> Vec<(TrialSide, TrialOutcome)> {
    let mut sides: BTreeMap<&RunId, TrialSide> = BTreeMap::new();
    let mut effects: BTreeMap<&RunId, (&Effect, Timestamp)> = BTreeMap::new();
    for fact in facts.into_iter().filter(|fact| fact.memory_id() == memory) {
        match fact {
            Fact::Injection { run, exposure: Exposure::Exposed, .. } => {
                sides.insert(run, TrialSide::Exposed);
            }
            Fact::Injection { run, exposure: Exposure::Withheld, .. } => {
                sides.entry(run).or_insert(TrialSide::Withheld);
            }
            Fact::Effect { run, effect, at, .. } => {
                // If two effects are reported, a recurrence counts first, then the earlier one, in whatever order they
                // come.
                let told = (effect, *at);
                effects.entry(run).and_modify(|kept| *kept = told.min(*kept)).or_insert(told);
            }
            Fact::Injection { .. } | Fact::Sighting { .. } | Fact::Feedback { .. } => {}
        }
    }
    let known = effects.into_iter().filter_map(|(run, (effect, at))| {
        let ending = match effect {
            Effect::Recurred => TrialOutcome::Recurred,
            Effect::Prevented => TrialOutcome::Prevented,
            Effect::Unknown | Effect::Other(_) => return None,
        };
        Some((at, run, *sides.get(run)?, ending))
    });
    let in_order: BTreeSet<(Timestamp, &RunId, TrialSide, TrialOutcome)> = known.collect();
    in_order.into_iter().map(|(_, _, side, ending)| (side, ending)).collect()
}
