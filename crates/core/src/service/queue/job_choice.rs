//! A worker's view of the queue, and the choice of the job to claim.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::add_duration;
use super::claimed_job::{ClaimedJobFile, JobOwnership};
use super::error::QueueError;
use super::job::{FailedAttempt, Job, JobName};
use super::job_folder::{
    EntryReadError, FileActionResult, FileAge, JobFolder, QueueEntry, QueueFolders, append_text, create_file,
    move_file, remove_file, touch_file,
};
use super::job_record::{JobEvent, JobRecord};
use super::job_seal::{JobAuthor, UNSEALED, find_author};
use super::worker_token::WorkerToken;
use crate::domain::Timestamp;

/// The time for which an unreadable file may still be in the middle of being written.
const BEING_WRITTEN: Duration = Duration::from_secs(60);

/// The longest possible delay of a job: a later time was written with a wrong clock.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(48 * 60 * 60);

/// The error recorded for a job whose lease expired.
pub(super) const WORKER_DIED: &str = "its worker died";

/// The extensions of a file that was set aside because it is no job, and of the file with the reason.
pub(super) const BROKEN: &str = ".broken";
pub(super) const WHY: &str = ".why";

/// The jobs that were found. The scan changes nothing.
#[derive(Debug, Default)]
pub(super) struct QueueSurvey {
    /// One group for each subject that no worker is busy with, the most urgent first.
    ready: VecDeque<JobGroup>,
    /// The times at which the leases of other workers end.
    leases: Vec<Timestamp>,
    broken: Vec<(PathBuf, JobName, String)>,
    /// Jobs that this machine did not write.
    unsealed: Vec<(PathBuf, JobName)>,
    /// Jobs that also exist in a folder that takes precedence, with both paths.
    outdone: Vec<(PathBuf, PathBuf)>,
    /// Claimed jobs whose last heartbeat is in the future: the clock was set back.
    ahead: Vec<PathBuf>,
}

/// The jobs about one subject.
#[derive(Debug)]
struct JobGroup {
    /// The job that covers the others.
    latest: WaitingJob,
    covered: Vec<WaitingJob>,
}

/// A job that can be claimed.
#[derive(Debug)]
struct WaitingJob {
    name: JobName,
    path: PathBuf,
    job: Job,
    from: PreviousHolder,
}

/// The previous holder of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PreviousHolder {
    Nobody,
    /// A worker whose lease expired.
    TheDead,
}

impl QueueSurvey {
    pub(super) fn scan_folders(folders: &QueueFolders, lease: Duration, now: Timestamp) -> Result<Self, QueueError> {
        let mut survey = Self::default();
        let (mut names, mut subjects, mut waiting) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        // In this order a job that is released meanwhile is seen twice; in the other it would be missed.
        for entry in folders.list_entries(JobFolder::Claimed)? {
            let Some((name, _)) = parse_claimed_name(&entry.file_name) else { continue };
            let touched = entry.age_at(now);
            let patience = lease.max(BEING_WRITTEN);
            let Some(job) = survey.read_job(folders, &entry, &name, patience, now)? else { continue };
            names.insert(name.clone());
            if touched.time_ago() > lease {
                waiting.push(WaitingJob { name, path: entry.path, job, from: PreviousHolder::TheDead });
                continue;
            }
            if matches!(touched, FileAge::Ahead(ahead) if ahead > lease) {
                survey.ahead.push(entry.path);
            }
            survey.leases.push(add_duration(now, lease.saturating_sub(touched.time_ago())));
            subjects.insert(job.kind.subject_key());
        }
        for entry in folders.list_entries(JobFolder::New)? {
            let Ok(name) = JobName::parse(&entry.file_name) else { continue };
            let Some(job) = survey.read_job(folders, &entry, &name, BEING_WRITTEN, now)? else { continue };
            if !names.contains(&name) {
                waiting.push(WaitingJob { name, path: entry.path, job, from: PreviousHolder::Nobody });
            }
        }
        let mut groups: BTreeMap<String, Vec<WaitingJob>> = BTreeMap::new();
        for job in waiting {
            if let Some(place) = find_final_folder(folders, &job)? {
                survey.outdone.push((job.path, folders.job_path(place, &job.name)));
            } else if !subjects.contains(&job.job.kind.subject_key()) {
                groups.entry(job.job.kind.subject_key()).or_default().push(job);
            }
        }
        let mut ready: Vec<JobGroup> = groups.into_values().filter_map(JobGroup::from_jobs).collect();
        ready.sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
        survey.ready = ready.into();
        Ok(survey)
    }

