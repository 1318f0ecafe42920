//! A language model with its answer format, budget, circuit breaker and retries.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::context::ReflectionContext;
use crate::distill::{
    ComparisonPair, DistillRequest, LessonLookup, PromptLimits, PromptSet, SessionDistiller, compare_lessons,
};
use crate::domain::{DistillationResult, ReflectionScenario, Relation, Timestamp, TokenUsage};
use crate::model::{
    AnswerFormat, BreakerGuardedModel, CircuitBreaker, EndpointCapabilities, GovernedModel, LanguageModel, ModelError,
    ModelRetryPolicy, ReflectionAllowance, RetryingModel, SpendGovernor, probe_answer_format,
};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "model_client_tests.rs"]
mod tests;

/// The client of a language model. All reflections of a process share it.
#[derive(Debug)]
pub struct ModelClient {
    /// The model that replies: an endpoint, or recordings of one.
    pub model: Arc<dyn LanguageModel>,
    /// The endpoint's address, under which its capabilities are remembered.
    pub address: String,
    /// The governor of spend; recordings need none.
    pub governor: Option<Arc<SpendGovernor>>,
    /// The circuit breaker, which suspends requests to a failing endpoint.
    pub breaker: Arc<CircuitBreaker>,
    /// The retry settings.
    pub patience: ModelRetryPolicy,
    /// The answer format, if it is configured; otherwise the endpoint is probed.
    pub form: Option<AnswerFormat>,
    /// The remembered capabilities of endpoints.
    pub capabilities: EndpointCapabilities,
    /// The prompts that it is given.
    pub prompts: PromptSet,
    /// The settings of the distillation requests.
    pub asking: PromptLimits,
    /// The time limit for all requests of one reflection.
    pub deadline: Duration,
    /// The seed that varies the pauses between attempts.
    pub seed: u64,
}

/// The model as one reflection uses it, with its remaining allowance and its deadline.
#[derive(Debug)]
pub struct ModelSession {
    model_client: Arc<ModelClient>,
    allowance: Option<Arc<ReflectionAllowance>>,
    until: Instant,
}

impl ModelSession {
    /// Distills with the model, or with the heuristics if the model cannot be asked.
    pub async fn distill_context(
        &self,
        distiller: &SessionDistiller<'_>,
        context: &ReflectionContext,
        scenario: &ReflectionScenario,
        known: &dyn LessonLookup,
        now: Timestamp,
    ) -> DistillationResult {
        let (model_client, until) = (&*self.model_client, self.until);
        let model = self.build_governed_model();
        let answer_format = timeout_at(until, model_client.choose_answer_format(&model, now)).await;
        let answer_format = answer_format
            .map_err(|_| ModelError::TimedOut { after: model_client.deadline })
            .and_then(|answer_format| answer_format);
        let mut distilled = match answer_format {
            Ok(answer_format) => {
                let (prompts, asking) = (&model_client.prompts, &model_client.asking);
                let asked = DistillRequest { model: &model, answer_format, prompts, known, asking, scenario, until };
                let distilled = distiller.distill_with_model(context, &asked).await;
                model_client.remember_answer_format(answer_format, &distilled, now);
                distilled
            }
            Err(error) => {
                DistillationResult { fallback: Some(error.to_string()), ..distiller.distill_with_heuristics(context) }
            }
        };
        distilled.model = Some(model.name().to_owned());
        distilled.prompts = Some(model_client.prompts.version().to_owned());
        if let Some((calls, usage)) = self.spent_usage() {
            // Retries and probes of the answer format count too.
            (distilled.calls, distilled.usage) = (calls, usage);
        }
        distilled
    }

    /// Returns the model's opinion on each pair of lessons; `None` for each if it cannot be asked.
    pub async fn compare_pairs(&self, pairs: &[ComparisonPair], redactor: &Redactor) -> Vec<Option<Relation>> {
        let model = self.build_governed_model();
        match compare_lessons(&model, &self.model_client.prompts, redactor, pairs, self.until).await {
            Ok(answers) => answers,
            Err(error) => {
                tracing::info!(%error, "the model was not asked whether lessons are the same; they stay apart");
                vec![None; pairs.len()]
            }
        }
    }

    /// Returns why the model was not asked, if the server of the spend ledger was unreachable.
    pub fn ledger_outage(&self) -> Option<String> {
        self.allowance.as_ref().and_then(|allowance| allowance.ledger_outage())
    }

    /// Returns the number of model calls and their cost, if they are counted.
    pub fn spent_usage(&self) -> Option<(u32, TokenUsage)> {
        self.allowance.as_ref().map(|allowance| (allowance.call_count(), allowance.billed_usage()))
    }

    fn build_governed_model(&self) -> impl LanguageModel + use<> {
        let model = Arc::clone(&self.model_client.model);
        let governed: Arc<dyn LanguageModel> = match &self.allowance {
            Some(allowance) => Arc::new(GovernedModel::new(model, Arc::clone(allowance))),
            None => model,
        };
        let guarded = BreakerGuardedModel::new(governed, Arc::clone(&self.model_client.breaker));
        RetryingModel::new(guarded, self.model_client.patience, self.model_client.seed)
    }
}

impl ModelClient {
    /// Opens the session for one reflection on this project.
    pub fn open_session(self: &Arc<Self>, project: &str) -> ModelSession {
        let allowance = self.governor.as_ref().map(|governor| Arc::new(governor.reflection_allowance(project)));
        ModelSession { model_client: Arc::clone(self), allowance, until: Instant::now() + self.deadline }
    }

    /// Returns the endpoint's answer format: configured, remembered or probed.
    async fn choose_answer_format(
        &self,
        model: &dyn LanguageModel,
        now: Timestamp,
    ) -> Result<AnswerFormat, ModelError> {
        if let Some(answer_format) = self.form.or_else(|| self.capabilities.get(&self.address, model.name(), now)) {
            return Ok(answer_format);
        }
        let answer_format = probe_answer_format(model).await?;
        self.capabilities.remember_format(&self.address, model.name(), answer_format, now);
        Ok(answer_format)
    }

    /// Remembers a simpler answer format that worked where the remembered one did not.
    fn remember_answer_format(&self, answer_format: AnswerFormat, distilled: &DistillationResult, now: Timestamp) {
        let used = distilled.form.as_deref().and_then(|form| AnswerFormat::parse(form).ok());
        if let Some(used) =
            used.filter(|used| *used != answer_format && self.form.is_none() && distilled.fallback.is_none())
        {
            self.capabilities.remember_format(&self.address, self.model.name(), used, now);
        }
    }
}
