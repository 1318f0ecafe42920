//! How a trial ended, from the files that Harbor leaves beside its trajectory. A trajectory has no place for it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::pick;
use crate::domain::{EpisodeStatus, Outcome};

#[cfg(test)]
#[path = "beside_tests.rs"]
mod tests;

const MAX_RESULT_BYTES: u64 = 1024 * 1024;
const MAX_TEXT_BYTES: u64 = 64 * 1024;

/// A longer error loses its end.
const MAX_ERROR_BYTES: usize = 2048;

/// What the files beside an ATIF file say about its end: `result.json`, what the verifier wrote, `exception.txt`.
///
/// A reward decides, also where the agent ran into its time limit; without one an exception is a failure.
pub fn outcome(atif_path: &Path) -> Option<Outcome> {
    let folder = match atif_path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let in_trial = folder.file_name().is_some_and(|name| name == "agent");
    let trial = folder.parent().filter(|_| in_trial);
    [Some(folder), trial].into_iter().flatten().find_map(outcome_in)
}

fn outcome_in(trial: &Path) -> Option<Outcome> {
    let result = result(&trial.join("result.json"));
    let verifier = trial.join("verifier");
    let reward = (result.reward.map(|reward| (reward, "result.json")))
        .or_else(|| Some((number(&verifier.join("reward.txt"))?, "reward.txt")))
        .or_else(|| Some((rewards(&json(&verifier.join("reward.json"))?)?, "reward.json")));
    let error = (result.error.map(|error| (error, "result.json")))
        .or_else(|| Some((last_line(&tail(&trial.join("exception.txt"))?)?, "exception.txt")));
    let (status, from) = match (&reward, &error) {
        (Some((reward, from)), _) => (status_of(*reward), from),
        (None, Some((_, from))) => (EpisodeStatus::Failed, from),
        (None, None) => return None,
    };
    let from = (*from).to_owned();
    Some(Outcome { status, reward: reward.map(|(reward, _)| reward), error: error.map(|(error, _)| error), from })
}

fn status_of(reward: f64) -> EpisodeStatus {
    if reward >= 1.0 {
        EpisodeStatus::Success
    } else if reward > 0.0 {
        EpisodeStatus::Partial
    } else {
        EpisodeStatus::Failed
    }
}

#[derive(Default)]
struct TrialResult {
    reward: Option<f64>,
    error: Option<String>,
}

/// What Harbor writes about a trial.
fn result(path: &Path) -> TrialResult {
    let Some(mut result) = json(path).map(pick::object) else { return TrialResult::default() };
    let verifier = pick::take_object(&mut result, "verifier_result").unwrap_or_default();
    let exception = pick::take_object(&mut result, "exception_info").unwrap_or_default();
    let kind = pick::string(&exception, "exception_type");
    let message = pick::str(&exception, "exception_message").and_then(last_line);
    let traced = pick::str(&exception, "exception_traceback").and_then(last_line);
    let error = match (kind, message.or(traced)) {
        (Some(kind), Some(message)) if !message.starts_with(&kind) => Some(short(&format!("{kind}: {message}"))),
        (kind, message) => message.or(kind),
    };
    // Older versions had a single reward.
    let reward = verifier.get("rewards").and_then(rewards).or_else(|| pick::amount(&verifier, "reward"));
    TrialResult { reward, error }
}

/// The reward among several figures: the one of that name, else what they are on average.
fn rewards(rewards: &Value) -> Option<f64> {
    match rewards {
        Value::Object(named) => {
            if let Some(reward) = pick::amount(named, "reward") {
                return Some(reward);
            }
            let figures: Vec<f64> = named.keys().filter_map(|name| pick::amount(named, name)).collect();
            let count = u32::try_from(figures.len()).ok().filter(|count| *count > 0)?;
            Some(figures.iter().sum::<f64>() / f64::from(count))
        }
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

fn json(path: &Path) -> Option<Value> {
    let file = regular(path, MAX_RESULT_BYTES)?;
    let mut bytes = Vec::new();
    file.take(MAX_RESULT_BYTES).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn number(path: &Path) -> Option<f64> {
    let text = tail(path)?;
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// The end of a text.
fn tail(path: &Path) -> Option<String> {
    let mut file = regular(path, u64::MAX)?;
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TEXT_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A file that is one, and no longer than this. A pipe would make us wait, a link may lead anywhere.
fn regular(path: &Path, limit: u64) -> Option<File> {
    let metadata = path.symlink_metadata().ok()?;
    if !metadata.is_file() || metadata.len() > limit {
        return None;
    }
    File::open(path).ok()
}

/// The last line that says something: of a Python traceback that is what went wrong.
fn last_line(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(short)
}

fn short(text: &str) -> String {
    text.get(..text.floor_char_boundary(MAX_ERROR_BYTES)).unwrap_or(text).to_owned()
}