    /// Returns the number of subjects that can be worked on, now or later.
    pub(super) fn ready_count(&self) -> usize {
        self.ready.len()
    }

    /// Returns when the next job is due or a lease ends; `None` if there is nothing to do.
    pub(super) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let waiting = self.ready.iter().map(|group| due_at(&group.latest.job, now));
        waiting.chain(self.leases.iter().copied()).min().map(|at| at.max(now))
    }

    /// Sets unreadable files aside, and finishes what is finished already.
    pub(super) fn tidy_up(&mut self, folders: &QueueFolders, now: Timestamp) {
        for (path, name, why) in self.broken.drain(..) {
            set_aside_broken(folders, &path, &name, &why);
        }
        for (path, name) in self.unsealed.drain(..) {
            bury_unsealed_job(folders, &path, &name, now);
        }
        // Nothing is deleted, since the other file may be on its way back at this moment.
        let outdone = self.outdone.drain(..).map(|(from, to)| move_file(&from, &to));
        // If the worker of a job whose time is ahead is alive, it sends a heartbeat before the lease ends.
        let tidied = outdone.chain(self.ahead.drain(..).map(|path| touch_file(&path, now)));
        for error in tidied.filter_map(Result::err) {
            tracing::warn!(%error, "the queue could not be tidied up");
        }
    }

    /// Claims the most urgent due job that no other worker claims first.
    pub(super) fn claim_next(
        &mut self,
        folders: &QueueFolders,
        token: &WorkerToken,
        now: Timestamp,
    ) -> Option<ClaimedJobFile> {
        std::iter::from_fn(|| self.next_due_group(now)).find_map(|group| group.claim(folders, token, now))
    }

    /// Claims a job as [`claim_next`](Self::claim_next) does, some time after the scan: the job is read again. A subject
    /// that a worker is busy with by now is left to the next scan, as is a job that a dead worker left.
    pub(super) fn claim_remembered(
        &mut self,
        folders: &QueueFolders,
        token: &WorkerToken,
        now: Timestamp,
    ) -> Result<Option<ClaimedJobFile>, QueueError> {
        let claimed = folders.list_entries(JobFolder::Claimed)?;
        let busy: Vec<JobName> =
            claimed.iter().filter_map(|entry| Some(parse_claimed_name(&entry.file_name)?.0)).collect();
        let read_again = |mut group: JobGroup| {
            let subject = group.latest.job.kind.subject_key();
            let is_free =
                group.latest.from == PreviousHolder::Nobody && !busy.iter().any(|name| name.is_about(&subject));
            let found = is_free.then(|| read_job_file(folders, JobFolder::New, &group.latest.name));
            let Some(Ok(FoundJobFile::Ours(record))) = found else { return None };
            group.latest.job = record.into_task();
            (due_at(&group.latest.job, now) <= now).then_some(group)
        };
        let due = std::iter::from_fn(|| self.next_due_group(now)).filter_map(read_again);
        Ok({ due }.find_map(|group| group.claim(folders, token, now)))
    }

    fn next_due_group(&mut self, now: Timestamp) -> Option<JobGroup> {
        let at = self.ready.iter().position(|group| due_at(&group.latest.job, now) <= now)?;
        self.ready.remove(at)
    }

    /// Reads the job of a file. An unreadable file is remembered once it can no longer be a partial write, and a job that
    /// this machine did not write is remembered at once.
    fn read_job(
        &mut self,
        folders: &QueueFolders,
        entry: &QueueEntry,
        name: &JobName,
        patience: Duration,
        now: Timestamp,
    ) -> Result<Option<Job>, QueueError> {
        let why = match entry.read_bytes() {
            Ok(bytes) => match JobRecord::parse(&bytes) {
                Ok(record) => match find_author(bytes.get(..record.job_bytes).unwrap_or_default(), &folders.key)? {
                    JobAuthor::Ours => return Ok(Some(record.into_task())),
                    JobAuthor::Unknown => {
                        self.unsealed.push((entry.path.clone(), name.clone()));
                        return Ok(None);
                    }
                },
                Err(why) => why,
            },
            Err(EntryReadError::Gone) => return Ok(None),
            Err(EntryReadError::No(why)) => why,
        };
        if !entry.age_at(now).is_within(patience) {
            self.broken.push((entry.path.clone(), name.clone(), why));
        }
        Ok(None)
    }
}

