//! How much a lesson matters, before anybody has seen it work.

use crate::domain::{Importance, ImportanceScale};

/// What a lesson rests on, with what it starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// The same failure in several runs: it will come again.
    AcrossRuns,
    /// The same failure again and again in one run: time was lost, and may be lost again.
    Repeated,
    /// A failure that nothing mended: no more than a warning.
    Unmended,
    /// A failure with its fix: the next one is spared the search.
    Fixed,
    /// A person's standing wish: seldom urgent, never wrong.
    Wish,
    /// A wish that was repeated, or put so that nobody can mistake it: it costs a person's patience.
    Insisted,
    /// A wish that is hardly more than a taste.
    Taste,
    /// A test that cannot be believed: it misleads whoever trusts it.
    Flaky,
}

impl Ground {
    fn start(self) -> f64 {
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

/// A lesson matters at least and at most so much.
const LEAST: f64 = 0.3;
const MOST: f64 = 0.95;

/// Every doubling of the number of failures adds this, up to three times.
const DOUBLING: f64 = 0.04;

/// What it adds that the run failed.
const FAILED_RUN: f64 = 0.05;

/// The importance, from the ground, how often it was seen, and whether the run failed.
pub(super) fn importance(ground: Ground, times: u32, has_failed: bool) -> Importance {
    let doublings = f64::from(times.max(1).ilog2().min(3));
    let weight = ground.start() + doublings * DOUBLING + if has_failed { FAILED_RUN } else { 0.0 };
    let rounded = (weight.clamp(LEAST, MOST) * 100.0).round() / 100.0;
    Importance::parse(rounded, ImportanceScale::Undeclared).unwrap_or(Importance::MANUAL)
}
