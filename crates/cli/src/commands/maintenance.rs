//! `archivist status`, `doctor` and `compact`: inspect and maintain the memory.

use std::cmp::Reverse;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::{Console, TextStyle};
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::{format_bytes, format_count, format_elapsed, join_with_commas, one_line};
use archivist_core::memory::{BankFinding, BankSite, BankStatus, CompactionReport, FindingRemedy, IndexStatus};
use archivist_core::service::JobFolder;
use archivist_core::service::{BankKind, JobQueueStatus, JobReport, MemoryStatus};

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
pub(crate) struct StatusCommand {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorCommand {
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
pub(crate) struct CompactCommand {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl StatusCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let condition = session.archivist.memory_status().await?;
        if self.json {
            console.print_json(&condition)?;
            return Ok(CommandExit::Done);
        }
        let MemoryStatus { banks, queue } = condition;
        if banks.is_empty() && queue.jobs.is_empty() {
            console.print_note("there is no memory here yet; `archivist add` begins one");
        }
        for (at, bank) in banks.iter().enumerate() {
            if at > 0 {
                console.print_line("")?;
            }
            print_bank(bank, console)?;
        }
        print_jobs(queue, console)?;
        Ok(CommandExit::Done)
    }
}

fn print_jobs(queue: JobQueueStatus, console: &mut Console) -> Result<(), CliError> {
    let JobQueueStatus { is_worked, jobs } = queue;
    let (done, mut open): (Vec<JobReport>, _) = jobs.into_iter().partition(|job| job.place == JobFolder::Done);
    if done.is_empty() && open.is_empty() {
        return Ok(());
    }
    // File names mean nothing to a person, so jobs of the same age are ordered by session.
    open.sort_by_cached_key(|job| (job.place, Reverse(job.age_seconds), job.display_name().to_owned()));
    let worker = if is_worked { "a worker runs" } else { "no worker runs" };
    console.print_line("")?;
    console.print_line(&format!(
        "{}, {} done; {worker}",
        format_count(open.len(), "open job", "open jobs"),
        done.len()
    ))?;
    if open.is_empty() {
        return Ok(());
    }
    let mut table = TextTable::new([
        TableColumn::text("Place", ColumnVisibility::Always),
        TableColumn::text("Session", ColumnVisibility::Always),
        TableColumn::text("Event", ColumnVisibility::Always),
        TableColumn::number("Age", ColumnVisibility::Always),
        TableColumn::number("Tries", ColumnVisibility::Always),
        TableColumn::text("Last word", ColumnVisibility::Always),
    ]);
    for job in &open {
        table.add_row([
            job.place.as_str().to_owned(),
            one_line(job.display_name()),
            one_line(job.event.as_deref().unwrap_or_default()),
            format_elapsed(job.age_seconds),
            job.attempts.to_string(),
            one_line(job.note.as_deref().unwrap_or_default()),
        ]);
    }
    table.print_to(console)?;
    if open.iter().any(|job| job.place == JobFolder::Dead) {
        console.print_note("hint: `archivist worker --once --retry-dead` tries dead jobs again");
    }
    Ok(())
}

/// The entries that only a memory in files has.
const OF_FILES: [&str; 3] = ["damaged", "index", "files"];

fn print_bank(bank: &BankStatus, console: &mut Console) -> Result<(), CliError> {
    let index = match &bank.index {
        IndexStatus::Current => "up to date".to_owned(),
        IndexStatus::Behind { bytes: behind } => format!("{} behind", format_bytes(*behind)),
        IndexStatus::Absent => "none; small memories need none".to_owned(),
        IndexStatus::Unusable => "does not fit the files; they are read until it is built anew".to_owned(),
    };
    let files = bank.files.iter().map(|file| format!("{} {}", file.name, format_bytes(file.bytes)));
    let files: Vec<String> = files.collect();
    console.print_line(&console.style_text(TextStyle::Bold, &bank.site.to_string()))?;
    let entries = [
        ("lessons", format!("{}, {} retired", bank.lessons, bank.retired)),
        ("episodes", bank.episodes.to_string()),
        ("ledger", bank.facts.to_string()),
        ("damaged", format_count(bank.damaged_lines, "line", "lines")),
        ("index", index),
        ("files", if files.is_empty() { "none yet".to_owned() } else { join_with_commas(files) }),
    ];
    let is_on_server = matches!(bank.site, BankSite::Server { .. });
    for (label, value) in entries.into_iter().filter(|(label, _)| !is_on_server || !OF_FILES.contains(label)) {
        console.print_line(&format!("  {}{value}", console.style_text(TextStyle::Dim, &format!("{label:10}"))))?;
    }
    if bank.damaged_lines > 0 {
        console.print_note("hint: `archivist doctor` shows the damaged lines");
    }
    Ok(())
}

/// The findings of `archivist doctor`, as JSON for programs.
#[derive(Debug, Serialize)]
struct DoctorReport {
    /// The findings that `--repair` fixed.
    mended: Vec<BankFinding>,
    /// The findings that remain.
    findings: Vec<BankFinding>,
}

impl DoctorCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        if let Some(directory) = &self.against {
            let bank = if self.global { BankKind::Global } else { BankKind::Project };
            let differences = session.archivist.compare_with_directory(directory, bank).await?;
            if self.json {
                console.print_json(&differences)?;
            } else {
                differences.iter().try_for_each(|difference| console.print_line(difference))?;
                if differences.is_empty() {
                    console.print_note("both hold the same");
                }
            }
            return Ok(if differences.is_empty() { CommandExit::Done } else { CommandExit::Refused });
        }
        let mended =
            if self.repair { session.archivist.memory.repair_problems(session.now).await? } else { Vec::new() };
        let findings = session.archivist.memory.find_problems().await?;
        let healthy = findings.iter().all(|finding| matches!(finding.remedy, FindingRemedy::Kept));
        if self.json {
            console.print_json(&DoctorReport { mended, findings })?;
        } else {
            print_findings(&mended, &findings, console)?;
        }
        Ok(if healthy { CommandExit::Done } else { CommandExit::Refused })
    }
}

