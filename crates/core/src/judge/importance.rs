//! The basis of a candidate, and the limits on what a distiller may claim beyond the importance of that basis.

use crate::domain::{Candidate, ErrorFamily, Importance, ImportanceBasis, ImportanceScale, MemoryKind, TrustClass};

#[cfg(test)]
#[path = "importance_tests.rs"]
mod tests;

/// A signal of a session, in plain values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainSignal<'a> {
    /// The kind, in the words of signals: `repeated_failure`, `fixed`, `user_correction`.
    pub kind: &'a str,
    /// The error family, if it is about a failure.
    pub family: Option<&'a ErrorFamily>,
    /// The number of times.
    pub times: u32,
}

/// The basis of a lesson, and how often it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountedBasis {
    /// The basis itself.
    pub basis: ImportanceBasis,
    /// The number of times.
    pub times: u32,
}

impl CountedBasis {
    const NONE: Self = Self { basis: ImportanceBasis::Routine, times: 1 };
}

/// The number of failures of one call that count as a repeated failure.
const REPEATED: u32 = 3;

/// Returns the claimed importance, moved to within `leeway` of the prior one.
pub fn clamp_to_prior(said: Importance, prior: Importance, leeway: f64) -> Importance {
    // A leeway that is no number leaves none.
    let leeway = leeway.max(0.0);
    let least = (prior.value() - leeway).max(0.0);
    let most = (prior.value() + leeway).min(1.0);
    make_importance(said.value().max(least).min(most))
}

/// Returns the basis of a candidate.
///
/// A failure counts for the lesson that is about it, a correction for the lesson that quotes a user. Other signals of
/// the session add no weight.
pub fn find_basis(candidate: &Candidate, signs: &[PlainSignal<'_>]) -> CountedBasis {
    let family = candidate.facets.error_family.as_ref();
    let about_it = signs.iter().filter(|sign| family.is_some() && sign.family == family);
    let failed = about_it.filter(|sign| sign.kind != "user_correction").map(basis_of_signal).max();
    let footing = failed.or_else(|| basis_without_failure(candidate, signs)).unwrap_or(CountedBasis::NONE);
    let mut episodes: Vec<_> = candidate.evidence.episode_ids.iter().collect();
    episodes.sort();
    episodes.dedup();
    let comes_again = family.is_some() && episodes.len() >= 2;
    if comes_again { CountedBasis { basis: ImportanceBasis::FailureAcrossSessions, ..footing } } else { footing }
}

/// Returns the weightiest basis in a session, which tells how much there is to learn from it.
pub fn strongest_basis(signs: &[PlainSignal<'_>]) -> CountedBasis {
    signs.iter().map(basis_of_signal).max().unwrap_or(CountedBasis::NONE)
}

fn basis_of_signal(sign: &PlainSignal<'_>) -> CountedBasis {
    let basis = match sign.kind {
        "repeated_failure" | "retry_loop" => ImportanceBasis::RepeatedFailure,
        // A limit stays: it is met again, and the remedy is known at once.
        "timeout" | "rate_limit" | "context_window" if sign.times >= 2 => ImportanceBasis::RepeatedFailure,
        "timeout" | "rate_limit" | "context_window" | "fixed" => ImportanceBasis::FailureWithFix,
        "failed_call" | "verification_failed" if sign.times >= REPEATED => ImportanceBasis::RepeatedFailure,
        "user_correction" => ImportanceBasis::UserPreference,
        "flaky_test" => ImportanceBasis::FlakyTest,
        _ => ImportanceBasis::Routine,
    };
    CountedBasis { basis, times: sign.times.max(1) }
}

/// Returns the basis of a lesson that is not about a failure: a user's words, or a flaky test.
fn basis_without_failure(candidate: &Candidate, signs: &[PlainSignal<'_>]) -> Option<CountedBasis> {
    let of_kind = |kind: &str| signs.iter().filter(|sign| sign.kind == kind).map(basis_of_signal).max();
    let is_preference = matches!(candidate.kind, MemoryKind::Preference | MemoryKind::Decision);
    let is_said = candidate.evidence.quotes.iter().any(|quote| quote.trust == TrustClass::User);
    if is_said && (is_preference || of_kind("user_correction").is_some()) {
        return Some(CountedBasis { basis: ImportanceBasis::UserPreference, times: 1 });
    }
    let is_flaky = candidate.tags.iter().any(|tag| tag.to_lowercase().contains("flaky"));
    of_kind("flaky_test").filter(|_| is_flaky)
}

fn make_importance(number: f64) -> Importance {
    Importance::parse(number, ImportanceScale::Undeclared).unwrap_or(Importance::MANUAL)
}
