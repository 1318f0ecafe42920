//! Leaving an endpoint alone that keeps failing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{LanguageModel, ModelError, Reply, Request};

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;

/// When an endpoint is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caution {
    /// After how many failures in a row; 0 counts as 1.
    pub failures: u32,
    /// For how long at first. It doubles each time that trying again fails.
    pub rest: Duration,
    /// For how long at most.
    pub max_rest: Duration,
}

/// What is known about the health of one endpoint, shared by all who ask it.
///
/// Only two things say something about its health: an answer, and a failure that may pass. Everything else is about the
/// question, the key or the model's name. Such an error neither counts as a failure nor ends a row of them; a rest would
/// not mend it, and it tells more than "resting" would.
///
/// After a rest one question at a time is let through. If it fails, the endpoint rests again; if it is answered, all may
/// ask; if it tells nothing or is given up, the next one is let through.
#[derive(Debug)]
pub struct Breaker {
    caution: Caution,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    stage: Stage,
    /// Failures in a row.
    failures: u32,
    /// Rises with every change of stage. What was asked in an earlier stage says nothing about this one.
    era: u64,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// All may ask.
    Closed,
    /// Nobody may.
    Open { since: Instant, rest: Duration },
    /// The rest is over, and nobody has asked yet.
    HalfOpen { rest: Duration },
    /// One has asked, and is waiting for an answer.
    Probing { rest: Duration },
}

/// What an answer, or its lack, says about the endpoint.
#[derive(Debug, Clone, Copy)]
enum Health {
    Well,
    Failing,
    Unknown,
}

impl Breaker {
    /// Closed: nothing has failed yet.
    pub fn new(caution: Caution) -> Self {
        Self { caution, state: Mutex::new(State { stage: Stage::Closed, failures: 0, era: 0 }) }
    }

    /// Asks to be let through.
    fn enter(&self) -> Result<Pass<'_>, ModelError> {
        let mut state = self.state();
        if let Stage::Open { since, rest } = state.stage {
            let left = rest.saturating_sub(since.elapsed());
            if !left.is_zero() {
                return Err(ModelError::Resting { failures: state.failures, for_: left });
            }
            state.turn(Stage::HalfOpen { rest });
        }
        match state.stage {
            Stage::HalfOpen { rest } => state.turn(Stage::Probing { rest }),
            // How long the other one waits for its answer is not known.
            Stage::Probing { .. } => {
                return Err(ModelError::Resting { failures: state.failures, for_: self.caution.rest });
            }
            Stage::Closed | Stage::Open { .. } => {}
        }
        Ok(Pass { breaker: self, era: state.era, health: Health::Unknown })
    }

    fn settle(&self, era: u64, health: Health) {
        let mut state = self.state();
        if state.era != era {
            return;
        }
        match (state.stage, health) {
            (Stage::Closed, Health::Well) => state.failures = 0,
            (Stage::Closed, Health::Failing) => {
                state.failures = state.failures.saturating_add(1);
                if state.failures >= self.caution.failures {
                    state.open(self.caution.rest.min(self.caution.max_rest));
                }
            }
            (Stage::Probing { .. }, Health::Well) => {
                tracing::debug!(failures = state.failures, "the endpoint answers again");
                state.failures = 0;
                state.turn(Stage::Closed);
            }
            (Stage::Probing { rest }, Health::Failing) => {
                state.failures = state.failures.saturating_add(1);
                state.open(rest.saturating_mul(2).min(self.caution.max_rest));
            }
            (Stage::Probing { rest }, Health::Unknown) => state.turn(Stage::HalfOpen { rest }),
            (Stage::Closed, Health::Unknown) | (Stage::Open { .. } | Stage::HalfOpen { .. }, _) => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn turn(&mut self, stage: Stage) {
        self.stage = stage;
        self.era += 1;
    }

    fn open(&mut self, rest: Duration) {
        tracing::info!(failures = self.failures, ?rest, "the endpoint keeps failing and is left alone");
        self.turn(Stage::Open { since: Instant::now(), rest });
    }
}

/// Leave to ask once. Dropped before there is an answer, it lets the next one try.
#[derive(Debug)]
struct Pass<'b> {
    breaker: &'b Breaker,
    era: u64,
    health: Health,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.breaker.settle(self.era, self.health);
    }
}

/// A model that is not asked while its endpoint rests.
///
/// It belongs inside of [`Retrying`](super::Retrying): each attempt counts, and a rest ends the attempts.
#[derive(Debug)]
pub struct Guarded<M> {
    inner: M,
    breaker: Arc<Breaker>,
}

impl<M> Guarded<M> {
    /// All who ask one endpoint share one breaker.
    pub fn new(inner: M, breaker: Arc<Breaker>) -> Self {
        Self { inner, breaker }
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Guarded<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut pass = self.breaker.enter()?;
        let answer = self.inner.ask(request).await;
        pass.health = match &answer {
            Ok(_) => Health::Well,
            Err(error) if error.is_passing() => Health::Failing,
            Err(_) => Health::Unknown,
        };
        answer
    }
}
