//! How much is taken in: from one address in a second, at once, and by listeners that stay.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;

/// Addresses that are remembered at once; those that have been quiet are forgotten first.
const MAX_ADDRESSES: usize = 10_000;

/// How much is taken in. Every field is a configuration key of `[serve]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Requests of one address in a second; twice as many at once. 0: as many as come.
    pub requests_per_second: u32,
    /// Connections at once.
    pub connections: usize,
    /// Listeners to events at once.
    pub listeners: usize,
    /// The longest body of a request.
    pub body_bytes: usize,
    /// How long a request may take.
    pub patience: Duration,
    /// How long the head of a request may take to arrive.
    pub head_patience: Duration,
    /// How long requests may go on after the server was asked to end.
    pub parting: Duration,
}

/// What is left of what may be taken in.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) bounds: Bounds,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
    listeners: Arc<Semaphore>,
}

/// What an address has left.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

/// A place among the listeners, held as long as somebody listens.
#[derive(Debug)]
pub(super) struct Seat(#[allow(dead_code, reason = "held, not looked at")] OwnedSemaphorePermit);

impl Limits {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, buckets: Mutex::default(), listeners: Arc::new(Semaphore::new(bounds.listeners)) }
    }

    /// Whether one more request of this address is taken in at this moment.
    pub(super) fn admit(&self, address: IpAddr, now: Instant) -> Result<(), Problem> {
        let rate = f64::from(self.bounds.requests_per_second);
        if rate == 0.0 {
            return Ok(());
        }
        let most = 2.0 * rate;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_ADDRESSES && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| now.saturating_duration_since(bucket.at) < Duration::from_secs(2));
        }
        let bucket = buckets.entry(address).or_insert(Bucket { tokens: most, at: now });
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.tokens = (bucket.tokens + passed * rate).min(most);
        bucket.at = now;
        if bucket.tokens < 1.0 {
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many requests").after(1));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }

    /// A place among the listeners.
    pub(super) fn seat(&self) -> Result<Seat, Problem> {
        Arc::clone(&self.listeners).try_acquire_owned().map(Seat).map_err(|_| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many listen already")
                .with_hint("`serve.maxListeners` says how many may")
                .after(5)
        })
    }
}
