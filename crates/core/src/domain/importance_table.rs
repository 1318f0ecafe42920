//! The importance of a lesson before it was seen to work. Every number by basis, repetition or severity is in this file.
//!
//! | basis | importance | why |
//! |---|---|---|
//! | a failure in several sessions | 0.75 | it will come again |
//! | a failure that recurs in one session | 0.66 | time was lost, and may be lost again |
//! | a preference that was repeated or stated emphatically | 0.66 | ignoring it costs a user's patience |
//! | a failure with a known fix | 0.60 | the next search is spared |
//! | a user's correction or preference | 0.55 | it is seldom urgent and never wrong |
//! | a flaky test | 0.55 | it misleads whoever trusts it |
//! | a failure without a fix | 0.51 | the lesson is only a warning |
//! | a mild preference | 0.45 | it is hardly more than a taste |
//! | nothing that stands out | 0.45 | it costs a little time, or it happened once |
//!
//! Each doubling of the number of times adds 0.04, up to three times, and a failed session adds 0.05. The defaults of
//! the settings refer to these numbers: a proved lesson is injected at once from 0.7, which a failure that recurs in one
//! session reaches when it came three times, a repeated preference by the repetition, and a failure without a fix never.

use super::{Importance, Severity};

#[cfg(test)]
#[path = "importance_table_tests.rs"]
mod tests;

/// The basis of a lesson, from the lightest to the weightiest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImportanceBasis {
    /// Nothing stands out: it costs a little time, or it happened once.
    Routine,
    /// A user mentioned a preference that is hardly more than a taste.
    MildPreference,
    /// A failure has no known fix, so the lesson is only a warning.
    UnresolvedFailure,
    /// A test is flaky and misleads whoever trusts it.
    FlakyTest,
    /// A user said how it is to be done, which is seldom urgent and never wrong.
    UserPreference,
    /// A failure has a known fix, which spares the next search.
    FailureWithFix,
    /// A user repeated a preference or stated it emphatically: ignoring it costs a user's patience.
    InsistedPreference,
    /// A failure recurred in one session: time was lost, and may be lost again.
    RepeatedFailure,
    /// A failure came in several sessions, so it will recur.
    FailureAcrossSessions,
}

impl ImportanceBasis {
    fn base_value(self) -> f64 {
        match self {
            Self::Routine | Self::MildPreference => 0.45,
            Self::UnresolvedFailure => 0.51,
            Self::FlakyTest | Self::UserPreference => 0.55,
            Self::FailureWithFix => 0.6,
            Self::InsistedPreference | Self::RepeatedFailure => 0.66,
            Self::FailureAcrossSessions => 0.75,
        }
    }
}

/// The least and the greatest importance of a lesson that was not yet seen to work.
const LEAST: f64 = 0.3;
const MOST: f64 = 0.95;

/// The amount that each doubling of the number of times adds, and the number of doublings that count.
const DOUBLING: f64 = 0.04;
const MAX_DOUBLINGS: u32 = 3;

/// The amount that a failed session adds.
const FAILED_SESSION: f64 = 0.05;

impl Importance {
    /// The greatest importance of a lesson that rests only on words that are no user's, or whose recommendation was not
    /// seen to be followed.
    pub const MAX_BY_WORDS: Self = Self(0.6);

    /// Returns the importance of a lesson by its basis, by the number of times, and by whether the session failed.
    pub fn from_basis(basis: ImportanceBasis, times: u32, has_failed: bool) -> Self {
        let doublings = f64::from(times.max(1).ilog2().min(MAX_DOUBLINGS));
        let weight = basis.base_value() + doublings * DOUBLING + if has_failed { FAILED_SESSION } else { 0.0 };
        Self((weight.clamp(LEAST, MOST) * 100.0).round() / 100.0)
    }

    /// Returns the importance of a lesson of which only the severity is known.
    pub fn from_severity(severity: &Severity) -> Self {
        Self(match severity {
            Severity::Bug => 0.7,
            Severity::Warning => 0.5,
            Severity::Info | Severity::Recommendation | Severity::Other(_) => LEAST,
        })
    }
}
