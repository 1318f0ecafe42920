//! Sessions of several models on the same tasks, read from an index, with the failures that they met.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::cli_error::CliError;
use crate::eval::redact::read_text_file;
use archivist_core::context::{GatheredLogs, LogGatherer, Signal};
use archivist_core::domain::{ErrorFamily, Timestamp};
use archivist_core::ingest::{ReaderSettings, SessionReader};
use archivist_core::redact::Redactor;

/// The file names that an index may have.
const INDEX_FILES: [&str; 2] = ["index.jsonl", "index.jsonl.gz"];

/// A line of the index; lines that name no log are skipped.
#[derive(Debug, Deserialize)]
struct SessionIndexLine {
    model: String,
    task: String,
    #[serde(default)]
    instruction: String,
    file: Option<String>,
    ended: Option<Timestamp>,
}

/// A session of one model on one task.
#[derive(Debug)]
pub(super) struct ModelTaskSession {
    pub(super) model: String,
    pub(super) task: String,
    /// The instruction that the agent received.
    pub(super) instruction: String,
    pub(super) ended: Option<Timestamp>,
    pub(super) log: String,
    /// The failures of the session, each error family once, at its first occurrence.
    pub(super) failures: Vec<SessionFailure>,
}

/// A failure that a session met.
#[derive(Debug, Clone)]
pub(super) struct SessionFailure {
    pub(super) family: ErrorFamily,
    pub(super) tool: Option<String>,
    /// The full output of the failed call.
    pub(super) output: String,
}

/// Reads every session that the index of a folder names, ordered by the time of its end.
pub(super) fn read_sessions(folder: &Path, has_prompts: bool) -> Result<Vec<ModelTaskSession>, CliError> {
    let hint = "see --help for what a folder holds";
    let Some(index) = INDEX_FILES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) else {
        return Err(CliError::user_error(format!("there is no index.jsonl in {}", folder.display())).with_hint(hint));
    };
    let redactor = Redactor::new();
    let mut runs = Vec::new();
    for (number, line) in (1..).zip(read_text_file(&index)?.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let line: SessionIndexLine = serde_json::from_str(line).map_err(|error| {
            CliError::user_error(format!("line {number} of {} is no session: {error}", index.display())).with_hint(hint)
        })?;
        let Some(file) = &line.file else { continue };
        let packed = folder.join(format!("{file}.gz"));
        let log = read_text_file(&if packed.is_file() { packed } else { folder.join(file) })?;
        let log = if has_prompts { format!("{}\n{log}", render_prompt_line(&line.instruction)) } else { log };
        let mut gathering = LogGatherer::new(&redactor);
        if SessionReader::new(ReaderSettings::default()).read_log(&mut log.as_bytes(), &mut gathering).is_err() {
            continue;
        }
        let failures = find_failures(&gathering.finish());
        let SessionIndexLine { model, task, instruction, ended, .. } = line;
        runs.push(ModelTaskSession { model, task, instruction, ended, log, failures });
    }
    runs.sort_by(|a, b| (a.ended, &a.model, &a.task).cmp(&(b.ended, &b.model, &b.task)));
    Ok(runs)
}

/// Returns the instruction as the first line of a Claude Code transcript, which its printed stream lacks.
fn render_prompt_line(instruction: &str) -> String {
    serde_json::json!({"type": "user", "message": {"role": "user", "content": instruction}}).to_string()
}

fn find_failures(gathered: &GatheredLogs) -> Vec<SessionFailure> {
    let mut first: BTreeMap<&ErrorFamily, &Signal> = BTreeMap::new();
    for signal in gathered.signals.iter().filter(|signal| signal.kind.is_failure()) {
        let Some(family) = &signal.error_family else { continue };
        let known = first.entry(family).or_insert(signal);
        if (signal.trajectory, first_step(signal)) < (known.trajectory, first_step(known)) {
            *known = signal;
        }
    }
    let failure = |(family, signal): (&ErrorFamily, &Signal)| {
        Some(SessionFailure {
            family: family.clone(),
            tool: signal.tool.clone(),
            output: find_failed_output(gathered, signal)?,
        })
    };
    first.into_iter().filter_map(failure).collect()
}

fn first_step(signal: &Signal) -> u32 {
    signal.steps.first().copied().unwrap_or(signal.step)
}

/// Returns the output of the call that a signal rests on, preferably the one that contains the quote.
fn find_failed_output(gathered: &GatheredLogs, signal: &Signal) -> Option<String> {
    let trajectory = gathered.trajectories.get(usize::try_from(signal.trajectory).ok()?)?;
    let steps: BTreeSet<u32> = [first_step(signal), signal.step].into();
    let calls = trajectory.steps.iter().filter(|step| steps.contains(&step.number)).flat_map(|step| &step.calls);
    let outputs: Vec<&str> = calls.filter_map(|call| Some(call.output.as_ref()?.text.as_str())).collect();
    let quote = signal.quote.as_deref().unwrap_or_default();
    let quoted = outputs.iter().find(|output| output.contains(quote));
    quoted.or(outputs.first()).map(|output| (*output).to_owned())
}
