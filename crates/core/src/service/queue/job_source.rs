//! The interface between a worker and a queue, in files or on a server.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::claimed_job::{ClaimedJobFile, JobOwnership};
use super::error::QueueError;
use super::job::{Job, JobName};
use super::worker_slot::WorkerSlotLock;
use super::worker_token::WorkerToken;
use super::{EnqueueResult, JobQueue};
use crate::domain::Timestamp;

/// A source of jobs for a worker.
#[async_trait]
pub trait JobSource: Debug + Send + Sync {
    /// Acquires one of `most` worker slots; `None` if all are taken.
    async fn acquire_slot(&self, most: u32) -> Result<Option<Box<dyn WorkerSlot>>, QueueError>;

    /// Claims the most urgent job that is due, or one whose lease has expired.
    async fn claim_job(
        &self,
        token: &WorkerToken,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Option<Arc<dyn ClaimedJob>>, QueueError>;

    /// Returns when the next job is due or a lease ends; `None` if there is nothing to do.
    async fn next_due(&self, lease: Duration, now: Timestamp) -> Result<Option<Timestamp>, QueueError>;

    /// Deletes jobs that have been done for longer than `keep_done`, and returns their number.
    async fn prune_done_jobs(&self, keep_done: Duration, now: Timestamp) -> Result<u64, QueueError>;
}

/// A worker's right to work, held until it is dropped.
pub trait WorkerSlot: Debug + Send + Sync {
    /// Returns true if the queue still exists.
    fn is_valid(&self) -> bool;
}

/// A job claimed by a worker. A worker that sends no heartbeat within the lease loses it.
#[async_trait]
pub trait ClaimedJob: Debug + Send + Sync {
    /// Returns the job's name.
    fn name(&self) -> &JobName;

    /// Returns the claimed job.
    fn job(&self) -> &Job;

    /// Returns the bank key of the job's project in a fleet; `None` for a queue of one project.
    fn bank_key(&self) -> Option<&str>;

    /// Creates the heartbeat, which a separate thread sends.
    fn create_heartbeat(self: Arc<Self>, lease: Duration) -> Box<dyn Heartbeat>;

    /// Completes the job with this result.
    async fn complete(&self, note: &str, now: Timestamp) -> Result<JobOwnership, QueueError>;

    /// Records a failed attempt and returns the job to the queue.
    async fn retry(&self, error: &str, not_before: Timestamp, now: Timestamp) -> Result<JobOwnership, QueueError>;

    /// Returns the job to the queue until a later time, without counting a failure.
    async fn postpone(&self, until: Timestamp, now: Timestamp) -> Result<JobOwnership, QueueError>;

    /// Marks the job dead for this reason; a person has to look at it.
    async fn mark_dead(&self, reason: &str, now: Timestamp) -> Result<JobOwnership, QueueError>;

    /// Returns the job to the queue unchanged.
    async fn release(&self) -> Result<JobOwnership, QueueError>;
}

/// Renews the lease of a claimed job.
pub trait Heartbeat: Send {
    /// Sends one heartbeat. It may block.
    fn send_heartbeat(&mut self, now: Timestamp) -> Result<JobOwnership, QueueError>;
}

/// A queue that jobs are submitted to.
#[async_trait]
pub trait JobSubmitter: Debug + Send + Sync {
    /// Submits a job, which is stored durably when this returns.
    async fn submit_job(&self, job: &Job, now: Timestamp) -> Result<EnqueueResult, QueueError>;
}

/// The files of a queue are few and small, so they are handled without a blocking task.
#[async_trait]
impl JobSource for JobQueue {
    async fn acquire_slot(&self, most: u32) -> Result<Option<Box<dyn WorkerSlot>>, QueueError> {
        Ok(self.lock_worker_slot(most)?.map(|slot| Box::new(slot) as Box<dyn WorkerSlot>))
    }

    async fn claim_job(
        &self,
        token: &WorkerToken,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Option<Arc<dyn ClaimedJob>>, QueueError> {
        Ok(Self::claim_job(self, token, lease, now)?.map(|claimed| Arc::new(claimed) as Arc<dyn ClaimedJob>))
    }

    async fn next_due(&self, lease: Duration, now: Timestamp) -> Result<Option<Timestamp>, QueueError> {
        Self::next_due(self, lease, now)
    }

    async fn prune_done_jobs(&self, keep_done: Duration, now: Timestamp) -> Result<u64, QueueError> {
        Self::prune_done_jobs(self, keep_done, now)
    }
}

#[async_trait]
impl JobSubmitter for JobQueue {
    async fn submit_job(&self, job: &Job, _: Timestamp) -> Result<EnqueueResult, QueueError> {
        self.enqueue(job)
    }
}

impl WorkerSlot for WorkerSlotLock {
    fn is_valid(&self) -> bool {
        Self::is_valid(self)
    }
}

#[async_trait]
impl ClaimedJob for ClaimedJobFile {
    fn name(&self) -> &JobName {
        Self::name(self)
    }

    fn job(&self) -> &Job {
        Self::job(self)
    }

    fn bank_key(&self) -> Option<&str> {
        None
    }

    fn create_heartbeat(self: Arc<Self>, _: Duration) -> Box<dyn Heartbeat> {
        Box::new(FileHeartbeat(self))
    }

    async fn complete(&self, note: &str, now: Timestamp) -> Result<JobOwnership, QueueError> {
        Self::complete(self, note, now)
    }

    async fn retry(&self, error: &str, not_before: Timestamp, now: Timestamp) -> Result<JobOwnership, QueueError> {
        Self::retry(self, error, not_before, now)
    }

    async fn postpone(&self, until: Timestamp, now: Timestamp) -> Result<JobOwnership, QueueError> {
        Self::postpone(self, until, now)
    }

    async fn mark_dead(&self, reason: &str, now: Timestamp) -> Result<JobOwnership, QueueError> {
        Self::mark_dead(self, reason, now)
    }

    async fn release(&self) -> Result<JobOwnership, QueueError> {
        Self::release(self)
    }
}

/// Sends heartbeats by touching the file of a job.
struct FileHeartbeat(Arc<ClaimedJobFile>);

impl Heartbeat for FileHeartbeat {
    fn send_heartbeat(&mut self, now: Timestamp) -> Result<JobOwnership, QueueError> {
        self.0.send_heartbeat(now)
    }
}
