//! Whether lessons help, by runs that had them and runs that had not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Desk, Refusal};
use crate::domain::{Alias, Exposure, Fact, MemoryId, MemoryState, RunId};
use crate::memory::{FactFilter, Lesson, LessonName, Which};
use crate::recall::{Arms, Estimate, Harm, Trial, Verdict};

/// What is known of one lesson's effect.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Measured {
    /// Runs that had it.
    pub shown: usize,
    /// Runs that it was held back from.
    pub held_back: usize,
    /// Those of which something can be told.
    pub arms: Arms,
    /// How much more often the trouble comes back, where both sides have runs.
    pub estimate: Option<Estimate>,
    /// When it was certain that it does harm.
    pub harm: Option<Harm>,
}

impl Measured {
    /// What facts say of a lesson.
    pub fn of<'f>(id: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let facts: Vec<&Fact> = facts.into_iter().filter(|fact| fact.memory() == id).collect();
        let runs = |wanted: &Exposure| -> BTreeSet<&RunId> {
            let run = |fact: &&'f Fact| match fact {
                Fact::Injection { run, exposure, .. } if exposure == wanted => Some(run),
                _ => None,
            };
            facts.iter().filter_map(run).collect()
        };
        let (shown, withheld) = (runs(&Exposure::Exposed), runs(&Exposure::Withheld));
        let held_back = withheld.difference(&shown).count();
        let trial = Trial::of(id, facts.iter().copied());
        let arms = *trial.arms();
        Self { shown: shown.len(), held_back, arms, estimate: arms.estimate(), harm: trial.harm().copied() }
    }

    /// What that comes to.
    pub fn verdict(&self) -> Verdict {
        match (&self.harm, &self.estimate) {
            (Some(_), _) => Verdict::Harms,
            (None, Some(estimate)) => estimate.verdict,
            (None, None) => Verdict::Unclear,
        }
    }
}

/// One lesson and its effect.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectRow {
    /// Which lesson.
    pub id: MemoryId,
    /// What people call it.
    pub alias: Option<Alias>,
    /// What it says.
    pub summary: String,
    /// How it stands.
    pub state: Option<MemoryState>,
    /// What is known of its effect.
    #[serde(flatten)]
    pub measured: Measured,
    /// What that comes to.
    pub verdict: Verdict,
}

impl Desk {
    /// The effect of the named lessons, in that order; of every lesson that was chosen for a run, where none is named,
    /// those first that should be looked at.
    pub async fn effect(&self, names: &[LessonName]) -> Result<Vec<EffectRow>, Refusal> {
        let facts = self.memory.facts(&FactFilter::default()).await?;
        let mut by_lesson: BTreeMap<&MemoryId, Vec<&Fact>> = BTreeMap::new();
        for fact in &facts {
            by_lesson.entry(fact.memory()).or_default().push(fact);
        }
        let lessons = if names.is_empty() {
            let mut lessons = self.memory.lessons(Which::All).await?;
            lessons.retain(|lesson| self.sees(&lesson.memory));
            lessons
        } else {
            self.lessons_named(names).await?
        };
        let mut rows: Vec<EffectRow> = Vec::new();
        for Lesson { memory, .. } in lessons {
            let measured = Measured::of(&memory.id, by_lesson.remove(&memory.id).unwrap_or_default());
            if !names.is_empty() || measured.shown + measured.held_back > 0 {
                let verdict = measured.verdict();
                let (id, alias, summary, state) = (memory.id, memory.alias, memory.summary, memory.state);
                rows.push(EffectRow { id, alias, summary, state, measured, verdict });
            }
        }
        if names.is_empty() {
            rows.sort_by_key(|EffectRow { alias, measured, verdict, .. }| {
                let runs = measured.arms.exposed.runs + measured.arms.withheld.runs;
                (rank(*verdict), Reverse(runs), alias.as_ref().map(Alias::number))
            });
        }
        Ok(rows)
    }
}

/// What is to be looked at first.
fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Harms => 0,
        Verdict::Helps => 1,
        Verdict::Unclear => 2,
    }
}
