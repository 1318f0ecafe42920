//! Rules that say when a lesson is retired: ours, and two that come to mind first.

use crate::recall::{Trial, Verdict};

/// When a lesson is retired. All are asked after every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// What Archivist does.
    Archivist,
    /// The interval that people are shown says that it harms.
    Interval,
    /// Trouble came back more often in runs that had it.
    Difference,
}

/// The simplest rule waits for so many runs.
const FEW_RUNS: u64 = 10;

impl Rule {
    pub(super) const ALL: [Self; 3] = [Self::Archivist, Self::Interval, Self::Difference];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Archivist => "archivist",
            Self::Interval => "95 % interval, every look",
            Self::Difference => "any difference, from 10 runs",
        }
    }

    /// Whether it retires the lesson now.
    pub(super) fn retires(self, trial: &Trial) -> bool {
        let arms = trial.arms();
        let estimate = || arms.estimate();
        match self {
            Self::Archivist => trial.harm().is_some(),
            Self::Interval => estimate().is_some_and(|found| found.verdict == Verdict::Harms),
            Self::Difference => {
                let runs = arms.exposed.runs.saturating_add(arms.withheld.runs);
                runs >= FEW_RUNS && estimate().is_some_and(|found| found.difference > 0.0)
            }
        }
    }
}
