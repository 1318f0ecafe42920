//! The job queue of a fleet: jobs on a server, for workers on any number of machines.
//!
//! Hooks do not use it. They write the files of the local queue, which is only the *spool* here: a worker of the fleet
//! forwards them to the server first. While the server is unreachable they stay in the spool.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::{Builder, Runtime};

use super::claimed_job::{JobOwnership, shorten_note};
use super::error::QueueError;
use super::job::{FailedAttempt, Job, JobName, JobUrgency};
use super::job_choice::{LONGEST_WAIT, WORKER_DIED};
use super::job_folder::{JobFolder, MAX_JOB_BYTES};
use super::job_list::{LeaseState, ListedJob, sort_listed_jobs};
use super::job_seal::JobAuthor;
use super::job_source::{ClaimedJob, Heartbeat, JobSource, JobSubmitter, WorkerSlot};
use super::worker_slot::WorkerSlotLock;
use super::worker_token::WorkerToken;
use super::{EnqueueResult, JobQueue, add_duration};
use crate::domain::Timestamp;
use crate::memory::MemoryError;
use crate::memory::postgres::PostgresServer;
use crate::memory::postgres::jobs::{
    ClaimRequest, ClaimedJobRow, EnqueueOutcome, FencingOutcome, JobClaimToken, JobDisposition, JobRow, JobRowState,
    JobScope, JobTable, NewJob,
};

/// The most jobs that are forwarded before one is worked on.
const HANDED_ON: u32 = 50;

/// The jobs of one project in a fleet.
#[derive(Debug, Clone)]
pub struct FleetQueue {
    table: JobTable,
    bank: String,
}

/// The projects that a worker works for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerReach {
    /// Its own project only.
    Own,
    /// Every project that it may see.
    All,
}

/// The source of jobs for a worker of a fleet.
#[derive(Debug)]
pub struct FleetJobSource {
    own: FleetQueue,
    spool: JobQueue,
    scope: JobScope,
    per_project: u32,
}

impl FleetQueue {
    /// Makes the queue of the project with this bank key, without contacting the server.
    pub fn new(server: Arc<PostgresServer>, bank: impl Into<String>) -> Self {
        Self { table: JobTable::new(server), bank: bank.into() }
    }

    /// Enqueues a job, which is stored on the server when this returns. A dead job gets another chance.
    pub async fn enqueue(&self, job: &Job, now: Timestamp) -> Result<EnqueueResult, QueueError> {
        let job = &*job.without_secrets();
        let record = serde_json::to_string(job).map_err(QueueError::Encode)?;
        if record.len() > MAX_JOB_BYTES {
            return Err(QueueError::TooLarge { bytes: record.len(), most: MAX_JOB_BYTES });
        }
        let asked = NewJob {
            name: job.name().to_string(),
            subject: job.kind.subject_key(),
            urgency: urgency_to_rank(job.urgency),
            log_bytes: job.log_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
            enqueued_at: clamp_timestamp(job.enqueued_at),
            // Clocks may differ between machines, so only the remaining delay is sent.
            delay: job
                .not_before
                .map(|at| time_until(at, now))
                .filter(|wait| *wait <= LONGEST_WAIT)
                .unwrap_or_default(),
            attempts: i32::try_from(job.attempts.len()).unwrap_or(i32::MAX),
            record,
            is_repeatable: job.kind.is_repeatable(),
        };
        Ok(match self.table.enqueue_job(&self.bank, &asked).await? {
            EnqueueOutcome::New => EnqueueResult::New,
            EnqueueOutcome::Known => EnqueueResult::Known,
        })
    }

    /// Lists all jobs of the queue: waiting ones first, the oldest first.
    pub async fn list_jobs(&self, now: Timestamp) -> Result<Vec<ListedJob>, QueueError> {
        let rows = self.table.list_jobs(&self.bank).await?;
        let mut listed: Vec<ListedJob> = rows.into_iter().map(|row| list_row(row, now)).collect();
        sort_listed_jobs(&mut listed);
        Ok(listed)
    }

    /// Returns a stamp that changes whenever a job is added, claimed or finished.
    pub async fn change_stamp(&self) -> Result<String, MemoryError> {
        Ok(format!("{:08x}", self.table.change_count(&self.bank).await?))
    }
}

#[async_trait]
impl JobSubmitter for FleetQueue {
    async fn submit_job(&self, job: &Job, now: Timestamp) -> Result<EnqueueResult, QueueError> {
        self.enqueue(job, now).await
    }
}

impl FleetJobSource {
    /// Makes a source for the jobs of this project or of all projects, with a limit on concurrent jobs per project. The
    /// spool is forwarded to this project's queue.
    pub fn new(own: FleetQueue, spool: JobQueue, reach: WorkerReach, per_project: u32) -> Self {
        let scope = match reach {
            WorkerReach::Own => JobScope::Bank(own.bank.clone()),
            WorkerReach::All => JobScope::All,
        };
        Self { own, spool, scope, per_project }
    }

