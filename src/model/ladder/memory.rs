//! What was learned about endpoints, remembered.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::super::place::place;
use super::super::replace::replace;
use super::Rung;
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;

/// Endpoints learn and unlearn with their releases; what was seen longer ago is looked at again.
const KNOWN_FOR: TimeDelta = TimeDelta::days(30);

/// No memory of ours is longer. A longer file is not one.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Which rung each model stands on, by endpoint and name.
///
/// A small JSON file, if there is a place for one. Whoever changes it reads it first and replaces it whole: two at once
/// may lose what one of them learned, which costs a few small questions.
#[derive(Debug)]
pub struct Ladders {
    path: Option<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    endpoints: Endpoints,
    /// Something is known here that could not be written down.
    is_ahead: bool,
}

type Endpoints = BTreeMap<String, BTreeMap<String, Learned>>;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Learned {
    /// A word of a newer version stays what it is.
    rung: String,
    learned_at: Timestamp,
}

impl Learned {
    /// A time to come is as doubtful as one long past.
    fn is_fresh(&self, now: Timestamp) -> bool {
        now.signed_duration_since(self.learned_at).abs() < KNOWN_FOR
    }
}

impl Ladders {
    /// Remembers in a file; without one, until it is dropped.
    pub fn open(path: Option<PathBuf>) -> Self {
        let endpoints = path.as_deref().map(read_or_warn).unwrap_or_default();
        Self { path, known: Mutex::new(Known { endpoints, is_ahead: false }) }
    }

    /// The rung of a model, if it was learned of late.
    pub fn get(&self, endpoint: &str, model: &str, now: Timestamp) -> Option<Rung> {
        let known = self.known();
        let learned = known.endpoints.get(&place(endpoint))?.get(model)?;
        if learned.is_fresh(now) { Rung::parse(&learned.rung).ok() } else { None }
    }

    /// Remembers the rung of a model. What nobody would be told any more is dropped.
    pub fn remember(&self, endpoint: &str, model: &str, rung: Rung, now: Timestamp) {
        self.change(|endpoints| {
            let learned = Learned { rung: rung.as_str().to_owned(), learned_at: now };
            endpoints.entry(place(endpoint)).or_default().insert(model.to_owned(), learned);
            endpoints.values_mut().for_each(|models| models.retain(|_, learned| learned.is_fresh(now)));
        });
    }

    /// Forgets the rung of a model that does not hold any more.
    pub fn forget(&self, endpoint: &str, model: &str) {
        self.change(|endpoints| {
            if let Some(models) = endpoints.get_mut(&place(endpoint)) {
                models.remove(model);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Endpoints)) {
        let mut known = self.known();
        if let Some(path) = self.path.as_deref().filter(|_| !known.is_ahead) {
            known.endpoints = read_or_warn(path);
        }
        change(&mut known.endpoints);
        known.endpoints.retain(|_, models| !models.is_empty());
        if let Some(path) = &self.path {
            let written = write(path, &known.endpoints);
            known.is_ahead = written.is_err();
            if let Err(error) = written {
                tracing::warn!(path = %path.display(), %error, "what endpoints understand is not remembered");
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file that cannot be read is as good as none: it will be replaced.
fn read_or_warn(path: &Path) -> Endpoints {
    read(path).unwrap_or_else(|error| {
        tracing::warn!(path = %path.display(), %error, "what is remembered of endpoints cannot be read");
        Endpoints::new()
    })
}

fn read(path: &Path) -> io::Result<Endpoints> {
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Endpoints::new()),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn write(path: &Path, endpoints: &Endpoints) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(endpoints)?;
    bytes.push(b'\n');
    replace(path, &bytes)
}
