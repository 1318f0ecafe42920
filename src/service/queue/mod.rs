//! What is to be done for one memory, in files: `queue/{new,claimed,done,dead}` in its directory, one file a job.
//!
//! A job waits in `new`, is in a worker's hands in `claimed`, and ends in `done`, or in `dead` where a person has to look
//! at it. It goes from one to the other by `rename`, so that it is always somewhere and nobody needs a lock:
//!
//! - A hook that has milliseconds writes one file, syncs it and is done.
//! - A worker shows that it lives by touching the files it has. One that does not loses its jobs to the next, and each
//!   loss counts as a failed try, so that a job that kills its workers comes to an end.
//! - Any job may be done twice. What it does must bear that.
//!
//! Where many machines work for one memory, these files are only the spool: `fleet.rs` hands them on to a server.
//!
//! What cannot be read never stops the queue: it is listed, and put aside once it cannot be in the making any more.

mod claimed;
mod error;
#[cfg(feature = "postgres")]
mod fleet;
mod folder;
mod job;
mod list;
mod record;
mod slot;
mod source;
mod survey;
mod token;

use std::path::Path;
use std::time::Duration;

use self::folder::{Done, Folders, MAX_JOB_BYTES, append, create, remove, rename};
use self::record::{Happened, Record};
use self::survey::{Survey, claimed_name, is_whole, look, put_aside};
use crate::domain::Timestamp;

pub use self::claimed::{Claimed, Settled};
pub use self::error::QueueError;
#[cfg(feature = "postgres")]
pub use self::fleet::{FleetQueue, FleetSource, Reach};
pub use self::folder::Place;
pub use self::job::{Attempt, Errand, Job, JobName, Urgency};
pub use self::list::{Lease, Listed};
pub use self::source::{Beat, Held, Intake, JobSource, Post};
pub use self::token::Token;

pub(super) use self::slot::Slot;

#[cfg(test)]
pub(super) mod test_support;

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod trouble_tests;

/// How often, and after which pause, a file is looked at again that somebody else is just writing.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// The jobs of one memory.
#[derive(Debug, Clone)]
pub struct Queue {
    folders: Folders,
}

/// What came of asking for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// It will be done.
    New,
    /// It is waiting, being done, or done already.
    Known,
}

impl Queue {
    /// The queue of the memory in this directory. Nothing is touched yet.
    pub fn at(memory: &Path) -> Self {
        Self { folders: Folders::of(memory) }
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        self.folders.queue()
    }

    /// Asks for a job, which is on disk when this returns. A job that was put aside gets another chance.
    pub fn enqueue(&self, job: &Job) -> Result<Enqueued, QueueError> {
        let name = job.name();
        let bytes = serde_json::to_vec(job).map_err(QueueError::Encode)?;
        if bytes.len() > MAX_JOB_BYTES {
            return Err(QueueError::TooLarge { bytes: bytes.len(), most: MAX_JOB_BYTES });
        }
        self.folders.make()?;
        // Jobs go on while this looks. One that slips through is found twice by the next worker, which knows what to do.
        if self.is_claimed(&name)? || (!job.errand.is_repeatable() && is_whole(&self.folders, Place::Done, &name)) {
            return Ok(Enqueued::Known);
        }
        if self.bring_back(&name)? == Done::Yes {
            return Ok(Enqueued::New);
        }
        let path = self.folders.path(Place::New, &name);
        for _ in 0..LOOKS {
            if create(&path, &bytes)?.is_some() {
                return Ok(Enqueued::New);
            }
            match look(&self.folders, Place::New, &name) {
                Some(Err(_)) => std::thread::sleep(PAUSE),
                Some(Ok(known)) => {
                    self.hurry(&path, &known, job);
                    return Ok(Enqueued::Known);
                }
                None => return Ok(Enqueued::Known),
            }
        }
        // Whoever began to write it did not live to the end.
        put_aside(&self.folders, &path, &name, "it was not written to its end");
        Ok(create(&path, &bytes)?.map_or(Enqueued::Known, |()| Enqueued::New))
    }

