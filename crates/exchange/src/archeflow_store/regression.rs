//! The `regression-check` command: looks for problems that were fixed in an earlier run and are found again.

use std::path::Path;

use super::decay::read_indexed_runs;
use super::error::{ArcheFlowError, is_safe_name};
use super::events::{read_fixes, read_run_findings};
use super::finding::MATCH_PERCENT;
use super::folder::{ArcheFlowFolder, INDEX};
use super::format_log_line;
use archivist_core::text::{one_line, overlap_percent};

#[cfg(test)]
#[path = "regression_tests.rs"]
mod tests;

/// A fixed problem that was found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regression {
    /// The description of the problem that was fixed.
    pub fixed: String,
    /// The run in which it was fixed.
    pub run: String,
    /// The description of the finding in the current run.
    pub found: String,
}

impl Regression {
    /// Returns the message about the regression.
    pub fn to_message(&self) -> String {
        let [fixed, found] = [&self.fixed, &self.found].map(|text| one_line(text));
        format!("REGRESSION: \"{fixed}\" (fixed in {}) reappeared as \"{found}\"", self.run)
    }
}

/// The reason why nothing was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegressionSkipReason {
    /// ArcheFlow has no index of runs.
    NoIndex,
    /// The index contains no run before this one.
    NoEarlierRun,
    /// None of the earlier runs has an event log.
    NoEarlierEvents,
    /// Nothing was fixed in the earlier runs.
    NothingFixed,
    /// Nothing was found in the current run.
    NothingFound,
}

/// The result of the regression check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegressionReport {
    /// The problems that were found again.
    pub regressions: Vec<Regression>,
    /// The reason why nothing was compared, if nothing was.
    pub skipped: Option<RegressionSkipReason>,
    /// The ids of runs in the index that are not safe as file names.
    pub invalid: Vec<String>,
    /// The ids of runs without an event log.
    pub without_events: Vec<String>,
    /// The number of lines of the current run's log that are not events.
    pub malformed: usize,
}

impl RegressionReport {
    /// Returns the messages to print besides the regressions.
    pub fn message_lines(&self) -> Vec<String> {
        let invalid =
            self.invalid.iter().map(|run| format!("Ignoring invalid run_id in index.jsonl: '{}'", one_line(run)));
        let gone = self
            .without_events
            .iter()
            .map(|run| format!("Previous run events not found: {}", ArcheFlowFolder::run_log_name(run)));
        let malformed = (self.malformed > 0).then(|| format!("Skipped {} malformed line(s)", self.malformed));
        let end = match self.skipped {
            Some(RegressionSkipReason::NoIndex) => Some("No index.jsonl found — skipping regression check.".to_owned()),
            Some(RegressionSkipReason::NoEarlierRun) => {
                Some("No previous run found — skipping regression check.".to_owned())
            }
            Some(RegressionSkipReason::NoEarlierEvents) => None,
            Some(RegressionSkipReason::NothingFixed) => {
                Some("No resolved findings in previous run — nothing to regress.".to_owned())
            }
            Some(RegressionSkipReason::NothingFound) => Some("No findings in current run — no regressions.".to_owned()),
            None if self.regressions.is_empty() => Some("No regressions detected.".to_owned()),
            None => {
                let mut runs: Vec<&str> = self.regressions.iter().map(|regression| regression.run.as_str()).collect();
                runs.dedup();
                Some(format!("{} regression(s) detected from run {}.", self.regressions.len(), runs.join(", ")))
            }
        };
        invalid.chain(gone).chain(malformed).chain(end).map(|text| format_log_line(&text)).collect()
    }
}

/// Searches the findings of a run for problems that were fixed in any earlier run.
pub fn run_regression_check(
    folder: &ArcheFlowFolder,
    log: &Path,
    shown: &str,
) -> Result<RegressionReport, ArcheFlowError> {
    if !log.is_file() {
        return Err(ArcheFlowError::NoEvents(shown.to_owned()));
    }
    let current = read_run_findings(log).map_err(|error| ArcheFlowError::Read(shown.to_owned(), error))?;
    let mut done = RegressionReport { malformed: current.malformed, ..RegressionReport::default() };
    let Some(index) = folder.read_bytes(INDEX)? else {
        done.skipped = Some(RegressionSkipReason::NoIndex);
        return Ok(done);
    };
    let (earlier, invalid): (Vec<String>, Vec<String>) =
        list_earlier_runs(&index, current.id.as_deref().unwrap_or_default())
            .into_iter()
            .partition(|run| is_safe_name(run));
    done.invalid = invalid;
    let mut fixes: Vec<(String, String)> = Vec::new();
    let mut read = 0;
    for run in &earlier {
        let events = ArcheFlowFolder::run_log_name(run);
        if !folder.has_file(&events) {
            done.without_events.push(run.clone());
            continue;
        }
        read += 1;
        for fix in read_fixes(&folder.path(&events)).map_err(|error| ArcheFlowError::Read(events.clone(), error))? {
            // A problem that was fixed twice is reported once, with the last run.
            fixes.retain(|(known, _)| *known != fix);
            fixes.push((fix, run.clone()));
        }
    }
    done.skipped = match () {
        () if earlier.is_empty() && done.invalid.is_empty() => Some(RegressionSkipReason::NoEarlierRun),
        () if read == 0 => Some(RegressionSkipReason::NoEarlierEvents),
        () if fixes.is_empty() => Some(RegressionSkipReason::NothingFixed),
        () if current.findings.is_empty() => Some(RegressionSkipReason::NothingFound),
        () => None,
    };
    let found: Vec<&str> = current.findings.iter().map(|finding| finding.description.as_str()).collect();
    done.regressions = fixes.into_iter().filter_map(|(fixed, run)| find_regression(fixed, run, &found)).collect();
    Ok(done)
}

fn find_regression(fixed: String, run: String, found: &[&str]) -> Option<Regression> {
    let found = found.iter().find(|found| overlap_percent(&fixed, found) >= MATCH_PERCENT)?;
    Some(Regression { found: (*found).to_owned(), fixed, run })
}

/// Returns the runs in the index before this one, each once; all of them if this one is not in the index yet.
fn list_earlier_runs(index: &[u8], current: &str) -> Vec<String> {
    let mut runs = read_indexed_runs(index);
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
