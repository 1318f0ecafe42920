//! A worker, which handles the jobs of a queue one after the other.
//!
//! It works the same for a queue in files and on a server: see `queue/job_source.rs`. Heartbeats are sent by a separate
//! thread, so that a job that blocks the executor does not seem dead.

mod worker_pace;

use std::collections::HashMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::queue::{
    ClaimedJob, Job, JobName, JobOwnership, JobSource, JobUrgency, QueueError, WorkerSlot, WorkerToken, add_duration,
};
use crate::domain::Timestamp;
use crate::model::Clock;
use crate::redact::Redactor;

pub use self::worker_pace::WorkerPace;

#[cfg(test)]
#[path = "queue_worker/queue_worker_tests.rs"]
mod tests;

/// The pause between two polls of the queue.
const LOOK: Duration = Duration::from_secs(1);

/// The shortest pause between two polls, and the number of attempts before giving up.
const BLINK: Duration = Duration::from_millis(20);
const BLINKS: u32 = 5;

/// The interval at which a permanent worker deletes finished jobs.
const FORGET: Duration = Duration::from_secs(60 * 60);

/// The time that a running job gets after the worker was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// The time for which a fleet's job may wait for a machine that has its logs before that counts as a failure, and the
/// shortest and longest delay until the next machine tries.
const ABSENT: Duration = Duration::from_secs(24 * 60 * 60);
const ELSEWHERE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// The longest wait for the log of a session that is over.
const LONGEST_REST: Duration = Duration::from_secs(30);

/// Handles jobs. Any job may come twice.
#[async_trait]
pub trait JobHandler: Send + Sync {
    /// Handles a job, and returns its outcome.
    async fn handle_job(&self, job: &Job) -> JobOutcome;

    /// Handles a job of the project with this bank key in a fleet.
    async fn handle_job_for_bank(&self, bank: Option<&str>, job: &Job) -> JobOutcome {
        let _ = bank;
        self.handle_job(job).await
    }
}

/// The outcome of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOutcome {
    /// The job is done, with this result.
    Done(String),
    /// The job failed for a reason that may pass.
    Again(String),
    /// The job failed for a reason that will not pass.
    Hopeless(String),
    /// The job needs something that is not on this machine, but may be on another.
    NotHere(String),
}

/// The lifetime of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerLifetime {
    /// It works until the queue is empty.
    Empty,
    /// It works until told to stop.
    Forever,
}

/// The reason why a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEndReason {
    /// The queue is empty.
    Empty,
    /// The remaining jobs are due later than the worker waits.
    Waiting,
    /// The worker was told to stop.
    Stopped,
    /// The limit of workers is reached.
    OthersWork,
    /// The queue was deleted.
    Vanished,
}

/// The result of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerReport {
    /// The reason why it ended.
    pub ended: WorkerEndReason,
    /// The number of jobs done.
    pub done: u64,
    /// The number of failed attempts, to be retried.
    pub failed: u64,
    /// The number of jobs marked dead.
    pub buried: u64,
}

/// A worker that handles the jobs of a queue.
pub struct QueueWorker<'a, Q: JobSource + ?Sized, H: JobHandler> {
    /// The source of jobs.
    pub queue: &'a Q,
    /// The handler of the jobs.
    pub handler: &'a H,
    /// The limits and delays.
    pub pace: WorkerPace,
    /// The clock in use.
    pub clock: Clock,
}

impl<Q: JobSource + ?Sized, H: JobHandler> std::fmt::Debug for QueueWorker<'_, Q, H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueueWorker").field("queue", &self.queue).field("pace", &self.pace).finish_non_exhaustive()
    }
}

/// The state of a running worker.
struct WorkerState {
    token: WorkerToken,
    redactor: Redactor,
    worked: WorkerReport,
    /// The times since when the logs of finished sessions are waited for.
    resting: HashMap<JobName, Timestamp>,
    /// The time when finished jobs were last deleted.
    forgot: Instant,
    stop: watch::Receiver<bool>,
}

