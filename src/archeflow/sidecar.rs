//! `runs.jsonl`: which runs were looked at, and what each of them counted for.
//!
//! A lesson's line names only the run that saw it last. This file remembers them all, so that no run counts twice.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

#[cfg(test)]
#[path = "sidecar_tests.rs"]
mod tests;

/// One line of the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) run_id: String,
    #[serde(default)]
    pub(super) ts: String,
    /// The lessons that it was counted for. There are none in a line that only tells of decay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lessons: Option<Vec<String>>,
    /// Fingerprints of the findings that were looked at; unknown where another program did that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) findings: Option<Vec<String>>,
    /// Whether lessons have grown old by this run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) decayed: bool,
    /// What `lessons.jsonl` was before they did: if it still is, they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<String>,
}

impl Record {
    /// The line, with its end.
    pub(super) fn line(&self) -> Vec<u8> {
        // Texts and lists of them are always JSON.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// What is known of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Known {
    pub(super) is_extracted: bool,
    pub(super) lessons: HashSet<String>,
    pub(super) findings: HashSet<String>,
    decay: Option<Decay>,
}

#[derive(Debug, Clone, PartialEq)]
struct Decay {
    of: Option<String>,
}

impl Known {
    /// Whether lessons have grown old by this run, `lessons` being what the file is now.
    pub(super) fn is_decayed(&self, lessons: &str) -> bool {
        self.decay.as_ref().is_some_and(|decay| decay.of.as_deref() != Some(lessons))
    }
}

/// All runs that the file tells of.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Runs {
    order: Vec<String>,
    known: HashMap<String, Known>,
}

impl Runs {
    /// Reads the file. A line that cannot be read tells of nothing.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut runs = Self::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(record) = serde_json::from_slice::<Record>(line) {
                runs.add(record);
            }
        }
        runs
    }

    fn add(&mut self, record: Record) {
        if !self.known.contains_key(&record.run_id) {
            self.order.push(record.run_id.clone());
        }
        let known = self.known.entry(record.run_id).or_default();
        known.is_extracted |= record.lessons.is_some();
        known.lessons.extend(record.lessons.into_iter().flatten());
        known.findings.extend(record.findings.into_iter().flatten());
        if record.decayed {
            known.decay = Some(Decay { of: record.of });
        }
    }

    pub(super) fn get(&self, run: &str) -> Option<&Known> {
        self.known.get(run)
    }

    /// Whether a run was counted for a lesson.
    pub(super) fn counted(&self, run: &str, lesson: &str) -> bool {
        self.get(run).is_some_and(|known| known.lessons.contains(lesson))
    }

    /// The last run by which lessons have not grown old yet.
    pub(super) fn last_without_decay(&self, lessons: &str) -> Option<&str> {
        let is_open =
            |run: &&String| self.get(run).is_some_and(|known| known.is_extracted && !known.is_decayed(lessons));
        self.order.iter().rev().find(is_open).map(String::as_str)
    }

    /// The names of lessons that runs were counted for.
    pub(super) fn lesson_ids(&self) -> impl Iterator<Item = &str> {
        self.known.values().flat_map(|known| &known.lessons).map(String::as_str)
    }
}

/// What is about to be forgotten: a lesson's line names a run that this file does not tell of, and now it will name
/// another. Lessons have grown old long ago by a run that is only known from there.
pub(super) fn adopted(pairs: impl IntoIterator<Item = (String, String)>, known: &Runs, ts: &str) -> Vec<Record> {
    let mut runs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (run, lesson) in pairs {
        runs.entry(run).or_default().push(lesson);
    }
    let record = |(run_id, lessons): (String, Vec<String>)| Record {
        decayed: known.get(&run_id).is_none(),
        run_id,
        ts: ts.to_owned(),
        lessons: Some(lessons),
        ..Record::default()
    };
    runs.into_iter().map(record).collect()
}
