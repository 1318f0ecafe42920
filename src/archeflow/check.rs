//! `audit-check`: whether the lessons that a run was given kept their trouble away.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::events::{Run, read_run};
use super::folder::{ARCHIVE, AUDIT, Folder, LESSONS};
use super::trouble::{Trouble, is_safe_name};
use super::{json_line, log_line, stamp};
use crate::domain::Timestamp;
use crate::text::{one_line, overlap_percent};

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;

/// A finding that holds so many of a lesson's words, in percent, is the trouble that the lesson warned of.
const REPEATED_PERCENT: usize = 30;

/// What a lesson did for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effectiveness {
    /// Nobody found its trouble.
    Helpful,
    /// Its trouble came back.
    Ineffective,
    /// Nobody looked.
    Unknown,
}

impl Effectiveness {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Ineffective => "ineffective",
            Self::Unknown => "unknown",
        }
    }
}

/// A lesson that a run was given, and what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The lesson.
    pub lesson: String,
    /// What it says.
    pub description: String,
    /// What it did.
    pub effectiveness: Effectiveness,
    /// How many of its words the closest finding holds, in percent.
    pub percent: usize,
}

/// What there is to say about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audited {
    /// No run was ever given a lesson.
    NoRecords,
    /// This one left no log.
    NoEvents(String),
    /// This one was given none.
    NotGiven(String),
    /// The lessons it was given, and those that are nowhere any more.
    Checked(Vec<Verdict>, Vec<String>),
}

impl Audited {
    /// It in words.
    pub fn talk(&self) -> Vec<String> {
        match self {
            Self::NoRecords => vec!["No audit records found.".to_owned()],
            Self::NoEvents(run) => vec![format!("No events file found for run {run}.")],
            Self::NotGiven(run) => vec![format!("No audit records for run {run}.")],
            Self::Checked(verdicts, lost) => {
                let said = verdicts.iter().map(|Verdict { lesson, description, effectiveness, .. }| {
                    log_line(&format!("Lesson {lesson} ({}): {}", effectiveness.as_str(), one_line(description)))
                });
                let lost = lost.iter().map(|lesson| {
                    log_line(&format!("Lesson {} is neither among the lessons nor in the archive", one_line(lesson)))
                });
                said.chain(lost).collect()
            }
        }
    }
}

/// A line of the audit that tells of a verdict.
#[derive(Debug, Serialize)]
struct Noted<'a> {
    ts: &'a str,
    run_id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    lesson_id: &'a str,
    lesson_desc: &'a str,
    effectiveness: Effectiveness,
    keyword_overlap_pct: usize,
}

/// A line of the audit, whatever it tells of.
#[derive(Debug, Deserialize)]
struct Row {
    #[serde(default)]
    run_id: Value,
    #[serde(default)]
    lessons_injected: Value,
    #[serde(default)]
    lesson_id: Value,
    #[serde(default)]
    effectiveness: Value,
}

/// Compares what a run was given with what its reviewers found, and notes each verdict that does not stand yet.
pub fn audit_check(folder: &Folder, run: &str, now: Timestamp) -> Result<Audited, Trouble> {
    if !is_safe_name(run) {
        return Err(Trouble::RunId(run.to_owned()));
    }
    if !folder.has(AUDIT) {
        return Ok(Audited::NoRecords);
    }
    let events = Folder::events_of(run);
    if !folder.has(&events) {
        return Ok(Audited::NoEvents(run.to_owned()));
    }
    let log = read_run(&folder.path(&events)).map_err(|error| Trouble::Read(events, error))?;
    let writer = folder.lock()?;
    writer.may_write(&[AUDIT])?;
    let records = Records::of(&folder.read(AUDIT)?.unwrap_or_default(), run);
    if records.given.is_empty() {
        return Ok(Audited::NotGiven(run.to_owned()));
    }
    let (lessons, archive) = (folder.lines(LESSONS)?.unwrap_or_default(), folder.lines(ARCHIVE)?.unwrap_or_default());
    let mut descriptions: HashMap<&str, &str> = HashMap::new();
    for lesson in lessons.lessons().chain(archive.lessons()) {
        descriptions.entry(&lesson.id).or_insert(&lesson.description);
    }
    let (found, lost): (Vec<&String>, Vec<&String>) =
        records.given.iter().partition(|lesson| descriptions.contains_key(lesson.as_str()));
    let verdicts: Vec<Verdict> = found
        .into_iter()
        .map(|lesson| verdict(lesson, descriptions.get(lesson.as_str()).copied().unwrap_or_default(), &log))
        .collect();
    let ts = stamp(now);
    let fresh = verdicts.iter().filter(|own| records.standing.get(&own.lesson) != Some(&own.effectiveness));
    let fresh: Vec<u8> = fresh.flat_map(|verdict| json_line(&noted(verdict, run, &ts))).collect();
    if !fresh.is_empty() {
        writer.append(AUDIT, &fresh)?;
    }
    Ok(Audited::Checked(verdicts, lost.into_iter().cloned().collect()))
}

fn noted<'a>(verdict: &'a Verdict, run: &'a str, ts: &'a str) -> Noted<'a> {
    Noted {
        ts,
        run_id: run,
        kind: "effectiveness_check",
        lesson_id: &verdict.lesson,
        lesson_desc: &verdict.description,
        effectiveness: verdict.effectiveness,
        keyword_overlap_pct: verdict.percent,
    }
}

/// What the audit says about one run.
#[derive(Debug, Default, PartialEq)]
struct Records {
    given: BTreeSet<String>,
    standing: HashMap<String, Effectiveness>,
}

impl Records {
    fn of(audit: &[u8], run: &str) -> Self {
        let mut records = Self::default();
        for line in audit.split(|byte| *byte == b'\n') {
            let Some(row) = serde_json::from_slice::<Row>(line).ok().filter(|row| row.run_id == run) else { continue };
            if let Value::Array(lessons) = row.lessons_injected {
                let named = lessons.iter().filter_map(Value::as_str).filter(|lesson| !lesson.is_empty());
                records.given.extend(named.map(str::to_owned));
            }
            if let (Value::String(lesson), Ok(effectiveness)) =
                (row.lesson_id, serde_json::from_value(row.effectiveness))
            {
                records.standing.insert(lesson, effectiveness);
            }
        }
        records
    }
}

/// Each finding is looked at alone: a lesson's words scattered over many findings are no trouble that came back.
fn verdict(lesson: &str, description: &str, log: &Run) -> Verdict {
    let overlaps = log.findings.iter().map(|finding| overlap_percent(description, &finding.description));
    let percent = overlaps.max().unwrap_or_default();
    let effectiveness = match percent {
        _ if !log.is_reviewed => Effectiveness::Unknown,
        REPEATED_PERCENT.. => Effectiveness::Ineffective,
        _ => Effectiveness::Helpful,
    };
    Verdict { lesson: lesson.to_owned(), description: description.to_owned(), effectiveness, percent }
}
