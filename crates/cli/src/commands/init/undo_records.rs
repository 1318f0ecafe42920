//! Undo records, which allow a file to be restored exactly.
//!
//! A record holds what was added and nothing of the original text, because settings may hold secrets that must not be
//! copied.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::edited_file::EditableFile;
use crate::hooks::{TextSplice, apply_splices};
use archivist_core::domain::StableHash;
use archivist_core::files::FileReplacement;

/// The undo record of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UndoRecord {
    /// The path of the file, for people.
    path: PathBuf,
    /// The fingerprint of the text that was written last. The record does not apply to any other text.
    written: String,
    /// True if the file existed before.
    existed: bool,
    /// The folders that were created for it, the innermost first.
    #[serde(default)]
    pub(super) folders: Vec<PathBuf>,
    /// The splices that undo each write, the first write first.
    steps: Vec<Vec<TextSplice>>,
}

/// The directory of all undo records.
#[derive(Debug)]
pub(super) struct UndoRecordStore {
    folder: Option<PathBuf>,
}

impl UndoRecord {
    /// Creates the record of a file that was not edited before.
    pub(super) fn new(file: &EditableFile, undo: Vec<TextSplice>, after: &str) -> Self {
        Self {
            path: file.target.clone(),
            written: text_fingerprint(after),
            existed: file.text.is_some(),
            folders: Vec::new(),
            steps: vec![undo],
        }
    }

    /// Returns the record with one more write added.
    pub(super) fn with_write(mut self, undo: Vec<TextSplice>, after: &str) -> Self {
        self.steps.push(undo);
        self.written = text_fingerprint(after);
        self
    }

    /// Returns the record with these created folders added.
    pub(super) fn with_folders(mut self, folders: Vec<PathBuf>) -> Self {
        self.folders.extend(folders);
        self
    }

    /// Returns true if a text is the one that was written last.
    pub(super) fn matches_text(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| text_fingerprint(text) == self.written)
    }

    /// Returns the original text, or `Some(None)` if there was no file, or `None` if the record does not fit the text.
    pub(super) fn original_text(&self, text: &str) -> Option<Option<String>> {
        let steps = self.steps.iter().rev();
        let original = steps.clone().try_fold(text.to_owned(), |text, step| apply_splices(&text, step))?;
        Some(self.existed.then_some(original))
    }
}

impl UndoRecordStore {
    /// Opens the records in a state directory. Without a state directory nothing is recorded.
    pub(super) fn in_state_dir(state_dir: Option<PathBuf>) -> Self {
        Self { folder: state_dir.map(|folder| folder.join("init")) }
    }

    /// Returns the record of a file, or `None` if it is missing or unreadable.
    pub(super) fn load_record(&self, path: &Path) -> Option<UndoRecord> {
        let bytes = fs::read(self.record_path(path)?).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Saves a record. If that fails, hooks can still be recognized and removed by their form.
    pub(super) fn save_record(&self, path: &Path, record: &UndoRecord) {
        let kept = self
            .record_path(path)
            .and_then(|place| FileReplacement::new(&place).write(&serde_json::to_vec(record).ok()?).ok());
        if kept.is_none() {
            tracing::warn!(path = %path.display(), "what was there before could not be noted");
        }
    }

    /// Deletes the record of a file.
    pub(super) fn delete_record(&self, path: &Path) {
        // There need not be a record.
        let _ = self.record_path(path).map(fs::remove_file);
    }

    fn record_path(&self, path: &Path) -> Option<PathBuf> {
        let name = text_fingerprint(path.to_str()?).chars().take(32).collect::<String>();
        Some(self.folder.as_ref()?.join(format!("{name}.json")))
    }
}

fn text_fingerprint(text: &str) -> String {
    StableHash::from_text(text).to_digits(64)
}
