//! A job that a worker has claimed, in files.

use std::path::PathBuf;

use super::error::QueueError;
use super::job::{Job, JobName};
use super::job_folder::{FileActionResult, JobFolder, QueueFolders, append_text, move_file, touch_file};
use super::job_record::JobEvent;
use super::worker_token::WorkerToken;
use crate::domain::Timestamp;

/// The most characters of a note or an error.
const MAX_NOTE_CHARACTERS: usize = 500;

/// The file of a claimed job. A worker that sends no heartbeat within the lease loses it.
#[derive(Debug)]
pub struct ClaimedJobFile {
    folders: QueueFolders,
    name: JobName,
    path: PathBuf,
    job: Job,
}

/// Tells whether a claimed job still belonged to the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOwnership {
    /// It did, and the operation was carried out.
    Yes,
    /// Another worker has it by now, and will finish it.
    Lost,
}

impl ClaimedJobFile {
    pub(super) fn new(folders: &QueueFolders, name: JobName, token: &WorkerToken, job: Job) -> Self {
        let path = folders.claimed_path(&name, token);
        Self { folders: folders.clone(), name, path, job }
    }

    /// Returns the job's name.
    pub fn name(&self) -> &JobName {
        &self.name
    }

    /// Returns the claimed job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Renews the lease by touching the file.
    pub fn send_heartbeat(&self, now: Timestamp) -> Result<JobOwnership, QueueError> {
        touch_file(&self.path, now).map(JobOwnership::from)
    }

    /// Completes the job with this result.
    pub fn complete(&self, note: &str, now: Timestamp) -> Result<JobOwnership, QueueError> {
        // The job is done even if its note cannot be written.
        self.try_append_event(&JobEvent::completed(&shorten_note(note), now), now);
        self.move_to_folder(JobFolder::Done)
    }

    /// Records a failed attempt and returns the job to the queue. If the failure cannot be written, the job stays
    /// claimed until its lease ends, so that every failure is counted.
    pub fn retry(&self, error: &str, not_before: Timestamp, now: Timestamp) -> Result<JobOwnership, QueueError> {
        self.record_failure(error, Some(not_before), now).and_then(|settled| self.return_to_queue(settled))
    }

    /// Returns the job to the queue until a later time, without counting a failure.
    pub fn postpone(&self, until: Timestamp, now: Timestamp) -> Result<JobOwnership, QueueError> {
        self.append_event(&JobEvent::postponed(now, until), now).and_then(|settled| self.return_to_queue(settled))
    }

    /// Marks the job dead for this reason; a person has to look at it.
    pub fn mark_dead(&self, reason: &str, now: Timestamp) -> Result<JobOwnership, QueueError> {
        self.try_append_event(&JobEvent::marked_dead(&shorten_note(reason), now), now);
        self.move_to_folder(JobFolder::Dead)
    }

    /// Returns the job to the queue unchanged.
    pub fn release(&self) -> Result<JobOwnership, QueueError> {
        self.move_to_folder(JobFolder::New)
    }

    /// Deletes the file, since another queue has the job.
    #[cfg(feature = "postgres")]
    pub(super) fn delete_file(&self) -> Result<JobOwnership, QueueError> {
        super::job_folder::remove_file(&self.path).map(JobOwnership::from)
    }

    /// Records a failed attempt.
    pub(super) fn record_failure(
        &self,
        error: &str,
        not_before: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<JobOwnership, QueueError> {
        self.append_event(&JobEvent::attempt_failed(&shorten_note(error), now, not_before), now)
    }

    fn return_to_queue(&self, written: JobOwnership) -> Result<JobOwnership, QueueError> {
        match written {
            JobOwnership::Yes => self.move_to_folder(JobFolder::New),
            JobOwnership::Lost => Ok(JobOwnership::Lost),
        }
    }

    fn move_to_folder(&self, place: JobFolder) -> Result<JobOwnership, QueueError> {
        let to = self.folders.job_path(place, &self.name);
        match move_file(&self.path, &to)? {
            // Another process may have removed the target folder.
            FileActionResult::Gone if self.path.exists() => {
                self.folders.create_folder(place)?;
                move_file(&self.path, &to).map(JobOwnership::from)
            }
            done => Ok(JobOwnership::from(done)),
        }
    }

    fn append_event(&self, happened: &JobEvent, now: Timestamp) -> Result<JobOwnership, QueueError> {
        let line = happened.to_line().map_err(QueueError::Encode)?;
        append_text(&self.path, &line, now).map(JobOwnership::from)
    }

    fn try_append_event(&self, happened: &JobEvent, now: Timestamp) {
        if let Err(error) = self.append_event(happened, now) {
            tracing::warn!(job = %self.name, %error, "what came of a job could not be noted");
        }
    }
}

impl From<FileActionResult> for JobOwnership {
    fn from(done: FileActionResult) -> Self {
        match done {
            FileActionResult::Yes => Self::Yes,
            FileActionResult::Gone => Self::Lost,
        }
    }
}

pub(super) fn shorten_note(note: &str) -> String {
    note.chars().take(MAX_NOTE_CHARACTERS).collect()
}
