//! The file of a job: the job as it was asked for, then a line for each thing that happened to it.
//!
//! A file only grows: by whoever holds the job, and by whoever asks for it more urgently while it waits. So nothing ever has to be replaced, a job is never in
//! two folders because of an update, and a line that was torn by a crash costs no more than itself.

use serde::{Deserialize, Serialize};

use super::job::{Attempt, Job, Urgency};
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;

/// What a file says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// As it stands now.
    pub(super) job: Job,
    /// What was last said of it.
    pub(super) note: Option<String>,
    /// How many of its attempts were made before it was last put aside.
    buried_after: usize,
}

/// One thing that happened to a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Happened {
    /// When.
    pub(super) at: Timestamp,
    /// A try failed, for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<String>,
    /// It is to wait until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) not_before: Option<Timestamp>,
    /// It has become more urgent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) urgency: Option<Urgency>,
    /// It is done, with this result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) done: Option<String>,
    /// It was put aside, for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) buried: Option<String>,
}

impl Record {
    /// Reads a file. What follows the job and cannot be read is passed over; without a whole job there is nothing.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Job>();
        let job = match values.next() {
            Some(Ok(job)) => job,
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("it is empty".to_owned()),
        };
        let mut record = Self { job, note: None, buried_after: 0 };
        let rest = bytes.get(values.byte_offset()..).unwrap_or_default();
        for line in rest.split(|byte| *byte == b'\n') {
            if let Ok(happened) = serde_json::from_slice(line) {
                record.hear(happened);
            }
        }
        Ok(record)
    }

    /// The job for whoever is to do it. Who brings back a job that was put aside wants it tried as if it were new.
    pub(super) fn into_task(mut self) -> Job {
        self.job.attempts.drain(..self.buried_after.min(self.job.attempts.len()));
        self.job
    }

    fn hear(&mut self, happened: Happened) {
        let at = happened.at;
        if let Some(urgency) = happened.urgency {
            self.job.urgency = self.job.urgency.min(urgency);
            // What it was put off for has passed; what it failed for may not have.
            self.job.not_before = self.job.not_before.filter(|_| !self.job.attempts.is_empty());
            return;
        }
        self.job.not_before = happened.not_before;
        if let Some(error) = happened.failed {
            self.note = Some(error.clone());
            self.job.attempts.push(Attempt { at, error });
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

impl Happened {
    pub(super) fn failed(error: &str, at: Timestamp, not_before: Option<Timestamp>) -> Self {
        Self { at, failed: Some(error.to_owned()), not_before, ..Self::default() }
    }

    pub(super) fn put_off(at: Timestamp, until: Timestamp) -> Self {
        Self { at, not_before: Some(until), ..Self::default() }
    }

    pub(super) fn hurried(urgency: Urgency, at: Timestamp) -> Self {
        Self { at, urgency: Some(urgency), ..Self::default() }
    }

    pub(super) fn done(note: &str, at: Timestamp) -> Self {
        Self { at, done: Some(note.to_owned()), ..Self::default() }
    }

    pub(super) fn buried(reason: &str, at: Timestamp) -> Self {
        Self { at, buried: Some(reason.to_owned()), ..Self::default() }
    }

    /// As it stands in the file: on a line of its own, even where the line before it was cut off.
    pub(super) fn line(&self) -> Result<String, serde_json::Error> {
        Ok(format!("\n{}", serde_json::to_string(self)?))
    }
}
