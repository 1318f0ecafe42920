//! `extract`: what a run's reviewers found becomes lessons, or is seen again.

use std::collections::HashSet;
use std::path::Path;

use serde_json::json;

use super::events::{Reading, Run};
use super::finding::{Finding, Matcher};
use super::folder::{ARCHIVE, Folder, LESSONS, RUNS};
use super::ids::Ids;
use super::lesson::ArcheLesson;
use super::lines::{Line, Lines};
use super::sidecar::{Known, Record, Runs, adopted};
use super::trouble::Trouble;
use super::{log_line, stamp, tags_of};
use crate::domain::Timestamp;
use crate::text::one_line;

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// The run.
    pub run: String,
    /// The log as it was named.
    pub file: String,
    /// How many different findings it holds.
    pub findings: usize,
    /// Lessons that were seen again: id and text.
    pub updated: Vec<(String, String)>,
    /// Lessons that are new: id and text.
    pub added: Vec<(String, String)>,
    /// Lines of the log that are no events.
    pub malformed: usize,
}

impl Extracted {
    /// What there is to say.
    pub fn talk(&self) -> Vec<String> {
        let mut talk = Vec::new();
        if self.malformed > 0 {
            talk.push(log_line(&format!("Skipped {} malformed line(s) in {}", self.malformed, self.file)));
        }
        if self.findings == 0 {
            talk.push(log_line(&format!("No findings to extract from {}", self.file)));
            return talk;
        }
        let said = |text: &str| one_line(text);
        talk.extend(
            self.updated.iter().map(|(id, text)| log_line(&format!("Updated lesson {id} (freq +1): {}", said(text)))),
        );
        talk.extend(
            self.added.iter().map(|(id, text)| log_line(&format!("Added candidate lesson {id}: {}", said(text)))),
        );
        let (updated, added) = (self.updated.len(), self.added.len());
        talk.push(log_line(&format!("Extract complete: {updated} updated, {added} new candidates")));
        talk
    }
}

/// Learns from the log of a run, which is named `shown` in messages. A run counts once for each lesson, however often
/// it is read.
pub fn extract(folder: &Folder, log: &Path, shown: &str, now: Timestamp) -> Result<Extracted, Trouble> {
    if !log.is_file() {
        return Err(Trouble::NoEvents(shown.to_owned()));
    }
    let unread = |error| Trouble::Read(shown.to_owned(), error);
    let reading = Reading::begin(log).map_err(unread)?;
    let door = folder.door()?;
    let run = reading.finish().map_err(unread)?;
    let named_by_file = || log.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let id = run.id.clone().or_else(named_by_file).unwrap_or_default();
    let writer = door.lock()?;
    writer.may_write(&[LESSONS, RUNS])?;
    let found = folder.lines(LESSONS)?;
    // The first lessons of a memory are not waited for: should the power fail, the log that they came from is still there.
    let writer = if found.is_none() { writer.without_waiting() } else { writer };
    let mut lessons = found.unwrap_or_default();
    let runs = Runs::of(&folder.read(RUNS)?.unwrap_or_default());
    let known = runs.get(&id).cloned().unwrap_or_default();
    let plan = plan(&lessons, &known, &id, &run.findings);
    let ts = stamp(now);
    let mut done = Extracted {
        run: id.clone(),
        file: shown.to_owned(),
        findings: run.findings.len(),
        updated: Vec::new(),
        added: Vec::new(),
        malformed: run.malformed,
    };

    // First what lines are about to forget, then the lines, then that this run was counted. Wherever this is cut off, the
    // lines themselves still tell which lessons the run was counted for.
    let kept = adopted(forgotten(&lessons, &plan.seen, &runs), &runs, &ts);
    if !kept.is_empty() {
        writer.append(RUNS, &kept.iter().flat_map(Record::line).collect::<Vec<_>>())?;
    }
    for number in &plan.seen {
        if let Some(line) = lessons.list.get_mut(*number) {
            done.updated.extend(see_again(line, &id, &ts));
        }
    }
    if !plan.new.is_empty() {
        let archive = folder.lines(ARCHIVE)?.unwrap_or_default();
        let taken = lessons.lessons().chain(archive.lessons()).map(|lesson| lesson.id.as_str());
        let mut ids = Ids::of(taken.chain(runs.lesson_ids()));
        for finding in plan.new {
            let lesson = candidate(finding, ids.next(), &id, &ts);
            done.added.push((lesson.id.clone(), lesson.description.clone()));
            lessons.list.push(Line::new(lesson));
        }
    }
    if !(done.updated.is_empty() && done.added.is_empty()) {
        writer.replace(LESSONS, &lessons.bytes())?;
    }
    let counted: Vec<String> =
        lessons.lessons().filter(|own| own.last_seen_run == id).map(|own| own.id.clone()).collect();
    if let Some(record) = record(&known, counted, &run, &id, &ts) {
        writer.append(RUNS, &record.line())?;
        writer.settle();
    }
    Ok(done)
}

