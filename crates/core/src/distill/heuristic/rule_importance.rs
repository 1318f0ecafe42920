//! The importance of a lesson found by rules, before it was seen to work.

use crate::domain::{Importance, ImportanceScale};

/// The basis of a lesson, which sets its initial importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeuristicBasis {
    /// A failure came in several sessions, so it will recur.
    AcrossRuns,
    /// A failure recurred in one session: time was lost, and may be lost again.
    Repeated,
    /// A failure has no remedy, so the lesson is only a warning.
    Unmended,
    /// A failure has a remedy, which spares the next search.
    Fixed,
    /// A user stated a lasting preference, which is seldom urgent and never wrong.
    Wish,
    /// A preference was repeated or stated emphatically: ignoring it costs a user's patience.
    Insisted,
    /// A preference is hardly more than a taste.
    Taste,
    /// A test is flaky and misleads whoever trusts it.
    Flaky,
}

impl HeuristicBasis {
    fn base_importance(self) -> f64 {
        match self {
            Self::AcrossRuns => 0.75,
            Self::Repeated | Self::Insisted => 0.66,
            Self::Fixed => 0.6,
            Self::Wish | Self::Flaky => 0.55,
            Self::Unmended => 0.51,
            Self::Taste => 0.45,
        }
    }
}

/// The least and the greatest importance of a lesson.
const LEAST: f64 = 0.3;
const MOST: f64 = 0.95;

/// The amount that each doubling of the number of failures adds, up to three times.
const DOUBLING: f64 = 0.04;

/// The amount that a failed session adds.
const FAILED_RUN: f64 = 0.05;

/// Returns the importance, from the basis, the number of failures, and whether the session failed.
pub(super) fn rate_importance(ground: HeuristicBasis, times: u32, has_failed: bool) -> Importance {
    let doublings = f64::from(times.max(1).ilog2().min(3));
    let weight = ground.base_importance() + doublings * DOUBLING + if has_failed { FAILED_RUN } else { 0.0 };
    let rounded = (weight.clamp(LEAST, MOST) * 100.0).round() / 100.0;
    Importance::parse(rounded, ImportanceScale::Undeclared).unwrap_or(Importance::MANUAL)
}
