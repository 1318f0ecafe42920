//! The list of all jobs of a queue, for display.

use std::collections::BTreeMap;
use std::time::Duration;

use super::error::QueueError;
use super::job::{Job, JobName};
use super::job_choice::{BROKEN, WHY, parse_claimed_name};
use super::job_folder::{EntryReadError, JobFolder, QueueEntry, QueueFolders};
use super::job_record::JobRecord;
use super::job_seal::{JobAuthor, find_author};
use super::worker_token::WorkerToken;
use crate::domain::Timestamp;

/// The most characters of a displayed reason.
const MAX_REASON_CHARACTERS: usize = 500;

/// One entry of a queue.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedJob {
    /// The job's name, without its worker's token.
    pub name: String,
    /// The folder that it is in.
    pub place: JobFolder,
    /// The job, or why it cannot be read.
    pub job: Result<Job, String>,
    /// Who wrote it.
    pub author: JobAuthor,
    /// The last note: an error, a result, or why it was set aside.
    pub note: Option<String>,
    /// The time since its submission; if that is unknown, the time since the file was modified.
    pub age: Duration,
    /// The worker that claimed it.
    pub worker: Option<WorkerToken>,
    /// The state of its worker's lease.
    pub lease: Option<LeaseState>,
}

/// The state of a worker's lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseState {
    /// The worker sends heartbeats.
    Held,
    /// The worker sends none, and the next worker takes over the job.
    Expired,
}

/// Lists every job once, in the folder that takes precedence, and every file that is no job.
pub(super) fn list_jobs(folders: &QueueFolders, lease: Duration, now: Timestamp) -> Result<Vec<ListedJob>, QueueError> {
    let (mut found, mut strange) = (BTreeMap::<String, ListedJob>::new(), Vec::new());
    for place in JobFolder::ALL {
        for entry in folders.list_entries(place)? {
            let Some(listed) = read_listed_job(folders, place, &entry, lease, now) else { continue };
            match found.get(&listed.name) {
                _ if listed.job.is_err() => strange.push(listed),
                Some(other) if !takes_precedence(&listed, other) => {}
                _ => drop(found.insert(listed.name.clone(), listed)),
            }
        }
    }
    let mut listed: Vec<ListedJob> = found.into_values().chain(strange).collect();
    sort_listed_jobs(&mut listed);
    Ok(listed)
}

/// Sorts waiting jobs first, the oldest first.
pub(super) fn sort_listed_jobs(listed: &mut [ListedJob]) {
    listed.sort_by(|one, other| (one.place, other.age, &one.name).cmp(&(other.place, one.age, &other.name)));
}

fn read_listed_job(
    folders: &QueueFolders,
    place: JobFolder,
    entry: &QueueEntry,
    lease: Duration,
    now: Timestamp,
) -> Option<ListedJob> {
    let is_reason = |name: &str| place == JobFolder::Dead && name.ends_with(WHY);
    if entry.file_name.starts_with('.') || is_reason(&entry.file_name) {
        return None;
    }
    let touched = entry.age_at(now).time_ago();
    let mut listed = ListedJob {
        name: entry.file_name.clone(),
        place,
        job: Err("it is not named like a job".to_owned()),
        author: JobAuthor::Unknown,
        note: None,
        age: touched,
        worker: None,
        lease: None,
    };
    let name = match place {
        JobFolder::Claimed => parse_claimed_name(&entry.file_name).map(|(name, token)| {
            listed.worker = Some(token);
            listed.lease = Some(if touched > lease { LeaseState::Expired } else { LeaseState::Held });
            name
        }),
        JobFolder::New | JobFolder::Dead | JobFolder::Done => JobName::parse(&entry.file_name).ok(),
    };
    let Some(name) = name else {
        if place == JobFolder::Dead && entry.file_name.ends_with(BROKEN) {
            listed.job = Err(read_broken_reason(folders, &entry.file_name));
        }
        return Some(listed);
    };
    listed.name = name.as_str().to_owned();
    let record = match entry.read_bytes() {
        Ok(bytes) => JobRecord::parse(&bytes).inspect(|record| {
            let job = bytes.get(..record.job_bytes).unwrap_or_default();
            listed.author = find_author(job, &folders.key).unwrap_or(JobAuthor::Unknown);
        }),
        Err(EntryReadError::Gone) => return None,
        Err(EntryReadError::No(why)) => Err(why),
    };
    if let Ok(record) = &record {
        listed.note.clone_from(&record.note);
        listed.age = (now - record.job.enqueued_at).to_std().unwrap_or_default();
    }
    listed.job = match place {
        JobFolder::New | JobFolder::Claimed => record.map(JobRecord::into_task),
        JobFolder::Dead | JobFolder::Done => record.map(|record| record.job),
    };
    Some(listed)
}

/// Reads why a file was set aside.
fn read_broken_reason(folders: &QueueFolders, file_name: &str) -> String {
    let entries = folders.list_entries(JobFolder::Dead).unwrap_or_default();
    let wanted = format!("{file_name}{WHY}");
    let bytes = entries.iter().find(|entry| entry.file_name == wanted).and_then(|entry| entry.read_bytes().ok());
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { "it cannot be read".to_owned() } else { text.chars().take(MAX_REASON_CHARACTERS).collect() }
}

/// Returns true if the first entry takes precedence by its folder; `done` never outranks a repeatable job.
fn takes_precedence(listed: &ListedJob, other: &ListedJob) -> bool {
    let is_repeatable = |listed: &ListedJob| listed.job.as_ref().is_ok_and(|job| job.kind.is_repeatable());
    listed.place > other.place && !(listed.place == JobFolder::Done && is_repeatable(other))
}
