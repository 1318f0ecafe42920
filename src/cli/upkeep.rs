//! `archivist status`, `doctor` and `compact`: the memory looked at from outside.

use std::cmp::Reverse;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::console::{Console, Style};
use super::failure::{Exit, Failure};
use super::prose::{bytes, count, elapsed, list, one_line};
use super::session::Session;
use super::table::{Column, Stay, Table};
use crate::desk::{Bank, Condition, JobReport, Jobs};
use crate::memory::{BankStatus, Compaction, Finding, IndexStatus, Remedy, Site};
use crate::service::Place;

const STATUS_EXAMPLES: &str = "\
Examples:
  archivist status
  archivist status --json";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  archivist doctor
  archivist doctor --repair
  archivist doctor --against .openagents/memory

Ends with 1 while anything is left that should be mended.";

const COMPACT_EXAMPLES: &str = "\
Examples:
  archivist compact";

#[derive(Debug, Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub(super) struct Status {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(super) struct Doctor {
    /// Mend what can be mended without losing anything
    #[arg(long)]
    repair: bool,
    /// Say in what this memory differs from the one in files in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "repair")]
    against: Option<PathBuf>,
    /// With --against: the bank of lessons that hold everywhere, instead of the project's
    #[arg(long, requires = "against")]
    global: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = COMPACT_EXAMPLES)]
pub(super) struct Compact {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let condition = session.desk.condition(session.now).await?;
        if self.json {
            console.json(&condition)?;
            return Ok(Exit::Done);
        }
        let Condition { banks, queue } = condition;
        if banks.is_empty() && queue.jobs.is_empty() {
            console.note("there is no memory here yet; `archivist add` begins one");
        }
        for (at, bank) in banks.iter().enumerate() {
            if at > 0 {
                console.line("")?;
            }
            print_bank(bank, console)?;
        }
        print_jobs(queue, is_in_a_fleet(session), console)?;
        Ok(Exit::Done)
    }
}

/// Whether the jobs lie on a server.
fn is_in_a_fleet(session: &Session) -> bool {
    #[cfg(feature = "postgres")]
    return session.desk.server().is_some();
    #[cfg(not(feature = "postgres"))]
    return {
        let _ = session;
        false
    };
}

fn print_jobs(queue: Jobs, is_in_a_fleet: bool, console: &mut Console) -> Result<(), Failure> {
    let Jobs { is_worked, jobs } = queue;
    let (done, mut open): (Vec<JobReport>, _) = jobs.into_iter().partition(|job| job.place == Place::Done);
    if done.is_empty() && open.is_empty() {
        return Ok(());
    }
    // The names of files say nothing to a person; of two jobs of one age the session decides.
    open.sort_by_cached_key(|job| (job.place, Reverse(job.age_seconds), job.subject().to_owned()));
    let worker = if is_worked { "a worker runs" } else { "no worker runs" };
    console.line("")?;
    console.line(&format!("{}, {} done; {worker}", count(open.len(), "open job", "open jobs"), done.len()))?;
    if open.is_empty() {
        return Ok(());
    }
    let mut table = Table::new([
        Column::text("Place", Stay::Always),
        Column::text("Session", Stay::Always),
        Column::text("Event", Stay::Always),
        Column::number("Age", Stay::Always),
        Column::number("Tries", Stay::Always),
        Column::text("Last word", Stay::Always),
    ]);
    for job in &open {
        table.row([
            job.place.as_str().to_owned(),
            one_line(job.subject()),
            one_line(job.event.as_deref().unwrap_or_default()),
            elapsed(job.age_seconds),
            job.attempts.to_string(),
            one_line(job.note.as_deref().unwrap_or_default()),
        ]);
    }
    table.print(console)?;
    if open.iter().any(|job| job.place == Place::Dead) {
        console.note(match is_in_a_fleet {
            true => "hint: `archivist worker --once --retry-dead` tries dead jobs again",
            false => "hint: a dead job is tried again when its file is moved from queue/dead to queue/new",
        });
    }
    Ok(())
}

/// What there is to tell only of files.
const OF_FILES: [&str; 3] = ["damaged", "index", "files"];