/// The result of polling the queue once.
enum QueuePollResult {
    /// There was a job, and it was handled.
    Busy,
    /// There was a job, but its log may still grow, so it was postponed.
    Early,
    /// There was no job.
    Idle,
    /// There was a job, and it was released because the worker must stop.
    Stopped,
}

impl<Q: JobSource + ?Sized, H: JobHandler> QueueWorker<'_, Q, H> {
    /// Works until the queue is empty, or until `stop` holds `true`. If the sender of `stop` is gone, it goes on.
    pub async fn run(&self, until: WorkerLifetime, stop: watch::Receiver<bool>) -> Result<WorkerReport, QueueError> {
        let mut shift = WorkerState {
            token: WorkerToken::new_unique(),
            redactor: Redactor::new(),
            worked: WorkerReport { ended: WorkerEndReason::OthersWork, done: 0, failed: 0, buried: 0 },
            resting: HashMap::new(),
            forgot: Instant::now(),
            stop,
        };
        while let Some(post) = self.acquire_slot().await? {
            let (ended, left) = self.work_loop(&*post, until, &mut shift).await?;
            shift.worked.ended = ended;
            if ended == WorkerEndReason::Vanished {
                break;
            }
            self.prune_done_jobs(&mut shift).await;
            drop(post);
            if ended == WorkerEndReason::Stopped {
                break;
            }
            // A job may have been enqueued a moment ago by a process that saw this worker and started none.
            let now = self.now();
            let is_due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
            let is_new = is_due(self.queue.next_due(self.pace.lease, now).await?) && !is_due(left);
            if !is_new {
                break;
            }
        }
        Ok(shift.worked)
    }

    /// Acquires a worker slot. It tries several times, since a mere check holds the lock for a moment.
    async fn acquire_slot(&self) -> Result<Option<Box<dyn WorkerSlot>>, QueueError> {
        for _ in 0..BLINKS {
            if let Some(post) = self.queue.acquire_slot(self.pace.processes).await? {
                return Ok(Some(post));
            }
            sleep(BLINK).await;
        }
        Ok(None)
    }

    /// Works, and returns why it ended and when the next job is due.
    async fn work_loop(
        &self,
        post: &dyn WorkerSlot,
        until: WorkerLifetime,
        shift: &mut WorkerState,
    ) -> Result<(WorkerEndReason, Option<Timestamp>), QueueError> {
        let (mut idle_since, mut blinks, mut errors) = (Instant::now(), 0, 0);
        loop {
            if *shift.stop.borrow() {
                return Ok((WorkerEndReason::Stopped, None));
            }
            if !post.is_valid() {
                return Ok((WorkerEndReason::Vanished, None));
            }
            if shift.forgot.elapsed() > FORGET {
                self.prune_done_jobs(shift).await;
            }
            let due = match self.poll_with_due_time(shift).await {
                Ok((QueuePollResult::Busy, _)) => {
                    (idle_since, blinks, errors) = (Instant::now(), 0, 0);
                    continue;
                }
                Ok((QueuePollResult::Early, _)) => continue,
                Ok((QueuePollResult::Stopped, _)) => return Ok((WorkerEndReason::Stopped, None)),
                Ok((QueuePollResult::Idle, due)) => due,
                // The error may pass, as when too many files are open. An unreachable server is waited for.
                Err(error) if errors < BLINKS || (until == WorkerLifetime::Forever && error.is_transient()) => {
                    tracing::warn!(%error, "the queue cannot be read; trying again");
                    errors += 1;
                    sleep(LOOK).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let now = self.now();
            let wait = due.map(|at| (at - now).to_std().unwrap_or_default());
            if wait == Some(Duration::ZERO) && blinks < BLINKS {
                // Another worker was faster, or the job was just added.
                blinks += 1;
            } else if until == WorkerLifetime::Empty {
                let patience = self.pace.linger.saturating_sub(idle_since.elapsed());
                match wait {
                    None => return Ok((WorkerEndReason::Empty, None)),
                    Some(wait) if patience.is_zero() || wait > patience => return Ok((WorkerEndReason::Waiting, due)),
                    Some(_) => {}
                }
            }
            let pause = wait.unwrap_or(LOOK).clamp(BLINK, LOOK);
            tokio::select! {
                () = sleep(pause) => {}
                () = wait_until_stopped(shift.stop.clone()) => {}
            }
        }
    }

    /// Deletes jobs that have been done for long enough.
    async fn prune_done_jobs(&self, shift: &mut WorkerState) {
        shift.forgot = Instant::now();
        if let Err(error) = self.queue.prune_done_jobs(self.pace.keep_done, self.now()).await {
            tracing::warn!(%error, "finished jobs could not be forgotten");
        }
    }

    /// Polls the queue; if there was no job, also returns when the next one is due.
    async fn poll_with_due_time(
        &self,
        shift: &mut WorkerState,
    ) -> Result<(QueuePollResult, Option<Timestamp>), QueueError> {
        let looked = self.poll_queue(shift).await?;
        let due = match looked {
            QueuePollResult::Idle => self.queue.next_due(self.pace.lease, self.now()).await?,
            QueuePollResult::Busy | QueuePollResult::Early | QueuePollResult::Stopped => None,
        };
        Ok((looked, due))
    }

    /// Claims a job, if there is one, and handles it to the end.
    async fn poll_queue(&self, shift: &mut WorkerState) -> Result<QueuePollResult, QueueError> {
        let now = self.now();
        let claimed = self.queue.claim_job(&shift.token, self.pace.lease, now).await?;
        let Some(claimed) = claimed else { return Ok(QueuePollResult::Idle) };
        let (name, job) = (claimed.name().clone(), claimed.job());
        if self.pace.is_out_of_attempts(job.attempts.len()) {
            let last = job.attempts.last().map_or("nobody knows why", |attempt| attempt.error.as_str());
            let settled = claimed.mark_dead(&give_up_note(job.attempts.len(), last), now).await;
            shift.count_finished(&name, settled, |worked| worked.buried += 1);
            return Ok(QueuePollResult::Busy);
        }
        if let Some(at) = self.pace.quiet_log_deadline(job, now).filter(|_| shift.may_wait_for_log(job, &name, now)) {
            shift.count_finished(&name, claimed.postpone(at, now).await, |_| {});
            return Ok(QueuePollResult::Early);
        }
        shift.resting.remove(&name);
        let handled = {
            let _pulse = HeartbeatThread::start_for_job(Arc::clone(&claimed), self.pace.lease, Arc::clone(&self.clock));
            let stop = shift.stop.clone();
            tokio::select! {
                handled = self.handle_claimed_job(&*claimed) => Some(handled),
                () = async { wait_until_stopped(stop).await; sleep(GRACE).await } => None,
            }
        };
        let Some(handled) = handled else {
            shift.count_finished(&name, claimed.release().await, |_| {});
            return Ok(QueuePollResult::Stopped);
        };
        self.finish_job(&*claimed, handled, shift).await;
        Ok(QueuePollResult::Busy)
    }

    async fn finish_job(&self, claimed: &dyn ClaimedJob, handled: JobOutcome, shift: &mut WorkerState) {
        let (name, now) = (claimed.name(), self.now());
        let age = (now - claimed.job().enqueued_at).to_std().unwrap_or_default();
        match handled {
            // The next worker may be on the right machine, so this is not a failure of the job.
            JobOutcome::NotHere(_) if claimed.bank_key().is_some() && age < ABSENT => {
                let at = add_duration(now, (age / 8).clamp(ELSEWHERE.0, ELSEWHERE.1));
                shift.count_finished(name, claimed.postpone(at, now).await, |_| {});
            }
            JobOutcome::Done(note) => {
                let settled = claimed.complete(&shift.redact_text(&note), now).await;
                shift.count_finished(name, settled, |worked| worked.done += 1);
            }
            JobOutcome::Hopeless(reason) => {
                let settled = claimed.mark_dead(&shift.redact_text(&reason), now).await;
                shift.count_finished(name, settled, |worked| worked.buried += 1);
            }
            JobOutcome::Again(error) | JobOutcome::NotHere(error) => {
                let (error, failures) = (shift.redact_text(&error), claimed.job().attempts.len() + 1);
                if self.pace.is_out_of_attempts(failures) {
                    let settled = claimed.mark_dead(&give_up_note(failures, &error), now).await;
                    shift.count_finished(name, settled, |worked| worked.buried += 1);
                } else {
                    let at = add_duration(now, self.pace.retry_delay(failures, name));
                    let settled = claimed.retry(&error, at, now).await;
                    shift.count_finished(name, settled, |worked| worked.failed += 1);
                }
            }
        }
    }

    /// Handles the job. A panic counts as a failure.
    async fn handle_claimed_job(&self, claimed: &dyn ClaimedJob) -> JobOutcome {
        let mut work = self.handler.handle_job_for_bank(claimed.bank_key(), claimed.job());
        poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
            polled.unwrap_or_else(|panic| {
                Poll::Ready(JobOutcome::Again(format!("internal error: {}", panic_message(&*panic))))
            })
        })
        .await
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

impl WorkerState {
    /// Returns true if the job's log may be waited for any longer.
    fn may_wait_for_log(&mut self, job: &Job, name: &JobName, now: Timestamp) -> bool {
        if job.urgency != JobUrgency::Over {
            return true;
        }
        let since = *self.resting.entry(name.clone()).or_insert(now);
        (now - since).to_std().is_ok_and(|waited| waited < LONGEST_REST)
    }

    /// Counts a finished job. If finishing failed, another worker takes the job over when its lease ends.
    fn count_finished(
        &mut self,
        job: &JobName,
        settled: Result<JobOwnership, QueueError>,
        count: impl FnOnce(&mut WorkerReport),
    ) {
        match settled {
            Ok(JobOwnership::Yes) => count(&mut self.worked),
            Ok(JobOwnership::Lost) => tracing::info!(%job, "the job was taken over before it was settled"),
            Err(error) => tracing::warn!(%job, %error, "the job could not be settled"),
        }
    }

    fn redact_text(&self, text: &str) -> String {
        self.redactor.redact(text).text.into_owned()
    }
}

/// Sends heartbeats for a job until it is dropped.
struct HeartbeatThread {
    _stop: mpsc::Sender<()>,
}

impl HeartbeatThread {
    fn start_for_job(claimed: Arc<dyn ClaimedJob>, lease: Duration, clock: Clock) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let name = claimed.name().clone();
        let mut heart = claimed.create_heartbeat(lease);
        let beat = move || {
            while stopped.recv_timeout((lease / 4).max(BLINK)) == Err(mpsc::RecvTimeoutError::Timeout) {
                match heart.send_heartbeat(clock()) {
                    Ok(JobOwnership::Yes) => {}
                    Ok(JobOwnership::Lost) => return,
                    Err(error) => tracing::warn!(job = %name, %error, "a sign of life could not be given"),
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().name("pulse".to_owned()).spawn(beat) {
            tracing::warn!(%error, "no thread for signs of life; a long job may be done twice");
        }
        Self { _stop: stop }
    }
}

/// Returns once the worker must stop.
async fn wait_until_stopped(mut stop: watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn give_up_note(failures: usize, last: &str) -> String {
    let tries = if failures == 1 { "1 try".to_owned() } else { format!("{failures} tries") };
    format!("given up after {tries}: {last}")
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}
