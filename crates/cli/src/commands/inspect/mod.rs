//! `archivist inspect`: shows the contents of session logs.

mod lessons;
mod log_files;
mod print;
mod report;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

pub(crate) use self::lessons::print_candidates as print_lessons;
use self::report::{InspectReport, UnreadFileReport};
use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::{CommandContext, warn_about_ignored};
use crate::console::Console;
use crate::session_trigger::{build_runtime, trigger_for_files};
use archivist_core::config::ProcessEnvironment;
use archivist_core::context::{DigestInput, render_digest};
use archivist_core::domain::Timestamp;
use archivist_core::ingest::{ReaderSettings, find_subagent_logs};
use archivist_core::redact::Redactor;
use archivist_core::service::CombinedLogs;
use archivist_core::service::RequestError;
use archivist_core::text::Tokenizer;

const EXAMPLES: &str = "\
Examples:
  archivist inspect ~/.claude/projects/-home-me-shop/0f4e.jsonl
  archivist inspect jobs/ --json
  archivist inspect trajectory.json --strict
  archivist inspect session.jsonl --context > context.json
  archivist inspect session.jsonl --digest --budget 8000
  archivist inspect session.jsonl --lessons

The format is known by what a file holds, not by its name. In folders, files that are no logs are passed over.
Secrets are masked in everything that is printed.";

/// The default token budget of a digest.
const DIGEST_TOKENS: usize = 24_000;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectCommand {
    /// Logs, or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Hold logs against their format's own rules; ends with 1 if one breaks them
    #[arg(long)]
    strict: bool,
    /// Print what a reflection on these logs, as one session, would look at
    #[arg(long, conflicts_with_all = ["strict", "digest"])]
    context: bool,
    /// Print what a model would read of these logs, as one session
    #[arg(long, conflicts_with_all = ["strict", "json"])]
    digest: bool,
    /// Print the lessons that these logs, as one session, would give; nothing is stored
    #[arg(long, conflicts_with_all = ["strict", "context", "digest"])]
    lessons: bool,
    /// The most tokens of a digest
    #[arg(long, value_name = "TOKENS", requires = "digest", default_value_t = DIGEST_TOKENS)]
    budget: usize,
    /// Print one JSON object a file, each on its own line
    #[arg(long)]
    json: bool,
}

impl InspectCommand {
    pub(crate) fn run(
        &self,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        seed: u64,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let here = &environment.current_dir;
        let given: Vec<PathBuf> = self.paths.iter().map(|path| here.join(path)).collect();
        let files = log_files::find_log_files(&given, &self.paths)?;
        if self.context || self.lessons {
            let session = CommandContext::open(globals, environment, now, seed)?;
            warn_about_ignored(&session.ignored_settings, console);
            return self.inspect_as_session(&files, &session, environment, console);
        }
        if self.digest {
            let redactor = Redactor::new();
            let logs = read_as_session(&files, &redactor)?;
            let material =
                DigestInput { trajectories: &logs.gathered.trajectories, signals: &logs.gathered.signals, notes: None };
            console.print_bytes(render_digest(&material, self.budget, &Tokenizer::new()).text.as_bytes())?;
            return Ok(CommandExit::Done);
        }
        self.inspect_each_file(files, console)
    }

    /// Prints what a reflection on all files, as one session, would look at or learn.
    fn inspect_as_session(
        &self,
        files: &[log_files::InspectedFile],
        session: &CommandContext,
        _environment: &ProcessEnvironment,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let service = session.archivist.reflection_service()?;
        let paths = files.iter().map(|found| found.path.clone()).collect();
        let (trigger, sources) = trigger_for_files(paths, session)?;
        let runtime = build_runtime()?;
        if self.context {
            console.print_json(
                &runtime.block_on(service.preview_context(&trigger, sources)).map_err(RequestError::from)?,
            )?;
            return Ok(CommandExit::Done);
        }
        let distilled = runtime.block_on(service.preview_candidates(&trigger, sources)).map_err(RequestError::from)?;
        match self.json {
            true => console.print_json(&distilled)?,
            false => lessons::print_candidates(&distilled, console)?,
        }
        Ok(CommandExit::Done)
    }

    /// Prints one report per file.
    fn inspect_each_file(&self, files: Vec<log_files::InspectedFile>, console: &mut Console) -> Result<CommandExit> {
        let mut tally = InspectTally::default();
        let rules = ReaderSettings { strict: self.strict };
        log_files::read_in_parallel(&files, rules, console, |found, read, console| {
            match read {
                Ok(log) => {
                    let report = InspectReport::from_log(&found.shown, log);
                    tally.read += 1;
                    tally.with_findings += u64::from(report.has_findings());
                    if self.json {
                        let line = serde_json::to_string(&report).map_err(CliError::Encode)?;
                        console.print_line(&line)
                    } else {
                        print::print_report(&report, tally.read == 1, console)
                    }
                }
                // A person who names a folder does not claim that every file in it is a log.
                Err(unreadable) if !found.is_named && unreadable.is_not_a_log() => {
                    tally.passed_over += 1;
                    Ok(())
                }
                Err(unreadable) => {
                    tally.unread += 1;
                    if self.json {
                        let line = serde_json::to_string(&UnreadFileReport::from_error(&found.shown, &unreadable))
                            .map_err(CliError::Encode)?;
                        console.print_line(&line)?;
                    }
                    console.print_error(&format!("{}: {unreadable}", found.shown));
                    Ok(())
                }
            }
        })?;
        tally.report_result(self.strict, console)
    }
}

/// The counts of files by result.
#[derive(Debug, Default)]
struct InspectTally {
    read: u64,
    with_findings: u64,
    unread: u64,
    passed_over: u64,
}

impl InspectTally {
    fn report_result(&self, strict: bool, console: &mut Console) -> Result<CommandExit> {
        if self.passed_over > 0 {
            console.print_note(&format!("passed over {} files that are no logs", self.passed_over));
        }
        if self.read == 0 && self.unread == 0 {
            let hint = "name a session log or a folder that holds some";
            return Err(CliError::user_error("no logs were found").with_hint(hint).into());
        }
        if self.unread > 0 {
            console.print_hint("docs/formats.md lists the formats that are read");
        }
        let is_clean = self.unread == 0 && !(strict && self.with_findings > 0);
        Ok(if is_clean { CommandExit::Done } else { CommandExit::Refused })
    }
}

/// Reads files as one session, together with the subagent logs next to them.
fn read_as_session(files: &[log_files::InspectedFile], redactor: &Redactor) -> Result<CombinedLogs> {
    let paths: Vec<PathBuf> = files.iter().map(|found| found.path.clone()).collect();
    let subagents: Vec<PathBuf> =
        paths.iter().flat_map(|path| find_subagent_logs(path)).filter(|path| !paths.contains(path)).collect();
    let logs = CombinedLogs::read_session(&paths, &subagents, redactor);
    let shown = files.first().map(|found| found.shown.as_str()).unwrap_or_default();
    logs.map_err(|unreadable| {
        let hint = "docs/formats.md lists the formats that are read";
        CliError::user_error(format!("{shown}: {unreadable}")).with_hint(hint).into()
    })
}
