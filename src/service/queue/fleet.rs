//! The queue of a fleet: jobs on a server, for workers on any number of machines.
//!
//! Hooks know nothing of it. They write the files of this machine's queue, which are only the *spool* here: whoever works
//! for the fleet hands them on first. While the server is away they stay where they are.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::{Builder, Runtime};

use super::claimed::{Settled, short};
use super::error::QueueError;
use super::folder::{MAX_JOB_BYTES, Place};
use super::job::{Attempt, Job, JobName, Urgency};
use super::list::{Lease, Listed, put_in_order};
use super::slot::Slot;
use super::source::{Beat, Held, Intake, JobSource, Post};
use super::survey::{LONGEST_WAIT, WORKER_DIED};
use super::token::Token;
use super::{Enqueued, Queue, later};
use crate::domain::Timestamp;
use crate::memory::MemoryError;
use crate::memory::postgres::Server;
use crate::memory::postgres::jobs::{
    Ask, Claiming, Fate, Fencing, Grip, JobPlace, JobRow, JobTable, NewJob, Scope, TakenJob,
};

/// So many jobs are handed on before one is worked on.
const HANDED_ON: u32 = 50;

/// The jobs of one project in a fleet.
#[derive(Debug, Clone)]
pub struct FleetQueue {
    table: JobTable,
    bank: String,
}

/// For whom a worker works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// For its own project.
    Own,
    /// For every project that it may see.
    All,
}

/// What a worker of a fleet works from.
#[derive(Debug)]
pub struct FleetSource {
    own: FleetQueue,
    spool: Queue,
    scope: Scope,
    per_project: u32,
}

impl FleetQueue {
    /// The jobs of the project with this key. Nothing is asked yet.
    pub fn new(server: Arc<Server>, bank: impl Into<String>) -> Self {
        Self { table: JobTable::new(server), bank: bank.into() }
    }

    /// Asks for a job, which is on the server when this returns. A job that was put aside gets another chance.
    pub async fn enqueue(&self, job: &Job, now: Timestamp) -> Result<Enqueued, QueueError> {
        let record = serde_json::to_string(job).map_err(QueueError::Encode)?;
        if record.len() > MAX_JOB_BYTES {
            return Err(QueueError::TooLarge { bytes: record.len(), most: MAX_JOB_BYTES });
        }
        let asked = NewJob {
            name: job.name().to_string(),
            subject: job.errand.subject(),
            urgency: rank(job.urgency),
            log_bytes: job.log_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
            enqueued_at: sane(job.enqueued_at),
            // How long is all that another clock may say.
            delay: job.not_before.map(|at| until(at, now)).filter(|wait| *wait <= LONGEST_WAIT).unwrap_or_default(),
            attempts: i32::try_from(job.attempts.len()).unwrap_or(i32::MAX),
            record,
            is_repeatable: job.errand.is_repeatable(),
        };
        Ok(match self.table.ask(&self.bank, &asked).await? {
            Ask::New => Enqueued::New,
            Ask::Known => Enqueued::Known,
        })
    }

    /// Everything that lies in the queue: what waits first, the oldest first.
    pub async fn jobs(&self, now: Timestamp) -> Result<Vec<Listed>, QueueError> {
        let rows = self.table.list(&self.bank).await?;
        let mut listed: Vec<Listed> = rows.into_iter().map(|row| shown(row, now)).collect();
        put_in_order(&mut listed);
        Ok(listed)
    }

    /// Changes whenever a job comes, goes or is settled.
    pub async fn stamp(&self) -> Result<String, MemoryError> {
        Ok(format!("{:08x}", self.table.changes(&self.bank).await?))
    }
}

#[async_trait]
impl Intake for FleetQueue {
    async fn ask(&self, job: &Job, now: Timestamp) -> Result<Enqueued, QueueError> {
        self.enqueue(job, now).await
    }
}

impl FleetSource {
    /// The jobs of this project, or of all, of which so many of one project are worked on at once; and the spool that is
    /// handed on to this project's queue.
    pub fn new(own: FleetQueue, spool: Queue, reach: Reach, per_project: u32) -> Self {
        let scope = match reach {
            Reach::Own => Scope::Bank(own.bank.clone()),
            Reach::All => Scope::All,
        };
        Self { own, spool, scope, per_project }
    }

