//! The `extract` command: turns the review findings of a run into lessons, or into sightings of existing ones.

use std::collections::HashSet;
use std::path::Path;

use serde_json::json;

use super::error::ArcheFlowError;
use super::events::{ParallelLogReader, RunFindings};
use super::finding::{LessonMatcher, ReviewFinding};
use super::folder::{ARCHIVE, ArcheFlowFolder, LESSONS, RUNS};
use super::ids::LessonIdSequence;
use super::lesson::ArcheFlowLesson;
use super::lesson_file::{LessonLine, LessonLines};
use super::run_record::{ProcessedRun, ProcessedRuns, RunRecord, build_missing_records};
use super::{extract_tags, format_log_line, format_timestamp};
use archivist_core::domain::Timestamp;
use archivist_core::text::one_line;

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;

/// The result of extracting lessons from a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractReport {
    /// The id of the run.
    pub run: String,
    /// The event log as it was named.
    pub file: String,
    /// The number of different findings in the log.
    pub findings: usize,
    /// The lessons that were seen again, by id and text.
    pub updated: Vec<(String, String)>,
    /// The lessons that are new, by id and text.
    pub added: Vec<(String, String)>,
    /// The number of log lines that are not events.
    pub malformed: usize,
}

impl ExtractReport {
    /// Returns the messages to print.
    pub fn message_lines(&self) -> Vec<String> {
        let mut talk = Vec::new();
        if self.malformed > 0 {
            talk.push(format_log_line(&format!("Skipped {} malformed line(s) in {}", self.malformed, self.file)));
        }
        if self.findings == 0 {
            talk.push(format_log_line(&format!("No findings to extract from {}", self.file)));
            return talk;
        }
        let said = |text: &str| one_line(text);
        talk.extend(
            self.updated
                .iter()
                .map(|(id, text)| format_log_line(&format!("Updated lesson {id} (freq +1): {}", said(text)))),
        );
        talk.extend(
            self.added
                .iter()
                .map(|(id, text)| format_log_line(&format!("Added candidate lesson {id}: {}", said(text)))),
        );
        let (updated, added) = (self.updated.len(), self.added.len());
        talk.push(format_log_line(&format!("Extract complete: {updated} updated, {added} new candidates")));
        talk
    }
}

/// Extracts lessons from the event log of a run; messages refer to the log as `shown`. A run counts once for each
/// lesson, however often it is read.
pub fn extract_lessons(
    folder: &ArcheFlowFolder,
    log: &Path,
    shown: &str,
    now: Timestamp,
) -> Result<ExtractReport, ArcheFlowError> {
    if !log.is_file() {
        return Err(ArcheFlowError::NoEvents(shown.to_owned()));
    }
    let unread = |error| ArcheFlowError::Read(shown.to_owned(), error);
    let reading = ParallelLogReader::start_reading(log).map_err(unread)?;
    let door = folder.open_lock_file()?;
    let run = reading.finish_reading().map_err(unread)?;
    let named_by_file = || log.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let id = run.id.clone().or_else(named_by_file).unwrap_or_default();
    let writer = door.wait_for_lock()?;
    writer.check_writable(&[LESSONS, RUNS])?;
    let found = folder.read_lesson_lines(LESSONS)?;
    // The first lessons of a memory are not synced: after a power cut the log that they came from is still there.
    let writer = if found.is_none() { writer.without_sync() } else { writer };
    let mut lessons = found.unwrap_or_default();
    let runs = ProcessedRuns::from_bytes(&folder.read_bytes(RUNS)?.unwrap_or_default());
    let known = runs.get(&id).cloned().unwrap_or_default();
    let plan = plan_extraction(&lessons, &known, &id, &run.findings);
    let ts = format_timestamp(now);
    let mut done = ExtractReport {
        run: id.clone(),
        file: shown.to_owned(),
        findings: run.findings.len(),
        updated: Vec::new(),
        added: Vec::new(),
        malformed: run.malformed,
    };

    // First the run ids that lines are about to lose, then the lines, then the record of this run. Wherever this is
    // interrupted, the lines themselves still show which lessons the run was counted for.
    let kept = build_missing_records(find_unrecorded_runs(&lessons, &plan.seen, &runs), &runs, &ts);
    if !kept.is_empty() {
        writer.append_to_file(RUNS, &kept.iter().flat_map(RunRecord::to_line_bytes).collect::<Vec<_>>())?;
    }
    for number in &plan.seen {
        if let Some(line) = lessons.list.get_mut(*number) {
            done.updated.extend(add_sighting(line, &id, &ts));
        }
    }
    if !plan.new.is_empty() {
        let archive = folder.read_lesson_lines(ARCHIVE)?.unwrap_or_default();
        let taken = lessons.lessons().chain(archive.lessons()).map(|lesson| lesson.id.as_str());
        let mut ids = LessonIdSequence::from_taken(taken.chain(runs.lesson_ids()));
        for finding in plan.new {
            let lesson = build_candidate_lesson(finding, ids.next_id(), &id, &ts);
            done.added.push((lesson.id.clone(), lesson.description.clone()));
            lessons.list.push(LessonLine::new(lesson));
        }
    }
    if !(done.updated.is_empty() && done.added.is_empty()) {
        writer.replace_file(LESSONS, &lessons.to_bytes())?;
    }
    let counted: Vec<String> =
        lessons.lessons().filter(|own| own.last_seen_run == id).map(|own| own.id.clone()).collect();
    if let Some(record) = build_run_record(&known, counted, &run, &id, &ts) {
        writer.append_to_file(RUNS, &record.to_line_bytes())?;
        writer.sync_folder();
    }
    Ok(done)
}

