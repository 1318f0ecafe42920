//! `archivist eval errors` measures how many of the failures that people marked in sessions are found, and how many
//! other steps are taken for failures.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::redact::read_text_file;
use crate::cli_error::{CliError, CommandExit};
use crate::console::{Console, TextStyle};
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::one_line;
use archivist_core::context::{GatheredLogs, LogGatherer};
use archivist_core::ingest::{ReaderSettings, SessionReader};
use archivist_core::redact::Redactor;

const EXAMPLES: &str = "\
Examples:
  archivist eval errors --data bench/trail
  archivist eval errors --data bench/trail --show
  archivist eval errors --data my-sessions --json

A set is a folder with `labels.jsonl`, gzipped or not: each line has the `id` of a session and the steps of it whose
call failed, as `errors`. The logs stand in folders beside it, one folder for each way of writing them down:
  labels.jsonl.gz, flagged/ID.jsonl.gz, plain/ID.jsonl.gz
A marked step is found if a signal of a failure rests on it. Every other step that one rests on is false.";

const LABELS: &[&str] = &["labels.jsonl", "labels.jsonl.gz"];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalErrors {
    /// A folder of logs with `labels.jsonl`
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Show the steps that were missed, those that were taken for failures, and the line each failure is known by
    #[arg(long)]
    show: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The steps of one session that people marked as failed calls.
#[derive(Debug, Deserialize)]
struct SessionErrorLabels {
    id: String,
    errors: BTreeSet<u32>,
}

/// The figures of one folder of logs.
#[derive(Debug, Default, Serialize)]
struct FolderScore {
    folder: String,
    sessions: usize,
    labelled: usize,
    found: usize,
    said: usize,
    recall: f64,
    precision: f64,
    missed: Vec<NamedStep>,
    wrong: Vec<NamedStep>,
    right: Vec<NamedStep>,
}

/// A step with the headline of its detected failure, or with its output if the failure was missed.
#[derive(Debug, Serialize)]
struct NamedStep {
    session: String,
    step: u32,
    text: String,
}

impl EvalErrors {
    pub(super) fn run(&self, console: &mut Console) -> Result<CommandExit> {
        let labelled = read_labels(&self.data)?;
        let mut scores = Vec::new();
        for folder in list_folders(&self.data)? {
            scores.push(score_folder(&folder, &labelled)?);
        }
        if scores.iter().all(|score| score.sessions == 0) {
            let what = format!("none of the labelled sessions is in a folder of {}", self.data.display());
            return Err(CliError::user_error(what).with_hint("see --help").into());
        }
        if self.json {
            console.print_json(&scores)?;
        } else {
            print_scores(&scores, self.show, console)?;
        }
        Ok(CommandExit::Done)
    }
}

fn read_labels(data: &Path) -> Result<Vec<SessionErrorLabels>, CliError> {
    let Some(path) = LABELS.iter().map(|name| data.join(name)).find(|path| path.is_file()) else {
        return Err(
            CliError::user_error(format!("there is no labels.jsonl in {}", data.display())).with_hint("see --help")
        );
    };
    let text = read_text_file(&path)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line): (u32, &str)| {
            serde_json::from_str(line).map_err(|error| {
                CliError::user_error(format!("line {number} of {} is no label: {error}", path.display()))
            })
        })
        .collect()
}

fn list_folders(data: &Path) -> Result<Vec<PathBuf>, CliError> {
    let cannot = |error| CliError::user_error(format!("cannot read {}: {error}", data.display()));
    let entries = fs::read_dir(data).map_err(cannot)?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

fn score_folder(folder: &Path, labelled: &[SessionErrorLabels]) -> Result<FolderScore, CliError> {
    let redactor = Redactor::new();
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut score = FolderScore { folder: name, ..FolderScore::default() };
    for session in labelled {
        let logs = ["jsonl", "jsonl.gz"].map(|ending| folder.join(format!("{}.{ending}", session.id)));
        let Some(path) = logs.iter().find(|path| path.is_file()) else { continue };
        let text = read_text_file(path)?;
        let mut gathering = LogGatherer::new(&redactor);
        SessionReader::new(ReaderSettings::default())
            .read_log(&mut text.as_bytes(), &mut gathering)
            .map_err(|error| CliError::user_error(format!("{}: {error}", path.display())))?;
        score_session(session, &gathering.finish(), &mut score);
    }
    let share = |whole: usize| if whole > 0 { score.found as f64 / whole as f64 } else { 1.0 };
    (score.recall, score.precision) = (share(score.labelled), share(score.said));
    Ok(score)
}

fn score_session(session: &SessionErrorLabels, gathered: &GatheredLogs, score: &mut FolderScore) {
    let failures: Vec<_> = gathered.signals.iter().filter(|signal| signal.kind.is_failure()).collect();
    let said: BTreeSet<u32> = failures.iter().flat_map(|signal| &signal.steps).copied().collect();
    let named = |step: u32, text: String| NamedStep { session: session.id.clone(), step, text };
    let headline = |step: u32| {
        let signal = failures.iter().find(|signal| signal.steps.contains(&step));
        signal.map(|signal| signal.text.clone()).unwrap_or_default()
    };
    let output = |step: u32| {
        let mut steps = gathered.trajectories.iter().flat_map(|trajectory| &trajectory.steps);
        let calls = steps.find(|one| one.number == step).map(|one| &one.calls);
        let output = calls.and_then(|calls| calls.iter().find_map(|call| call.output.as_ref()));
        output.map(|output| output.text.clone()).unwrap_or_default()
    };
    score.sessions += 1;
    score.labelled += session.errors.len();
    score.said += said.len();
    score.found += said.intersection(&session.errors).count();
    score.missed.extend(session.errors.difference(&said).map(|&step| named(step, output(step))));
    score.wrong.extend(said.difference(&session.errors).map(|&step| named(step, headline(step))));
    score.right.extend(said.intersection(&session.errors).map(|&step| named(step, headline(step))));
}

fn print_scores(scores: &[FolderScore], show: bool, console: &mut Console) -> Result<(), CliError> {
    let mut table = TextTable::new([
        TableColumn::text("logs", ColumnVisibility::Always),
        TableColumn::number("sessions", ColumnVisibility::UntilNarrow(2)),
        TableColumn::number("marked", ColumnVisibility::Always),
        TableColumn::number("found", ColumnVisibility::Always),
        TableColumn::number("recall", ColumnVisibility::Always),
        TableColumn::number("said", ColumnVisibility::Always),
        TableColumn::number("precision", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    for score in scores {
        table.add_row([
            score.folder.clone(),
            score.sessions.to_string(),
            score.labelled.to_string(),
            score.found.to_string(),
            format!("{:.3}", score.recall),
            score.said.to_string(),
            format!("{:.3}", score.precision),
            String::new(),
        ]);
    }
    table.print_to(console)?;
    for score in scores.iter().filter(|_| show) {
        for (label, steps) in [("missed", &score.missed), ("false", &score.wrong), ("right", &score.right)] {
            for one in steps {
                let label = console.style_text(TextStyle::Yellow, label);
                let text: String = one_line(&one.text).chars().take(200).collect();
                console.print_line(&format!("{label} {} {} s{}: {text}", score.folder, one.session, one.step))?;
            }
        }
    }
    Ok(())
}