    /// Forwards the jobs that hooks wrote, and returns their number. A job is stored on the server before its file is
    /// deleted, so it may be forwarded twice; the second time it is known.
    pub async fn forward_spooled_jobs(
        &self,
        token: &WorkerToken,
        lease: Duration,
        now: Timestamp,
    ) -> Result<u32, QueueError> {
        let mut handed_on = 0;
        while handed_on < HANDED_ON {
            let claimed = match self.spool.claim_job(token, lease, now) {
                Ok(Some(claimed)) => claimed,
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "the spool cannot be read; the fleet's jobs are worked on all the same");
                    break;
                }
            };
            let settled = match self.own.enqueue(claimed.job(), now).await {
                // The server decides what a repeated job means: it may raise the urgency, or revive a dead job.
                Ok(_) => claimed.delete_file(),
                Err(error) => {
                    claimed.release()?;
                    return Err(error);
                }
            };
            if let Err(error) = settled {
                tracing::warn!(job = %claimed.name(), %error, "a job that was handed on could not be forgotten here");
            }
            handed_on += 1;
        }
        Ok(handed_on)
    }
}

#[async_trait]
impl JobSource for FleetJobSource {
    /// Always succeeds: a fleet has no limit of workers. The lock only shows hooks that a worker serves the spool.
    async fn acquire_slot(&self, most: u32) -> Result<Option<Box<dyn WorkerSlot>>, QueueError> {
        let slot = self.spool.lock_worker_slot(most).unwrap_or_else(|error| {
            tracing::debug!(%error, "hooks will not know that a worker runs");
            None
        });
        Ok(Some(Box::new(FleetWorkerSlot { _slot: slot })))
    }

    async fn claim_job(
        &self,
        token: &WorkerToken,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Option<Arc<dyn ClaimedJob>>, QueueError> {
        self.forward_spooled_jobs(token, lease, now).await?;
        let claiming = ClaimRequest {
            worker: token.as_str(),
            lease,
            per_bank: self.per_project,
            mourning: &|record, at| record_worker_death(record, at),
        };
        let table = &self.own.table;
        while let Some(taken) = table.claim_job(&self.scope, &claiming).await? {
            let ClaimedJobRow { grip, bank, name, urgency, record } = taken;
            match parse_row(&name, urgency, &record) {
                Ok((name, job)) => {
                    return Ok(Some(Arc::new(FleetClaimedJob { table: table.clone(), grip, bank, name, job })));
                }
                Err(why) => {
                    tracing::warn!(job = name, why, "a job of the fleet cannot be read and was put aside");
                    table.finish_job(&grip, JobDisposition::Dead(&why)).await?;
                }
            }
        }
        Ok(None)
    }

    async fn next_due(&self, lease: Duration, now: Timestamp) -> Result<Option<Timestamp>, QueueError> {
        let here = self.spool.next_due(lease, now).unwrap_or_default();
        let there = self.own.table.time_until_due(&self.scope, self.per_project).await?;
        Ok(here.into_iter().chain(there.map(|wait| add_duration(now, wait))).min())
    }

    async fn prune_done_jobs(&self, keep_done: Duration, now: Timestamp) -> Result<u64, QueueError> {
        let here = self.spool.prune_done_jobs(keep_done, now)?;
        Ok(here + self.own.table.prune_done_jobs(&self.scope, keep_done).await?)
    }
}

/// Shows hooks that a worker runs here, unless another worker shows it already.
#[derive(Debug)]
struct FleetWorkerSlot {
    _slot: Option<WorkerSlotLock>,
}

impl WorkerSlot for FleetWorkerSlot {
    fn is_valid(&self) -> bool {
        true
    }
}

/// A job of a fleet that a worker has claimed.
#[derive(Debug)]
struct FleetClaimedJob {
    table: JobTable,
    grip: JobClaimToken,
    bank: String,
    name: JobName,
    job: Job,
}

impl FleetClaimedJob {
    async fn finish_job(&self, fate: JobDisposition<'_>) -> Result<JobOwnership, QueueError> {
        Ok(self.table.finish_job(&self.grip, fate).await?.into())
    }
}

#[async_trait]
impl ClaimedJob for FleetClaimedJob {
    fn name(&self) -> &JobName {
        &self.name
    }

    fn job(&self) -> &Job {
        &self.job
    }

    fn bank_key(&self) -> Option<&str> {
        Some(&self.bank)
    }

    fn create_heartbeat(self: Arc<Self>, lease: Duration) -> Box<dyn Heartbeat> {
        Box::new(FleetHeartbeat { claimed: self, lease, way: None })
    }

    async fn complete(&self, note: &str, _: Timestamp) -> Result<JobOwnership, QueueError> {
        self.finish_job(JobDisposition::Done(&shorten_note(note))).await
    }

