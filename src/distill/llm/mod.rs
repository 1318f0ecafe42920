//! Asks a model what was learned, in the best form that its endpoint understands.

mod compare;
mod frame;
mod structured;
mod tools;

use async_trait::async_trait;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

pub use compare::{Pair, compare};

use super::claim::Claim;
use super::prompts::Prompts;
use super::verify::{Verified, Verifier};
use super::{Distiller, distilled, read};
use crate::context::ReflectionContext;
use crate::domain::{AgentMemory, Distilled, DropReason, Dropped, Engine, Reflection, ReflectionScenario, Usage};
use crate::model::{LanguageModel, ModelError, Reply, Request, Rung, is_form_status};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "llm_tests.rs"]
mod tests;

/// A digest of fewer tokens shows nothing.
const MIN_DIGEST_TOKENS: usize = 500;

/// Lessons that are known already, by what they say.
#[async_trait]
pub trait Known: Send + Sync {
    /// Those nearest to a text, the nearest first.
    async fn near(&self, text: &str, max: usize) -> Vec<AgentMemory>;
}

/// A model to ask, and what it takes.
pub struct Asked<'a> {
    /// Whom.
    pub model: &'a dyn LanguageModel,
    /// In which form its endpoint is asked first.
    pub rung: Rung,
    /// With which words.
    pub prompts: &'a Prompts,
    /// Against what candidates are held.
    pub known: &'a dyn Known,
    /// How much.
    pub asking: &'a Asking,
    /// What set the reflection off.
    pub scenario: &'a ReflectionScenario,
    /// Until when.
    pub until: Instant,
}

/// How much a reflection may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// The most tokens of the digest.
    pub digest_tokens: usize,
    /// The most tokens of one answer.
    pub max_output_tokens: u32,
    /// The most turns of one conversation.
    pub max_turns: u32,
}

/// Why a model's answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum NoAnswer {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the answer holds no reflection: {0}")]
    Unreadable(String),
    #[error("it called tools {0} times without handing anything in")]
    Endless(u32),
}

/// Everything that goes into a question.
pub(super) struct Matter<'m> {
    pub(super) context: &'m ReflectionContext,
    pub(super) asked: &'m Asked<'m>,
    pub(super) redactor: &'m Redactor,
    pub(super) verifier: &'m Verifier<'m>,
    pub(super) max_candidates: usize,
}

/// What a model told.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) reflection: Reflection,
    pub(super) claims: Vec<Result<Claim, Dropped>>,
}

/// What asking took, whatever came of it.
#[derive(Debug)]
pub(super) struct Effort {
    /// Until when there is time.
    until: Instant,
    started: Instant,
    pub(super) usage: Usage,
    pub(super) calls: u32,
    /// The form that was asked for last.
    pub(super) rung: Option<Rung>,
}

impl Effort {
    fn new(until: Instant) -> Self {
        Self { until, started: Instant::now(), usage: Usage::default(), calls: 0, rung: None }
    }

    /// Asks once. The time that there is ends a question, not what was answered before.
    async fn ask(&mut self, model: &dyn LanguageModel, request: &Request) -> Result<Reply, ModelError> {
        self.calls = self.calls.saturating_add(1);
        let late = |_| ModelError::TimedOut { after: self.until.saturating_duration_since(self.started) };
        let reply = timeout_at(self.until, model.ask(request)).await.map_err(late)??;
        self.usage = self.usage.plus(reply.usage);
        Ok(reply)
    }
}

impl Distiller<'_> {
    /// With a model. If it gives no answer that can be used, the heuristics stand in, and the outcome says so.
    pub async fn by_model(&self, context: &ReflectionContext, asked: &Asked<'_>) -> Distilled {
        let verifier = self.verifier(context);
        let matter = Matter {
            context,
            asked,
            redactor: self.redactor,
            verifier: &verifier,
            max_candidates: self.max_candidates,
        };
        let mut effort = Effort::new(asked.until);
        let mut distilled = match ask(&matter, asked.model, asked.rung, &mut effort).await {
            Ok(told) => {
                let verified = verifier.verify(told.claims);
                if let Some(problem) = unproved(&verified) {
                    tracing::info!(problem, "nothing that the model claims is proved; heuristics stand in");
                    let mut distilled = Distilled { fallback: Some(problem), ..self.by_heuristics(context) };
                    distilled.dropped.splice(0..0, verified.dropped);
                    distilled
                } else {
                    let Verified { candidates, dropped } = verified;
                    distilled(Engine::Model, clean(told.reflection, self.redactor), candidates, dropped)
                }
            }
            Err(error) => {
                tracing::info!(%error, "the model gave no answer that can be used; heuristics stand in");
                Distilled { fallback: Some(error.to_string()), ..self.by_heuristics(context) }
            }
        };
        distilled.model = Some(asked.model.name().to_owned());
        distilled.prompts = Some(asked.prompts.version().to_owned());
        distilled.form = effort.rung.map(|rung| rung.as_str().to_owned());
        distilled.usage = effort.usage;
        distilled.calls = effort.calls;
        distilled
    }
}

/// What a model tells of a session may repeat what stands in it.
fn clean(told: Reflection, redactor: &Redactor) -> Reflection {
    let clean = |text: String| redactor.redact(&text).text.into_owned();
    let all = |texts: Vec<String>| texts.into_iter().map(clean).collect();
    Reflection {
        outcome: clean(told.outcome),
        worked: all(told.worked),
        failed: all(told.failed),
        decisions: all(told.decisions),
    }
}

/// Asks for less where the question was too long, and in a plainer form where the form was not understood.
async fn ask(
    matter: &Matter<'_>,
    model: &dyn LanguageModel,
    from: Rung,
    effort: &mut Effort,
) -> Result<Told, NoAnswer> {
    let mut rung = from;
    let mut tokens = matter.asked.asking.digest_tokens;
    loop {
        effort.rung = Some(rung);
        let told = match rung {
            Rung::Tools => tools::converse(matter, model, tokens, effort).await,
            Rung::Schema | Rung::Json | Rung::Text => structured::ask(matter, model, rung, tokens, effort).await,
        };
        let error = match told {
            Ok(told) => return Ok(told),
            Err(error) => error,
        };
        let plainer = rung.step_down();
        match (&error, plainer) {
            (NoAnswer::Model(ModelError::TooLong { .. }), _) if tokens / 2 >= MIN_DIGEST_TOKENS => tokens /= 2,
            (NoAnswer::Model(ModelError::BadRequest { status, .. }), Some(plainer)) if is_form_status(*status) => {
                tracing::debug!(rung = rung.as_str(), %error, "the form is not understood; asking in a plainer one");
                rung = plainer;
            }
            _ => return Err(error),
        }
    }
}

/// What is wrong with an answer whose lessons could all not be read or not be found in the log. One that was looked at and
/// found wanting was at least understood.
fn unproved(verified: &Verified) -> Option<String> {
    let is_unproved = |dropped: &Dropped| matches!(dropped.why, DropReason::Malformed | DropReason::NoEvidence);
    let first = verified.dropped.first()?;
    let is_all = verified.candidates.is_empty() && verified.dropped.iter().all(is_unproved);
    is_all.then(|| format!("none of its lessons can be proved: {}", first.detail))
}

/// A whole answer, read.
fn told(value: &serde_json::Value) -> Result<Told, NoAnswer> {
    match read::claims(value) {
        Ok(read::Answer { reflection, claims }) => Ok(Told { reflection, claims }),
        Err(error) => Err(NoAnswer::Unreadable(error.to_string())),
    }
}