/// What becomes of a run's findings.
#[derive(Debug, Default, PartialEq)]
struct Plan {
    /// Lines whose lesson was seen, each once.
    seen: Vec<usize>,
    /// Findings that become lessons.
    new: Vec<Finding>,
}

fn plan(lessons: &Lines, known: &Known, run: &str, findings: &[Finding]) -> Plan {
    let mut plan = Plan::default();
    let fresh: Vec<&Finding> =
        findings.iter().filter(|finding| !known.findings.contains(&finding.fingerprint())).collect();
    if fresh.is_empty() {
        return plan;
    }
    let mut matcher = Matcher::default();
    for line in &lessons.list {
        let lesson = line.lesson.as_ref();
        matcher.add(lesson.map(|lesson| (lesson.domain.as_str(), lesson.description.as_str(), lesson.tags.as_slice())));
    }
    let is_counted = |lesson: &ArcheLesson| lesson.last_seen_run == run || known.lessons.contains(&lesson.id);
    let lesson = |number: usize| lessons.list.get(number).and_then(|line| line.lesson.as_ref());
    let mut met = HashSet::new();
    for finding in fresh {
        match matcher.best(finding) {
            Some(number) => {
                let is_first = met.insert(number);
                if is_first && lesson(number).is_some_and(|lesson| !is_counted(lesson)) {
                    plan.seen.push(number);
                }
            }
            None if finding.severity.is_grave() => {
                let tags = tags_of(&finding.description);
                matcher.add(Some((&finding.category, &finding.description, &tags)));
                plan.new.push(finding.clone());
            }
            None => {}
        }
    }
    plan
}

/// Runs that only a line knows of which is about to name another one, each with its lesson.
fn forgotten(lessons: &Lines, seen: &[usize], runs: &Runs) -> Vec<(String, String)> {
    let about = seen.iter().filter_map(|number| lessons.list.get(*number)?.lesson.as_ref());
    let only_here = about.filter(|lesson| !lesson.last_seen_run.is_empty() && !lesson.id.is_empty());
    let only_here = only_here.filter(|lesson| !runs.counted(&lesson.last_seen_run, &lesson.id));
    only_here.map(|lesson| (lesson.last_seen_run.clone(), lesson.id.clone())).collect()
}

fn see_again(line: &mut Line, run: &str, ts: &str) -> Option<(String, String)> {
    let lesson = line.lesson.as_ref()?;
    let (told, frequency) = ((lesson.id.clone(), lesson.description.clone()), lesson.frequency.saturating_add(1));
    line.set(&[
        ("frequency", json!(frequency)),
        ("ts", json!(ts)),
        ("last_seen_run", json!(run)),
        ("runs_since_last_seen", json!(0)),
    ]);
    Some(told)
}

fn candidate(finding: Finding, id: String, run: &str, ts: &str) -> ArcheLesson {
    ArcheLesson {
        id,
        ts: ts.to_owned(),
        run_id: run.to_owned(),
        kind: "pattern".to_owned(),
        source: finding.source,
        tags: tags_of(&finding.description),
        description: finding.description,
        frequency: 1,
        severity: finding.severity.as_str().to_owned(),
        domain: finding.category,
        archetype: Some(None),
        last_seen_run: run.to_owned(),
        ..ArcheLesson::default()
    }
}

/// What the run was counted for and what was looked at; nothing if that is known already.
fn record(known: &Known, counted: Vec<String>, run: &Run, id: &str, ts: &str) -> Option<Record> {
    let mut findings: Vec<String> = run.findings.iter().map(Finding::fingerprint).collect();
    let is_known = known.is_extracted && findings.iter().all(|finding| known.findings.contains(finding));
    let mut lessons: Vec<String> = known.lessons.iter().cloned().collect();
    lessons.extend(counted.into_iter().filter(|lesson| !known.lessons.contains(lesson)));
    lessons.sort();
    findings.retain(|finding| !known.findings.contains(finding));
    let record = Record {
        run_id: id.to_owned(),
        ts: ts.to_owned(),
        lessons: Some(lessons),
        findings: Some(findings),
        ..Record::default()
    };
    (!is_known).then_some(record)
}