fn print_bank(bank: &BankStatus, console: &mut Console) -> Result<(), Failure> {
    let index = match &bank.index {
        IndexStatus::Current => "up to date".to_owned(),
        IndexStatus::Behind { bytes: behind } => format!("{} behind", bytes(*behind)),
        IndexStatus::Absent => "none; small memories need none".to_owned(),
        IndexStatus::Unusable => "does not fit the files; they are read until it is built anew".to_owned(),
    };
    let files = bank.files.iter().map(|file| format!("{} {}", file.name, bytes(file.bytes)));
    let files: Vec<String> = files.collect();
    console.line(&console.styled(Style::Bold, &bank.site.to_string()))?;
    let entries = [
        ("lessons", format!("{}, {} retired", bank.lessons, bank.retired)),
        ("episodes", bank.episodes.to_string()),
        ("ledger", bank.facts.to_string()),
        ("damaged", count(bank.damaged_lines, "line", "lines")),
        ("index", index),
        ("files", if files.is_empty() { "none yet".to_owned() } else { list(files) }),
    ];
    let is_on_server = matches!(bank.site, Site::Server { .. });
    for (label, value) in entries.into_iter().filter(|(label, _)| !is_on_server || !OF_FILES.contains(label)) {
        console.line(&format!("  {}{value}", console.styled(Style::Dim, &format!("{label:10}"))))?;
    }
    if bank.damaged_lines > 0 {
        console.note("hint: `archivist doctor` shows the damaged lines");
    }
    Ok(())
}

/// What `doctor` found.
#[derive(Debug, Serialize)]
struct Examination {
    /// What `--repair` put right.
    mended: Vec<Finding>,
    /// What is there now.
    findings: Vec<Finding>,
}

impl Doctor {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        if let Some(directory) = &self.against {
            let bank = if self.global { Bank::Global } else { Bank::Project };
            let differences = session.desk.differences(directory, bank).await?;
            if self.json {
                console.json(&differences)?;
            } else {
                differences.iter().try_for_each(|difference| console.line(difference))?;
                if differences.is_empty() {
                    console.note("both hold the same");
                }
            }
            return Ok(if differences.is_empty() { Exit::Done } else { Exit::Refused });
        }
        let mended = if self.repair { session.desk.memory.repair(session.now).await? } else { Vec::new() };
        let findings = session.desk.memory.examine().await?;
        let healthy = findings.iter().all(|finding| matches!(finding.remedy, Remedy::Kept));
        if self.json {
            console.json(&Examination { mended, findings })?;
        } else {
            print_findings(&mended, &findings, console)?;
        }
        Ok(if healthy { Exit::Done } else { Exit::Refused })
    }
}

fn print_findings(mended: &[Finding], findings: &[Finding], console: &mut Console) -> Result<(), Failure> {
    if mended.is_empty() && findings.is_empty() {
        console.note("nothing is wrong");
        return Ok(());
    }
    let mut table = Table::new([
        Column::text("File", Stay::Always),
        Column::number("Line", Stay::Always),
        Column::text("Remedy", Stay::Always),
        Column::text("Problem", Stay::Always),
    ]);
    let mut add = |finding: &Finding, remedy: &str| {
        let line = finding.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
        table.row([finding.file.clone(), line, remedy.to_owned(), finding.problem.clone()]);
    };
    mended.iter().for_each(|finding| add(finding, "mended"));
    for finding in findings {
        add(finding, in_words(&finding.remedy));
    }
    table.print(console)?;
    if findings.iter().any(|finding| matches!(finding.remedy, Remedy::Repairable)) {
        console.note("hint: `archivist doctor --repair` mends what is repairable");
    }
    Ok(())
}

fn in_words(remedy: &Remedy) -> &'static str {
    match remedy {
        Remedy::Kept => "none needed",
        Remedy::Repairable => "repairable",
        Remedy::ByHand => "by hand",
    }
}

impl Compact {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let done = session.desk.memory.compact().await?;
        if self.json {
            console.json(&done)?;
            return Ok(Exit::Done);
        }
        if done.is_empty() {
            console.note("nothing to move: there is no memory in files here");
        }
        for Compaction { directory, lessons_moved, versions_moved, bytes_before, bytes_after } in &done {
            console.line(&format!(
                "{}: {} and {} moved, {} before, {} after",
                directory.display(),
                count(*lessons_moved, "retired lesson", "retired lessons"),
                count(*versions_moved, "old version", "old versions"),
                bytes(*bytes_before),
                bytes(*bytes_after),
            ))?;
        }
        Ok(Exit::Done)
    }
}
