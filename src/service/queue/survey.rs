//! What a worker sees when it looks at the queue, and which job it takes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::claimed::{Claimed, Settled};
use super::error::QueueError;
use super::folder::{Done, Entry, Folders, Place, Touched, Unread, append, create, remove, rename, touch};
use super::job::{Attempt, Job, JobName};
use super::later;
use super::record::{Happened, Record};
use super::token::Token;
use crate::domain::Timestamp;

/// For so long a file that cannot be read may be one that is being written.
const BEING_WRITTEN: Duration = Duration::from_secs(60);

/// Nothing is ever put off for so long: whoever wrote a later moment had a wrong clock.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(48 * 60 * 60);

/// What is said of a job whose lease ended.
pub(super) const WORKER_DIED: &str = "its worker died";

/// The ending of a file that was put aside because it is no job, and of the file that says why.
pub(super) const BROKEN: &str = ".broken";
pub(super) const WHY: &str = ".why";

/// What was found. Looking changes nothing.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// One for each subject that nobody is busy with, the most urgent first.
    ready: Vec<Group>,
    /// When the leases of jobs in other hands end.
    leases: Vec<Timestamp>,
    broken: Vec<(PathBuf, JobName, String)>,
    /// Jobs that are also where it counts more, and where that is.
    outdone: Vec<(PathBuf, PathBuf)>,
    /// Jobs in other hands whose last sign of life is in the future: the clock was set back.
    ahead: Vec<PathBuf>,
}

/// The jobs about one subject.
#[derive(Debug)]
struct Group {
    /// The one that covers the others.
    latest: Waiting,
    covered: Vec<Waiting>,
}

/// A job that can be taken.
#[derive(Debug)]
struct Waiting {
    name: JobName,
    path: PathBuf,
    job: Job,
    from: From,
}

/// Who had the job before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Nobody,
    /// A worker that gave no sign of life.
    TheDead,
}

impl Survey {
    pub(super) fn of(folders: &Folders, lease: Duration, now: Timestamp) -> Result<Self, QueueError> {
        let mut survey = Self::default();
        let (mut names, mut subjects, mut waiting) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        // In this order a job that is given back meanwhile is seen twice, and not at all in the other.
        for entry in folders.entries(Place::Claimed)? {
            let Some((name, _)) = claimed_name(&entry.file_name) else { continue };
            let touched = entry.touched(now);
            let Some(job) = survey.read(&entry, &name, lease.max(BEING_WRITTEN), now) else { continue };
            names.insert(name.clone());
            if touched.ago() > lease {
                waiting.push(Waiting { name, path: entry.path, job, from: From::TheDead });
                continue;
            }
            if matches!(touched, Touched::Ahead(ahead) if ahead > lease) {
                survey.ahead.push(entry.path);
            }
            survey.leases.push(later(now, lease.saturating_sub(touched.ago())));
            subjects.insert(job.errand.subject());
        }
        for entry in folders.entries(Place::New)? {
            let Ok(name) = JobName::parse(&entry.file_name) else { continue };
            let Some(job) = survey.read(&entry, &name, BEING_WRITTEN, now) else { continue };
            if !names.contains(&name) {
                waiting.push(Waiting { name, path: entry.path, job, from: From::Nobody });
            }
        }
        let mut groups: BTreeMap<String, Vec<Waiting>> = BTreeMap::new();
        for job in waiting {
            if let Some(place) = outdone(folders, &job) {
                survey.outdone.push((job.path, folders.path(place, &job.name)));
            } else if !subjects.contains(&job.job.errand.subject()) {
                groups.entry(job.job.errand.subject()).or_default().push(job);
            }
        }
        survey.ready = groups.into_values().filter_map(Group::of).collect();
        survey.ready.sort_by(|one, other| one.order().cmp(&other.order()));
        Ok(survey)
    }

    /// When there is something to do next, if ever.
    pub(super) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let waiting = self.ready.iter().map(|group| due(&group.latest.job, now));
        waiting.chain(self.leases.iter().copied()).min().map(|at| at.max(now))
    }

    /// Puts aside what is no job, and takes the most urgent one that is due and that nobody else gets first.
    pub(super) fn claim(self, folders: &Folders, token: &Token, now: Timestamp) -> Result<Option<Claimed>, QueueError> {
        for (path, name, why) in &self.broken {
            put_aside(folders, path, name, why);
        }
        // Nothing is deleted, for the other one may be on its way back this moment.
        let outdone = self.outdone.iter().map(|(from, to)| rename(from, to));
        // If the worker of a job whose time is ahead lives, it says so again before the lease ends.
        let tidied = outdone.chain(self.ahead.iter().map(|path| touch(path, now)));
        for error in tidied.filter_map(Result::err) {
            tracing::warn!(%error, "the queue could not be tidied up");
        }
        for group in self.ready.into_iter().filter(|group| due(&group.latest.job, now) <= now) {
            match group.latest.take(folders, token, now) {
                Ok(Some(claimed)) => {
                    for covered in &group.covered {
                        covered.settle(folders, claimed.name(), now);
                    }
                    return Ok(Some(claimed));
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "a job could not be taken"),
            }
        }
        Ok(None)
    }

    /// The job of a file. What cannot be read is remembered once it cannot be in the making any more.
    fn read(&mut self, entry: &Entry, name: &JobName, patience: Duration, now: Timestamp) -> Option<Job> {
        let why = match entry.read() {
            Ok(bytes) => match Record::read(&bytes) {
                Ok(record) => return Some(record.into_task()),
                Err(why) => why,
            },
            Err(Unread::Gone) => return None,
            Err(Unread::No(why)) => why,
        };
        if !entry.touched(now).is_within(patience) {
            self.broken.push((entry.path.clone(), name.clone(), why));
        }
        None
    }
}

