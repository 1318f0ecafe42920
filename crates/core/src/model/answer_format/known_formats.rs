//! A memory of the answer formats that endpoints support.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::super::public_address::public_address;
use super::AnswerFormat;
use crate::domain::Timestamp;
use crate::files::FileReplacement;

#[cfg(test)]
#[path = "known_formats_tests.rs"]
mod tests;

/// The time for which a result is valid: endpoints change with their releases.
const KNOWN_FOR: TimeDelta = TimeDelta::days(30);

/// The longest file that is read; our own files are shorter.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The answer format of each model, by endpoint and name.
///
/// It is stored in a small JSON file, if a path is given. A writer reads the file first and replaces it as a whole: two
/// writers at once may lose what one of them learned, which costs a few small requests.
#[derive(Debug)]
pub struct EndpointCapabilities {
    path: Option<PathBuf>,
    known: Mutex<RememberedFormats>,
}

#[derive(Debug)]
struct RememberedFormats {
    endpoints: Endpoints,
    /// True if something is known that could not be written to the file.
    is_ahead: bool,
}

type Endpoints = BTreeMap<String, BTreeMap<String, LearnedFormat>>;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LearnedFormat {
    /// The word for the format; a word of a newer version is kept as it is. Its name in the file is older than this one.
    #[serde(rename = "rung")]
    answer_format: String,
    learned_at: Timestamp,
}

impl LearnedFormat {
    /// Returns true if the result is recent; a time in the future is as doubtful as one long past.
    fn is_fresh(&self, now: Timestamp) -> bool {
        now.signed_duration_since(self.learned_at).abs() < KNOWN_FOR
    }
}

impl EndpointCapabilities {
    /// Opens the memory in a file; without a path it lasts until it is dropped.
    pub fn open(path: Option<PathBuf>) -> Self {
        let endpoints = path.as_deref().map(read_or_warn).unwrap_or_default();
        Self { path, known: Mutex::new(RememberedFormats { endpoints, is_ahead: false }) }
    }

    /// Returns the format of a model, if it was learned recently.
    pub fn get(&self, endpoint: &str, model: &str, now: Timestamp) -> Option<AnswerFormat> {
        let known = self.lock_remembered();
        let learned = known.endpoints.get(&public_address(endpoint))?.get(model)?;
        if learned.is_fresh(now) { AnswerFormat::parse(&learned.answer_format).ok() } else { None }
    }

    /// Remembers the format of a model and drops results that are out of date.
    pub fn remember_format(&self, endpoint: &str, model: &str, answer_format: AnswerFormat, now: Timestamp) {
        self.update_endpoints(|endpoints| {
            let learned = LearnedFormat { answer_format: answer_format.as_str().to_owned(), learned_at: now };
            endpoints.entry(public_address(endpoint)).or_default().insert(model.to_owned(), learned);
            endpoints.values_mut().for_each(|models| models.retain(|_, learned| learned.is_fresh(now)));
        });
    }

    /// Forgets the format of a model that no longer applies.
    pub fn forget_format(&self, endpoint: &str, model: &str) {
        self.update_endpoints(|endpoints| {
            if let Some(models) = endpoints.get_mut(&public_address(endpoint)) {
                models.remove(model);
            }
        });
    }

    fn update_endpoints(&self, change: impl FnOnce(&mut Endpoints)) {
        let mut known = self.lock_remembered();
        if let Some(path) = self.path.as_deref().filter(|_| !known.is_ahead) {
            known.endpoints = read_or_warn(path);
        }
        change(&mut known.endpoints);
        known.endpoints.retain(|_, models| !models.is_empty());
        if let Some(path) = &self.path {
            let written = write_file(path, &known.endpoints);
            known.is_ahead = written.is_err();
            if let Err(error) = written {
                tracing::warn!(path = %path.display(), %error, "what endpoints understand is not remembered");
            }
        }
    }

    fn lock_remembered(&self) -> MutexGuard<'_, RememberedFormats> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the file; if it cannot be read, it counts as empty and will be replaced.
fn read_or_warn(path: &Path) -> Endpoints {
    read_file(path).unwrap_or_else(|error| {
        tracing::warn!(path = %path.display(), %error, "what is remembered of endpoints cannot be read");
        Endpoints::new()
    })
}

fn read_file(path: &Path) -> io::Result<Endpoints> {
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Endpoints::new()),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn write_file(path: &Path, endpoints: &Endpoints) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(endpoints)?;
    bytes.push(b'\n');
    FileReplacement::new(path).write(&bytes)
}
