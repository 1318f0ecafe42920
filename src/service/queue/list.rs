//! Everything that lies in a queue, for people.

use std::collections::BTreeMap;
use std::time::Duration;

use super::error::QueueError;
use super::folder::{Entry, Folders, Place, Unread};
use super::job::{Job, JobName};
use super::record::Record;
use super::survey::{BROKEN, WHY, claimed_name};
use super::token::Token;
use crate::domain::Timestamp;

/// The longest reason that is shown.
const MAX_REASON_CHARACTERS: usize = 500;

/// One thing that lies in a queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its name, without that of its worker.
    pub name: String,
    /// In which folder.
    pub place: Place,
    /// The job, or why it cannot be read.
    pub job: Result<Job, String>,
    /// What was last said of it: an error, a result, or why it was put aside.
    pub note: Option<String>,
    /// How long ago it was asked for; where that is not known, how long ago the file was touched.
    pub age: Duration,
    /// Who has it.
    pub worker: Option<Token>,
    /// Whether its worker gives signs of life.
    pub lease: Option<Lease>,
}

/// Whether a worker gives signs of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lease {
    /// It does.
    Held,
    /// It does not, and the next one to look takes its job.
    Expired,
}

/// Lists every job once, as it stands where it counts most, and everything that is none.
pub(super) fn list(folders: &Folders, lease: Duration, now: Timestamp) -> Result<Vec<Listed>, QueueError> {
    let (mut found, mut strange) = (BTreeMap::<String, Listed>::new(), Vec::new());
    for place in Place::ALL {
        for entry in folders.entries(place)? {
            let Some(listed) = listed(folders, place, &entry, lease, now) else { continue };
            match found.get(&listed.name) {
                _ if listed.job.is_err() => strange.push(listed),
                Some(other) if !counts_more(&listed, other) => {}
                _ => drop(found.insert(listed.name.clone(), listed)),
            }
        }
    }
    let mut listed: Vec<Listed> = found.into_values().chain(strange).collect();
    put_in_order(&mut listed);
    Ok(listed)
}

/// What waits first, the oldest first.
pub(super) fn put_in_order(listed: &mut [Listed]) {
    listed.sort_by(|one, other| (one.place, other.age, &one.name).cmp(&(other.place, one.age, &other.name)));
}

fn listed(folders: &Folders, place: Place, entry: &Entry, lease: Duration, now: Timestamp) -> Option<Listed> {
    let is_reason = |name: &str| place == Place::Dead && name.ends_with(WHY);
    if entry.file_name.starts_with('.') || is_reason(&entry.file_name) {
        return None;
    }
    let touched = entry.touched(now).ago();
    let mut listed = Listed {
        name: entry.file_name.clone(),
        place,
        job: Err("it is not named like a job".to_owned()),
        note: None,
        age: touched,
        worker: None,
        lease: None,
    };
    let name = match place {
        Place::Claimed => claimed_name(&entry.file_name).map(|(name, token)| {
            listed.worker = Some(token);
            listed.lease = Some(if touched > lease { Lease::Expired } else { Lease::Held });
            name
        }),
        Place::New | Place::Dead | Place::Done => JobName::parse(&entry.file_name).ok(),
    };
    let Some(name) = name else {
        if place == Place::Dead && entry.file_name.ends_with(BROKEN) {
            listed.job = Err(reason(folders, &entry.file_name));
        }
        return Some(listed);
    };
    listed.name = name.as_str().to_owned();
    let record = match entry.read() {
        Ok(bytes) => Record::read(&bytes),
        Err(Unread::Gone) => return None,
        Err(Unread::No(why)) => Err(why),
    };
    if let Ok(record) = &record {
        listed.note.clone_from(&record.note);
        listed.age = (now - record.job.enqueued_at).to_std().unwrap_or_default();
    }
    listed.job = match place {
        Place::New | Place::Claimed => record.map(Record::into_task),
        Place::Dead | Place::Done => record.map(|record| record.job),
    };
    Some(listed)
}

/// Why a file was put aside.
fn reason(folders: &Folders, file_name: &str) -> String {
    let entries = folders.entries(Place::Dead).unwrap_or_default();
    let wanted = format!("{file_name}{WHY}");
    let bytes = entries.iter().find(|entry| entry.file_name == wanted).and_then(|entry| entry.read().ok());
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { "it cannot be read".to_owned() } else { text.chars().take(MAX_REASON_CHARACTERS).collect() }
}

/// A job that is in two places is where it counts more; but to have been done once is no end for what is repeated.
fn counts_more(listed: &Listed, other: &Listed) -> bool {
    let is_repeatable = |listed: &Listed| listed.job.as_ref().is_ok_and(|job| job.errand.is_repeatable());
    listed.place > other.place && !(listed.place == Place::Done && is_repeatable(other))
}
