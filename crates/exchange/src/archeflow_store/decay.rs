//! The `decay` command: lessons that runs no longer show lose sightings and end up in the archive.

use serde_json::{Value, json};

use super::error::{ArcheFlowError, is_safe_name};
use super::folder::{ARCHIVE, ArcheFlowFolder, INDEX, LESSONS, RUNS};
use super::lesson::{ArcheFlowLesson, json_to_text};
use super::lesson_file::{LessonLine, LessonLines};
use super::run_record::{ProcessedRun, ProcessedRuns, RunRecord};
use super::{format_log_line, format_timestamp, is_preference};
use archivist_core::domain::StableHash;
use archivist_core::domain::Timestamp;
use archivist_core::recall::FrequencyDecay;

#[cfg(test)]
#[path = "decay_tests.rs"]
mod tests;

/// The number of consecutive runs without a sighting that costs a lesson one sighting.
const DECAY_RUNS: u32 = 10;

/// The result of applying the decay of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecayReport {
    /// The finished run, or `None` if it is not known which one finished.
    pub run: Option<String>,
    /// True if the decay of this run had been applied before.
    pub is_repeated: bool,
    /// The number of lessons that lost a sighting.
    pub decayed: usize,
    /// The ids of the lessons that were archived because no sighting is left.
    pub archived: Vec<String>,
}

impl DecayReport {
    /// Returns the messages to print.
    pub fn message_lines(&self) -> Vec<String> {
        let over = |id: &String| format_log_line(&format!("Archived lesson {id} (frequency reached 0)"));
        let mut talk: Vec<String> = self.archived.iter().map(over).collect();
        if let Some(run) = self.run.as_ref().filter(|_| self.is_repeated) {
            talk.push(format_log_line(&format!("Run {run} has had its decay already")));
        }
        talk.push(format_log_line(&format!(
            "Decay complete: {} decayed, {} archived",
            self.decayed,
            self.archived.len()
        )));
        talk
    }
}

/// Applies the decay of the finished run to the lessons that it did not show. The run is the named one, else the last
/// known one without decay; if there is none, all lessons decay. Returns `None` if there is no lessons file.
pub fn decay_lessons(
    folder: &ArcheFlowFolder,
    run: Option<&str>,
    now: Timestamp,
) -> Result<Option<DecayReport>, ArcheFlowError> {
    if let Some(run) = run.filter(|run| !is_safe_name(run)) {
        return Err(ArcheFlowError::RunId(run.to_owned()));
    }
    if !folder.has_file(LESSONS) {
        return Ok(None);
    }
    let writer = folder.lock_for_writing()?;
    writer.check_writable(&[LESSONS, ARCHIVE, RUNS])?;
    let Some(before) = folder.read_bytes(LESSONS)? else { return Ok(None) };
    let state = fingerprint_bytes(&before);
    let runs = ProcessedRuns::from_bytes(&folder.read_bytes(RUNS)?.unwrap_or_default());
    let current = match run {
        Some(run) => Some(run.to_owned()),
        None => find_finished_run(folder, &runs, &state)?,
    };
    let known = current.as_deref().and_then(|run| runs.get(run)).cloned().unwrap_or_default();
    if known.is_decayed(&state) {
        return Ok(Some(DecayReport { run: current, is_repeated: true, ..DecayReport::default() }));
    }
    let mut lessons = LessonLines::from_bytes(&before);
    let ts = format_timestamp(now);
    let aged = age_lessons(&mut lessons, current.as_deref(), &known, &ts);

    // Nothing leaves the lessons before it is in the archive. The decay of the run is recorded together with a
    // fingerprint of the lessons before it, so that a record whose change was never written can be recognized.
    let archive = folder.read_lesson_lines(ARCHIVE)?.unwrap_or_default();
    let missing =
        aged.over.list.iter().filter(|line| line.lesson.as_ref().is_none_or(|own| !archive.contains_lesson(own)));
    let missing: Vec<u8> = missing.flat_map(LessonLine::to_line_bytes).collect();
    if !missing.is_empty() {
        writer.append_to_file(ARCHIVE, &missing)?;
    }
    let after = lessons.to_bytes();
    if let Some(run_id) = current.clone() {
        let of = (after != before).then_some(state);
        writer.append_to_file(
            RUNS,
            &RunRecord { run_id, ts, decayed: true, of, ..RunRecord::default() }.to_line_bytes(),
        )?;
    }
    if after != before {
        writer.replace_file(LESSONS, &after)?;
    }
    let archived = aged.over.lessons().map(|lesson| lesson.id.clone()).collect();
    Ok(Some(DecayReport { run: current, is_repeated: false, decayed: aged.decayed, archived }))
}

