//! Simple distillers that serve as baselines for the real one.

use archivist_core::context::{ReflectionContext, Signal, SignalKind, step_text};
use archivist_core::domain::{
    Candidate, Evidence, EvidenceLevel, FacetValues, Importance, MemoryCategory, MemoryKind, MemoryScope, Quote,
    TrustClass,
};

#[cfg(test)]
#[path = "baseline_tests.rs"]
mod tests;

/// A simple distiller with its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaselineDistiller {
    /// A short description of its method.
    pub name: &'static str,
    /// The function that distills candidates from a context.
    pub distill: fn(&ReflectionContext) -> Vec<Candidate>,
}

impl BaselineDistiller {
    /// All baseline distillers, in the order of the report.
    pub(crate) const ALL: [Self; 2] = [
        Self { name: "every failed call is a lesson", distill: distill_every_failure },
        Self { name: "repeated failures only", distill: distill_repeated_failures },
    ];
}

/// Returns a candidate for each signal of a failed call, timeout, rate limit or full context window.
fn distill_every_failure(context: &ReflectionContext) -> Vec<Candidate> {
    use SignalKind::{ContextWindow, FailedCall, RateLimit, Timeout};
    candidates_for_signals(context, &[FailedCall, Timeout, RateLimit, ContextWindow])
}

/// Returns a candidate for each failure that was repeated or retried in a loop.
fn distill_repeated_failures(context: &ReflectionContext) -> Vec<Candidate> {
    candidates_for_signals(context, &[SignalKind::RepeatedFailure, SignalKind::RetryLoop])
}

fn candidates_for_signals(context: &ReflectionContext, kinds: &[SignalKind]) -> Vec<Candidate> {
    context
        .signals
        .iter()
        .filter(|signal| kinds.contains(&signal.kind))
        .map(|one| candidate_from_signal(context, one))
        .collect()
}

/// Returns the signal itself as a candidate, with quotes from the steps that it rests on.
fn candidate_from_signal(context: &ReflectionContext, signal: &Signal) -> Candidate {
    let trajectory = usize::try_from(signal.trajectory).ok().and_then(|index| context.trajectories.get(index));
    let quotes = trajectory.into_iter().flat_map(|trajectory| {
        let id = trajectory.about.session_id.as_deref().unwrap_or_default();
        trajectory.steps.iter().filter(|step| signal.steps.contains(&step.number)).filter_map(move |step| {
            let passage = signal.quote.as_deref()?;
            let (level, trust) = (EvidenceLevel::Execution, TrustClass::ToolOutput);
            Quote::verify_passage(id, step.number, &step_text(step), passage, level, trust)
        })
    });
    Candidate {
        summary: signal.text.clone(),
        rule: None,
        detail: None,
        kind: MemoryKind::Lesson,
        category: MemoryCategory::AntiPattern,
        scope: MemoryScope::Project,
        facets: FacetValues { error_family: signal.error_family.clone(), ..FacetValues::default() },
        tags: Vec::new(),
        importance: Importance::MANUAL,
        importance_reason: None,
        severity: None,
        evidence: Evidence { quotes: quotes.collect(), ..Evidence::default() },
        quarantine: None,
        near: Vec::new(),
        mended: Vec::new(),
    }
}
