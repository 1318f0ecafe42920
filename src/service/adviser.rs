//! A model with all that stands around it: asked in its best form, in measure, again where that helps.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::context::ReflectionContext;
use crate::distill::{Asked, Asking, Distiller, Known, Prompts};
use crate::domain::{Distilled, ReflectionScenario, Timestamp};
use crate::model::{
    Allowance, Breaker, Governed, Governor, Guarded, Ladders, LanguageModel, ModelError, Patience, Retrying, Rung,
    probe,
};

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

impl Adviser {
    /// Distills with the model, or without it where it cannot be asked.
    pub async fn distil(
        &self,
        distiller: &Distiller<'_>,
        context: &ReflectionContext,
        scenario: &ReflectionScenario,
        known: &dyn Known,
        now: Timestamp,
    ) -> Distilled {
        let until = Instant::now() + self.deadline;
        let allowance = self.governor.as_ref().map(|governor| Arc::new(governor.reflection(&context.project_root)));
        let model = self.in_measure(allowance.clone());
        let late = |_| ModelError::TimedOut { after: self.deadline };
        let rung = timeout_at(until, self.rung(&model, now)).await.map_err(late).and_then(|rung| rung);
        let mut distilled = match rung {
            Ok(rung) => {
                let (prompts, asking) = (&self.prompts, &self.asking);
                let asked = Asked { model: &model, rung, prompts, known, asking, scenario, until };
                let distilled = distiller.by_model(context, &asked).await;
                self.learn(rung, &distilled, now);
                distilled
            }
            Err(error) => Distilled { fallback: Some(error.to_string()), ..distiller.by_heuristics(context) },
        };
        distilled.model = Some(model.name().to_owned());
        distilled.prompts = Some(self.prompts.version().to_owned());
        if let Some(allowance) = allowance {
            // What was asked again, and to learn the form, counts too.
            distilled.calls = allowance.calls();
            distilled.usage = allowance.spent();
        }
        distilled
    }

    fn in_measure(&self, allowance: Option<Arc<Allowance>>) -> impl LanguageModel + use<> {
        let model = Arc::clone(&self.model);
        let governed: Arc<dyn LanguageModel> = match allowance {
            Some(allowance) => Arc::new(Governed::new(model, allowance)),
            None => model,
        };
        Retrying::new(Guarded::new(governed, Arc::clone(&self.breaker)), self.patience, self.seed)
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