fn print_findings(mended: &[BankFinding], findings: &[BankFinding], console: &mut Console) -> Result<(), CliError> {
    if mended.is_empty() && findings.is_empty() {
        console.print_note("nothing is wrong");
        return Ok(());
    }
    let mut table = TextTable::new([
        TableColumn::text("File", ColumnVisibility::Always),
        TableColumn::number("Line", ColumnVisibility::Always),
        TableColumn::text("Remedy", ColumnVisibility::Always),
        TableColumn::text("Problem", ColumnVisibility::Always),
    ]);
    let mut add = |finding: &BankFinding, remedy: &str| {
        let line = finding.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
        table.add_row([finding.file.clone(), line, remedy.to_owned(), finding.problem.clone()]);
    };
    mended.iter().for_each(|finding| add(finding, "mended"));
    for finding in findings {
        add(finding, remedy_word(&finding.remedy));
    }
    table.print_to(console)?;
    if findings.iter().any(|finding| matches!(finding.remedy, FindingRemedy::Repairable)) {
        console.print_note("hint: `archivist doctor --repair` mends what is repairable");
    }
    Ok(())
}

fn remedy_word(remedy: &FindingRemedy) -> &'static str {
    match remedy {
        FindingRemedy::Kept => "none needed",
        FindingRemedy::Repairable => "repairable",
        FindingRemedy::ByHand => "by hand",
    }
}

impl CompactCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let done = session.archivist.memory.compact_banks().await?;
        if self.json {
            console.print_json(&done)?;
            return Ok(CommandExit::Done);
        }
        if done.is_empty() {
            console.print_note("nothing to move: there is no memory in files here");
        }
        for CompactionReport { directory, lessons_moved, versions_moved, bytes_before, bytes_after } in &done {
            console.print_line(&format!(
                "{}: {} and {} moved, {} before, {} after",
                directory.display(),
                format_count(*lessons_moved, "retired lesson", "retired lessons"),
                format_count(*versions_moved, "old version", "old versions"),
                format_bytes(*bytes_before),
                format_bytes(*bytes_after),
            ))?;
        }
        Ok(CommandExit::Done)
    }
}
