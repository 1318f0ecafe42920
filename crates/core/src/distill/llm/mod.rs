//! Asks a model what was learned, in the best answer format that its endpoint supports.

mod lesson_comparison;
mod prompt_messages;
mod single_reply;
mod tool_conversation;

use async_trait::async_trait;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

pub use lesson_comparison::{ComparisonPair, compare_lessons};

use super::prompts::PromptSet;
use super::unchecked_candidate::UncheckedCandidate;
use super::verify::{CandidateVerifier, VerifiedCandidates};
use super::{SessionDistiller, make_distilled, reply_parser};
use crate::context::ReflectionContext;
use crate::domain::{
    AgentMemory, DistillationResult, DropReason, DroppedCandidate, Engine, ReflectionScenario, ReflectionSummary,
    TokenUsage,
};
use crate::model::{AnswerFormat, LanguageModel, ModelError, ModelReply, ModelRequest, is_format_status};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "llm_tests.rs"]
mod tests;

/// The fewest tokens of a digest that is still useful.
const MIN_DIGEST_TOKENS: usize = 500;

/// A lookup of stored lessons by their text.
#[async_trait]
pub trait LessonLookup: Send + Sync {
    /// Returns the lessons nearest to a text, the nearest first.
    async fn find_near(&self, text: &str, max: usize) -> Vec<AgentMemory>;
}

/// A request to distill a session with a model.
pub struct DistillRequest<'a> {
    /// The model that is asked.
    pub model: &'a dyn LanguageModel,
    /// The answer format that is tried first.
    pub answer_format: AnswerFormat,
    /// The prompts that are used.
    pub prompts: &'a PromptSet,
    /// The lookup that candidates are compared with.
    pub known: &'a dyn LessonLookup,
    /// The limits of prompts and replies.
    pub asking: &'a PromptLimits,
    /// The scenario that started the reflection.
    pub scenario: &'a ReflectionScenario,
    /// The deadline of the whole request.
    pub until: Instant,
}

/// The limits on the prompts and replies of one reflection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptLimits {
    /// The most tokens of the digest.
    pub digest_tokens: usize,
    /// The most tokens of one reply.
    pub max_output_tokens: u32,
    /// The most turns of one conversation.
    pub max_turns: u32,
}

/// The reason why a model's reply cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum UnusableReply {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the answer holds no reflection: {0}")]
    Unreadable(String),
    #[error("it called tools {0} times without handing anything in")]
    Endless(u32),
}

/// Everything that goes into a prompt.
pub(super) struct PromptInputs<'m> {
    pub(super) context: &'m ReflectionContext,
    pub(super) asked: &'m DistillRequest<'m>,
    pub(super) redactor: &'m Redactor,
    pub(super) verifier: &'m CandidateVerifier<'m>,
    pub(super) max_candidates: usize,
}

/// The findings that a model replied with.
#[derive(Debug)]
pub(super) struct ModelFindings {
    pub(super) reflection: ReflectionSummary,
    pub(super) claims: Vec<Result<UncheckedCandidate, DroppedCandidate>>,
}

/// The cost of the model calls, whatever they led to.
#[derive(Debug)]
pub(super) struct DistillEffort {
    /// The deadline of all calls.
    until: Instant,
    started: Instant,
    pub(super) usage: TokenUsage,
    pub(super) calls: u32,
    /// The answer format that was requested last.
    pub(super) answer_format: Option<AnswerFormat>,
}

impl DistillEffort {
    fn new(until: Instant) -> Self {
        Self { until, started: Instant::now(), usage: TokenUsage::default(), calls: 0, answer_format: None }
    }

    /// Sends one request. The deadline ends the request, but keeps earlier replies.
    async fn send_request(
        &mut self,
        model: &dyn LanguageModel,
        request: &ModelRequest,
    ) -> Result<ModelReply, ModelError> {
        self.calls = self.calls.saturating_add(1);
        let late = |_| ModelError::TimedOut { after: self.until.saturating_duration_since(self.started) };
        let reply = timeout_at(self.until, model.send_request(request)).await.map_err(late)??;
        self.usage = self.usage.add_usage(reply.usage);
        Ok(reply)
    }
}

