//! How much a lesson matters by what it stands on, and how far anybody's word may lie from that.

use crate::domain::{Candidate, ErrorFamily, Importance, ImportanceScale, MemoryKind, Severity, TrustClass};

#[cfg(test)]
#[path = "importance_tests.rs"]
mod tests;

/// What a lesson stands on, from the lightest to the weightiest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// Nothing stands out: it costs a little time, or it happened once.
    Routine,
    /// A test that cannot be believed.
    Flaky,
    /// A person said how it is to be done.
    UserCorrection,
    /// A failure, and what mended it.
    FailureWithFix,
    /// The same failure again and again, in one run or in several.
    RepeatedFailure,
}

impl Ground {
    fn start(self) -> f64 {
        match self {
            Self::Routine => 0.45,
            Self::Flaky => 0.5,
            Self::UserCorrection => 0.55,
            Self::FailureWithFix => 0.6,
            Self::RepeatedFailure => 0.7,
        }
    }
}

/// One thing that stands out in a session, in plain values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sign<'a> {
    /// What it is, in the words of signals: `repeated_failure`, `fixed`, `user_correction`.
    pub kind: &'a str,
    /// Which failure, where it is about one.
    pub family: Option<&'a ErrorFamily>,
    /// How often.
    pub times: u32,
}

/// What a lesson stands on, and how often that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Footing {
    /// On what.
    pub ground: Ground,
    /// How often.
    pub times: u32,
}

impl Footing {
    const NONE: Self = Self { ground: Ground::Routine, times: 1 };
}

/// Everything matters at least and at most so much before anybody has seen it work.
const LEAST: f64 = 0.3;
const MOST: f64 = 0.95;

/// Every doubling of the number of times adds this, up to three times.
const DOUBLING: f64 = 0.04;

/// What it adds that the run failed.
const FAILED_RUN: f64 = 0.05;

/// So many failures of one call are a repeated failure, whatever they are called.
const REPEATED: u32 = 3;

/// How much a lesson matters by what it stands on alone.
pub fn prior(ground: Ground, times: u32, run_failed: bool) -> Importance {
    let doublings = f64::from(times.max(1).ilog2().min(3));
    let weight = ground.start() + doublings * DOUBLING + if run_failed { FAILED_RUN } else { 0.0 };
    importance((weight.clamp(LEAST, MOST) * 100.0).round() / 100.0)
}

/// What was said, brought as close to the prior as the leeway demands.
pub fn held(said: Importance, prior: Importance, leeway: f64) -> Importance {
    // No leeway is left by a number that is none.
    let leeway = leeway.max(0.0);
    let least = (prior.value() - leeway).max(0.0);
    let most = (prior.value() + leeway).min(1.0);
    importance(said.value().max(least).min(most))
}

/// What a candidate stands on.
///
/// A failure counts for the lesson that is about it, a correction for the lesson that quotes a person. What else
/// happened in the session lends a lesson no weight.
pub fn ground_of(candidate: &Candidate, signs: &[Sign<'_>]) -> Footing {
    let family = candidate.facets.error_family.as_ref();
    let about_it = signs.iter().filter(|sign| family.is_some() && sign.family == family);
    let failed = about_it.filter(|sign| sign.kind != "user_correction").map(footing_of).max();
    let footing = failed.or_else(|| wished(candidate, signs)).unwrap_or(Footing::NONE);
    let mut episodes: Vec<_> = candidate.evidence.episode_ids.iter().collect();
    episodes.sort();
    episodes.dedup();
    let comes_again = family.is_some() && episodes.len() >= 2;
    if comes_again { Footing { ground: Ground::RepeatedFailure, ..footing } } else { footing }
}

/// The weightiest thing in a session: how much there is to learn from it.
pub fn footing(signs: &[Sign<'_>]) -> Footing {
    signs.iter().map(footing_of).max().unwrap_or(Footing::NONE)
}

/// The least that a lesson of this severity matters.
pub fn of_severity(severity: &Severity) -> Importance {
    importance(match severity {
        Severity::Bug => 0.7,
        Severity::Warning => 0.5,
        Severity::Info | Severity::Recommendation | Severity::Other(_) => 0.3,
    })
}

fn footing_of(sign: &Sign<'_>) -> Footing {
    let ground = match sign.kind {
        "repeated_failure" | "retry_loop" => Ground::RepeatedFailure,
        // A limit stands where it is: it is met again, and what to do about it is known at once.
        "timeout" | "rate_limit" | "context_window" if sign.times >= 2 => Ground::RepeatedFailure,
        "timeout" | "rate_limit" | "context_window" | "fixed" => Ground::FailureWithFix,
        "failed_call" | "verification_failed" if sign.times >= REPEATED => Ground::RepeatedFailure,
        "user_correction" => Ground::UserCorrection,
        "flaky_test" => Ground::Flaky,
        _ => Ground::Routine,
    };
    Footing { ground, times: sign.times.max(1) }
}

/// What a lesson stands on that no failure carries: a person's words, or a test that changes its mind.
fn wished(candidate: &Candidate, signs: &[Sign<'_>]) -> Option<Footing> {
    let of_kind = |kind: &str| signs.iter().filter(|sign| sign.kind == kind).map(footing_of).max();
    let is_wish = matches!(candidate.kind, MemoryKind::Preference | MemoryKind::Decision);
    let is_said = candidate.evidence.quotes.iter().any(|quote| quote.trust == TrustClass::User);
    if is_said && (is_wish || of_kind("user_correction").is_some()) {
        return Some(Footing { ground: Ground::UserCorrection, times: 1 });
    }
    let is_flaky = candidate.tags.iter().any(|tag| tag.to_lowercase().contains("flaky"));
    of_kind("flaky_test").filter(|_| is_flaky)
}

fn importance(number: f64) -> Importance {
    Importance::parse(number, ImportanceScale::Undeclared).unwrap_or(Importance::MANUAL)
}
