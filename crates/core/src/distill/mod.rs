//! Distills lessons from signals alone or with a model. Every quote is looked up in the log, whoever claims it.

mod heuristic;
mod llm;
mod prompts;
mod reply_parser;
mod unchecked_candidate;
mod verify;

use self::verify::{CandidateLimits, CandidateVerifier, VerifiedCandidates};
use crate::context::ReflectionContext;
use crate::domain::{Candidate, DistillationResult, DroppedCandidate, Engine, ReflectionSummary};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile_tests;

pub use llm::{ComparisonPair, DistillRequest, LessonLookup, PromptLimits, compare_lessons};
pub use prompts::{PromptError, PromptSet};
pub use reply_parser::UnreadableReply;
pub use verify::{ProjectDocument, find_forbidden_order, is_generic_word};

/// Turns a session into candidates for lessons.
#[derive(Debug, Clone, Copy)]
pub struct SessionDistiller<'d> {
    /// The redactor that takes out secrets once more.
    pub redactor: &'d Redactor,
    /// Documents that agents of the project are given anyway.
    pub documents: &'d [ProjectDocument],
    /// The most candidates that are kept.
    pub max_candidates: usize,
    /// The least importance of a candidate that is kept.
    pub min_importance: f64,
}

impl SessionDistiller<'_> {
    /// Distills without a model.
    pub fn distill_with_heuristics(&self, context: &ReflectionContext) -> DistillationResult {
        let heuristic::HeuristicFindings { reflection, claims, dropped } = heuristic::distill_session(context);
        let claims = claims.into_iter().map(Ok).chain(dropped.into_iter().map(Err)).collect();
        let VerifiedCandidates { candidates, dropped } =
            self.make_verifier(context).for_heuristics().verify_all(claims);
        make_distilled(Engine::Heuristic, reflection, candidates, dropped)
    }

    /// Distills a reply that somebody wrote for this session, in the form that `prompts/reflection.schema.json` asks
    /// for. Every candidate in it is checked against the log like a model's.
    ///
    /// # Errors
    ///
    /// Returns an error if the reply is no object with a list of candidates.
    pub fn distill_from_reply(
        &self,
        context: &ReflectionContext,
        reply: &serde_json::Value,
    ) -> Result<DistillationResult, UnreadableReply> {
        let reply_parser::ParsedReply { reflection, claims } = reply_parser::parse_reply(reply)?;
        let VerifiedCandidates { candidates, dropped } = self.make_verifier(context).verify_all(claims);
        Ok(make_distilled(Engine::Model, reflection, candidates, dropped))
    }

    fn make_verifier<'v>(&'v self, context: &'v ReflectionContext) -> CandidateVerifier<'v> {
        let limits = CandidateLimits { max_candidates: self.max_candidates, min_importance: self.min_importance };
        CandidateVerifier::new(context, self.documents, self.redactor, limits)
    }
}

fn make_distilled(
    engine: Engine,
    reflection: ReflectionSummary,
    candidates: Vec<Candidate>,
    dropped: Vec<DroppedCandidate>,
) -> DistillationResult {
    DistillationResult {
        engine,
        reflection,
        candidates,
        dropped,
        fallback: None,
        model: None,
        prompts: None,
        form: None,
        usage: Default::default(),
        calls: 0,
    }
}