impl Group {
    fn of(mut jobs: Vec<Waiting>) -> Option<Self> {
        let mut latest = jobs.pop()?;
        let mut covered = Vec::new();
        for mut job in jobs {
            if !latest.job.covers(&job.job) {
                std::mem::swap(&mut job, &mut latest);
            }
            covered.push(job);
        }
        Some(Self { latest, covered })
    }

    fn order(&self) -> impl Ord + use<'_> {
        (self.latest.job.urgency, self.latest.job.enqueued_at, &self.latest.name)
    }
}

impl Waiting {
    /// Takes the job, unless somebody else did.
    fn take(self, folders: &Folders, token: &Token, now: Timestamp) -> Result<Option<Claimed>, QueueError> {
        // The sign of life comes first, so that the lease runs from the moment the job has a new owner.
        if touch(&self.path, now)? == Done::Gone {
            return Ok(None);
        }
        folders.make_place(Place::Claimed)?;
        if rename(&self.path, &folders.claimed(&self.name, token))? == Done::Gone {
            return Ok(None);
        }
        let mut job = self.job;
        if self.from == From::TheDead {
            job.attempts.push(Attempt { at: now, error: WORKER_DIED.to_owned() });
        }
        let claimed = Claimed::new(folders, self.name, token, job);
        // A job that kills its workers must come to an end, so it is not begun before that is written down.
        if self.from == From::TheDead && claimed.fail(WORKER_DIED, None, now)? == Settled::Lost {
            return Ok(None);
        }
        Ok(Some(claimed))
    }

    /// Another job does all that this one asks for.
    fn settle(&self, folders: &Folders, by: &JobName, now: Timestamp) {
        let note = Happened::done(&format!("covered by {by}"), now).line().map_err(QueueError::Encode);
        let settled = note
            .and_then(|note| append(&self.path, &note, now))
            .and_then(|_| rename(&self.path, &folders.path(Place::Done, &self.name)));
        if let Err(error) = settled {
            tracing::warn!(job = %self.name, %error, "a job that another one covers could not be settled");
        }
    }
}

/// Reads the name of a file that a worker has.
pub(super) fn claimed_name(file_name: &str) -> Option<(JobName, Token)> {
    let (name, token) = file_name.rsplit_once('.')?;
    Some((JobName::parse(name).ok()?, Token::parse(token).ok()?))
}

/// The file of this name, if there is one; the reason, if it is no whole job.
pub(super) fn look(folders: &Folders, place: Place, name: &JobName) -> Option<Result<Record, String>> {
    match Entry::at(folders.path(place, name))?.read() {
        Ok(bytes) => Some(Record::read(&bytes)),
        Err(Unread::Gone) => None,
        Err(Unread::No(why)) => Some(Err(why)),
    }
}

/// Whether there is a whole job of this name.
pub(super) fn is_whole(folders: &Folders, place: Place, name: &JobName) -> bool {
    matches!(look(folders, place, name), Some(Ok(_)))
}

/// Moves what is no job out of the way and says why beside it.
pub(super) fn put_aside(folders: &Folders, path: &Path, name: &JobName, why: &str) {
    let aside = folders.folder(Place::Dead).join(format!("{name}{BROKEN}"));
    let reason = folders.folder(Place::Dead).join(format!("{name}{BROKEN}{WHY}"));
    let moved = folders.make_place(Place::Dead).and_then(|()| rename(path, &aside));
    let told = moved.and_then(|_| remove(&reason)).and_then(|_| create(&reason, format!("{why}\n").as_bytes()));
    match told {
        Ok(_) => tracing::warn!(job = %name, why, "a file of the queue cannot be read and was put aside"),
        Err(error) => tracing::warn!(job = %name, why, %error, "a file of the queue cannot be read"),
    }
}

/// Where a job that seems to wait is already, if it counts more there.
fn outdone(folders: &Folders, waiting: &Waiting) -> Option<Place> {
    let is_at = |place: &Place| is_whole(folders, *place, &waiting.name);
    let may_be_done = !waiting.job.errand.is_repeatable();
    [Place::Done, Place::Dead].into_iter().filter(|place| may_be_done || *place != Place::Done).find(is_at)
}

/// From when on a job may be taken.
fn due(job: &Job, now: Timestamp) -> Timestamp {
    job.not_before.filter(|at| *at <= later(now, LONGEST_WAIT)).unwrap_or(now)
}
