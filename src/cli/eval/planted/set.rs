//! Sets that others bring along.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::domain::{Event, Sink};
use crate::ingest::{Reading, Rules, Unreadable};

use super::scenario::{Half, Kind};
use super::{Expectation, Session};

#[cfg(test)]
#[path = "set_tests.rs"]
mod tests;

/// The file that says what is expected.
const EXPECTED: &str = "expected.json";

/// Why a set cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetError {
    /// A file could not be read.
    #[error("{path} cannot be read: {error}")]
    Io {
        /// Which.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The expectations are not what they should be.
    #[error(
        "{path} does not say what to expect: {error}; it is an object of file names, each with its `mention` or null"
    )]
    Expected {
        /// Which file.
        path: String,
        /// Why.
        error: serde_json::Error,
    },
    /// Nothing is expected of nothing.
    #[error("{path} names no log")]
    Empty {
        /// Which file.
        path: String,
    },
    /// An expectation that anything would meet.
    #[error("{path} expects no words of {file}; name them in `mention`, or write null if there is nothing to learn")]
    Wordless {
        /// Which file.
        path: String,
        /// Of which log.
        file: String,
    },
    /// A log is none.
    #[error("{path} is no log: {error}")]
    Log {
        /// Which.
        path: String,
        /// Why.
        error: Unreadable,
    },
}

/// Reads a folder with logs, of any format that Archivist reads, and a file `expected.json` beside them:
///
/// ```json
/// {
///   "monday.jsonl": {"mention": [["pnpm"], ["npm ci", "lockfile"]], "steps": [7, 12],
///                    "category": ["tool_usage"], "rule": true, "kind": "fixed"},
///   "tuesday.json": null
/// }
/// ```
///
/// `null` stands for a session with nothing to learn. Only `mention` is needed. `steps` are counted from 1, as
/// `archivist inspect` counts them. Files that are not named are left alone.
pub(crate) fn from_dir(dir: &Path) -> Result<Vec<Session>, SetError> {
    let path = dir.join(EXPECTED);
    let shown = path.display().to_string();
    let text = fs::read_to_string(&path).map_err(|error| SetError::Io { path: shown.clone(), error })?;
    let expected: BTreeMap<String, Option<Expectation>> =
        serde_json::from_str(&text).map_err(|error| SetError::Expected { path: shown.clone(), error })?;
    if expected.is_empty() {
        return Err(SetError::Empty { path: shown });
    }
    let mut sessions = Vec::new();
    for (name, expect) in expected {
        let is_wordless = |expect: &Expectation| expect.mention.is_empty() || expect.mention.iter().any(Vec::is_empty);
        if expect.as_ref().is_some_and(is_wordless) {
            return Err(SetError::Wordless { path: shown, file: name });
        }
        sessions.push(session(&dir.join(&name), name, expect)?);
    }
    Ok(sessions)
}

fn session(path: &Path, name: String, expect: Option<Expectation>) -> Result<Session, SetError> {
    /// Only the format is of interest.
    struct Deaf;
    impl Sink for Deaf {
        fn hear(&mut self, _: Event) {}
    }
    let shown = || path.display().to_string();
    let log = fs::read(path).map_err(|error| SetError::Io { path: shown(), error })?;
    let format = Reading::new(Rules::default())
        .read(&mut log.as_slice(), &mut Deaf)
        .map_err(|error| SetError::Log { path: shown(), error })?;
    let kind = expect.as_ref().map_or(Kind::Routine, |expect| expect.kind);
    Ok(Session { name, format, half: Half::Own, kind, log, expect })
}
