//! The job queue of one memory, in files: `queue/{new,claimed,done,dead}` in its directory, one file per job.
//!
//! A job waits in `new`, is held by a worker in `claimed`, and ends in `done`, or in `dead` if a person has to look at
//! it. It moves between folders by `rename`, so that it is always in one of them and no lock is needed:
//!
//! - A hook has only milliseconds: it writes one file, syncs it and is done.
//! - A worker shows that it is alive by touching its files. Otherwise it loses its jobs to the next worker, and each
//!   loss counts as a failed attempt, so that a job that kills its workers comes to an end.
//! - Any job may be done twice, and its handler must tolerate that.
//!
//! If many machines work for one memory, these files are only the spool: `fleet_queue.rs` forwards them to a server.
//!
//! An unreadable file never stops the queue: it is listed, and set aside once it can no longer be a partial write. A job
//! that this machine did not write is marked dead and never handled.

mod claimed_job;
mod error;
#[cfg(feature = "postgres")]
mod fleet_queue;
mod job;
mod job_choice;
mod job_folder;
mod job_list;
mod job_record;
mod job_seal;
mod job_source;
mod worker_slot;
mod worker_token;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use self::job_choice::{
    FoundJobFile, QueueSurvey, bury_unsealed_job, has_whole_job, parse_claimed_name, read_job_file, set_aside_broken,
};
use self::job_folder::{FileActionResult, QueueFolders, append_text, create_file, move_file, remove_file};
use self::job_record::JobEvent;
use self::job_seal::render_sealed_job;
use crate::domain::StableHash;
use crate::domain::Timestamp;
use crate::trust::MachineKey;

pub use self::claimed_job::{ClaimedJobFile, JobOwnership};
pub use self::error::QueueError;
#[cfg(feature = "postgres")]
pub use self::fleet_queue::{FleetJobSource, FleetQueue, WorkerReach};
pub use self::job::{FailedAttempt, Job, JobKind, JobName, JobUrgency};
pub use self::job_folder::JobFolder;
pub use self::job_list::{LeaseState, ListedJob};
pub use self::job_seal::JobAuthor;
pub use self::job_source::{ClaimedJob, Heartbeat, JobSource, JobSubmitter, WorkerSlot};
pub use self::worker_token::WorkerToken;

pub(super) use self::worker_slot::WorkerSlotLock;

#[cfg(test)]
pub(super) mod test_support;

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "failure_tests.rs"]
mod failure_tests;

/// The number of looks at a file that another process is writing, and the pause between them.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// The number of subjects from which a scan serves several claims. A shorter queue is scanned for each.
const MANY_JOBS: usize = 64;

/// How many times as long as it took a scan of a long queue serves.
const SCANS_APART: u32 = 10;

/// The job queue of one memory.
#[derive(Debug, Clone)]
pub struct JobQueue {
    folders: QueueFolders,
    /// What a scan of a long queue found. It is shared by the clones of a queue.
    remembered: Arc<Mutex<Option<RememberedSurvey>>>,
}

/// A survey that serves several claims: a scan of a long queue takes much longer than a claim.
#[derive(Debug)]
struct RememberedSurvey {
    survey: QueueSurvey,
    scanned_at: Instant,
    scan_time: Duration,
}

impl RememberedSurvey {
    fn scan(folders: &QueueFolders, lease: Duration, now: Timestamp) -> Result<Self, QueueError> {
        let scanned_at = Instant::now();
        let survey = QueueSurvey::scan_folders(folders, lease, now)?;
        Ok(Self { survey, scanned_at, scan_time: scanned_at.elapsed() })
    }

    /// Returns true while another scan would take more than a tenth of the time.
    fn is_fresh(&self) -> bool {
        self.scanned_at.elapsed() < self.scan_time * SCANS_APART
    }
}

/// The result of enqueueing a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnqueueResult {
    /// The job is new and will be done.
    New,
    /// The job is waiting, claimed, or done already.
    Known,
}

impl JobQueue {
    /// Makes the queue of the memory in this directory, without touching any file. Jobs are sealed with the key.
    pub fn for_memory(memory: &Path, key: MachineKey) -> Self {
        Self { folders: QueueFolders::for_memory(memory, key), remembered: Arc::default() }
    }

    /// Returns the queue's folder.
    pub fn queue_dir(&self) -> &Path {
        self.folders.queue_dir()
    }

    /// Enqueues a job, without the secrets of its payload. It is stored on disk when this returns. A dead job gets another
    /// chance.
    pub fn enqueue(&self, job: &Job) -> Result<EnqueueResult, QueueError> {
        let name = job.name();
        let job = &*job.without_secrets();
        let bytes = render_sealed_job(job, &self.folders.key)?;
        self.folders.create_all()?;
        // Jobs may move meanwhile. A duplicate that slips through is resolved by the next worker.
        if self.is_claimed(&name)?
            || (!job.kind.is_repeatable() && has_whole_job(&self.folders, JobFolder::Done, &name)?)
        {
            return Ok(EnqueueResult::Known);
        }
        if self.requeue_dead_job(&name)? == FileActionResult::Yes {
            return Ok(EnqueueResult::New);
        }
        let path = self.folders.job_path(JobFolder::New, &name);
        for _ in 0..LOOKS {
            if create_file(&path, &bytes)?.is_some() {
                return Ok(EnqueueResult::New);
            }
            match read_job_file(&self.folders, JobFolder::New, &name)? {
                FoundJobFile::Broken(_) => std::thread::sleep(PAUSE),
                FoundJobFile::Ours(known) => {
                    self.raise_urgency(&path, &known.job, job);
                    return Ok(EnqueueResult::Known);
                }
                FoundJobFile::Unsealed => bury_unsealed_job(&self.folders, &path, &name, job.enqueued_at),
                FoundJobFile::Missing => return Ok(EnqueueResult::Known),
            }
        }
        // The process that began to write it died before the end.
        set_aside_broken(&self.folders, &path, &name, "it was not written to its end");
        Ok(create_file(&path, &bytes)?.map_or(EnqueueResult::Known, |()| EnqueueResult::New))
    }

