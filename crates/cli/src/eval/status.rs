//! `archivist eval status` measures how often the status of a session is judged right.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::redact::read_text_file;
use crate::cli_error::{CliError, CommandExit};
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::one_line;
use archivist_core::context::{JudgedStatus, LogGatherer, judge_status};
use archivist_core::domain::{EpisodeStatus, StatusBasis};
use archivist_core::ingest::{ReaderSettings, SessionReader};
use archivist_core::redact::Redactor;

const EXAMPLES: &str = "\
Examples:
  archivist eval status --data real-lessons --show
  archivist eval status --data runs --json

The folder tells what it is:
  index.jsonl[.gz]      lines of {\"file\", \"resolved\"}: logs whose results were tested
  labels.jsonl.gz       lines of {\"id\", \"outcome\"}, with logs/ID.jsonl[.gz]: logs with a known outcome
  anything else         logs whose names are those of the sessions in --labels, lines of {\"session\", \"status\", \"second\"}
A `second` is another status that a reader would accept.";

/// The labels that are built into the program.
const OWN_LABELS: &str = include_str!("../../../../fixtures/real-status.jsonl");

/// The deepest level of folders that is searched for logs.
const MAX_DEPTH: usize = 6;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalStatus {
    /// A folder of logs
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// The right status of each session; labels that the program carries otherwise
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// List every session whose status is wrong
    #[arg(long)]
    show: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// A line of a file of labels.
#[derive(Debug, Deserialize)]
struct StatusLabel {
    session: String,
    status: EpisodeStatus,
    second: Option<EpisodeStatus>,
}

/// A line of an index of tested sessions.
#[derive(Debug, Deserialize)]
struct TestedSession {
    /// The path of the log, or `None` if it is missing.
    file: Option<String>,
    /// The result of the tests, or `None` if no test ran.
    resolved: Option<bool>,
}

/// A line of a file of known outcomes.
#[derive(Debug, Deserialize)]
struct LabelledOutcome {
    id: String,
    outcome: EpisodeStatus,
}

/// A log and the statuses that are right for it.
#[derive(Debug)]
struct LabelledLog {
    path: PathBuf,
    /// The row of the table in which it is counted.
    group: String,
    status: EpisodeStatus,
    second: Option<EpisodeStatus>,
}

/// The figures of all logs.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusEvalReport {
    sessions: usize,
    unreadable: usize,
    /// The number of sessions whose status equals the label.
    strict: usize,
    /// The number of sessions whose status equals the label, or the second status that is accepted.
    lenient: usize,
    groups: BTreeMap<String, StatusGroupFigures>,
    wrong: Vec<WrongStatus>,
}

/// The judged statuses of the sessions of one group.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusGroupFigures {
    sessions: usize,
    statuses: BTreeMap<String, usize>,
    /// The number of sessions that are judged a success although no check passed in their log.
    success_without_check: usize,
    /// The number of successes by the basis of the judgement.
    success_by_basis: BTreeMap<String, usize>,
}

/// A session whose status is judged wrong.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WrongStatus {
    path: String,
    label: EpisodeStatus,
    second: Option<EpisodeStatus>,
    status: EpisodeStatus,
    basis: StatusBasis,
}

impl EvalStatus {
    pub(super) fn run(&self, console: &mut Console) -> Result<CommandExit> {
        let redactor = Redactor::new();
        let mut report = StatusEvalReport::default();
        for log in self.find_logs()? {
            report.add_log(&log, &redactor);
        }
        if report.sessions == 0 {
            return Err(CliError::user_error("no labelled log was found").with_hint("see --help").into());
        }
        match self.json {
            true => console.print_json(&report)?,
            false => self.print_report(&report, console)?,
        }
        Ok(CommandExit::Done)
    }

    fn find_logs(&self) -> Result<Vec<LabelledLog>, CliError> {
        let named = |name: &str| {
            let packed = self.data.join(format!("{name}.gz"));
            if packed.is_file() { packed } else { self.data.join(name) }
        };
        let index = named("index.jsonl");
        if index.is_file() {
            let log = |run: TestedSession| {
                let (group, status, second) = match run.resolved? {
                    true => ("resolved", EpisodeStatus::Success, None),
                    false => ("unresolved", EpisodeStatus::Failed, Some(EpisodeStatus::Partial)),
                };
                Some(LabelledLog { path: named(&run.file?), group: group.to_owned(), status, second })
            };
            return Ok(parse_label_lines(&read_text_file(&index)?)?.into_iter().filter_map(log).collect());
        }
        let outcomes = self.data.join("labels.jsonl.gz");
        if outcomes.is_file() {
            let log = |known: LabelledOutcome| LabelledLog {
                path: named(&format!("logs/{}.jsonl", known.id)),
                group: known.outcome.to_string(),
                second: (known.outcome == EpisodeStatus::Failed).then_some(EpisodeStatus::Partial),
                status: known.outcome,
            };
            return Ok(parse_label_lines(&read_text_file(&outcomes)?)?.into_iter().map(log).collect());
        }
        let labels = match &self.labels {
            Some(path) => read_text_file(path)?,
            None => OWN_LABELS.to_owned(),
        };
        let mut paths = HashMap::new();
        collect_log_paths(&self.data, 0, &mut paths);
        let labels: Vec<StatusLabel> = parse_label_lines(&labels)?;
        Ok(labels
            .into_iter()
            .filter_map(|label| {
                let path = paths.remove(&label.session)?;
                let group = label.status.to_string();
                Some(LabelledLog { path, group, status: label.status, second: label.second })
            })
            .collect())
    }

    fn print_report(&self, report: &StatusEvalReport, console: &mut Console) -> Result<(), CliError> {
        let columns = ["success", "partial", "failed", "aborted"];
        let mut headings = vec![
            TableColumn::text("known as", ColumnVisibility::Always),
            TableColumn::number("sessions", ColumnVisibility::Always),
        ];
        headings.extend(columns.map(|status| TableColumn::number(status, ColumnVisibility::Always)));
        headings.push(TableColumn::number("success unchecked", ColumnVisibility::UntilNarrow(1)));
        let mut table = TextTable::new(headings);
        for (group, figures) in &report.groups {
            let count = |status: &str| figures.statuses.get(status).copied().unwrap_or_default().to_string();
            table.add_row(
                [group.clone(), figures.sessions.to_string()]
                    .into_iter()
                    .chain(columns.map(count))
                    .chain([figures.success_without_check.to_string()]),
            );
        }
        table.print_to(console)?;
        let StatusEvalReport { sessions, strict, lenient, unreadable, .. } = report;
        let percent = |count: usize| count * 100 / sessions.max(&1);
        console.print_line(&format!(
            "right: {strict} of {sessions} ({} %); with the second status that is accepted: {lenient} ({} %)",
            percent(*strict),
            percent(*lenient)
        ))?;
        if *unreadable > 0 {
            console.print_line(&format!("unreadable: {unreadable}"))?;
        }
        for one in report.wrong.iter().filter(|_| self.show) {
            let second = one.second.as_ref().map(|second| format!(" or {second}")).unwrap_or_default();
            let WrongStatus { path, label, status, basis, .. } = one;
            console.print_line(&format!("{label}{second}, judged {status} by {basis}: {}", one_line(path)))?;
        }
        Ok(())
    }
}

impl StatusEvalReport {
    fn add_log(&mut self, log: &LabelledLog, redactor: &Redactor) {
        let mut gathering = LogGatherer::new_brief(redactor);
        let text = read_text_file(&log.path).ok();
        let reading = text
            .map(|text| SessionReader::new(ReaderSettings::default()).read_log(&mut text.as_bytes(), &mut gathering));
        let Some(Ok(_)) = reading else {
            self.unreadable += 1;
            return;
        };
        let gathered = gathering.finish();
        let JudgedStatus { status, basis } = judge_status(&gathered, None);
        self.sessions += 1;
        let is_right = status == log.status;
        let is_accepted = is_right || log.second.as_ref() == Some(&status);
        self.strict += usize::from(is_right);
        self.lenient += usize::from(is_accepted);
        let group = self.groups.entry(log.group.clone()).or_default();
        group.sessions += 1;
        *group.statuses.entry(status.to_string()).or_default() += 1;
        if status == EpisodeStatus::Success {
            group.success_without_check += usize::from(basis != StatusBasis::Check);
            *group.success_by_basis.entry(basis.to_string()).or_default() += 1;
        }
        if !is_accepted {
            let (path, label) = (log.path.display().to_string(), log.status.clone());
            self.wrong.push(WrongStatus { path, label, second: log.second.clone(), status, basis });
        }
    }
}

fn parse_label_lines<T: for<'de> Deserialize<'de>>(text: &str) -> Result<Vec<T>, CliError> {
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                CliError::user_error(format!("line {number} is no label: {error}")).with_hint("see --help")
            })
        })
        .collect()
}

/// Collects the logs under a folder by the names of their sessions.
fn collect_log_paths(folder: &Path, depth: usize, paths: &mut HashMap<String, PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && depth < MAX_DEPTH {
            collect_log_paths(&path, depth + 1, paths);
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            let stem = name.trim_end_matches(".gz").trim_end_matches(".jsonl").to_owned();
            paths.insert(stem, path);
        }
    }
}