    /// Takes the most urgent job that is due, or one whose worker gave no sign of life for as long as the lease.
    ///
    /// Of several jobs about one session the latest is taken, and the others are done with it.
    pub fn claim(&self, token: &Token, lease: Duration, now: Timestamp) -> Result<Option<Claimed>, QueueError> {
        Survey::of(&self.folders, lease, now)?.claim(&self.folders, token, now)
    }

    /// When there is something to do next: now, when a job is due, or when a lease ends. `None` if there is nothing.
    pub fn next_due(&self, lease: Duration, now: Timestamp) -> Result<Option<Timestamp>, QueueError> {
        Ok(Survey::of(&self.folders, lease, now)?.next_due(now))
    }

    /// Everything that lies in the queue: what waits first, the oldest first. Changes nothing.
    pub fn jobs(&self, lease: Duration, now: Timestamp) -> Result<Vec<Listed>, QueueError> {
        list::list(&self.folders, lease, now)
    }

    /// Forgets jobs that have been done for so long, and says how many.
    pub fn prune(&self, keep_done: Duration, now: Timestamp) -> Result<u64, QueueError> {
        let mut forgotten = 0;
        for entry in self.folders.entries(Place::Done)? {
            let is_job = JobName::parse(&entry.file_name).is_ok();
            if is_job && entry.touched(now).ago() > keep_done && remove(&entry.path)? == Done::Yes {
                forgotten += 1;
            }
        }
        Ok(forgotten)
    }

    /// Changes whenever a job comes, goes or is settled.
    pub fn stamp(&self) -> String {
        let times =
            Place::ALL.map(|place| self.folders.folder(place).metadata().and_then(|found| found.modified()).ok());
        let hash = blake3::hash(format!("{times:?}").as_bytes());
        hash.to_hex().chars().take(8).collect()
    }

    /// Whether a worker runs. Costs a system call or two.
    pub fn is_worked(&self) -> bool {
        slot::is_any_taken(self.folders.queue())
    }

    /// Takes one of so many places for workers; `None` if all are taken.
    pub(super) fn slot(&self, count: u32) -> Result<Option<Slot>, QueueError> {
        self.folders.make()?;
        Slot::take(self.folders.queue(), count)
    }

    /// Whether a worker has it.
    fn is_claimed(&self, name: &JobName) -> Result<bool, QueueError> {
        let entries = self.folders.entries(Place::Claimed)?;
        Ok(entries.iter().any(|entry| claimed_name(&entry.file_name).is_some_and(|(claimed, _)| claimed == *name)))
    }

    /// A session that paused may be over without having said another word.
    fn hurry(&self, path: &Path, known: &Record, job: &Job) {
        if job.urgency >= known.job.urgency {
            return;
        }
        let line = Happened::hurried(job.urgency, job.enqueued_at).line().map_err(QueueError::Encode);
        if let Err(error) = line.and_then(|line| append(path, &line, job.enqueued_at)) {
            tracing::debug!(%error, "a job that waits could not be made more urgent");
        }
    }

    /// Moves a job that was put aside back to those that wait.
    fn bring_back(&self, name: &JobName) -> Result<Done, QueueError> {
        let (from, to) = (self.folders.path(Place::Dead, name), self.folders.path(Place::New, name));
        match look(&self.folders, Place::Dead, name) {
            Some(Ok(_)) => rename(&from, &to),
            Some(Err(why)) => {
                put_aside(&self.folders, &from, name, &why);
                Ok(Done::Gone)
            }
            None => Ok(Done::Gone),
        }
    }
}

/// A moment so much later, or the last there is.
pub(super) fn later(at: Timestamp, by: Duration) -> Timestamp {
    let by = chrono::TimeDelta::from_std(by).unwrap_or(chrono::TimeDelta::MAX);
    at.checked_add_signed(by).unwrap_or(Timestamp::MAX_UTC)
}
