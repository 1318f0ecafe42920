//! The effect of lessons, measured by comparing sessions that had them with sessions that had not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Archivist, RequestError};
use crate::domain::{Alias, Exposure, Fact, MemoryId, MemoryState, RunId};
use crate::memory::{FactFilter, Lesson, LessonName, LessonStateFilter};
use crate::recall::{EffectEstimate, EffectVerdict, LessonTrial, ProvenHarm, TrialArms};

/// What is known of one lesson's effect.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Measured")]
pub struct MeasuredEffect {
    /// Runs that had it.
    pub shown: usize,
    /// Runs that it was held back from.
    pub held_back: usize,
    /// Those of which something can be told.
    pub arms: TrialArms,
    /// How much more often the trouble comes back, where both sides have runs.
    pub estimate: Option<EffectEstimate>,
    /// When it was certain that it does harm.
    pub harm: Option<ProvenHarm>,
}

impl MeasuredEffect {
    /// Measures a lesson's effect from the facts about it.
    pub fn from_facts<'f>(id: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let facts: Vec<&Fact> = facts.into_iter().filter(|fact| fact.memory_id() == id).collect();
        let runs = |wanted: &Exposure| -> BTreeSet<&RunId> {
            let run = |fact: &&'f Fact| match fact {
                Fact::Injection { run, exposure, .. } if exposure == wanted => Some(run),
                _ => None,
            };
            facts.iter().filter_map(run).collect()
        };
        let (shown, withheld) = (runs(&Exposure::Exposed), runs(&Exposure::Withheld));
        let held_back = withheld.difference(&shown).count();
        let trial = LessonTrial::from_facts(id, facts.iter().copied());
        let arms = *trial.arms();
        Self {
            shown: shown.len(),
            held_back,
            arms,
            estimate: arms.estimate_effect(),
            harm: trial.proven_harm().copied(),
        }
    }

    /// Returns the verdict: harm that is proved counts before the estimate.
    pub fn verdict(&self) -> EffectVerdict {
        match (&self.harm, &self.estimate) {
            (Some(_), _) => EffectVerdict::Harms,
            (None, Some(estimate)) => estimate.verdict,
            (None, None) => EffectVerdict::Unclear,
        }
    }
}

/// One lesson and its effect.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EffectRow")]
pub struct LessonEffectRow {
    /// The id of the lesson.
    pub id: MemoryId,
    /// What people call it.
    pub alias: Option<Alias>,
    /// What it says.
    pub summary: String,
    /// How it stands.
    pub state: Option<MemoryState>,
    /// What is known of its effect.
    #[serde(flatten)]
    pub measured: MeasuredEffect,
    /// What that comes to.
    pub verdict: EffectVerdict,
}

impl Archivist {
    /// Measures the effect of the named lessons, in that order. Without names, measures every lesson that was selected
    /// for a session, those that need attention first.
    pub async fn measure_lesson_effects(&self, names: &[LessonName]) -> Result<Vec<LessonEffectRow>, RequestError> {
        let facts = self.memory.list_facts(&FactFilter::default()).await?;
        let mut by_lesson: BTreeMap<&MemoryId, Vec<&Fact>> = BTreeMap::new();
        for fact in &facts {
            by_lesson.entry(fact.memory_id()).or_default().push(fact);
        }
        let lessons = if names.is_empty() {
            let mut lessons = self.memory.list_lessons(LessonStateFilter::All).await?;
            lessons.retain(|lesson| self.sees_lesson(&lesson.memory));
            lessons
        } else {
            self.get_lessons(names).await?
        };
        let mut rows: Vec<LessonEffectRow> = Vec::new();
        for Lesson { memory, .. } in lessons {
            let measured = MeasuredEffect::from_facts(&memory.id, by_lesson.remove(&memory.id).unwrap_or_default());
            if !names.is_empty() || measured.shown + measured.held_back > 0 {
                let verdict = measured.verdict();
                let (id, alias, summary, state) = (memory.id, memory.alias, memory.summary, memory.state);
                rows.push(LessonEffectRow { id, alias, summary, state, measured, verdict });
            }
        }
        if names.is_empty() {
            rows.sort_by_key(|LessonEffectRow { alias, measured, verdict, .. }| {
                let runs = measured.arms.exposed.runs + measured.arms.withheld.runs;
                (verdict_rank(*verdict), Reverse(runs), alias.as_ref().map(Alias::number))
            });
        }
        Ok(rows)
    }
}

/// Returns the sort key of a verdict: harmful lessons come first.
fn verdict_rank(verdict: EffectVerdict) -> u8 {
    match verdict {
        EffectVerdict::Harms => 0,
        EffectVerdict::Helps => 1,
        EffectVerdict::Unclear => 2,
    }
}
