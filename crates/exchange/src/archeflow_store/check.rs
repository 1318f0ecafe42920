//! The `audit-check` command: tells whether the lessons injected into a run kept their problem from recurring.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{ArcheFlowError, is_safe_name};
use super::events::{RunFindings, read_run_findings};
use super::folder::{ARCHIVE, AUDIT, ArcheFlowFolder, LESSONS};
use super::{format_log_line, format_timestamp, to_json_line};
use archivist_core::domain::Timestamp;
use archivist_core::text::{one_line, overlap_percent};

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;

/// A finding that contains at least this percentage of a lesson's words counts as the lesson's problem recurring.
const REPEATED_PERCENT: usize = 30;

/// The effect of a lesson on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LessonEffectiveness {
    /// No finding of the review repeats the lesson's problem.
    Helpful,
    /// A finding of the review repeats the lesson's problem.
    Ineffective,
    /// The run was not reviewed.
    Unknown,
}

impl LessonEffectiveness {
    /// Returns the word for it in the audit file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Ineffective => "ineffective",
            Self::Unknown => "unknown",
        }
    }
}

/// A lesson that was injected into a run, with its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectivenessVerdict {
    /// The id of the lesson.
    pub lesson: String,
    /// The text of the lesson.
    pub description: String,
    /// The effect of the lesson on the run.
    pub effectiveness: LessonEffectiveness,
    /// The highest percentage of the lesson's words that a single finding contains.
    pub percent: usize,
}

/// The outcome of `audit-check` for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditCheckOutcome {
    /// There is no audit file, so no injection was ever recorded.
    NoRecords,
    /// The run with this id has no event log.
    NoEvents(String),
    /// No lesson was injected into the run with this id.
    NotGiven(String),
    /// The verdicts on the injected lessons, and the ids of those found neither in the lessons nor in the archive.
    Checked(Vec<EffectivenessVerdict>, Vec<String>),
}

impl AuditCheckOutcome {
    /// Returns the messages to print.
    pub fn message_lines(&self) -> Vec<String> {
        match self {
            Self::NoRecords => vec!["No audit records found.".to_owned()],
            Self::NoEvents(run) => vec![format!("No events file found for run {run}.")],
            Self::NotGiven(run) => vec![format!("No audit records for run {run}.")],
            Self::Checked(verdicts, lost) => {
                let said =
                    verdicts.iter().map(|EffectivenessVerdict { lesson, description, effectiveness, .. }| {
                        format_log_line(&format!(
                            "Lesson {lesson} ({}): {}",
                            effectiveness.as_str(),
                            one_line(description)
                        ))
                    });
                let lost = lost.iter().map(|lesson| {
                    format_log_line(&format!(
                        "Lesson {} is neither among the lessons nor in the archive",
                        one_line(lesson)
                    ))
                });
                said.chain(lost).collect()
            }
        }
    }
}

/// A line of the audit file that records a verdict.
#[derive(Debug, Serialize)]
struct EffectivenessRecord<'a> {
    ts: &'a str,
    run_id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    lesson_id: &'a str,
    lesson_desc: &'a str,
    effectiveness: LessonEffectiveness,
    keyword_overlap_pct: usize,
}

/// Any line of the audit file.
#[derive(Debug, Deserialize)]
struct ArcheFlowAuditLine {
    #[serde(default)]
    run_id: Value,
    #[serde(default)]
    lessons_injected: Value,
    #[serde(default)]
    lesson_id: Value,
    #[serde(default)]
    effectiveness: Value,
}