/// The changes made by the decay of one run.
#[derive(Debug, Default)]
struct AgedLessons {
    decayed: usize,
    over: LessonLines,
}

fn age_lessons(lessons: &mut LessonLines, run: Option<&str>, known: &ProcessedRun, ts: &str) -> AgedLessons {
    let mut aged = AgedLessons::default();
    let mut kept = Vec::with_capacity(lessons.list.len());
    for mut line in lessons.list.drain(..) {
        let ages = |lesson: &&ArcheFlowLesson| !is_preference(lesson) && !is_seen_in_run(lesson, run, known);
        let Some(lesson) = line.lesson.as_ref().filter(ages) else {
            kept.push(line);
            continue;
        };
        let left = count_silent_run(lesson.frequency, lesson.runs_since_last_seen);
        aged.decayed += usize::from(left.silent_runs == 0);
        if left.is_exhausted() && left.silent_runs == 0 {
            line.set_fields(&[("frequency", json!(0)), ("ts", json!(ts))]);
            aged.over.list.push(line);
        } else {
            line.set_fields(&[("frequency", json!(left.frequency)), ("runs_since_last_seen", json!(left.silent_runs))]);
            kept.push(line);
        }
    }
    lessons.list = kept;
    aged
}

/// Counts one more run without a sighting. It removes at most one sighting, whatever count the line had before, and a
/// lesson without sightings also gets its ten runs.
fn count_silent_run(frequency: u64, silent_runs: u64) -> FrequencyDecay {
    let runs = silent_runs.saturating_add(1);
    if runs < u64::from(DECAY_RUNS) {
        return FrequencyDecay { frequency, silent_runs: runs };
    }
    FrequencyDecay::after_silence(frequency, u64::from(DECAY_RUNS), DECAY_RUNS)
}

fn is_seen_in_run(lesson: &ArcheFlowLesson, run: Option<&str>, known: &ProcessedRun) -> bool {
    run.is_some_and(|run| lesson.last_seen_run == run) || known.lessons.contains(&lesson.id)
}

/// Returns the finished run if none was named: the last extracted run without decay, else the last run in ArcheFlow's
/// index, unless its decay was applied already.
fn find_finished_run(
    folder: &ArcheFlowFolder,
    runs: &ProcessedRuns,
    state: &str,
) -> Result<Option<String>, ArcheFlowError> {
    if let Some(run) = runs.find_last_undecayed(state) {
        return Ok(Some(run.to_owned()));
    }
    let last = read_indexed_runs(&folder.read_bytes(INDEX)?.unwrap_or_default()).pop();
    Ok(last.filter(|run| runs.get(run).is_none_or(|known| !known.is_decayed(state))))
}

/// Returns the run ids of ArcheFlow's index in their order, repeated ones included.
pub(super) fn read_indexed_runs(bytes: &[u8]) -> Vec<String> {
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let named = lines.filter_map(|mut line| Some(json_to_text(line.get_mut("run_id")?.take())));
    named.filter(|run| !run.is_empty()).collect()
}

fn fingerprint_bytes(bytes: &[u8]) -> String {
    StableHash::from_bytes(bytes).to_digits(16)
}