/// The changes that the findings of a run lead to.
#[derive(Debug, Default, PartialEq)]
struct ExtractPlan {
    /// The numbers of the lines whose lesson was seen, each once.
    seen: Vec<usize>,
    /// The findings that become lessons.
    new: Vec<ReviewFinding>,
}

fn plan_extraction(lessons: &LessonLines, known: &ProcessedRun, run: &str, findings: &[ReviewFinding]) -> ExtractPlan {
    let mut plan = ExtractPlan::default();
    let fresh: Vec<&ReviewFinding> =
        findings.iter().filter(|finding| !known.findings.contains(&finding.fingerprint())).collect();
    if fresh.is_empty() {
        return plan;
    }
    let mut matcher = LessonMatcher::default();
    for line in &lessons.list {
        let lesson = line.lesson.as_ref();
        matcher.add_lesson(
            lesson.map(|lesson| (lesson.domain.as_str(), lesson.description.as_str(), lesson.tags.as_slice())),
        );
    }
    let is_counted = |lesson: &ArcheFlowLesson| lesson.last_seen_run == run || known.lessons.contains(&lesson.id);
    let lesson = |number: usize| lessons.list.get(number).and_then(|line| line.lesson.as_ref());
    let mut met = HashSet::new();
    for finding in fresh {
        match matcher.find_best_match(finding) {
            Some(number) => {
                let is_first = met.insert(number);
                if is_first && lesson(number).is_some_and(|lesson| !is_counted(lesson)) {
                    plan.seen.push(number);
                }
            }
            None if finding.severity.is_serious() => {
                let tags = extract_tags(&finding.description);
                matcher.add_lesson(Some((&finding.category, &finding.description, &tags)));
                plan.new.push(finding.clone());
            }
            None => {}
        }
    }
    plan
}

/// Returns the runs that are recorded only in a line about to name another run, each with the id of its lesson.
fn find_unrecorded_runs(lessons: &LessonLines, seen: &[usize], runs: &ProcessedRuns) -> Vec<(String, String)> {
    let about = seen.iter().filter_map(|number| lessons.list.get(*number)?.lesson.as_ref());
    let only_here = about.filter(|lesson| !lesson.last_seen_run.is_empty() && !lesson.id.is_empty());
    let only_here = only_here.filter(|lesson| !runs.is_counted_for(&lesson.last_seen_run, &lesson.id));
    only_here.map(|lesson| (lesson.last_seen_run.clone(), lesson.id.clone())).collect()
}

fn add_sighting(line: &mut LessonLine, run: &str, ts: &str) -> Option<(String, String)> {
    let lesson = line.lesson.as_ref()?;
    let (told, frequency) = ((lesson.id.clone(), lesson.description.clone()), lesson.frequency.saturating_add(1));
    line.set_fields(&[
        ("frequency", json!(frequency)),
        ("ts", json!(ts)),
        ("last_seen_run", json!(run)),
        ("runs_since_last_seen", json!(0)),
    ]);
    Some(told)
}

fn build_candidate_lesson(finding: ReviewFinding, id: String, run: &str, ts: &str) -> ArcheFlowLesson {
    ArcheFlowLesson {
        id,
        ts: ts.to_owned(),
        run_id: run.to_owned(),
        kind: "pattern".to_owned(),
        source: finding.source,
        tags: extract_tags(&finding.description),
        description: finding.description,
        frequency: 1,
        severity: finding.severity.as_str().to_owned(),
        domain: finding.category,
        archetype: Some(None),
        last_seen_run: run.to_owned(),
        ..ArcheFlowLesson::default()
    }
}

/// Returns the record of the lessons and findings counted for the run, or `None` if nothing in it is new.
fn build_run_record(
    known: &ProcessedRun,
    counted: Vec<String>,
    run: &RunFindings,
    id: &str,
    ts: &str,
) -> Option<RunRecord> {
    let mut findings: Vec<String> = run.findings.iter().map(ReviewFinding::fingerprint).collect();
    let is_known = known.is_extracted && findings.iter().all(|finding| known.findings.contains(finding));
    let mut lessons: Vec<String> = known.lessons.iter().cloned().collect();
    lessons.extend(counted.into_iter().filter(|lesson| !known.lessons.contains(lesson)));
    lessons.sort();
    findings.retain(|finding| !known.findings.contains(finding));
    let record = RunRecord {
        run_id: id.to_owned(),
        ts: ts.to_owned(),
        lessons: Some(lessons),
        findings: Some(findings),
        ..RunRecord::default()
    };
    (!is_known).then_some(record)
}
