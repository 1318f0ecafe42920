//! Rules that decide when a lesson is retired: Archivist's own, and two simpler ones.

use archivist_core::recall::{EffectVerdict, LessonTrial};

/// A rule that decides when a lesson is retired; every rule is applied after each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetirementRule {
    /// The rule that Archivist uses.
    Archivist,
    /// Retires a lesson when the 95 % interval that people are shown says that it harms.
    Interval,
    /// Retires a lesson when failures recurred more often in sessions that had it.
    Difference,
}

/// The number of sessions that the `Difference` rule waits for.
const FEW_RUNS: u64 = 10;

impl RetirementRule {
    pub(super) const ALL: [Self; 3] = [Self::Archivist, Self::Interval, Self::Difference];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Archivist => "archivist",
            Self::Interval => "95 % interval, every look",
            Self::Difference => "any difference, from 10 runs",
        }
    }

    /// Returns true if the rule retires the lesson now.
    pub(super) fn should_retire(self, trial: &LessonTrial) -> bool {
        let arms = trial.arms();
        let estimate = || arms.estimate_effect();
        match self {
            Self::Archivist => trial.proven_harm().is_some(),
            Self::Interval => estimate().is_some_and(|found| found.verdict == EffectVerdict::Harms),
            Self::Difference => {
                let runs = arms.exposed.runs.saturating_add(arms.withheld.runs);
                runs >= FEW_RUNS && estimate().is_some_and(|found| found.difference > 0.0)
            }
        }
    }
}
