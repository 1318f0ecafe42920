//! The file of a job: the job as it was submitted, then a line for each event.
//!
//! A file only grows: by the worker that claimed the job, and by a more urgent submission while it waits. So nothing is
//! ever replaced, a job is never in two folders because of an update, and a line that was torn by a crash affects only
//! itself.

use serde::{Deserialize, Serialize};

use super::job::{FailedAttempt, Job, JobUrgency};
use super::job_seal::SEAL_FIELD;
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "job_record_tests.rs"]
mod tests;

/// The content of a job's file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobRecord {
    /// The job in its current state.
    pub(super) job: Job,
    /// The last note about it.
    pub(super) note: Option<String>,
    /// The number of attempts before it was last marked dead.
    buried_after: usize,
    /// The length of the job in the file, without the events behind it.
    pub(super) job_bytes: usize,
}

/// One event in the life of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobEvent {
    /// The time of the event.
    pub(super) at: Timestamp,
    /// An attempt failed, for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<String>,
    /// The job must wait until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) not_before: Option<Timestamp>,
    /// The job has become more urgent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) urgency: Option<JobUrgency>,
    /// The job is done, with this result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) done: Option<String>,
    /// The job was marked dead, for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) buried: Option<String>,
}

impl JobRecord {
    /// Parses a file. Unreadable lines after the job are skipped; without a complete job it is an error.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Job>();
        let mut job: Job = match values.next() {
            Some(Ok(job)) => job,
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("it is empty".to_owned()),
        };
        // The seal belongs to the file and not to the job.
        job.extra.remove(SEAL_FIELD);
        let job_bytes = values.byte_offset();
        let mut record = Self { job, note: None, buried_after: 0, job_bytes };
        let rest = bytes.get(job_bytes..).unwrap_or_default();
        for line in rest.split(|byte| *byte == b'\n') {
            if let Ok(happened) = serde_json::from_slice(line) {
                record.apply_event(happened);
            }
        }
        Ok(record)
    }

    /// Returns the job for a worker. Attempts before it was marked dead no longer count.
    pub(super) fn into_task(mut self) -> Job {
        self.job.attempts.drain(..self.buried_after.min(self.job.attempts.len()));
        self.job
    }

    fn apply_event(&mut self, happened: JobEvent) {
        let at = happened.at;
        if let Some(urgency) = happened.urgency {
            self.job.urgency = self.job.urgency.min(urgency);
            // The reason to postpone it is gone; the reason for a failure may not be.
            self.job.not_before = self.job.not_before.filter(|_| !self.job.attempts.is_empty());
            return;
        }
        self.job.not_before = happened.not_before;
        if let Some(error) = happened.failed {
            self.note = Some(error.clone());
            self.job.attempts.push(FailedAttempt { at, error });
        }
        if let Some(note) = happened.done {
            self.note = Some(note);
        }
        if let Some(reason) = happened.buried {
            self.note = Some(reason);
            self.buried_after = self.job.attempts.len();
        }
    }
}

impl JobEvent {
    pub(super) fn attempt_failed(error: &str, at: Timestamp, not_before: Option<Timestamp>) -> Self {
        Self { at, failed: Some(error.to_owned()), not_before, ..Self::default() }
    }

    pub(super) fn postponed(at: Timestamp, until: Timestamp) -> Self {
        Self { at, not_before: Some(until), ..Self::default() }
    }

    pub(super) fn urgency_raised(urgency: JobUrgency, at: Timestamp) -> Self {
        Self { at, urgency: Some(urgency), ..Self::default() }
    }

    pub(super) fn completed(note: &str, at: Timestamp) -> Self {
        Self { at, done: Some(note.to_owned()), ..Self::default() }
    }

    pub(super) fn marked_dead(reason: &str, at: Timestamp) -> Self {
        Self { at, buried: Some(reason.to_owned()), ..Self::default() }
    }

    /// Renders the event on its own line, even after a truncated line.
    pub(super) fn to_line(&self) -> Result<String, serde_json::Error> {
        Ok(format!("\n{}", serde_json::to_string(self)?))
    }
}
