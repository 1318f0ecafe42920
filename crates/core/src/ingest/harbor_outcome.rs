//! Reads the outcome of a Harbor trial from the files next to its trajectory, which has no field for it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::json_fields;
use crate::domain::{EpisodeStatus, SessionOutcome};

#[cfg(test)]
#[path = "harbor_outcome_tests.rs"]
mod tests;

const MAX_RESULT_BYTES: u64 = 1024 * 1024;
const MAX_TEXT_BYTES: u64 = 64 * 1024;

/// The maximum length of an error; a longer one is truncated.
const MAX_ERROR_BYTES: usize = 2048;

/// Returns the outcome from the files next to an ATIF file: `result.json`, the verifier's files, `exception.txt`.
///
/// A reward decides, even if the agent ran into its time limit; without one an exception means failure.
pub fn read_trial_outcome(atif_path: &Path) -> Option<SessionOutcome> {
    let folder = match atif_path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let in_trial = folder.file_name().is_some_and(|name| name == "agent");
    let trial = folder.parent().filter(|_| in_trial);
    [Some(folder), trial].into_iter().flatten().find_map(read_outcome_in)
}

fn read_outcome_in(trial: &Path) -> Option<SessionOutcome> {
    let result = read_trial_result(&trial.join("result.json"));
    let verifier = trial.join("verifier");
    let reward = (result.reward.map(|reward| (reward, "result.json")))
        .or_else(|| Some((read_number_file(&verifier.join("reward.txt"))?, "reward.txt")))
        .or_else(|| Some((combine_rewards(&read_json_file(&verifier.join("reward.json"))?)?, "reward.json")));
    let error = (result.error.map(|error| (error, "result.json")))
        .or_else(|| Some((last_text_line(&read_file_tail(&trial.join("exception.txt"))?)?, "exception.txt")));
    let (status, from) = match (&reward, &error) {
        (Some((reward, from)), _) => (status_from_reward(*reward), from),
        (None, Some((_, from))) => (EpisodeStatus::Failed, from),
        (None, None) => return None,
    };
    let from = (*from).to_owned();
    Some(SessionOutcome {
        status,
        reward: reward.map(|(reward, _)| reward),
        error: error.map(|(error, _)| error),
        from,
    })
}

fn status_from_reward(reward: f64) -> EpisodeStatus {
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

/// Reads the `result.json` that Harbor writes for a trial.
fn read_trial_result(path: &Path) -> TrialResult {
    let Some(mut result) = read_json_file(path).map(json_fields::into_object) else { return TrialResult::default() };
    let verifier = json_fields::take_object(&mut result, "verifier_result").unwrap_or_default();
    let exception = json_fields::take_object(&mut result, "exception_info").unwrap_or_default();
    let kind = json_fields::get_string(&exception, "exception_type");
    let message = json_fields::get_str(&exception, "exception_message").and_then(last_text_line);
    let traced = json_fields::get_str(&exception, "exception_traceback").and_then(last_text_line);
    let error = match (kind, message.or(traced)) {
        (Some(kind), Some(message)) if !message.starts_with(&kind) => {
            Some(truncate_error(&format!("{kind}: {message}")))
        }
        (kind, message) => message.or(kind),
    };
    // Older versions have a single reward.
    let reward =
        verifier.get("rewards").and_then(combine_rewards).or_else(|| json_fields::get_amount(&verifier, "reward"));
    TrialResult { reward, error }
}

/// Returns the reward with that name, else the average of all figures.
fn combine_rewards(rewards: &Value) -> Option<f64> {
    match rewards {
        Value::Object(named) => {
            if let Some(reward) = json_fields::get_amount(named, "reward") {
                return Some(reward);
            }
            let figures: Vec<f64> = named.keys().filter_map(|name| json_fields::get_amount(named, name)).collect();
            let count = u32::try_from(figures.len()).ok().filter(|count| *count > 0)?;
            Some(figures.iter().sum::<f64>() / f64::from(count))
        }
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

fn read_json_file(path: &Path) -> Option<Value> {
    let file = open_regular_file(path, MAX_RESULT_BYTES)?;
    let mut bytes = Vec::new();
    file.take(MAX_RESULT_BYTES).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn read_number_file(path: &Path) -> Option<f64> {
    let text = read_file_tail(path)?;
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Reads the end of a text file.
fn read_file_tail(path: &Path) -> Option<String> {
    let mut file = open_regular_file(path, u64::MAX)?;
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TEXT_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens a regular file up to this size. Pipes, which could block, and symbolic links are refused.
fn open_regular_file(path: &Path, limit: u64) -> Option<File> {
    let metadata = path.symlink_metadata().ok()?;
    if !metadata.is_file() || metadata.len() > limit {
        return None;
    }
    File::open(path).ok()
}

/// Returns the last line that is not blank: in a Python traceback, the error message.
fn last_text_line(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(truncate_error)
}

fn truncate_error(text: &str) -> String {
    text.get(..text.floor_char_boundary(MAX_ERROR_BYTES)).unwrap_or(text).to_owned()
}
