//! A circuit breaker that stops requests to an endpoint that keeps failing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{LanguageModel, ModelError, ModelReply, ModelRequest};

#[cfg(test)]
#[path = "circuit_breaker_tests.rs"]
mod tests;

/// The settings for when requests to an endpoint stop, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CircuitBreakerSettings {
    /// The number of failures in a row that opens the breaker; 0 counts as 1.
    pub failures: u32,
    /// The length of the first rest. It doubles each time a probe after a rest fails.
    pub rest: Duration,
    /// The longest rest that the doubling may reach.
    pub max_rest: Duration,
}

/// The known health of one endpoint, shared by everything that sends requests to it.
///
/// Only two results say something about its health: an answer, and a transient failure. Every other error is about the
/// request, the key or the model's name. Such an error neither counts as a failure nor ends a row of failures: a rest
/// would not cure it, and it says more than "resting" would.
///
/// After a rest, one request at a time is let through. If it fails, the endpoint rests again; if it is answered, all
/// requests pass; if its result says nothing about the endpoint or it is cancelled, the next request is let through.
#[derive(Debug)]
pub struct CircuitBreaker {
    caution: CircuitBreakerSettings,
    state: Mutex<BreakerState>,
}

#[derive(Debug)]
struct BreakerState {
    stage: BreakerStage,
    /// The number of failures in a row.
    failures: u32,
    /// A counter that rises with every change of stage, so that results of an earlier stage are ignored.
    era: u64,
}

#[derive(Debug, Clone, Copy)]
enum BreakerStage {
    /// All requests are let through.
    Closed,
    /// No request is let through until the rest is over.
    Open { since: Instant, rest: Duration },
    /// The rest is over, and no request has been sent yet.
    HalfOpen { rest: Duration },
    /// One request has been sent and waits for its answer.
    Probing { rest: Duration },
}

/// The endpoint's health as one answer, or its absence, shows it.
#[derive(Debug, Clone, Copy)]
enum EndpointHealth {
    Well,
    Failing,
    Unknown,
}

impl CircuitBreaker {
    /// Creates a closed breaker without any failures.
    pub fn new(caution: CircuitBreakerSettings) -> Self {
        Self { caution, state: Mutex::new(BreakerState { stage: BreakerStage::Closed, failures: 0, era: 0 }) }
    }

    /// Returns a permit for one request, or an error while the endpoint rests.
    fn acquire_permit(&self) -> Result<BreakerPermit<'_>, ModelError> {
        let mut state = self.lock_state();
        if let BreakerStage::Open { since, rest } = state.stage {
            let left = rest.saturating_sub(since.elapsed());
            if !left.is_zero() {
                return Err(ModelError::Resting { failures: state.failures, for_: left });
            }
            state.change_stage(BreakerStage::HalfOpen { rest });
        }
        match state.stage {
            BreakerStage::HalfOpen { rest } => state.change_stage(BreakerStage::Probing { rest }),
            // It is unknown how long the other request waits for its answer.
            BreakerStage::Probing { .. } => {
                return Err(ModelError::Resting { failures: state.failures, for_: self.caution.rest });
            }
            BreakerStage::Closed | BreakerStage::Open { .. } => {}
        }
        Ok(BreakerPermit { breaker: self, era: state.era, health: EndpointHealth::Unknown })
    }

    fn record_health(&self, era: u64, health: EndpointHealth) {
        let mut state = self.lock_state();
        if state.era != era {
            return;
        }
        match (state.stage, health) {
            (BreakerStage::Closed, EndpointHealth::Well) => state.failures = 0,
            (BreakerStage::Closed, EndpointHealth::Failing) => {
                state.failures = state.failures.saturating_add(1);
                if state.failures >= self.caution.failures {
                    state.open_circuit(self.caution.rest.min(self.caution.max_rest));
                }
            }
            (BreakerStage::Probing { .. }, EndpointHealth::Well) => {
                tracing::debug!(failures = state.failures, "the endpoint answers again");
                state.failures = 0;
                state.change_stage(BreakerStage::Closed);
            }
            (BreakerStage::Probing { rest }, EndpointHealth::Failing) => {
                state.failures = state.failures.saturating_add(1);
                state.open_circuit(rest.saturating_mul(2).min(self.caution.max_rest));
            }
            (BreakerStage::Probing { rest }, EndpointHealth::Unknown) => {
                state.change_stage(BreakerStage::HalfOpen { rest });
            }
            (BreakerStage::Closed, EndpointHealth::Unknown)
            | (BreakerStage::Open { .. } | BreakerStage::HalfOpen { .. }, _) => {}
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, BreakerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BreakerState {
    fn change_stage(&mut self, stage: BreakerStage) {
        self.stage = stage;
        self.era += 1;
    }

    fn open_circuit(&mut self, rest: Duration) {
        tracing::info!(failures = self.failures, ?rest, "the endpoint keeps failing and is left alone");
        self.change_stage(BreakerStage::Open { since: Instant::now(), rest });
    }
}

/// A permit to send one request. If it is dropped before there is an answer, the next request may try.
#[derive(Debug)]
struct BreakerPermit<'b> {
    breaker: &'b CircuitBreaker,
    era: u64,
    health: EndpointHealth,
}

impl Drop for BreakerPermit<'_> {
    fn drop(&mut self) {
        self.breaker.record_health(self.era, self.health);
    }
}

/// A model that gets no requests while its endpoint rests.
///
/// It belongs inside [`RetryingModel`](super::RetryingModel): each attempt counts, and a rest ends the attempts.
#[derive(Debug)]
pub struct BreakerGuardedModel<M> {
    inner: M,
    breaker: Arc<CircuitBreaker>,
}

impl<M> BreakerGuardedModel<M> {
    /// Wraps `inner` with a breaker; all models at one endpoint share one breaker.
    pub fn new(inner: M, breaker: Arc<CircuitBreaker>) -> Self {
        Self { inner, breaker }
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for BreakerGuardedModel<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let mut pass = self.breaker.acquire_permit()?;
        let answer = self.inner.send_request(request).await;
        pass.health = match &answer {
            Ok(_) => EndpointHealth::Well,
            Err(error) if error.is_transient() => EndpointHealth::Failing,
            Err(_) => EndpointHealth::Unknown,
        };
        answer
    }
}