    async fn retry(&self, error: &str, not_before: Timestamp, now: Timestamp) -> Result<JobOwnership, QueueError> {
        let (mut job, error) = (self.job.clone(), shorten_note(error));
        job.attempts.push(FailedAttempt { at: now, error: error.clone() });
        let record = serde_json::to_string(&job).map_err(QueueError::Encode)?;
        self.finish_job(JobDisposition::Failed { error: &error, record: &record, delay: time_until(not_before, now) })
            .await
    }

    async fn postpone(&self, at: Timestamp, now: Timestamp) -> Result<JobOwnership, QueueError> {
        self.finish_job(JobDisposition::Later(time_until(at, now))).await
    }

    async fn mark_dead(&self, reason: &str, _: Timestamp) -> Result<JobOwnership, QueueError> {
        self.finish_job(JobDisposition::Dead(&shorten_note(reason))).await
    }

    async fn release(&self) -> Result<JobOwnership, QueueError> {
        self.finish_job(JobDisposition::Back).await
    }
}

/// Sends heartbeats over its own connection and runtime, so that the job cannot block them. Both are created at the
/// first heartbeat, since most jobs end before it.
struct FleetHeartbeat {
    claimed: Arc<FleetClaimedJob>,
    lease: Duration,
    way: Option<(Runtime, JobTable)>,
}

impl Heartbeat for FleetHeartbeat {
    fn send_heartbeat(&mut self, _: Timestamp) -> Result<JobOwnership, QueueError> {
        let way = match self.way.take() {
            Some(way) => way,
            None => {
                let runtime = Builder::new_current_thread().enable_all().build();
                let runtime =
                    runtime.map_err(QueueError::from_io("start a runtime for", self.claimed.name.as_str().as_ref()))?;
                (runtime, self.claimed.table.with_own_connection())
            }
        };
        let (runtime, table) = self.way.insert(way);
        let beaten = runtime.block_on(table.renew_lease(&self.claimed.grip, self.lease, self.lease / 4));
        Ok(beaten?.into())
    }
}

impl From<FencingOutcome> for JobOwnership {
    fn from(fencing: FencingOutcome) -> Self {
        match fencing {
            FencingOutcome::Passed => Self::Yes,
            FencingOutcome::Stopped => Self::Lost,
        }
    }
}

/// Parses the job of a row, or returns why it cannot be read.
fn parse_row(name: &str, urgency: i16, record: &str) -> Result<(JobName, Job), String> {
    let name = JobName::parse(name).map_err(|invalid| invalid.to_string())?;
    let job: Job = serde_json::from_str(record).map_err(|error| error.to_string())?;
    Ok((name, Job { urgency: rank_to_urgency(urgency), not_before: None, ..job }))
}

fn list_row(row: JobRow, now: Timestamp) -> ListedJob {
    let place = match row.place {
        JobRowState::Waiting => JobFolder::New,
        JobRowState::Claimed => JobFolder::Claimed,
        JobRowState::Dead => JobFolder::Dead,
        JobRowState::Done => JobFolder::Done,
    };
    let job = parse_row(&row.name, row.urgency, &row.record).map(|(_, job)| Job { not_before: row.not_before, ..job });
    let age = job.as_ref().ok().and_then(|job| (now - job.enqueued_at).to_std().ok()).unwrap_or_default();
    let lease = if row.is_lost { LeaseState::Expired } else { LeaseState::Held };
    ListedJob {
        name: row.name,
        place,
        job,
        author: JobAuthor::Ours,
        note: row.note,
        age,
        worker: row.worker.and_then(|worker| WorkerToken::parse(&worker).ok()),
        lease: (place == JobFolder::Claimed).then_some(lease),
    }
}

/// Returns the record of a job with the death of its worker added as a failed attempt.
fn record_worker_death(record: &str, at: Timestamp) -> Option<String> {
    let mut job: Job = serde_json::from_str(record).ok()?;
    job.attempts.push(FailedAttempt { at, error: WORKER_DIED.to_owned() });
    serde_json::to_string(&job).ok()
}

fn urgency_to_rank(urgency: JobUrgency) -> i16 {
    match urgency {
        JobUrgency::Over => 0,
        JobUrgency::Pause => 1,
        JobUrgency::Sweep => 2,
    }
}

fn rank_to_urgency(urgency: i16) -> JobUrgency {
    match urgency {
        ..=0 => JobUrgency::Over,
        1 => JobUrgency::Pause,
        2.. => JobUrgency::Sweep,
    }
}

/// Returns the time from now until then, or zero.
fn time_until(at: Timestamp, now: Timestamp) -> Duration {
    (at - now).to_std().unwrap_or_default()
}

/// Limits a time to the range that the server can store.
fn clamp_timestamp(at: Timestamp) -> Timestamp {
    let last = Timestamp::from_timestamp(253_402_300_799, 0).unwrap_or(at);
    at.clamp(Timestamp::UNIX_EPOCH, last)
}
