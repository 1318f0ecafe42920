//! What was learned: from signals alone, or with a model. Whoever claims it, its quotes are looked up in the log.

mod claim;
mod heuristic;
mod llm;
mod prompts;
mod read;
mod verify;

use self::verify::{Limits, Verified, Verifier};
use crate::context::ReflectionContext;
use crate::domain::{Candidate, Distilled, Dropped, Engine, Reflection};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile_tests;

pub use llm::{Asked, Asking, Known, Pair, compare};
pub use prompts::{PromptError, Prompts};
pub use read::UnreadableReply;
pub use verify::{Document, is_generic_word, order_in};

/// Turns what happened into what may have been learned.
#[derive(Debug, Clone, Copy)]
pub struct Distiller<'d> {
    /// Takes secrets out, once more.
    pub redactor: &'d Redactor,
    /// What agents of the project are told anyway.
    pub documents: &'d [Document],
    /// The most candidates.
    pub max_candidates: usize,
    /// Less important claims are dropped.
    pub min_importance: f64,
}

impl Distiller<'_> {
    /// Without a model.
    pub fn by_heuristics(&self, context: &ReflectionContext) -> Distilled {
        let heuristic::Distillate { reflection, claims, dropped } = heuristic::distil(context);
        let claims = claims.into_iter().map(Ok).chain(dropped.into_iter().map(Err)).collect();
        let Verified { candidates, dropped } = self.verifier(context).for_heuristics().verify(claims);
        distilled(Engine::Heuristic, reflection, candidates, dropped)
    }

    /// Judges a reply that somebody wrote for this session, in the shape that `prompts/reflection.schema.json` asks for.
    /// Every candidate in it is held against the log as a model's would be.
    ///
    /// # Errors
    ///
    /// If the reply is no object with a list of candidates.
    pub fn by_reply(
        &self,
        context: &ReflectionContext,
        reply: &serde_json::Value,
    ) -> Result<Distilled, UnreadableReply> {
        let read::Answer { reflection, claims } = read::claims(reply)?;
        let Verified { candidates, dropped } = self.verifier(context).verify(claims);
        Ok(distilled(Engine::Model, reflection, candidates, dropped))
    }

    fn verifier<'v>(&'v self, context: &'v ReflectionContext) -> Verifier<'v> {
        let limits = Limits { max_candidates: self.max_candidates, min_importance: self.min_importance };
        Verifier::new(context, self.documents, self.redactor, limits)
    }
}

fn distilled(engine: Engine, reflection: Reflection, candidates: Vec<Candidate>, dropped: Vec<Dropped>) -> Distilled {
    Distilled {
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