impl SessionDistiller<'_> {
    /// Distills with a model. If it gives no usable reply, the heuristics are used instead, and the outcome says so.
    pub async fn distill_with_model(
        &self,
        context: &ReflectionContext,
        asked: &DistillRequest<'_>,
    ) -> DistillationResult {
        let verifier = self.make_verifier(context);
        let matter = PromptInputs {
            context,
            asked,
            redactor: self.redactor,
            verifier: &verifier,
            max_candidates: self.max_candidates,
        };
        let mut effort = DistillEffort::new(asked.until);
        let mut distilled = match prompt_with_fallbacks(&matter, asked.model, asked.answer_format, &mut effort).await {
            Ok(told) => {
                let verified = verifier.verify_all(told.claims);
                if let Some(problem) = find_proof_problem(&verified) {
                    tracing::info!(problem, "nothing that the model claims is proved; heuristics stand in");
                    let mut distilled =
                        DistillationResult { fallback: Some(problem), ..self.distill_with_heuristics(context) };
                    distilled.dropped.splice(0..0, verified.dropped);
                    distilled
                } else {
                    let VerifiedCandidates { candidates, dropped } = verified;
                    make_distilled(
                        Engine::Model,
                        redact_reflection(told.reflection, self.redactor),
                        candidates,
                        dropped,
                    )
                }
            }
            Err(error) => {
                tracing::info!(%error, "the model gave no answer that can be used; heuristics stand in");
                DistillationResult { fallback: Some(error.to_string()), ..self.distill_with_heuristics(context) }
            }
        };
        distilled.model = Some(asked.model.name().to_owned());
        distilled.prompts = Some(asked.prompts.version().to_owned());
        distilled.form = effort.answer_format.map(|answer_format| answer_format.as_str().to_owned());
        distilled.usage = effort.usage;
        distilled.calls = effort.calls;
        distilled
    }
}

/// Redacts a model's account of a session, which may repeat secrets from it.
fn redact_reflection(told: ReflectionSummary, redactor: &Redactor) -> ReflectionSummary {
    let clean = |text: String| redactor.redact(&text).text.into_owned();
    let all = |texts: Vec<String>| texts.into_iter().map(clean).collect();
    ReflectionSummary {
        outcome: clean(told.outcome),
        worked: all(told.worked),
        failed: all(told.failed),
        decisions: all(told.decisions),
    }
}

/// Prompts the model; shortens the digest if it was too long, and uses a plainer format if the format was rejected.
async fn prompt_with_fallbacks(
    matter: &PromptInputs<'_>,
    model: &dyn LanguageModel,
    from: AnswerFormat,
    effort: &mut DistillEffort,
) -> Result<ModelFindings, UnusableReply> {
    let mut answer_format = from;
    let mut tokens = matter.asked.asking.digest_tokens;
    loop {
        effort.answer_format = Some(answer_format);
        let told = match answer_format {
            AnswerFormat::Tools => tool_conversation::run_conversation(matter, model, tokens, effort).await,
            AnswerFormat::Schema | AnswerFormat::Json | AnswerFormat::Text => {
                single_reply::prompt_for_reply(matter, model, answer_format, tokens, effort).await
            }
        };
        let error = match told {
            Ok(told) => return Ok(told),
            Err(error) => error,
        };
        let plainer = answer_format.next_simpler_format();
        match (&error, plainer) {
            (UnusableReply::Model(ModelError::TooLong { .. }), _) if tokens / 2 >= MIN_DIGEST_TOKENS => tokens /= 2,
            (UnusableReply::Model(ModelError::BadRequest { status, .. }), Some(plainer))
                if is_format_status(*status) =>
            {
                tracing::debug!(answer_format = answer_format.as_str(), %error, "the form is not understood; asking in a plainer one");
                answer_format = plainer;
            }
            _ => return Err(error),
        }
    }
}

/// Returns what is wrong with a reply if none of its lessons could be parsed or found in the log. A lesson that was
/// dropped for another reason was at least understood.
fn find_proof_problem(verified: &VerifiedCandidates) -> Option<String> {
    let is_unproved =
        |dropped: &DroppedCandidate| matches!(dropped.why, DropReason::Malformed | DropReason::NoEvidence);
    let first = verified.dropped.first()?;
    let is_all = verified.candidates.is_empty() && verified.dropped.iter().all(is_unproved);
    is_all.then(|| format!("none of its lessons can be proved: {}", first.detail))
}

/// Parses a whole reply into findings.
fn parse_findings(value: &serde_json::Value) -> Result<ModelFindings, UnusableReply> {
    match reply_parser::parse_reply(value) {
        Ok(reply_parser::ParsedReply { reflection, claims }) => Ok(ModelFindings { reflection, claims }),
        Err(error) => Err(UnusableReply::Unreadable(error.to_string())),
    }
}
