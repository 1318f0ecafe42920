//! The limits of the server: requests per address and second, connections, and event listeners.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem_response::HttpProblem;

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;

/// The most addresses remembered at once; above it, idle ones are forgotten.
const MAX_ADDRESSES: usize = 10_000;

/// The limits of the server. Most fields are configuration keys of `[serve]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// The requests per second of one address, with bursts of twice as many; 0 means unlimited.
    pub requests_per_second: u32,
    /// The most connections at once.
    pub connections: usize,
    /// The most event listeners at once.
    pub listeners: usize,
    /// The longest body of a request.
    pub body_bytes: usize,
    /// The time limit of a request.
    pub patience: Duration,
    /// The time limit for the head of a request to arrive.
    pub head_patience: Duration,
    /// The time that running requests get after the server was asked to stop.
    pub parting: Duration,
}

/// The limits, together with what is in use.
#[derive(Debug)]
pub(super) struct RequestLimiter {
    pub(super) bounds: ServerLimits,
    buckets: Mutex<HashMap<IpAddr, RateBucket>>,
    listeners: Arc<Semaphore>,
}

/// The request tokens that an address has left.
#[derive(Debug, Clone, Copy)]
struct RateBucket {
    tokens: f64,
    at: Instant,
}

/// A place among the event listeners, released when it is dropped.
#[derive(Debug)]
pub(super) struct ListenerSlot(#[allow(dead_code, reason = "held, not looked at")] OwnedSemaphorePermit);

impl RequestLimiter {
    pub(super) fn new(bounds: ServerLimits) -> Self {
        Self { bounds, buckets: Mutex::default(), listeners: Arc::new(Semaphore::new(bounds.listeners)) }
    }

    /// Counts one more request of this address, or refuses it.
    pub(super) fn admit_request(&self, address: IpAddr, now: Instant) -> Result<(), HttpProblem> {
        let rate = f64::from(self.bounds.requests_per_second);
        if rate == 0.0 {
            return Ok(());
        }
        let most = 2.0 * rate;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_ADDRESSES && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| now.saturating_duration_since(bucket.at) < Duration::from_secs(2));
        }
        let bucket = buckets.entry(address).or_insert(RateBucket { tokens: most, at: now });
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.tokens = (bucket.tokens + passed * rate).min(most);
        bucket.at = now;
        if bucket.tokens < 1.0 {
            return Err(HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, "too many requests").with_retry_after(1));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }

    /// Reserves a place among the event listeners.
    pub(super) fn reserve_listener_slot(&self) -> Result<ListenerSlot, HttpProblem> {
        Arc::clone(&self.listeners).try_acquire_owned().map(ListenerSlot).map_err(|_| {
            HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, "too many listen already")
                .with_hint("`serve.maxListeners` says how many may")
                .with_retry_after(5)
        })
    }
}
