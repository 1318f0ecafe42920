//! What is remembered of a file, so that it can be given back as it was.
//!
//! A record holds what was added and nothing of what was there: settings may hold secrets, and a copy of them is one
//! too many.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::file::File;
use crate::hooks::{Splice, spliced};

/// What is remembered of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// Whose record it is, for people.
    path: PathBuf,
    /// The fingerprint of what was written last. Of any other text nothing is known.
    written: String,
    /// Whether there was a file at all.
    existed: bool,
    /// The folders that were made for it, the innermost first.
    #[serde(default)]
    pub(super) folders: Vec<PathBuf>,
    /// What takes each writing back, the first one first.
    steps: Vec<Vec<Splice>>,
}

/// The directory of all records.
#[derive(Debug)]
pub(super) struct Records {
    folder: Option<PathBuf>,
}

impl Record {
    /// The record of a file that was not ours before.
    pub(super) fn new(file: &File, undo: Vec<Splice>, after: &str) -> Self {
        Self {
            path: file.target.clone(),
            written: fingerprint(after),
            existed: file.text.is_some(),
            folders: Vec::new(),
            steps: vec![undo],
        }
    }

    /// The same file, written once more.
    pub(super) fn and(mut self, undo: Vec<Splice>, after: &str) -> Self {
        self.steps.push(undo);
        self.written = fingerprint(after);
        self
    }

    /// The same with folders that had to be made.
    pub(super) fn with(mut self, folders: Vec<PathBuf>) -> Self {
        self.folders.extend(folders);
        self
    }

    /// Whether a text is the one that was written last.
    pub(super) fn is_of(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| fingerprint(text) == self.written)
    }

    /// What was there before: perhaps no file at all. `None` if the record does not fit the text.
    pub(super) fn original(&self, text: &str) -> Option<Option<String>> {
        let steps = self.steps.iter().rev();
        let original = steps.clone().try_fold(text.to_owned(), |text, step| spliced(&text, step))?;
        Some(self.existed.then_some(original))
    }
}

impl Records {
    /// The records in a state directory; without one nothing is remembered.
    pub(super) fn below(state_dir: Option<PathBuf>) -> Self {
        Self { folder: state_dir.map(|folder| folder.join("init")) }
    }

    /// The record of a file. One that cannot be read is none.
    pub(super) fn of(&self, path: &Path) -> Option<Record> {
        let bytes = fs::read(self.place(path)?).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Remembers. Where that fails, hooks can still be found and taken out by their form.
    pub(super) fn keep(&self, path: &Path, record: &Record) {
        let kept = self.place(path).and_then(|place| {
            let folder = place.parent()?;
            fs::create_dir_all(folder).ok()?;
            let file = tempfile::NamedTempFile::new_in(folder).ok()?;
            serde_json::to_writer(&file, record).ok()?;
            file.persist(place).ok()
        });
        if kept.is_none() {
            tracing::warn!(path = %path.display(), "what was there before could not be noted");
        }
    }

    /// Forgets.
    pub(super) fn forget(&self, path: &Path) {
        // There need not be a record.
        let _ = self.place(path).map(fs::remove_file);
    }

    fn place(&self, path: &Path) -> Option<PathBuf> {
        let name = fingerprint(path.to_str()?).chars().take(32).collect::<String>();
        Some(self.folder.as_ref()?.join(format!("{name}.json")))
    }
}

fn fingerprint(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
