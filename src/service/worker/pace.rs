//! How fast a worker goes: when a failed job is tried again, and when a log is quiet enough to be read.

use std::path::Path;
use std::time::Duration;

use crate::domain::Timestamp;
use crate::service::queue::{Errand, Job, JobName, Urgency, later};

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;

/// No failed job waits longer.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60 * 60);

/// A wait is made longer or shorter by up to so many parts in a thousand.
const JITTER: u64 = 200;

/// How a queue is worked off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The most workers for one memory.
    pub processes: u32,
    /// After how long without a sign of life a job is taken from its worker.
    pub lease: Duration,
    /// How often a job is tried before it is put aside.
    pub max_attempts: u32,
    /// How long a job waits after its first failure; twice as long after each further one.
    pub retry: Duration,
    /// For how long a session must be quiet that has not said that it is over.
    pub quiet: Duration,
    /// For how long a log must not have grown before it is read.
    pub settle: Duration,
    /// For how long a worker waits for jobs that are not due before it ends.
    pub linger: Duration,
    /// For how long finished jobs are remembered.
    pub keep_done: Duration,
}

impl Pace {
    /// Whether a job that failed so often is given up.
    pub(super) fn is_enough(&self, failures: usize) -> bool {
        failures >= usize::try_from(self.max_attempts.max(1)).unwrap_or(usize::MAX)
    }

    /// How long a job waits after so many failures. Jobs that failed together do not come back together, and yet a run
    /// can be repeated: the difference is made by their names.
    pub(super) fn backoff(&self, failures: usize, name: &JobName) -> Duration {
        let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        let doubled = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        let wait = self.retry.saturating_mul(doubled).min(LONGEST_BACKOFF);
        let hash = blake3::hash(format!("{name} {failures}").as_bytes());
        let chance = hash.as_bytes().iter().take(8).fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
        let share = 1000 - JITTER + chance % (2 * JITTER + 1);
        let millis = wait.as_millis().saturating_mul(u128::from(share)) / 1000;
        Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX)).min(LONGEST_BACKOFF)
    }

    /// Until when a job has to wait for its log to come to rest, if it has to.
    pub(super) fn rest(&self, job: &Job, now: Timestamp) -> Option<Timestamp> {
        let Errand::Reflect(trigger) = &job.errand else { return None };
        let grown = trigger.log_paths.iter().filter_map(|path| last_grown(Path::new(path))).max();
        // A time that is yet to come says nothing but that a clock was wrong.
        let grown = grown.filter(|at| *at <= now);
        let until = match job.urgency {
            Urgency::Over => later(grown?, self.settle),
            Urgency::Pause => later(grown.unwrap_or(job.enqueued_at), self.quiet.max(self.settle)),
            Urgency::Sweep => return None,
        };
        (until > now && grown.unwrap_or(job.enqueued_at) <= now).then_some(until)
    }
}

fn last_grown(log: &Path) -> Option<Timestamp> {
    log.metadata().ok()?.modified().ok().map(Timestamp::from)
}
