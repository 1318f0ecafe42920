//! Sessions of several models on the same tasks, read from an index, with the failures that they met.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::cli::eval::redact::read;
use crate::cli::failure::Failure;
use crate::context::{Gathered, Gathering, Signal};
use crate::domain::{ErrorFamily, Timestamp};
use crate::ingest::{Reading, Rules};
use crate::redact::Redactor;

/// The names that an index may have.
const INDEX_FILES: [&str; 2] = ["index.jsonl", "index.jsonl.gz"];

/// A line of the index. Lines that name no log are left out.
#[derive(Debug, Deserialize)]
struct IndexLine {
    model: String,
    task: String,
    #[serde(default)]
    instruction: String,
    file: Option<String>,
    ended: Option<Timestamp>,
}

/// A session of one model on one task.
#[derive(Debug)]
pub(super) struct ModelRun {
    pub(super) model: String,
    pub(super) task: String,
    /// What the agent was asked to do.
    pub(super) instruction: String,
    pub(super) ended: Option<Timestamp>,
    pub(super) log: String,
    /// The failures of the session, each family once, where it was first met.
    pub(super) failures: Vec<MetFailure>,
}

/// A failure that a session met.
#[derive(Debug, Clone)]
pub(super) struct MetFailure {
    pub(super) family: ErrorFamily,
    pub(super) tool: Option<String>,
    /// All that the failed call printed.
    pub(super) output: String,
}

/// Reads every session that the index of a folder names, the one that ended first at the beginning.
pub(super) fn read_runs(folder: &Path, has_prompts: bool) -> Result<Vec<ModelRun>, Failure> {
    let hint = "see --help for what a folder holds";
    let Some(index) = INDEX_FILES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) else {
        return Err(Failure::user(format!("there is no index.jsonl in {}", folder.display())).with_hint(hint));
    };
    let redactor = Redactor::new();
    let mut runs = Vec::new();
    for (number, line) in (1..).zip(read(&index)?.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let line: IndexLine = serde_json::from_str(line).map_err(|error| {
            Failure::user(format!("line {number} of {} is no session: {error}", index.display())).with_hint(hint)
        })?;
        let Some(file) = &line.file else { continue };
        let packed = folder.join(format!("{file}.gz"));
        let log = read(&if packed.is_file() { packed } else { folder.join(file) })?;
        let log = if has_prompts { format!("{}\n{log}", prompt_line(&line.instruction)) } else { log };
        let mut gathering = Gathering::new(&redactor);
        if Reading::new(Rules::default()).read(&mut log.as_bytes(), &mut gathering).is_err() {
            continue;
        }
        let failures = find_failures(&gathering.finish());
        let IndexLine { model, task, instruction, ended, .. } = line;
        runs.push(ModelRun { model, task, instruction, ended, log, failures });
    }
    runs.sort_by(|a, b| (a.ended, &a.model, &a.task).cmp(&(b.ended, &b.model, &b.task)));
    Ok(runs)
}

/// Writes the instruction as the line that a transcript of Claude Code begins with. Its printed stream has none.
fn prompt_line(instruction: &str) -> String {
    serde_json::json!({"type": "user", "message": {"role": "user", "content": instruction}}).to_string()
}

fn find_failures(gathered: &Gathered) -> Vec<MetFailure> {
    let mut first: BTreeMap<&ErrorFamily, &Signal> = BTreeMap::new();
    for signal in gathered.signals.iter().filter(|signal| signal.kind.is_failure()) {
        let Some(family) = &signal.error_family else { continue };
        let known = first.entry(family).or_insert(signal);
        if (signal.trajectory, first_step(signal)) < (known.trajectory, first_step(known)) {
            *known = signal;
        }
    }
    let failure = |(family, signal): (&ErrorFamily, &Signal)| {
        Some(MetFailure { family: family.clone(), tool: signal.tool.clone(), output: failed_output(gathered, signal)? })
    };
    first.into_iter().filter_map(failure).collect()
}

fn first_step(signal: &Signal) -> u32 {
    signal.steps.first().copied().unwrap_or(signal.step)
}

/// Returns what the call printed that a signal rests on: the one that holds the quoted words, if any does.
fn failed_output(gathered: &Gathered, signal: &Signal) -> Option<String> {
    let trajectory = gathered.trajectories.get(usize::try_from(signal.trajectory).ok()?)?;
    let steps: BTreeSet<u32> = [first_step(signal), signal.step].into();
    let calls = trajectory.steps.iter().filter(|step| steps.contains(&step.number)).flat_map(|step| &step.calls);
    let outputs: Vec<&str> = calls.filter_map(|call| Some(call.output.as_ref()?.text.as_str())).collect();
    let quote = signal.quote.as_deref().unwrap_or_default();
    let quoted = outputs.iter().find(|output| output.contains(quote));
    quoted.or(outputs.first()).map(|output| (*output).to_owned())
}
