//! Retries of requests after transient failures.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use super::{LanguageModel, ModelError, ModelReply, ModelRequest};

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;

/// The number of attempts and the waits between them for a failing endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelRetryPolicy {
    /// The number of attempts, the first included; 0 counts as 1.
    pub max_attempts: u32,
    /// The longest wait after the first failure. It doubles with each further one.
    pub first_delay: Duration,
    /// The longest wait after any failure, unless the endpoint itself asks for more.
    pub max_delay: Duration,
    /// The longest wait that an endpoint may ask for. If it asks for more, there is no retry.
    pub max_retry_after: Duration,
}

impl ModelRetryPolicy {
    /// Returns the longest wait after this many failures.
    fn longest_wait(&self, failures: u32) -> Duration {
        let doubled = 1u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        self.first_delay.saturating_mul(doubled).min(self.max_delay)
    }
}

/// A model that sends a request again after a transient failure.
///
/// Waits are drawn evenly from zero to a limit that doubles, so that many clients that failed together do not return
/// together. If the endpoint says how long to wait, the draw is added to it.
///
/// An unreadable answer is worth one more attempt: a body may break on its way, but an endpoint that speaks another
/// language does so every time. An answer that is too long is not retried: the same request would bring the same flood.
#[derive(Debug)]
pub struct RetryingModel<M> {
    inner: M,
    patience: ModelRetryPolicy,
    chance: JitterSource,
}

impl<M> RetryingModel<M> {
    /// Wraps `inner`; equal seeds draw equal waits.
    pub fn new(inner: M, patience: ModelRetryPolicy, seed: u64) -> Self {
        Self { inner, patience, chance: JitterSource(AtomicU64::new(seed)) }
    }

    /// Returns the wait before the next attempt, or `None` if another one cannot help. `failures` counts this one.
    fn wait_before_retry(&self, error: &ModelError, failures: u32, unreadable: u32) -> Option<Duration> {
        let may_help = match error {
            ModelError::Unreadable { .. } => unreadable <= 1,
            error => error.is_transient(),
        };
        let asked_for = error.retry_after().unwrap_or_default();
        if !may_help || failures >= self.patience.max_attempts || asked_for > self.patience.max_retry_after {
            return None;
        }
        Some(asked_for.saturating_add(self.chance.draw_up_to(self.patience.longest_wait(failures))))
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for RetryingModel<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let mut failures = 0;
        let mut unreadable = 0;
        loop {
            let error = match self.inner.send_request(request).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            failures += 1;
            unreadable += u32::from(matches!(error, ModelError::Unreadable { .. }));
            let Some(wait) = self.wait_before_retry(&error, failures, unreadable) else { return Err(error) };
            tracing::debug!(model = self.name(), kind = error.kind(), failures, ?wait, "asking again");
            tokio::time::sleep(wait).await;
        }
    }
}

/// A random source that is repeatable under a given seed and can be shared: Steele, Lea and Flood's SplitMix64.
#[derive(Debug)]
struct JitterSource(AtomicU64);

impl JitterSource {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    fn next(&self) -> u64 {
        let mut bits = self.0.fetch_add(Self::STEP, Ordering::Relaxed).wrapping_add(Self::STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a duration from zero to `most`.
    fn draw_up_to(&self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        let share = (u128::from(self.next()) * (u128::from(most) + 1)) >> 64;
        Duration::from_nanos(u64::try_from(share).unwrap_or(most))
    }
}
