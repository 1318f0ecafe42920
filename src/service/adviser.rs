//! A model with all that stands around it: asked in its best form, in measure, again where that helps.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::context::ReflectionContext;
use crate::distill::{Asked, Asking, Distiller, Known, Pair, Prompts, compare};
use crate::domain::{Distilled, ReflectionScenario, Relation, Timestamp, Usage};
use crate::model::{
    Allowance, Breaker, Governed, Governor, Guarded, Ladders, LanguageModel, ModelError, Patience, Retrying, Rung,
    probe,
};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "adviser_tests.rs"]
mod tests;

/// Whoever is asked for advice. Shared by all reflections of a process.
#[derive(Debug)]
pub struct Adviser {
    /// Who answers: an endpoint, or recordings of one.
    pub model: Arc<dyn LanguageModel>,
    /// Where, for the record.
    pub address: String,
    /// What may be spent; nobody has to be asked for recordings.
    pub governor: Option<Arc<Governor>>,
    /// Whether it is asked at all just now.
    pub breaker: Arc<Breaker>,
    /// How often it is asked again.
    pub patience: Patience,
    /// In which form, where somebody decided that; else the endpoint is tried.
    pub form: Option<Rung>,
    /// Which forms endpoints are known to understand.
    pub ladders: Ladders,
    /// What it is told.
    pub prompts: Prompts,
    /// How much it is asked for.
    pub asking: Asking,
    /// How long all of it may take.
    pub deadline: Duration,
    /// Makes the pauses between attempts differ.
    pub seed: u64,
}

/// The advice that one reflection may take: what it may still spend, and until when.
#[derive(Debug)]
pub struct Advice {
    adviser: Arc<Adviser>,
    allowance: Option<Arc<Allowance>>,
    until: Instant,
}

impl Advice {
    /// Distills with the model, or without it where it cannot be asked.
    pub async fn distil(
        &self,
        distiller: &Distiller<'_>,
        context: &ReflectionContext,
        scenario: &ReflectionScenario,
        known: &dyn Known,
        now: Timestamp,
    ) -> Distilled {
        let (adviser, until) = (&*self.adviser, self.until);
        let model = self.in_measure();
        let rung = timeout_at(until, adviser.rung(&model, now)).await;
        let rung = rung.map_err(|_| ModelError::TimedOut { after: adviser.deadline }).and_then(|rung| rung);
        let mut distilled = match rung {
            Ok(rung) => {
                let (prompts, asking) = (&adviser.prompts, &adviser.asking);
                let asked = Asked { model: &model, rung, prompts, known, asking, scenario, until };
                let distilled = distiller.by_model(context, &asked).await;
                adviser.learn(rung, &distilled, now);
                distilled
            }
            Err(error) => Distilled { fallback: Some(error.to_string()), ..distiller.by_heuristics(context) },
        };
        distilled.model = Some(model.name().to_owned());
        distilled.prompts = Some(adviser.prompts.version().to_owned());
        if let Some((calls, usage)) = self.spent() {
            // What was asked again, and to learn the form, counts too.
            (distilled.calls, distilled.usage) = (calls, usage);
        }
        distilled
    }

    /// What the model thinks of each pair of lessons; nothing where it cannot be asked.
    pub async fn compare(&self, pairs: &[Pair], redactor: &Redactor) -> Vec<Option<Relation>> {
        let model = self.in_measure();
        match compare(&model, &self.adviser.prompts, redactor, pairs, self.until).await {
            Ok(answers) => answers,
            Err(error) => {
                tracing::info!(%error, "the model was not asked whether lessons are the same; they stay apart");
                vec![None; pairs.len()]
            }
        }
    }

    /// Why the model was not asked although it may have been: the server that keeps the ledger of spend was away.
    pub fn ledger_away(&self) -> Option<String> {
        self.allowance.as_ref().and_then(|allowance| allowance.away())
    }

    /// How often the model was asked and what that cost, where somebody counts.
    pub fn spent(&self) -> Option<(u32, Usage)> {
        self.allowance.as_ref().map(|allowance| (allowance.calls(), allowance.spent()))
    }

    fn in_measure(&self) -> impl LanguageModel + use<> {
        let model = Arc::clone(&self.adviser.model);
        let governed: Arc<dyn LanguageModel> = match &self.allowance {
            Some(allowance) => Arc::new(Governed::new(model, Arc::clone(allowance))),
            None => model,
        };
        let guarded = Guarded::new(governed, Arc::clone(&self.adviser.breaker));
        Retrying::new(guarded, self.adviser.patience, self.adviser.seed)
    }
}

impl Adviser {
    /// The advice for one reflection on this project.
    pub fn advice(self: &Arc<Self>, project: &str) -> Advice {
        let allowance = self.governor.as_ref().map(|governor| Arc::new(governor.reflection(project)));
        Advice { adviser: Arc::clone(self), allowance, until: Instant::now() + self.deadline }
    }

    /// The form in which the endpoint is asked: decided, remembered or tried.
    async fn rung(&self, model: &dyn LanguageModel, now: Timestamp) -> Result<Rung, ModelError> {
        if let Some(rung) = self.form.or_else(|| self.ladders.get(&self.address, model.name(), now)) {
            return Ok(rung);
        }
        let rung = probe(model).await?;
        self.ladders.remember(&self.address, model.name(), rung, now);
        Ok(rung)
    }

    /// A plainer form that worked where the remembered one did not is asked for next time.
    fn learn(&self, rung: Rung, distilled: &Distilled, now: Timestamp) {
        let used = distilled.form.as_deref().and_then(|form| Rung::parse(form).ok());
        if let Some(used) = used.filter(|used| *used != rung && self.form.is_none() && distilled.fallback.is_none()) {
            self.ladders.remember(&self.address, self.model.name(), used, now);
        }
    }
}
