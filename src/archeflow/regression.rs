//! `regression-check`: whether something that was fixed in an earlier run is found again.

use std::path::Path;

use super::decay::runs_of_index;
use super::events::{read_fixes, read_run};
use super::finding::MATCH_PERCENT;
use super::folder::{Folder, INDEX};
use super::log_line;
use super::trouble::{Trouble, is_safe_name};
use crate::text::{one_line, overlap_percent};

#[cfg(test)]
#[path = "regression_tests.rs"]
mod tests;

/// Something that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regression {
    /// What was fixed.
    pub fixed: String,
    /// In which run.
    pub run: String,
    /// What was found now.
    pub found: String,
}

impl Regression {
    /// Its line.
    pub fn line(&self) -> String {
        let [fixed, found] = [&self.fixed, &self.found].map(|text| one_line(text));
        format!("REGRESSION: \"{fixed}\" (fixed in {}) reappeared as \"{found}\"", self.run)
    }
}

/// Why nothing was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// ArcheFlow noted no runs.
    NoIndex,
    /// It noted none before this one.
    NoEarlierRun,
    /// None of them left a log.
    NoEarlierEvents,
    /// Nothing was fixed in them.
    NothingFixed,
    /// Nothing was found in this one.
    NothingFound,
}

/// What came of the check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Regressed {
    /// What came back.
    pub regressions: Vec<Regression>,
    /// Why nothing was compared, if nothing was.
    pub skipped: Option<Skipped>,
    /// Runs whose names could lead anywhere.
    pub invalid: Vec<String>,
    /// Runs that left no log.
    pub without_events: Vec<String>,
    /// Lines of the log that are no events.
    pub malformed: usize,
}

impl Regressed {
    /// What there is to say besides.
    pub fn talk(&self) -> Vec<String> {
        let invalid =
            self.invalid.iter().map(|run| format!("Ignoring invalid run_id in index.jsonl: '{}'", one_line(run)));
        let gone =
            self.without_events.iter().map(|run| format!("Previous run events not found: {}", Folder::events_of(run)));
        let malformed = (self.malformed > 0).then(|| format!("Skipped {} malformed line(s)", self.malformed));
        let end = match self.skipped {
            Some(Skipped::NoIndex) => Some("No index.jsonl found — skipping regression check.".to_owned()),
            Some(Skipped::NoEarlierRun) => Some("No previous run found — skipping regression check.".to_owned()),
            Some(Skipped::NoEarlierEvents) => None,
            Some(Skipped::NothingFixed) => {
                Some("No resolved findings in previous run — nothing to regress.".to_owned())
            }
            Some(Skipped::NothingFound) => Some("No findings in current run — no regressions.".to_owned()),
            None if self.regressions.is_empty() => Some("No regressions detected.".to_owned()),
            None => {
                let mut runs: Vec<&str> = self.regressions.iter().map(|regression| regression.run.as_str()).collect();
                runs.dedup();
                Some(format!("{} regression(s) detected from run {}.", self.regressions.len(), runs.join(", ")))
            }
        };
        invalid.chain(gone).chain(malformed).chain(end).map(|text| log_line(&text)).collect()
    }
}

/// Looks for what was fixed in any run before this one among what was found in it.
pub fn regression_check(folder: &Folder, log: &Path, shown: &str) -> Result<Regressed, Trouble> {
    if !log.is_file() {
        return Err(Trouble::NoEvents(shown.to_owned()));
    }
    let current = read_run(log).map_err(|error| Trouble::Read(shown.to_owned(), error))?;
    let mut done = Regressed { malformed: current.malformed, ..Regressed::default() };
    let Some(index) = folder.read(INDEX)? else {
        done.skipped = Some(Skipped::NoIndex);
        return Ok(done);
    };
    let (earlier, invalid): (Vec<String>, Vec<String>) =
        earlier_runs(&index, current.id.as_deref().unwrap_or_default()).into_iter().partition(|run| is_safe_name(run));
    done.invalid = invalid;
    let mut fixes: Vec<(String, String)> = Vec::new();
    let mut read = 0;
    for run in &earlier {
        let events = Folder::events_of(run);
        if !folder.has(&events) {
            done.without_events.push(run.clone());
            continue;
        }
        read += 1;
        for fix in read_fixes(&folder.path(&events)).map_err(|error| Trouble::Read(events.clone(), error))? {
            // What was fixed twice is told once, of the last time.
            fixes.retain(|(known, _)| *known != fix);
            fixes.push((fix, run.clone()));
        }
    }
    done.skipped = match () {
        () if earlier.is_empty() && done.invalid.is_empty() => Some(Skipped::NoEarlierRun),
        () if read == 0 => Some(Skipped::NoEarlierEvents),
        () if fixes.is_empty() => Some(Skipped::NothingFixed),
        () if current.findings.is_empty() => Some(Skipped::NothingFound),
        () => None,
    };
    let found: Vec<&str> = current.findings.iter().map(|finding| finding.description.as_str()).collect();
    done.regressions = fixes.into_iter().filter_map(|(fixed, run)| came_back(fixed, run, &found)).collect();
    Ok(done)
}

fn came_back(fixed: String, run: String, found: &[&str]) -> Option<Regression> {
    let found = found.iter().find(|found| overlap_percent(&fixed, found) >= MATCH_PERCENT)?;
    Some(Regression { found: (*found).to_owned(), fixed, run })
}

/// The runs that were noted before this one, each once; all of them if this one was not noted yet.
fn earlier_runs(index: &[u8], current: &str) -> Vec<String> {
    let mut runs = runs_of_index(index);
    let end = runs.iter().rposition(|run| run == current).unwrap_or(runs.len());
    runs.truncate(end);
    let mut earlier: Vec<String> = Vec::new();
    for run in runs {
        if run != current && !earlier.contains(&run) {
            earlier.push(run);
        }
    }
    earlier
}