impl JobGroup {
    fn from_jobs(mut jobs: Vec<WaitingJob>) -> Option<Self> {
        let mut latest = jobs.pop()?;
        let mut covered = Vec::new();
        for mut job in jobs {
            if !latest.job.covers_job(&job.job) {
                std::mem::swap(&mut job, &mut latest);
            }
            covered.push(job);
        }
        Some(Self { latest, covered })
    }

    /// Claims the latest job, unless another worker does, and completes the others.
    fn claim(self, folders: &QueueFolders, token: &WorkerToken, now: Timestamp) -> Option<ClaimedJobFile> {
        match self.latest.claim_file(folders, token, now) {
            Ok(claimed) => {
                let claimed = claimed?;
                for covered in &self.covered {
                    covered.complete_as_covered(folders, claimed.name(), now);
                }
                Some(claimed)
            }
            Err(error) => {
                tracing::warn!(%error, "a job could not be taken");
                None
            }
        }
    }

    fn sort_key(&self) -> impl Ord + use<'_> {
        (self.latest.job.urgency, self.latest.job.enqueued_at, &self.latest.name)
    }
}

impl WaitingJob {
    /// Claims the job, unless another worker did.
    fn claim_file(
        self,
        folders: &QueueFolders,
        token: &WorkerToken,
        now: Timestamp,
    ) -> Result<Option<ClaimedJobFile>, QueueError> {
        // The heartbeat comes first, so that the lease starts when the job gets its new owner.
        if touch_file(&self.path, now)? == FileActionResult::Gone {
            return Ok(None);
        }
        folders.create_folder(JobFolder::Claimed)?;
        if move_file(&self.path, &folders.claimed_path(&self.name, token))? == FileActionResult::Gone {
            return Ok(None);
        }
        let mut job = self.job;
        if self.from == PreviousHolder::TheDead {
            job.attempts.push(FailedAttempt { at: now, error: WORKER_DIED.to_owned() });
        }
        let claimed = ClaimedJobFile::new(folders, self.name, token, job);
        // A job that kills its workers must come to an end, so the failure is written before the job starts.
        if self.from == PreviousHolder::TheDead && claimed.record_failure(WORKER_DIED, None, now)? == JobOwnership::Lost
        {
            return Ok(None);
        }
        Ok(Some(claimed))
    }

    /// Completes the job, since another one covers it.
    fn complete_as_covered(&self, folders: &QueueFolders, by: &JobName, now: Timestamp) {
        let note = JobEvent::completed(&format!("covered by {by}"), now).to_line().map_err(QueueError::Encode);
        let settled = note
            .and_then(|note| append_text(&self.path, &note, now))
            .and_then(|_| move_file(&self.path, &folders.job_path(JobFolder::Done, &self.name)));
        if let Err(error) = settled {
            tracing::warn!(job = %self.name, %error, "a job that another one covers could not be settled");
        }
    }
}

/// Parses the file name of a claimed job.
pub(super) fn parse_claimed_name(file_name: &str) -> Option<(JobName, WorkerToken)> {
    let (name, token) = file_name.rsplit_once('.')?;
    Some((JobName::parse(name).ok()?, WorkerToken::parse(token).ok()?))
}