/// Compares the lessons injected into a run with the findings of its review, and records each new or changed verdict.
pub fn run_audit_check(
    folder: &ArcheFlowFolder,
    run: &str,
    now: Timestamp,
) -> Result<AuditCheckOutcome, ArcheFlowError> {
    if !is_safe_name(run) {
        return Err(ArcheFlowError::RunId(run.to_owned()));
    }
    if !folder.has_file(AUDIT) {
        return Ok(AuditCheckOutcome::NoRecords);
    }
    let events = ArcheFlowFolder::run_log_name(run);
    if !folder.has_file(&events) {
        return Ok(AuditCheckOutcome::NoEvents(run.to_owned()));
    }
    let log = read_run_findings(&folder.path(&events)).map_err(|error| ArcheFlowError::Read(events, error))?;
    let writer = folder.lock_for_writing()?;
    writer.check_writable(&[AUDIT])?;
    let records = RunAuditRecords::for_run(&folder.read_bytes(AUDIT)?.unwrap_or_default(), run);
    if records.given.is_empty() {
        return Ok(AuditCheckOutcome::NotGiven(run.to_owned()));
    }
    let (lessons, archive) = (
        folder.read_lesson_lines(LESSONS)?.unwrap_or_default(),
        folder.read_lesson_lines(ARCHIVE)?.unwrap_or_default(),
    );
    let mut descriptions: HashMap<&str, &str> = HashMap::new();
    for lesson in lessons.lessons().chain(archive.lessons()) {
        descriptions.entry(&lesson.id).or_insert(&lesson.description);
    }
    let (found, lost): (Vec<&String>, Vec<&String>) =
        records.given.iter().partition(|lesson| descriptions.contains_key(lesson.as_str()));
    let verdicts: Vec<EffectivenessVerdict> = found
        .into_iter()
        .map(|lesson| judge_lesson(lesson, descriptions.get(lesson.as_str()).copied().unwrap_or_default(), &log))
        .collect();
    let ts = format_timestamp(now);
    let fresh = verdicts.iter().filter(|own| records.availability.get(&own.lesson) != Some(&own.effectiveness));
    let fresh: Vec<u8> =
        fresh.flat_map(|verdict| to_json_line(&build_effectiveness_record(verdict, run, &ts))).collect();
    if !fresh.is_empty() {
        writer.append_to_file(AUDIT, &fresh)?;
    }
    Ok(AuditCheckOutcome::Checked(verdicts, lost.into_iter().cloned().collect()))
}

fn build_effectiveness_record<'a>(
    verdict: &'a EffectivenessVerdict,
    run: &'a str,
    ts: &'a str,
) -> EffectivenessRecord<'a> {
    EffectivenessRecord {
        ts,
        run_id: run,
        kind: "effectiveness_check",
        lesson_id: &verdict.lesson,
        lesson_desc: &verdict.description,
        effectiveness: verdict.effectiveness,
        keyword_overlap_pct: verdict.percent,
    }
}

/// The audit records of a single run.
#[derive(Debug, Default, PartialEq)]
struct RunAuditRecords {
    given: BTreeSet<String>,
    availability: HashMap<String, LessonEffectiveness>,
}

impl RunAuditRecords {
    fn for_run(audit: &[u8], run: &str) -> Self {
        let mut records = Self::default();
        for line in audit.split(|byte| *byte == b'\n') {
            let Some(row) = serde_json::from_slice::<ArcheFlowAuditLine>(line).ok().filter(|row| row.run_id == run)
            else {
                continue;
            };
            if let Value::Array(lessons) = row.lessons_injected {
                let named = lessons.iter().filter_map(Value::as_str).filter(|lesson| !lesson.is_empty());
                records.given.extend(named.map(str::to_owned));
            }
            if let (Value::String(lesson), Ok(effectiveness)) =
                (row.lesson_id, serde_json::from_value(row.effectiveness))
            {
                records.availability.insert(lesson, effectiveness);
            }
        }
        records
    }
}

/// Judges a lesson by the single finding closest to it: words scattered over many findings are no recurrence.
fn judge_lesson(lesson: &str, description: &str, log: &RunFindings) -> EffectivenessVerdict {
    let overlaps = log.findings.iter().map(|finding| overlap_percent(description, &finding.description));
    let percent = overlaps.max().unwrap_or_default();
    let effectiveness = match percent {
        _ if !log.is_reviewed => LessonEffectiveness::Unknown,
        REPEATED_PERCENT.. => LessonEffectiveness::Ineffective,
        _ => LessonEffectiveness::Helpful,
    };
    EffectivenessVerdict { lesson: lesson.to_owned(), description: description.to_owned(), effectiveness, percent }
}