    /// Hands on what hooks wrote, and says how much that was. A job is on the server before its file goes, so that one may
    /// be handed on twice; the second time it is known.
    pub async fn hand_on(&self, token: &Token, lease: Duration, now: Timestamp) -> Result<u32, QueueError> {
        let mut handed_on = 0;
        while handed_on < HANDED_ON {
            let claimed = match self.spool.claim(token, lease, now) {
                Ok(Some(claimed)) => claimed,
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "the spool cannot be read; the fleet's jobs are worked on all the same");
                    break;
                }
            };
            let settled = match self.own.enqueue(claimed.job(), now).await {
                // It is the fleet's to remember: asked for again, it may be more urgent, or get another chance.
                Ok(_) => claimed.hand_on(),
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
impl JobSource for FleetSource {
    /// There are as many workers as there are. The lock only shows hooks that somebody looks after the spool.
    async fn post(&self, most: u32) -> Result<Option<Box<dyn Post>>, QueueError> {
        let slot = self.spool.slot(most).unwrap_or_else(|error| {
            tracing::debug!(%error, "hooks will not know that a worker runs");
            None
        });
        Ok(Some(Box::new(FleetPost { _slot: slot })))
    }

    async fn claim(&self, token: &Token, lease: Duration, now: Timestamp) -> Result<Option<Arc<dyn Held>>, QueueError> {
        self.hand_on(token, lease, now).await?;
        let claiming = Claiming {
            worker: token.as_str(),
            lease,
            per_bank: self.per_project,
            mourning: &|record, at| mourned(record, at),
        };
        let table = &self.own.table;
        while let Some(taken) = table.claim(&self.scope, &claiming).await? {
            let TakenJob { grip, bank, name, urgency, record } = taken;
            match read(&name, urgency, &record) {
                Ok((name, job)) => {
                    return Ok(Some(Arc::new(FleetClaimed { table: table.clone(), grip, bank, name, job })));
                }
                Err(why) => {
                    tracing::warn!(job = name, why, "a job of the fleet cannot be read and was put aside");
                    table.settle(&grip, Fate::Dead(&why)).await?;
                }
            }
        }
        Ok(None)
    }

    async fn next_due(&self, lease: Duration, now: Timestamp) -> Result<Option<Timestamp>, QueueError> {
        let here = self.spool.next_due(lease, now).unwrap_or_default();
        let there = self.own.table.next_due(&self.scope, self.per_project).await?;
        Ok(here.into_iter().chain(there.map(|wait| later(now, wait))).min())
    }

    async fn prune(&self, keep_done: Duration, now: Timestamp) -> Result<u64, QueueError> {
        let here = self.spool.prune(keep_done, now)?;
        Ok(here + self.own.table.prune(&self.scope, keep_done).await?)
    }
}

/// Shows hooks that somebody works here, where that was not shown already.
#[derive(Debug)]
struct FleetPost {
    _slot: Option<Slot>,
}

impl Post for FleetPost {
    fn is_valid(&self) -> bool {
        true
    }
}

/// A job of a fleet in a worker's hands.
#[derive(Debug)]
struct FleetClaimed {
    table: JobTable,
    grip: Grip,
    bank: String,
    name: JobName,
    job: Job,
}

impl FleetClaimed {
    async fn settle(&self, fate: Fate<'_>) -> Result<Settled, QueueError> {
        Ok(self.table.settle(&self.grip, fate).await?.into())
    }
}

#[async_trait]
impl Held for FleetClaimed {
    fn name(&self) -> &JobName {
        &self.name
    }

    fn job(&self) -> &Job {
        &self.job
    }

    fn bank(&self) -> Option<&str> {
        Some(&self.bank)
    }

    fn heart(self: Arc<Self>, lease: Duration) -> Box<dyn Beat> {
        Box::new(Heart { claimed: self, lease, way: None })
    }

    async fn done(&self, note: &str, _: Timestamp) -> Result<Settled, QueueError> {
        self.settle(Fate::Done(&short(note))).await
    }

    async fn retry(&self, error: &str, not_before: Timestamp, now: Timestamp) -> Result<Settled, QueueError> {
        let (mut job, error) = (self.job.clone(), short(error));
        job.attempts.push(Attempt { at: now, error: error.clone() });
        let record = serde_json::to_string(&job).map_err(QueueError::Encode)?;
        self.settle(Fate::Failed { error: &error, record: &record, delay: until(not_before, now) }).await
    }

    async fn put_off(&self, at: Timestamp, now: Timestamp) -> Result<Settled, QueueError> {
        self.settle(Fate::Later(until(at, now))).await
    }

    async fn bury(&self, reason: &str, _: Timestamp) -> Result<Settled, QueueError> {
        self.settle(Fate::Dead(&short(reason))).await
    }

    async fn release(&self) -> Result<Settled, QueueError> {
        self.settle(Fate::Back).await
    }
}

/// Gives signs of life over a connection and a runtime of its own, whatever the job does to those of its worker. Both are
/// made with the first sign: most jobs are done before it.
struct Heart {
    claimed: Arc<FleetClaimed>,
    lease: Duration,
    way: Option<(Runtime, JobTable)>,
}

impl Beat for Heart {
    fn beat(&mut self, _: Timestamp) -> Result<Settled, QueueError> {
        let way = match self.way.take() {
            Some(way) => way,
            None => {
                let runtime = Builder::new_current_thread().enable_all().build();
                let runtime =
                    runtime.map_err(QueueError::io("start a runtime for", self.claimed.name.as_str().as_ref()))?;
                (runtime, self.claimed.table.apart())
            }
        };
        let (runtime, table) = self.way.insert(way);
        let beaten = runtime.block_on(table.beat(&self.claimed.grip, self.lease, self.lease / 4));
        Ok(beaten?.into())
    }
}

impl From<Fencing> for Settled {
    fn from(fencing: Fencing) -> Self {
        match fencing {
            Fencing::Passed => Self::Yes,
            Fencing::Stopped => Self::Lost,
        }
    }
}

/// What a row says is to be done, or why that cannot be read.
fn read(name: &str, urgency: i16, record: &str) -> Result<(JobName, Job), String> {
    let name = JobName::parse(name).map_err(|invalid| invalid.to_string())?;
    let job: Job = serde_json::from_str(record).map_err(|error| error.to_string())?;
    Ok((name, Job { urgency: ranked(urgency), not_before: None, ..job }))
}

fn shown(row: JobRow, now: Timestamp) -> Listed {
    let place = match row.place {
        JobPlace::Waiting => Place::New,
        JobPlace::Claimed => Place::Claimed,
        JobPlace::Dead => Place::Dead,
        JobPlace::Done => Place::Done,
    };
    let job = read(&row.name, row.urgency, &row.record).map(|(_, job)| Job { not_before: row.not_before, ..job });
    let age = job.as_ref().ok().and_then(|job| (now - job.enqueued_at).to_std().ok()).unwrap_or_default();
    let lease = if row.is_lost { Lease::Expired } else { Lease::Held };
    Listed {
        name: row.name,
        place,
        job,
        note: row.note,
        age,
        worker: row.worker.and_then(|worker| Token::parse(&worker).ok()),
        lease: (place == Place::Claimed).then_some(lease),
    }
}

/// The text of a job whose worker died.
fn mourned(record: &str, at: Timestamp) -> Option<String> {
    let mut job: Job = serde_json::from_str(record).ok()?;
    job.attempts.push(Attempt { at, error: WORKER_DIED.to_owned() });
    serde_json::to_string(&job).ok()
}

fn rank(urgency: Urgency) -> i16 {
    match urgency {
        Urgency::Over => 0,
        Urgency::Pause => 1,
        Urgency::Sweep => 2,
    }
}

fn ranked(urgency: i16) -> Urgency {
    match urgency {
        ..=0 => Urgency::Over,
        1 => Urgency::Pause,
        2.. => Urgency::Sweep,
    }
}

/// How long it is until then.
fn until(at: Timestamp, now: Timestamp) -> Duration {
    (at - now).to_std().unwrap_or_default()
}

/// A moment that a server has a place for.
fn sane(at: Timestamp) -> Timestamp {
    let last = Timestamp::from_timestamp(253_402_300_799, 0).unwrap_or(at);
    at.clamp(Timestamp::UNIX_EPOCH, last)
}
