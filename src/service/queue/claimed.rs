//! A job that is in a worker's hands.

use std::path::PathBuf;

use super::error::QueueError;
use super::folder::{Done, Folders, Place, append, rename, touch};
use super::job::{Job, JobName};
use super::record::Happened;
use super::token::Token;
use crate::domain::Timestamp;

/// A longer note or error says no more.
const MAX_NOTE_CHARACTERS: usize = 500;

/// A job that was taken. Whoever takes too long without a sign of life loses it.
#[derive(Debug)]
pub struct Claimed {
    folders: Folders,
    name: JobName,
    path: PathBuf,
    job: Job,
}

/// Whether a job was still the worker's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It was, and what was asked for is done.
    Yes,
    /// Somebody else has it by now, and will settle it.
    Lost,
}

impl Claimed {
    pub(super) fn new(folders: &Folders, name: JobName, token: &Token, job: Job) -> Self {
        let path = folders.claimed(&name, token);
        Self { folders: folders.clone(), name, path, job }
    }

    /// What it is called.
    pub fn name(&self) -> &JobName {
        &self.name
    }

    /// What is to be done.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Shows that the worker lives.
    pub fn heartbeat(&self, now: Timestamp) -> Result<Settled, QueueError> {
        touch(&self.path, now).map(Settled::from)
    }

    /// It is done, with this result.
    pub fn done(&self, note: &str, now: Timestamp) -> Result<Settled, QueueError> {
        // Without its note it is done all the same.
        self.say(&Happened::done(&short(note), now), now);
        self.move_to(Place::Done)
    }

    /// It failed, and is to be tried again. Where the failure cannot be written down the job stays where it is until its
    /// lease ends, so that no failure goes uncounted.
    pub fn retry(&self, error: &str, not_before: Timestamp, now: Timestamp) -> Result<Settled, QueueError> {
        self.fail(error, Some(not_before), now).and_then(|settled| self.back(settled))
    }

    /// It is too early for it, and nobody's failure.
    pub fn put_off(&self, until: Timestamp, now: Timestamp) -> Result<Settled, QueueError> {
        self.write(&Happened::put_off(now, until), now).and_then(|settled| self.back(settled))
    }

    /// It will never be done, for this reason, and waits for a person.
    pub fn bury(&self, reason: &str, now: Timestamp) -> Result<Settled, QueueError> {
        self.say(&Happened::buried(&short(reason), now), now);
        self.move_to(Place::Dead)
    }

    /// Gives it back as it was, for somebody else.
    pub fn release(&self) -> Result<Settled, QueueError> {
        self.move_to(Place::New)
    }

    /// Forgets it: another queue has it.
    #[cfg(feature = "postgres")]
    pub(super) fn hand_on(&self) -> Result<Settled, QueueError> {
        super::folder::remove(&self.path).map(Settled::from)
    }

    /// Notes that a try failed.
    pub(super) fn fail(
        &self,
        error: &str,
        not_before: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Settled, QueueError> {
        self.write(&Happened::failed(&short(error), now, not_before), now)
    }

    fn back(&self, written: Settled) -> Result<Settled, QueueError> {
        match written {
            Settled::Yes => self.move_to(Place::New),
            Settled::Lost => Ok(Settled::Lost),
        }
    }

    fn move_to(&self, place: Place) -> Result<Settled, QueueError> {
        let to = self.folders.path(place, &self.name);
        match rename(&self.path, &to)? {
            // Somebody may have tidied up the folder that it goes to.
            Done::Gone if self.path.exists() => {
                self.folders.make_place(place)?;
                rename(&self.path, &to).map(Settled::from)
            }
            done => Ok(Settled::from(done)),
        }
    }

    fn write(&self, happened: &Happened, now: Timestamp) -> Result<Settled, QueueError> {
        let line = happened.line().map_err(QueueError::Encode)?;
        append(&self.path, &line, now).map(Settled::from)
    }

    fn say(&self, happened: &Happened, now: Timestamp) {
        if let Err(error) = self.write(happened, now) {
            tracing::warn!(job = %self.name, %error, "what came of a job could not be noted");
        }
    }
}

impl From<Done> for Settled {
    fn from(done: Done) -> Self {
        match done {
            Done::Yes => Self::Yes,
            Done::Gone => Self::Lost,
        }
    }
}

pub(super) fn short(note: &str) -> String {
    note.chars().take(MAX_NOTE_CHARACTERS).collect()
}
