//! `decay`: lessons that runs no longer show grow old, and end in the archive.

use serde_json::{Value, json};

use super::folder::{ARCHIVE, Folder, INDEX, LESSONS, RUNS};
use super::lesson::{ArcheLesson, plain_text};
use super::lines::{Line, Lines};
use super::sidecar::{Known, Record, Runs};
use super::trouble::{Trouble, is_safe_name};
use super::{is_preference, log_line, stamp};
use crate::domain::Timestamp;
use crate::recall::Fading;

#[cfg(test)]
#[path = "decay_tests.rs"]
mod tests;

/// So many runs without a sighting take one away.
const DECAY_RUNS: u32 = 10;

/// What a run's silence took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decayed {
    /// The run, if it is known which one is over.
    pub run: Option<String>,
    /// Whether lessons had grown old by this run before.
    pub is_repeated: bool,
    /// How many lessons lost a sighting.
    pub decayed: usize,
    /// The lessons that lost their last one.
    pub archived: Vec<String>,
}

impl Decayed {
    /// What there is to say.
    pub fn talk(&self) -> Vec<String> {
        let over = |id: &String| log_line(&format!("Archived lesson {id} (frequency reached 0)"));
        let mut talk: Vec<String> = self.archived.iter().map(over).collect();
        if let Some(run) = self.run.as_ref().filter(|_| self.is_repeated) {
            talk.push(log_line(&format!("Run {run} has had its decay already")));
        }
        talk.push(log_line(&format!("Decay complete: {} decayed, {} archived", self.decayed, self.archived.len())));
        talk
    }
}

/// Lets lessons grow old that the run which is over did not show: the one that is named, else the last one that is known
/// and has not been through this, else none, and all lessons do. Nothing happens where nothing was ever learned.
pub fn decay(folder: &Folder, run: Option<&str>, now: Timestamp) -> Result<Option<Decayed>, Trouble> {
    if let Some(run) = run.filter(|run| !is_safe_name(run)) {
        return Err(Trouble::RunId(run.to_owned()));
    }
    if !folder.has(LESSONS) {
        return Ok(None);
    }
    let writer = folder.lock()?;
    writer.may_write(&[LESSONS, ARCHIVE, RUNS])?;
    let Some(before) = folder.read(LESSONS)? else { return Ok(None) };
    let state = fingerprint(&before);
    let runs = Runs::of(&folder.read(RUNS)?.unwrap_or_default());
    let current = match run {
        Some(run) => Some(run.to_owned()),
        None => current(folder, &runs, &state)?,
    };
    let known = current.as_deref().and_then(|run| runs.get(run)).cloned().unwrap_or_default();
    if known.is_decayed(&state) {
        return Ok(Some(Decayed { run: current, is_repeated: true, ..Decayed::default() }));
    }
    let mut lessons = Lines::of(&before);
    let ts = stamp(now);
    let aged = age(&mut lessons, current.as_deref(), &known, &ts);

    // Nothing leaves the lessons before it is in the archive. That the run has been through this is noted together with
    // what the lessons were before, so that a note without its deed can be told.
    let archive = folder.lines(ARCHIVE)?.unwrap_or_default();
    let missing = aged.over.list.iter().filter(|line| line.lesson.as_ref().is_none_or(|own| !archive.holds(own)));
    let missing: Vec<u8> = missing.flat_map(Line::copied).collect();
    if !missing.is_empty() {
        writer.append(ARCHIVE, &missing)?;
    }
    let after = lessons.bytes();
    if let Some(run_id) = current.clone() {
        let of = (after != before).then_some(state);
        writer.append(RUNS, &Record { run_id, ts, decayed: true, of, ..Record::default() }.line())?;
    }
    if after != before {
        writer.replace(LESSONS, &after)?;
        writer.settle();
    }
    let archived = aged.over.lessons().map(|lesson| lesson.id.clone()).collect();
    Ok(Some(Decayed { run: current, is_repeated: false, decayed: aged.decayed, archived }))
}

/// What growing old by one run changes.
#[derive(Debug, Default)]
struct Aged {
    decayed: usize,
    over: Lines,
}

fn age(lessons: &mut Lines, run: Option<&str>, known: &Known, ts: &str) -> Aged {
    let mut aged = Aged::default();
    let mut kept = Vec::with_capacity(lessons.list.len());
    for mut line in lessons.list.drain(..) {
        let ages = |lesson: &&ArcheLesson| !is_preference(lesson) && !is_seen(lesson, run, known);
        let Some(lesson) = line.lesson.as_ref().filter(ages) else {
            kept.push(line);
            continue;
        };
        let left = silent(lesson.frequency, lesson.runs_since_last_seen);
        aged.decayed += usize::from(left.silent_runs == 0);
        if left.is_over() && left.silent_runs == 0 {
            line.set(&[("frequency", json!(0)), ("ts", json!(ts))]);
            aged.over.list.push(line);
        } else {
            line.set(&[("frequency", json!(left.frequency)), ("runs_since_last_seen", json!(left.silent_runs))]);
            kept.push(line);
        }
    }
    lessons.list = kept;
    aged
}

/// One more run of silence. It takes one sighting at most, whatever the line said before, and a lesson without any has
/// its ten runs too.
fn silent(frequency: u64, silent_runs: u64) -> Fading {
    let runs = silent_runs.saturating_add(1);
    if runs < u64::from(DECAY_RUNS) {
        return Fading { frequency, silent_runs: runs };
    }
    Fading::after(frequency, u64::from(DECAY_RUNS), DECAY_RUNS)
}

fn is_seen(lesson: &ArcheLesson, run: Option<&str>, known: &Known) -> bool {
    run.is_some_and(|run| lesson.last_seen_run == run) || known.lessons.contains(&lesson.id)
}

/// The run that is over, where nobody says: the last one that was extracted and has not been through this, else the last
/// one that ArcheFlow noted, if it has not.
fn current(folder: &Folder, runs: &Runs, state: &str) -> Result<Option<String>, Trouble> {
    if let Some(run) = runs.last_without_decay(state) {
        return Ok(Some(run.to_owned()));
    }
    let last = runs_of_index(&folder.read(INDEX)?.unwrap_or_default()).pop();
    Ok(last.filter(|run| runs.get(run).is_none_or(|known| !known.is_decayed(state))))
}

/// The runs that ArcheFlow noted, in their order, as often as it did.
pub(super) fn runs_of_index(bytes: &[u8]) -> Vec<String> {
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let named = lines.filter_map(|mut line| Some(plain_text(line.get_mut("run_id")?.take())));
    named.filter(|run| !run.is_empty()).collect()
}

fn fingerprint(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(16).collect()
}
