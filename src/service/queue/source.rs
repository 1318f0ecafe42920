//! What a worker asks of a queue, wherever it lies.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::claimed::{Claimed, Settled};
use super::error::QueueError;
use super::job::{Job, JobName};
use super::slot::Slot;
use super::token::Token;
use super::{Enqueued, Queue};
use crate::domain::Timestamp;

/// Where a worker gets its jobs from.
#[async_trait]
pub trait JobSource: Debug + Send + Sync {
    /// A place to work, of so many; `None` if all are taken.
    async fn post(&self, most: u32) -> Result<Option<Box<dyn Post>>, QueueError>;

    /// Takes the most urgent job that is due, or one whose worker gave no sign of life for as long as the lease.
    async fn claim(&self, token: &Token, lease: Duration, now: Timestamp) -> Result<Option<Arc<dyn Held>>, QueueError>;

    /// When there is something to do next: now, when a job is due, or when a lease ends. `None` if there is nothing.
    async fn next_due(&self, lease: Duration, now: Timestamp) -> Result<Option<Timestamp>, QueueError>;

    /// Forgets jobs that have been done for so long, and says how many.
    async fn prune(&self, keep_done: Duration, now: Timestamp) -> Result<u64, QueueError>;
}

/// The right to work, for as long as it is kept.
pub trait Post: Debug + Send + Sync {
    /// Whether there is still anything to work for.
    fn is_valid(&self) -> bool;
}

/// A job in a worker's hands. Whoever takes too long without a sign of life loses it.
#[async_trait]
pub trait Held: Debug + Send + Sync {
    /// What it is called.
    fn name(&self) -> &JobName;

    /// What is to be done.
    fn job(&self) -> &Job;

    /// The project that a fleet knows by this key; `None` where a queue has but one.
    fn bank(&self) -> Option<&str>;

    /// What shows that the worker lives, from a thread that does nothing else.
    fn heart(self: Arc<Self>, lease: Duration) -> Box<dyn Beat>;

    /// It is done, with this result.
    async fn done(&self, note: &str, now: Timestamp) -> Result<Settled, QueueError>;

    /// It failed, and is to be tried again.
    async fn retry(&self, error: &str, not_before: Timestamp, now: Timestamp) -> Result<Settled, QueueError>;

    /// It is too early for it, and nobody's failure.
    async fn put_off(&self, until: Timestamp, now: Timestamp) -> Result<Settled, QueueError>;

    /// It will never be done, for this reason, and waits for a person.
    async fn bury(&self, reason: &str, now: Timestamp) -> Result<Settled, QueueError>;

    /// Gives it back as it was, for somebody else.
    async fn release(&self) -> Result<Settled, QueueError>;
}

/// Shows that a worker lives.
pub trait Beat: Send {
    /// One sign of life. It may block.
    fn beat(&mut self, now: Timestamp) -> Result<Settled, QueueError>;
}

/// Where jobs are asked for.
#[async_trait]
pub trait Intake: Debug + Send + Sync {
    /// Asks for a job, which is not lost when this returns.
    async fn ask(&self, job: &Job, now: Timestamp) -> Result<Enqueued, QueueError>;
}

/// The files of a queue are few and small, and so they are read and moved in place.
#[async_trait]
impl JobSource for Queue {
    async fn post(&self, most: u32) -> Result<Option<Box<dyn Post>>, QueueError> {
        Ok(self.slot(most)?.map(|slot| Box::new(slot) as Box<dyn Post>))
    }

    async fn claim(&self, token: &Token, lease: Duration, now: Timestamp) -> Result<Option<Arc<dyn Held>>, QueueError> {
        Ok(Self::claim(self, token, lease, now)?.map(|claimed| Arc::new(claimed) as Arc<dyn Held>))
    }

    async fn next_due(&self, lease: Duration, now: Timestamp) -> Result<Option<Timestamp>, QueueError> {
        Self::next_due(self, lease, now)
    }

    async fn prune(&self, keep_done: Duration, now: Timestamp) -> Result<u64, QueueError> {
        Self::prune(self, keep_done, now)
    }
}

#[async_trait]
impl Intake for Queue {
    async fn ask(&self, job: &Job, _: Timestamp) -> Result<Enqueued, QueueError> {
        self.enqueue(job)
    }
}

impl Post for Slot {
    fn is_valid(&self) -> bool {
        Self::is_valid(self)
    }
}

#[async_trait]
impl Held for Claimed {
    fn name(&self) -> &JobName {
        Self::name(self)
    }

    fn job(&self) -> &Job {
        Self::job(self)
    }

    fn bank(&self) -> Option<&str> {
        None
    }

    fn heart(self: Arc<Self>, _: Duration) -> Box<dyn Beat> {
        Box::new(Touching(self))
    }

    async fn done(&self, note: &str, now: Timestamp) -> Result<Settled, QueueError> {
        Self::done(self, note, now)
    }

    async fn retry(&self, error: &str, not_before: Timestamp, now: Timestamp) -> Result<Settled, QueueError> {
        Self::retry(self, error, not_before, now)
    }

    async fn put_off(&self, until: Timestamp, now: Timestamp) -> Result<Settled, QueueError> {
        Self::put_off(self, until, now)
    }

    async fn bury(&self, reason: &str, now: Timestamp) -> Result<Settled, QueueError> {
        Self::bury(self, reason, now)
    }

    async fn release(&self) -> Result<Settled, QueueError> {
        Self::release(self)
    }
}

/// Touches the file of a job.
struct Touching(Arc<Claimed>);

impl Beat for Touching {
    fn beat(&mut self, now: Timestamp) -> Result<Settled, QueueError> {
        self.0.heartbeat(now)
    }
}