    /// Claims the most urgent job that is due, or one whose lease has expired.
    ///
    /// Of several jobs about one session the latest is claimed, and the others are completed with it.
    pub fn claim_job(
        &self,
        token: &WorkerToken,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Option<ClaimedJobFile>, QueueError> {
        if let Some(known) = self.lock_survey().as_mut().filter(|known| known.is_fresh()) {
            let claimed = known.survey.claim_remembered(&self.folders, token, now)?;
            if claimed.is_some() || known.survey.ready_count() >= MANY_JOBS {
                return Ok(claimed);
            }
        }
        let mut known = RememberedSurvey::scan(&self.folders, lease, now)?;
        known.survey.tidy_up(&self.folders, now);
        let claimed = known.survey.claim_next(&self.folders, token, now);
        self.remember(known);
        Ok(claimed)
    }

    /// Returns when the next job is due or a lease ends; `None` if there is nothing to do.
    pub fn next_due(&self, lease: Duration, now: Timestamp) -> Result<Option<Timestamp>, QueueError> {
        let known = RememberedSurvey::scan(&self.folders, lease, now)?;
        let due = known.survey.next_due(now);
        self.remember(known);
        Ok(due)
    }

    /// Lists all jobs of the queue: waiting ones first, the oldest first. It changes nothing.
    pub fn list_jobs(&self, lease: Duration, now: Timestamp) -> Result<Vec<ListedJob>, QueueError> {
        job_list::list_jobs(&self.folders, lease, now)
    }

    /// Deletes jobs that have been done for longer than `keep_done`, and returns their number.
    pub fn prune_done_jobs(&self, keep_done: Duration, now: Timestamp) -> Result<u64, QueueError> {
        let mut forgotten = 0;
        for entry in self.folders.list_entries(JobFolder::Done)? {
            let is_job = JobName::parse(&entry.file_name).is_ok();
            if is_job && entry.age_at(now).time_ago() > keep_done && remove_file(&entry.path)? == FileActionResult::Yes
            {
                forgotten += 1;
            }
        }
        Ok(forgotten)
    }

    /// Returns a stamp that changes whenever a job is added, claimed or finished.
    pub fn change_stamp(&self) -> String {
        let times = JobFolder::ALL
            .map(|place| self.folders.folder_path(place).metadata().and_then(|found| found.modified()).ok());
        StableHash::from_text(&format!("{times:?}")).to_digits(8)
    }

    /// Returns true if a worker runs. It costs a system call or two.
    pub fn has_worker(&self) -> bool {
        worker_slot::is_any_taken(self.folders.queue_dir())
    }

    fn lock_survey(&self) -> MutexGuard<'_, Option<RememberedSurvey>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, known: RememberedSurvey) {
        *self.lock_survey() = Some(known).filter(|known| known.survey.ready_count() >= MANY_JOBS);
    }

    /// Locks one of `count` worker slots; `None` if all are taken.
    pub(super) fn lock_worker_slot(&self, count: u32) -> Result<Option<WorkerSlotLock>, QueueError> {
        self.folders.create_all()?;
        WorkerSlotLock::lock_first_free(self.folders.queue_dir(), count)
    }

    /// Returns true if a worker has claimed the job.
    fn is_claimed(&self, name: &JobName) -> Result<bool, QueueError> {
        let entries = self.folders.list_entries(JobFolder::Claimed)?;
        Ok(entries
            .iter()
            .any(|entry| parse_claimed_name(&entry.file_name).is_some_and(|(claimed, _)| claimed == *name)))
    }

    /// Raises the urgency of a waiting job: a session that paused may be over by now.
    fn raise_urgency(&self, path: &Path, known: &Job, job: &Job) {
        if job.urgency >= known.urgency {
            return;
        }
        let line = JobEvent::urgency_raised(job.urgency, job.enqueued_at).to_line().map_err(QueueError::Encode);
        if let Err(error) = line.and_then(|line| append_text(path, &line, job.enqueued_at)) {
            tracing::debug!(%error, "a job that waits could not be made more urgent");
        }
    }

    /// Moves a dead job back to the waiting ones. One that this machine did not write makes room for the one that it
    /// writes now.
    fn requeue_dead_job(&self, name: &JobName) -> Result<FileActionResult, QueueError> {
        let (from, to) = (self.folders.job_path(JobFolder::Dead, name), self.folders.job_path(JobFolder::New, name));
        match read_job_file(&self.folders, JobFolder::Dead, name)? {
            FoundJobFile::Ours(_) => return move_file(&from, &to),
            FoundJobFile::Unsealed => drop(remove_file(&from)?),
            FoundJobFile::Broken(why) => set_aside_broken(&self.folders, &from, name, &why),
            FoundJobFile::Missing => {}
        }
        Ok(FileActionResult::Gone)
    }
}

/// Returns the time that much later, or the latest possible one.
pub(super) fn add_duration(at: Timestamp, by: Duration) -> Timestamp {
    let by = chrono::TimeDelta::from_std(by).unwrap_or(chrono::TimeDelta::MAX);
    at.checked_add_signed(by).unwrap_or(Timestamp::MAX_UTC)
}
