//! The limits and delays of a worker: when a failed job is retried, and when a log is quiet enough to be read.

use std::path::Path;
use std::time::Duration;

use crate::domain::StableHash;
use crate::domain::Timestamp;
use crate::service::queue::{Job, JobKind, JobName, JobUrgency, add_duration};

#[cfg(test)]
#[path = "worker_pace_tests.rs"]
mod tests;

/// The longest delay of a failed job.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60 * 60);

/// The jitter of a delay, in parts per thousand.
const JITTER: u64 = 200;

/// The limits and delays of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerPace {
    /// The most workers for one memory.
    pub processes: u32,
    /// The lease: the time without a heartbeat after which a worker loses its job.
    pub lease: Duration,
    /// The number of attempts before a job is marked dead.
    pub max_attempts: u32,
    /// The delay after the first failure; it doubles with each further one.
    pub retry: Duration,
    /// The time for which a session that has not reported its end must be quiet.
    pub quiet: Duration,
    /// The time for which a log must not have grown before it is read.
    pub after_end: Duration,
    /// The time that a worker waits for jobs that are not due before it ends.
    pub linger: Duration,
    /// The time for which finished jobs are kept.
    pub keep_done: Duration,
}

impl WorkerPace {
    /// Returns true if a job with this many failures is given up.
    pub(super) fn is_out_of_attempts(&self, failures: usize) -> bool {
        failures >= usize::try_from(self.max_attempts.max(1)).unwrap_or(usize::MAX)
    }

    /// Returns the delay after this many failures. The jitter comes from the job's name, so that jobs that failed
    /// together are spread out, and results still repeat.
    pub(super) fn retry_delay(&self, failures: usize, name: &JobName) -> Duration {
        let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        let doubled = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        let wait = self.retry.saturating_mul(doubled).min(LONGEST_BACKOFF);
        let chance = u64::from_be_bytes(StableHash::from_text(&format!("{name} {failures}")).to_bytes());
        let share = 1000 - JITTER + chance % (2 * JITTER + 1);
        let millis = wait.as_millis().saturating_mul(u128::from(share)) / 1000;
        Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX)).min(LONGEST_BACKOFF)
    }

    /// Returns the time until which a job must wait for its log to become quiet, if it must.
    pub(super) fn quiet_log_deadline(&self, job: &Job, now: Timestamp) -> Option<Timestamp> {
        let JobKind::Reflect(trigger) = &job.kind else { return None };
        let grown = trigger.log_paths.iter().filter_map(|path| log_modified_at(Path::new(path))).max();
        // A time in the future only shows that a clock was wrong.
        let grown = grown.filter(|at| *at <= now);
        let until = match job.urgency {
            JobUrgency::Over => add_duration(grown?, self.after_end),
            JobUrgency::Pause => add_duration(grown.unwrap_or(job.enqueued_at), self.quiet.max(self.after_end)),
            JobUrgency::Sweep => return None,
        };
        (until > now && grown.unwrap_or(job.enqueued_at) <= now).then_some(until)
    }
}

fn log_modified_at(log: &Path) -> Option<Timestamp> {
    log.metadata().ok()?.modified().ok().map(Timestamp::from)
}
