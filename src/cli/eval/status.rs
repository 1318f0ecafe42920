//! `archivist eval status`: how often the status of a session is right.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::redact::read;
use crate::cli::console::Console;
use crate::cli::failure::{Exit, Failure};
use crate::cli::prose::one_line;
use crate::cli::table::{Column, Stay, Table};
use crate::context::{Gathering, JudgedStatus, judge_status};
use crate::domain::{EpisodeStatus, StatusBasis};
use crate::ingest::{Reading, Rules};
use crate::redact::Redactor;

const EXAMPLES: &str = "\
Examples:
  archivist eval status --data real-lessons --show
  archivist eval status --data runs --json

The folder tells what it is:
  index.jsonl[.gz]      lines of {\"file\", \"resolved\"}: logs whose results were tested
  labels.jsonl.gz       lines of {\"id\", \"outcome\"}, with logs/ID.jsonl[.gz]: logs with a known outcome
  anything else         logs whose names are those of the sessions in --labels, lines of {\"session\", \"status\", \"second\"}
A `second` is another status that a reader would accept.";

/// The labels of our own that the program carries.
const OWN_LABELS: &str = include_str!("../../../fixtures/real-status.jsonl");

/// The deepest folder that is searched for logs.
const MAX_DEPTH: usize = 6;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct EvalStatus {
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

/// A line of an index of tested runs.
#[derive(Debug, Deserialize)]
struct TestedRun {
    /// Not told where the log is missing.
    file: Option<String>,
    /// Not told where no test ran.
    resolved: Option<bool>,
}

/// A line that tells the outcome of a run.
#[derive(Debug, Deserialize)]
struct KnownOutcome {
    id: String,
    outcome: EpisodeStatus,
}

/// A log and the statuses that are right for it.
#[derive(Debug)]
struct LabelledLog {
    path: PathBuf,
    /// The row of the table that it is counted in.
    group: String,
    status: EpisodeStatus,
    second: Option<EpisodeStatus>,
}

/// The figures of all logs.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusReport {
    sessions: usize,
    unreadable: usize,
    /// Sessions whose status is that of the label.
    strict: usize,
    /// Sessions whose status is that of the label, or the second that a reader would accept.
    lenient: usize,
    groups: BTreeMap<String, GroupFigures>,
    wrong: Vec<WrongStatus>,
}

/// How the sessions of one group were judged.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupFigures {
    sessions: usize,
    statuses: BTreeMap<String, usize>,
    /// Sessions that are called a success although no check passed in their log.
    success_without_check: usize,
    /// What the successes rest on.
    success_by_basis: BTreeMap<String, usize>,
}

/// A session whose status is wrong.
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
    pub(super) fn run(&self, console: &mut Console) -> Result<Exit> {
        let redactor = Redactor::new();
        let mut report = StatusReport::default();
        for log in self.find_logs()? {
            report.add(&log, &redactor);
        }
        if report.sessions == 0 {
            return Err(Failure::user("no labelled log was found").with_hint("see --help").into());
        }
        match self.json {
            true => console.json(&report)?,
            false => self.print(&report, console)?,
        }
        Ok(Exit::Done)
    }

    fn find_logs(&self) -> Result<Vec<LabelledLog>, Failure> {
        let named = |name: &str| {
            let packed = self.data.join(format!("{name}.gz"));
            if packed.is_file() { packed } else { self.data.join(name) }
        };
        let index = named("index.jsonl");
        if index.is_file() {
            let log = |run: TestedRun| {
                let (group, status, second) = match run.resolved? {
                    true => ("resolved", EpisodeStatus::Success, None),
                    false => ("unresolved", EpisodeStatus::Failed, Some(EpisodeStatus::Partial)),
                };
                Some(LabelledLog { path: named(&run.file?), group: group.to_owned(), status, second })
            };
            return Ok(parse_lines(&read(&index)?)?.into_iter().filter_map(log).collect());
        }
        let outcomes = self.data.join("labels.jsonl.gz");
        if outcomes.is_file() {
            let log = |known: KnownOutcome| LabelledLog {
                path: named(&format!("logs/{}.jsonl", known.id)),
                group: known.outcome.to_string(),
                second: (known.outcome == EpisodeStatus::Failed).then_some(EpisodeStatus::Partial),
                status: known.outcome,
            };
            return Ok(parse_lines(&read(&outcomes)?)?.into_iter().map(log).collect());
        }
        let labels = match &self.labels {
            Some(path) => read(path)?,
            None => OWN_LABELS.to_owned(),
        };
        let mut paths = HashMap::new();
        collect_paths(&self.data, 0, &mut paths);
        let labels: Vec<StatusLabel> = parse_lines(&labels)?;
        Ok(labels
            .into_iter()
            .filter_map(|label| {
                let path = paths.remove(&label.session)?;
                let group = label.status.to_string();
                Some(LabelledLog { path, group, status: label.status, second: label.second })
            })
            .collect())
    }

    fn print(&self, report: &StatusReport, console: &mut Console) -> Result<(), Failure> {
        let columns = ["success", "partial", "failed", "aborted"];
        let mut headings = vec![Column::text("known as", Stay::Always), Column::number("sessions", Stay::Always)];
        headings.extend(columns.map(|status| Column::number(status, Stay::Always)));
        headings.push(Column::number("success unchecked", Stay::UntilNarrow(1)));
        let mut table = Table::new(headings);
        for (group, figures) in &report.groups {
            let count = |status: &str| figures.statuses.get(status).copied().unwrap_or_default().to_string();
            table.row(
                [group.clone(), figures.sessions.to_string()]
                    .into_iter()
                    .chain(columns.map(count))
                    .chain([figures.success_without_check.to_string()]),
            );
        }
        table.print(console)?;
        let StatusReport { sessions, strict, lenient, unreadable, .. } = report;
        let percent = |count: usize| count * 100 / sessions.max(&1);
        console.line(&format!(
            "right: {strict} of {sessions} ({} %); with the second status that is accepted: {lenient} ({} %)",
            percent(*strict),
            percent(*lenient)
        ))?;
        if *unreadable > 0 {
            console.line(&format!("unreadable: {unreadable}"))?;
        }
        for one in report.wrong.iter().filter(|_| self.show) {
            let second = one.second.as_ref().map(|second| format!(" or {second}")).unwrap_or_default();
            let WrongStatus { path, label, status, basis, .. } = one;
            console.line(&format!("{label}{second}, judged {status} by {basis}: {}", one_line(path)))?;
        }
        Ok(())
    }
}

impl StatusReport {
    fn add(&mut self, log: &LabelledLog, redactor: &Redactor) {
        let mut gathering = Gathering::in_brief(redactor);
        let text = read(&log.path).ok();
        let reading = text.map(|text| Reading::new(Rules::default()).read(&mut text.as_bytes(), &mut gathering));
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

fn parse_lines<T: for<'de> Deserialize<'de>>(text: &str) -> Result<Vec<T>, Failure> {
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line)
                .map_err(|error| Failure::user(format!("line {number} is no label: {error}")).with_hint("see --help"))
        })
        .collect()
}

/// Finds the logs under a folder by the names of their sessions.
fn collect_paths(folder: &Path, depth: usize, paths: &mut HashMap<String, PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && depth < MAX_DEPTH {
            collect_paths(&path, depth + 1, paths);
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            let stem = name.trim_end_matches(".gz").trim_end_matches(".jsonl").to_owned();
            paths.insert(stem, path);
        }
    }
}