/// A job's file, as somebody finds it who looks for its name.
pub(super) enum FoundJobFile {
    /// There is none.
    Missing,
    /// It is a complete job of this machine.
    Ours(Box<JobRecord>),
    /// It is a complete job that this machine did not write.
    Unsealed,
    /// It is no complete job, for this reason.
    Broken(String),
}

/// Reads the job file of this name.
pub(super) fn read_job_file(
    folders: &QueueFolders,
    place: JobFolder,
    name: &JobName,
) -> Result<FoundJobFile, QueueError> {
    let Some(entry) = QueueEntry::from_path(folders.job_path(place, name)) else { return Ok(FoundJobFile::Missing) };
    let bytes = match entry.read_bytes() {
        Ok(bytes) => bytes,
        Err(EntryReadError::Gone) => return Ok(FoundJobFile::Missing),
        Err(EntryReadError::No(why)) => return Ok(FoundJobFile::Broken(why)),
    };
    let record = match JobRecord::parse(&bytes) {
        Ok(record) => record,
        Err(why) => return Ok(FoundJobFile::Broken(why)),
    };
    Ok(match find_author(bytes.get(..record.job_bytes).unwrap_or_default(), &folders.key)? {
        JobAuthor::Ours => FoundJobFile::Ours(Box::new(record)),
        JobAuthor::Unknown => FoundJobFile::Unsealed,
    })
}

/// Returns true if there is a complete job of this name that this machine wrote.
pub(super) fn has_whole_job(folders: &QueueFolders, place: JobFolder, name: &JobName) -> Result<bool, QueueError> {
    Ok(matches!(read_job_file(folders, place, name)?, FoundJobFile::Ours(_)))
}

/// Marks a job dead that this machine did not write.
pub(super) fn bury_unsealed_job(folders: &QueueFolders, path: &Path, name: &JobName, now: Timestamp) {
    let note = JobEvent::marked_dead(UNSEALED, now).to_line().map_err(QueueError::Encode);
    let moved = folders.create_folder(JobFolder::Dead).and(note).and_then(|note| {
        append_text(path, &note, now)?;
        move_file(path, &folders.job_path(JobFolder::Dead, name))
    });
    match moved {
        Ok(_) => tracing::warn!(job = %name, why = UNSEALED, "a job was put aside"),
        Err(error) => tracing::warn!(job = %name, why = UNSEALED, %error, "a job is not handled"),
    }
}

/// Sets an unreadable file aside and writes the reason next to it.
pub(super) fn set_aside_broken(folders: &QueueFolders, path: &Path, name: &JobName, why: &str) {
    let aside = folders.folder_path(JobFolder::Dead).join(format!("{name}{BROKEN}"));
    let reason = folders.folder_path(JobFolder::Dead).join(format!("{name}{BROKEN}{WHY}"));
    let moved = folders.create_folder(JobFolder::Dead).and_then(|()| move_file(path, &aside));
    let told =
        moved.and_then(|_| remove_file(&reason)).and_then(|_| create_file(&reason, format!("{why}\n").as_bytes()));
    match told {
        Ok(_) => tracing::warn!(job = %name, why, "a file of the queue cannot be read and was put aside"),
        Err(error) => tracing::warn!(job = %name, why, %error, "a file of the queue cannot be read"),
    }
}

/// Returns the folder in which a waiting job is finished already, if that takes precedence.
fn find_final_folder(folders: &QueueFolders, waiting: &WaitingJob) -> Result<Option<JobFolder>, QueueError> {
    let may_be_done = !waiting.job.kind.is_repeatable();
    for place in [JobFolder::Done, JobFolder::Dead] {
        if (may_be_done || place != JobFolder::Done) && has_whole_job(folders, place, &waiting.name)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Returns the time from which a job may be claimed.
fn due_at(job: &Job, now: Timestamp) -> Timestamp {
    job.not_before.filter(|at| *at <= add_duration(now, LONGEST_WAIT)).unwrap_or(now)
}
