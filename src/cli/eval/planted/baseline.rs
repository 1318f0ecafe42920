//! Distillers that anybody could write, to hold a better one against.

use crate::context::{ReflectionContext, Signal, SignalKind, step_text};
use crate::domain::{
    Candidate, Evidence, EvidenceLevel, Facets, Importance, MemoryCategory, MemoryKind, MemoryScope, Quote, TrustClass,
};

#[cfg(test)]
#[path = "baseline_tests.rs"]
mod tests;

/// A distiller by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Baseline {
    /// What it does, in a few words.
    pub name: &'static str,
    /// Does it.
    pub distill: fn(&ReflectionContext) -> Vec<Candidate>,
}

impl Baseline {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [
        Self { name: "every failed call is a lesson", distill: every_failure },
        Self { name: "repeated failures only", distill: repeated_failures },
    ];
}

/// A lesson for each call that failed in a way of its own.
fn every_failure(context: &ReflectionContext) -> Vec<Candidate> {
    use SignalKind::{ContextWindow, FailedCall, RateLimit, Timeout};
    of_kinds(context, &[FailedCall, Timeout, RateLimit, ContextWindow])
}

/// A lesson for each failure that came again and again.
fn repeated_failures(context: &ReflectionContext) -> Vec<Candidate> {
    of_kinds(context, &[SignalKind::RepeatedFailure, SignalKind::RetryLoop])
}

fn of_kinds(context: &ReflectionContext, kinds: &[SignalKind]) -> Vec<Candidate> {
    context.signals.iter().filter(|signal| kinds.contains(&signal.kind)).map(|one| candidate(context, one)).collect()
}

/// The signal itself, with the steps that it rests on.
fn candidate(context: &ReflectionContext, signal: &Signal) -> Candidate {
    let trajectory = usize::try_from(signal.trajectory).ok().and_then(|index| context.trajectories.get(index));
    let quotes = trajectory.into_iter().flat_map(|trajectory| {
        let id = trajectory.about.session_id.as_deref().unwrap_or_default();
        trajectory.steps.iter().filter(|step| signal.steps.contains(&step.number)).filter_map(move |step| {
            let passage = signal.quote.as_deref()?;
            let (level, trust) = (EvidenceLevel::Execution, TrustClass::ToolOutput);
            Quote::verified(id, step.number, &step_text(step), passage, level, trust)
        })
    });
    Candidate {
        summary: signal.text.clone(),
        rule: None,
        detail: None,
        kind: MemoryKind::Lesson,
        category: MemoryCategory::AntiPattern,
        scope: MemoryScope::Project,
        facets: Facets { error_family: signal.error_family.clone(), ..Facets::default() },
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
