//! Reads and writes `runs.jsonl`, the record of the runs processed so far and of the lessons each was counted for.
//!
//! The line of a lesson names only the run that saw it last. This file lists all of them, so that no run counts twice.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

#[cfg(test)]
#[path = "run_record_tests.rs"]
mod tests;

/// One line of `runs.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunRecord {
    pub(super) run_id: String,
    #[serde(default)]
    pub(super) ts: String,
    /// The ids of the lessons that the run was counted for; `None` in a line that only records decay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lessons: Option<Vec<String>>,
    /// The fingerprints of the findings that were processed; `None` if another program processed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) findings: Option<Vec<String>>,
    /// True if the decay of this run was applied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) decayed: bool,
    /// The fingerprint of `lessons.jsonl` before the decay; if the file still has it, the decay was never written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<String>,
}

impl RunRecord {
    /// Returns the record as a line of JSON, with its line break.
    pub(super) fn to_line_bytes(&self) -> Vec<u8> {
        // Texts and lists of them can always be written as JSON.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// Everything that the file records about one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ProcessedRun {
    pub(super) is_extracted: bool,
    pub(super) lessons: HashSet<String>,
    pub(super) findings: HashSet<String>,
    decay: Option<RunDecay>,
}

#[derive(Debug, Clone, PartialEq)]
struct RunDecay {
    of: Option<String>,
}

impl ProcessedRun {
    /// Returns true if the decay of this run was applied, where `lessons` is the current fingerprint of the lessons
    /// file.
    pub(super) fn is_decayed(&self, lessons: &str) -> bool {
        self.decay.as_ref().is_some_and(|decay| decay.of.as_deref() != Some(lessons))
    }
}

/// All runs that the file records.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ProcessedRuns {
    order: Vec<String>,
    known: HashMap<String, ProcessedRun>,
}

impl ProcessedRuns {
    /// Reads the file; lines that cannot be parsed are ignored.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut runs = Self::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(record) = serde_json::from_slice::<RunRecord>(line) {
                runs.add_record(record);
            }
        }
        runs
    }

    fn add_record(&mut self, record: RunRecord) {
        if !self.known.contains_key(&record.run_id) {
            self.order.push(record.run_id.clone());
        }
        let known = self.known.entry(record.run_id).or_default();
        known.is_extracted |= record.lessons.is_some();
        known.lessons.extend(record.lessons.into_iter().flatten());
        known.findings.extend(record.findings.into_iter().flatten());
        if record.decayed {
            known.decay = Some(RunDecay { of: record.of });
        }
    }

    pub(super) fn get(&self, run: &str) -> Option<&ProcessedRun> {
        self.known.get(run)
    }

    /// Returns true if a run was counted for a lesson.
    pub(super) fn is_counted_for(&self, run: &str, lesson: &str) -> bool {
        self.get(run).is_some_and(|known| known.lessons.contains(lesson))
    }

    /// Returns the last extracted run whose decay was not applied yet.
    pub(super) fn find_last_undecayed(&self, lessons: &str) -> Option<&str> {
        let is_open =
            |run: &&String| self.get(run).is_some_and(|known| known.is_extracted && !known.is_decayed(lessons));
        self.order.iter().rev().find(is_open).map(String::as_str)
    }

    /// Returns the ids of all lessons that runs were counted for.
    pub(super) fn lesson_ids(&self) -> impl Iterator<Item = &str> {
        self.known.values().flat_map(|known| &known.lessons).map(String::as_str)
    }
}

/// Builds the records of runs that only a lesson's line names, before that line names another run. The decay of a run
/// that is known only from such a line counts as applied long ago.
pub(super) fn build_missing_records(
    pairs: impl IntoIterator<Item = (String, String)>,
    known: &ProcessedRuns,
    ts: &str,
) -> Vec<RunRecord> {
    let mut runs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (run, lesson) in pairs {
        runs.entry(run).or_default().push(lesson);
    }
    let record = |(run_id, lessons): (String, Vec<String>)| RunRecord {
        decayed: known.get(&run_id).is_none(),
        run_id,
        ts: ts.to_owned(),
        lessons: Some(lessons),
        ..RunRecord::default()
    };
    runs.into_iter().map(record).collect()
}
