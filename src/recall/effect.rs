//! Whether a lesson helps: runs that were given it, beside runs from which a coin held it back.
//!
//! Two questions, two answers. [`Arms::estimate`] is what people are shown: how large the difference is, as far as can
//! be told now. [`Trial::harm`] decides, and it is asked after every run: an interval that is right 95 times in 100 when
//! looked at once is wrong sooner or later when looked at for ever.

mod evidence;
mod interval;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use self::evidence::Evidence;
use crate::domain::{Effect, Exposure, Fact, MemoryId, RunId, Timestamp};

#[cfg(test)]
#[path = "effect_tests.rs"]
mod tests;

/// Keeps these draws apart from whatever else is hashed of a run and a lesson.
const COIN: &[u8] = b"archivist holdout 1";

/// Of so many lessons that do no harm, at most one is ever taken for harmful, however often one looks.
const ONE_IN: f64 = 40.0;

/// Whether a lesson that is due in a run is shown to it or held back, with the probability `holdout`.
///
/// The answer is drawn from nothing but its arguments: asked again it is the same, and each lesson and each run has a
/// draw of its own. Whatever is held back at one probability is held back at every higher one, and nothing is at 0.
pub fn coin(seed: u64, run: &RunId, memory: &MemoryId, holdout: f64) -> Exposure {
    let mut hash = blake3::Hasher::new();
    hash.update(COIN).update(&seed.to_le_bytes());
    hash.update(run.as_str().as_bytes()).update(&[0]).update(memory.as_str().as_bytes());
    let bytes = hash.finalize();
    let number = bytes.as_bytes().iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    // As many bits as a float holds exactly.
    let drawn = (number >> 11) as f64 / (1u64 << 53) as f64;
    if drawn < holdout { Exposure::Withheld } else { Exposure::Exposed }
}

/// Runs of one kind. Those of which nobody can tell what became of the matter are not among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Arm {
    /// How many.
    pub runs: u64,
    /// In how many of them the trouble came back.
    pub recurred: u64,
}

impl Arm {
    /// In what share of them it came back; `None` of no runs.
    pub fn rate(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.recurred as f64 / self.runs as f64)
    }

    fn add(&mut self, ending: Ending) {
        self.runs = self.runs.saturating_add(1);
        if ending == Ending::Recurred {
            self.recurred = self.recurred.saturating_add(1);
        }
    }
}

/// The runs that had a lesson, beside those that it was held back from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Arms {
    /// Those that had it.
    pub exposed: Arm,
    /// Those that had not.
    pub withheld: Arm,
}

impl Arms {
    /// The runs of one lesson, from its facts. Each run counts once, whatever is said twice, in whatever order. A run
    /// that was shown the lesson at one point and not at another had it.
    pub fn of<'f>(memory: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        Trial::of(memory, facts).arms
    }

    /// What difference the lesson makes, as far as can be told; `None` as long as one side has no runs.
    pub fn estimate(&self) -> Option<Estimate> {
        interval::estimate(&self.exposed, &self.withheld)
    }

    fn add(&mut self, side: Side, ending: Ending) {
        match side {
            Side::Exposed => self.exposed.add(ending),
            Side::Withheld => self.withheld.add(ending),
        }
    }
}

impl fmt::Display for Arms {
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
pub struct Estimate {
    /// The rate of those that had it less the rate of those that had not: below 0 the lesson helps.
    pub difference: f64,
    /// It is hardly less than this.
    pub low: f64,
    /// It is hardly more than this.
    pub high: f64,
    /// What that says.
    pub verdict: Verdict,
}

/// What an interval says of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of it lies below 0.
    Helps,
    /// All of it lies above 0.
    Harms,
    /// Neither.
    Unclear,
}

/// A lesson does harm. As text it is the reason for which it is retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Harm {
    /// The runs as they were when that was certain enough.
    pub arms: Arms,
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.arms.fmt(f)
    }
}

/// Whether a lesson does harm by all that is known of it: see [`Trial::harm`].
pub fn harms<'f>(memory: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Option<Harm> {
    Trial::of(memory, facts).harm
}

/// One lesson on trial, run after run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    memory: MemoryId,
    arms: Arms,
    evidence: Evidence,
    harm: Option<Harm>,
}

impl Trial {
    /// Of a lesson of which no run is known.
    pub fn new(memory: &MemoryId) -> Self {
        Self { memory: memory.clone(), arms: Arms::default(), evidence: Evidence::default(), harm: None }
    }

    /// Of a lesson by all its facts. Repeats, the order and facts about other lessons count for nothing.
    pub fn of<'f>(memory: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let mut trial = Self::new(memory);
        trial.add(facts);
        trial
    }

    /// Adds later runs, with all that is known of them. None of them may be in it already.
    pub fn add<'f>(&mut self, facts: impl IntoIterator<Item = &'f Fact>) {
        for (side, ending) in endings(&self.memory, facts) {
            self.arms.add(side, ending);
            self.evidence.add(side, ending);
            if self.harm.is_none() && self.evidence.is_beyond(ONE_IN) {
                self.harm = Some(Harm { arms: self.arms });
            }
        }
    }

    /// The runs so far.
    pub fn arms(&self) -> &Arms {
        &self.arms
    }

    /// That the lesson does harm, once that was certain at some moment. It may be asked after every run: of lessons that
    /// do none, one in forty at most is ever accused.
    pub fn harm(&self) -> Option<&Harm> {
        self.harm.as_ref()
    }
}

/// Whether a run had the lesson, where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Exposed,
    Withheld,
}

/// What became of the matter, where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Recurred,
    Prevented,
}

/// The runs that count, in the order in which their ends became known: what comes later is added behind.
fn endings<'f>(memory: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Vec<(Side, Ending)> {
    let mut sides: BTreeMap<&RunId, Side> = BTreeMap::new();
    let mut effects: BTreeMap<&RunId, (&Effect, Timestamp)> = BTreeMap::new();
    for fact in facts.into_iter().filter(|fact| fact.memory() == memory) {
        match fact {
            Fact::Injection { run, exposure: Exposure::Exposed, .. } => {
                sides.insert(run, Side::Exposed);
            }
            Fact::Injection { run, exposure: Exposure::Withheld, .. } => {
                sides.entry(run).or_insert(Side::Withheld);
            }
            Fact::Effect { run, effect, at, .. } => {
                // Told in two ways, that the trouble came back counts, then the earlier, whichever comes first.
                let told = (effect, *at);
                effects.entry(run).and_modify(|kept| *kept = told.min(*kept)).or_insert(told);
            }
            Fact::Injection { .. } | Fact::Sighting { .. } | Fact::Feedback { .. } => {}
        }
    }
    let known = effects.into_iter().filter_map(|(run, (effect, at))| {
        let ending = match effect {
            Effect::Recurred => Ending::Recurred,
            Effect::Prevented => Ending::Prevented,
            Effect::Unknown | Effect::Other(_) => return None,
        };
        Some((at, run, *sides.get(run)?, ending))
    });
    let in_order: BTreeSet<(Timestamp, &RunId, Side, Ending)> = known.collect();
    in_order.into_iter().map(|(_, _, side, ending)| (side, ending)).collect()
}
