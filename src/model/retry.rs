//! Asking again when that may help.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use super::{LanguageModel, ModelError, Reply, Request};

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;

/// How often and how long to wait for an endpoint that is not well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How many times a question is asked, the first included; 0 counts as 1.
    pub max_attempts: u32,
    /// The longest wait after the first failure. It doubles with each further one.
    pub first_delay: Duration,
    /// The longest wait after any failure, unless the endpoint itself asks for more.
    pub max_delay: Duration,
    /// The most that an endpoint may ask for. Asked for more, nobody waits: whoever asked has better things to do.
    pub max_retry_after: Duration,
}

impl Patience {
    /// The longest wait after so many failures.
    fn longest(&self, failures: u32) -> Duration {
        let doubled = 1u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        self.first_delay.saturating_mul(doubled).min(self.max_delay)
    }
}

/// A model that is asked again after a failure that may pass.
///
/// Waits are drawn evenly from nothing to a limit that doubles, so that many who failed together do not come back
/// together. Where the endpoint says how long to wait, the draw comes on top of it.
///
/// An answer that cannot be read is worth one more try: a body may break on its way, but an endpoint that speaks another
/// language does so every time. One that is too long is not: the same question brings the same flood.
#[derive(Debug)]
pub struct Retrying<M> {
    inner: M,
    patience: Patience,
    chance: Chance,
}

impl<M> Retrying<M> {
    /// Equal seeds draw equal waits.
    pub fn new(inner: M, patience: Patience, seed: u64) -> Self {
        Self { inner, patience, chance: Chance(AtomicU64::new(seed)) }
    }

    /// How long to wait before asking again, if that may help. `failures` counts this one.
    fn wait(&self, error: &ModelError, failures: u32, unreadable: u32) -> Option<Duration> {
        let may_help = match error {
            ModelError::Unreadable { .. } => unreadable <= 1,
            error => error.is_passing(),
        };
        let asked_for = error.retry_after().unwrap_or_default();
        if !may_help || failures >= self.patience.max_attempts || asked_for > self.patience.max_retry_after {
            return None;
        }
        Some(asked_for.saturating_add(self.chance.up_to(self.patience.longest(failures))))
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Retrying<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut failures = 0;
        let mut unreadable = 0;
        loop {
            let error = match self.inner.ask(request).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            failures += 1;
            unreadable += u32::from(matches!(error, ModelError::Unreadable { .. }));
            let Some(wait) = self.wait(&error, failures, unreadable) else { return Err(error) };
            tracing::debug!(model = self.name(), kind = error.kind(), failures, ?wait, "asking again");
            tokio::time::sleep(wait).await;
        }
    }
}

/// Draws that repeat under a given seed, by many at once: Steele, Lea and Flood's SplitMix64.
#[derive(Debug)]
struct Chance(AtomicU64);

impl Chance {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    fn next(&self) -> u64 {
        let mut bits = self.0.fetch_add(Self::STEP, Ordering::Relaxed).wrapping_add(Self::STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Anything from nothing to `most`.
    fn up_to(&self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        let share = (u128::from(self.next()) * (u128::from(most) + 1)) >> 64;
        Duration::from_nanos(u64::try_from(share).unwrap_or(most))
    }
}
