//! Labelled folders of the user's own, read in place of generated sessions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use archivist_core::domain::{EventSink, TrajectoryEvent};
use archivist_core::ingest::{ReaderSettings, SessionReader, UnreadableLog};

use super::scenario::{PlantedLessonKind, ScenarioHalf};
use super::{ExpectedLesson, PlantedSession};

#[cfg(test)]
#[path = "labelled_folders_tests.rs"]
mod tests;

/// The file that names the expected lessons.
const EXPECTED: &str = "expected.json";

/// The reason that a labelled folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LabelledFolderError {
    /// A file could not be read.
    #[error("{path} cannot be read: {error}")]
    Io {
        /// The path of the file.
        path: String,
        /// The error of the read.
        error: std::io::Error,
    },
    /// The file of expected lessons cannot be parsed.
    #[error(
        "{path} does not say what to expect: {error}; it is an object of file names, each with its `mention` or null"
    )]
    Expected {
        /// The path of the file.
        path: String,
        /// The error of the parser.
        error: serde_json::Error,
    },
    /// The file of expected lessons names no log.
    #[error("{path} names no log")]
    Empty {
        /// The path of the file.
        path: String,
    },
    /// An expected lesson names no words, so any candidate would match it.
    #[error("{path} expects no words of {file}; name them in `mention`, or write null if there is nothing to learn")]
    Wordless {
        /// The path of the file of expected lessons.
        path: String,
        /// The name of the log.
        file: String,
    },
    /// A named file is not a log.
    #[error("{path} is no log: {error}")]
    Log {
        /// The path of the log.
        path: String,
        /// The error of the log reader.
        error: UnreadableLog,
    },
}

/// Reads a folder with logs, of any format that Archivist reads, and its file `expected.json`:
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
pub(crate) fn from_dir(dir: &Path) -> Result<Vec<PlantedSession>, LabelledFolderError> {
    let path = dir.join(EXPECTED);
    let shown = path.display().to_string();
    let text = fs::read_to_string(&path).map_err(|error| LabelledFolderError::Io { path: shown.clone(), error })?;
    let expected: BTreeMap<String, Option<ExpectedLesson>> =
        serde_json::from_str(&text).map_err(|error| LabelledFolderError::Expected { path: shown.clone(), error })?;
    if expected.is_empty() {
        return Err(LabelledFolderError::Empty { path: shown });
    }
    let mut sessions = Vec::new();
    for (name, expect) in expected {
        let is_wordless =
            |expect: &ExpectedLesson| expect.mention.is_empty() || expect.mention.iter().any(Vec::is_empty);
        if expect.as_ref().is_some_and(is_wordless) {
            return Err(LabelledFolderError::Wordless { path: shown, file: name });
        }
        sessions.push(read_labelled_session(&dir.join(&name), name, expect)?);
    }
    Ok(sessions)
}

fn read_labelled_session(
    path: &Path,
    name: String,
    expect: Option<ExpectedLesson>,
) -> Result<PlantedSession, LabelledFolderError> {
    /// A sink that ignores all events, as only the format is needed.
    struct IgnoringSink;
    impl EventSink for IgnoringSink {
        fn receive_event(&mut self, _: TrajectoryEvent) {}
    }
    let shown = || path.display().to_string();
    let log = fs::read(path).map_err(|error| LabelledFolderError::Io { path: shown(), error })?;
    let format = SessionReader::new(ReaderSettings::default())
        .read_log(&mut log.as_slice(), &mut IgnoringSink)
        .map_err(|error| LabelledFolderError::Log { path: shown(), error })?;
    let kind = expect.as_ref().map_or(PlantedLessonKind::Routine, |expect| expect.kind);
    Ok(PlantedSession { name, format, half: ScenarioHalf::Own, kind, log, expect })
}
