//! `archivist status`, `doctor` and `compact`: the memory looked at from outside.

use std::cmp::Reverse;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::console::{Console, Style};
use super::failure::{Exit, Failure};
use super::prose::{bytes, count, elapsed, list, one_line};
use super::session::Session;
use super::table::{Column, Stay, Table};
use super::worker::queue_failure;
use crate::domain::Timestamp;
use crate::memory::jsonl::{BankStatus, Compaction, Finding, IndexStatus, Remedy};
use crate::service::{Errand, Listed, Place, Queue};

const STATUS_EXAMPLES: &str = "\
Examples:
  archivist status
  archivist status --json";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  archivist doctor
  archivist doctor --repair

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
        let banks = session.memory.status().await?;
        let queue = Queue::at(session.memory_dir());
        let jobs = queue.jobs(session.config().worker.pace().lease, session.now).map_err(queue_failure)?;
        if self.json {
            let jobs = jobs.iter().map(Told::of).collect();
            console.json(&Condition { banks, is_worked: queue.is_worked(), jobs })?;
            return Ok(Exit::Done);
        }
        if banks.is_empty() && jobs.is_empty() {
            console.note("there is no memory here yet; `archivist add` begins one");
        }
        for (at, bank) in banks.iter().enumerate() {
            if at > 0 {
                console.line("")?;
            }
            print_bank(bank, console)?;
        }
        print_jobs(&jobs, queue.is_worked(), console)?;
        Ok(Exit::Done)
    }
}

/// How the memory and its queue are, for a program.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Condition<'j> {
    banks: Vec<BankStatus>,
    /// Whether a worker runs.
    is_worked: bool,
    jobs: Vec<Told<'j>>,
}

/// A job as it is told.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'j> {
    name: &'j str,
    place: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'j str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'j str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'j str>,
    age_seconds: u64,
    attempts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_before: Option<Timestamp>,
    /// What was last said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'j str>,
}

impl<'j> Told<'j> {
    fn of(listed: &'j Listed) -> Self {
        let job = listed.job.as_ref().ok();
        let session = job.and_then(|job| match &job.errand {
            Errand::Reflect(trigger) => Some(trigger.session_id.as_str()),
            Errand::Sweep { .. } => None,
        });
        let last = job.and_then(|job| job.attempts.last()).map(|attempt| attempt.error.as_str());
        let unreadable = listed.job.as_ref().err().map(String::as_str);
        Self {
            name: &listed.name,
            place: listed.place.as_str(),
            session,
            agent: job.map(|job| job.agent.as_str()),
            event: job.map(|job| job.event.as_str()),
            age_seconds: listed.age.as_secs(),
            attempts: job.map_or(0, |job| job.attempts.len()),
            not_before: job.and_then(|job| job.not_before),
            note: listed.note.as_deref().or(last).or(unreadable),
        }
    }

    /// What a person calls it.
    fn subject(&self) -> &str {
        self.session.unwrap_or(if self.event.is_some() { "a look for sessions" } else { self.name })
    }
}

fn print_jobs(jobs: &[Listed], is_worked: bool, console: &mut Console) -> Result<(), Failure> {
    let mut open: Vec<&Listed> = jobs.iter().filter(|job| job.place != Place::Done).collect();
    // The names of files say nothing to a person; of two jobs of one age the session decides.
    open.sort_by_cached_key(|job| (job.place, Reverse(job.age.as_secs()), Told::of(job).subject().to_owned()));
    let open: Vec<Told<'_>> = open.into_iter().map(Told::of).collect();
    let done = jobs.len() - open.len();
    if jobs.is_empty() {
        return Ok(());
    }
    let worker = if is_worked { "a worker runs" } else { "no worker runs" };
    console.line("")?;
    console.line(&format!("{}, {done} done; {worker}", count(open.len(), "open job", "open jobs")))?;
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
            job.place.to_owned(),
            one_line(job.subject()),
            one_line(job.event.unwrap_or_default()),
            elapsed(job.age_seconds),
            job.attempts.to_string(),
            one_line(job.note.unwrap_or_default()),
        ]);
    }
    table.print(console)?;
    if open.iter().any(|job| job.place == Place::Dead.as_str()) {
        console.note("hint: a dead job is tried again when its file is moved from queue/dead to queue/new");
    }
    Ok(())
}

fn print_bank(bank: &BankStatus, console: &mut Console) -> Result<(), Failure> {
    let index = match &bank.index {
        IndexStatus::Current => "up to date".to_owned(),
        IndexStatus::Behind { bytes: behind } => format!("{} behind", bytes(*behind)),
        IndexStatus::Absent => "none; small memories need none".to_owned(),
        IndexStatus::Unusable => "does not fit the files; they are read until it is built anew".to_owned(),
    };
    let files = bank.files.iter().map(|file| format!("{} {}", file.name, bytes(file.bytes)));
    let files: Vec<String> = files.collect();
    console.line(&console.styled(Style::Bold, &bank.directory.display().to_string()))?;
    let entries = [
        ("lessons", format!("{}, {} retired", bank.lessons, bank.retired)),
        ("episodes", bank.episodes.to_string()),
        ("ledger", bank.facts.to_string()),
        ("damaged", count(bank.damaged_lines, "line", "lines")),
        ("index", index),
        ("files", if files.is_empty() { "none yet".to_owned() } else { list(files) }),
    ];
    for (label, value) in entries {
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
        let mended = if self.repair { session.memory.repair(session.now).await? } else { Vec::new() };
        let findings = session.memory.examine().await?;
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
        let done = session.memory.compact().await?;
        if self.json {
            console.json(&done)?;
            return Ok(Exit::Done);
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
