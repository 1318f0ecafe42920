//! `archivist purge`: erases for good.

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::text_format::{join_with_commas, one_line};
use archivist_core::domain::SessionId;
use archivist_core::memory::ErasureCounts;
use archivist_core::service::{PurgeReport, PurgeSelector, RequestError};
use archivist_core::text::SearchedText;

const EXAMPLES: &str = "\
Examples:
  archivist purge m-007
  archivist purge --session 0198c2f0-5b7e-7d55 --dry-run
  archivist purge --match \"the customer's name\"
  printf %s \"$TEXT\" | archivist purge --match - --yes

Every version, fact, job, message, recording and log line of what is purged is erased from every file and table that
Archivist keeps, and a note stays that says how many there were. It cannot be taken back; `archivist forget` can. It
takes a person at a terminal. A purge that is killed is finished by the next command.

Not touched: the agents' own logs, commits in git, backups, exports, and what a model's provider keeps. A purged session
is not learned from again, though its log is still there. docs/operations.md says more.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PurgeCommand {
    /// Short names, ids, or the beginnings of ids, of lessons and episodes
    #[arg(value_name = "ID", required_unless_present_any = ["session", "text", "resume"])]
    names: Vec<String>,
    /// A session: its episode, its jobs and messages, and the lessons that rest on it alone
    #[arg(long, value_name = "ID", value_parser = SessionId::parse, conflicts_with = "names")]
    session: Option<SessionId>,
    /// Every record that holds this text, in any case; `-` reads it from stdin
    #[arg(long = "match", value_name = "TEXT", conflicts_with_all = ["names", "session"])]
    text: Option<String>,
    /// Finish a purge that was interrupted
    #[arg(long, conflicts_with_all = ["names", "session", "text", "dry_run"])]
    resume: bool,
    /// Say what would be erased, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask before
    #[arg(long)]
    yes: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The result of a purge, as JSON for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PurgeOutput<'r> {
    is_dry_run: bool,
    erased: &'r ErasureCounts,
    agent_logs: &'r [String],
}

impl PurgeCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let archivist = &session.archivist;
        if self.resume {
            return match archivist.resume_purge().await? {
                Some(report) => self.print_report(&report, console),
                None => {
                    console.print_note("no purge was interrupted");
                    Ok(CommandExit::Done)
                }
            };
        }
        if !self.dry_run {
            session.require_person(console)?;
        }
        let selector = self.read_selector(console)?;
        let plan = archivist.plan_purge(&selector).await?;
        if plan.is_empty() {
            return Err(nothing_to_erase(&selector).into());
        }
        if self.dry_run {
            if self.json {
                let output = PurgeOutput { is_dry_run: true, erased: &plan.erased, agent_logs: &plan.agent_logs };
                console.print_json(&output)?;
            } else {
                console.print_line(&format!("would erase {}", describe_counts(&plan.erased)))?;
                print_agent_logs(&plan.agent_logs, console);
            }
            return Ok(CommandExit::Done);
        }
        if !self.yes {
            let question = format!("erase for good: {}?", describe_counts(&plan.erased));
            if !console.ask_confirmation(&question)? {
                console.print_note("nothing was erased");
                return Ok(CommandExit::Refused);
            }
        }
        let is_watched = console.is_stderr_watched();
        let report = archivist
            .purge(plan, "person", |step| {
                if is_watched {
                    console.print_note(step);
                }
            })
            .await?;
        self.print_report(&report, console)
    }

    fn read_selector(&self, console: &mut Console) -> Result<PurgeSelector> {
        let given = match self.text.as_deref() {
            Some("-") => Some(console.read_input()?.trim_end_matches(['\r', '\n']).to_owned()),
            given => given.map(str::to_owned),
        };
        let text = given.map(|text| {
            SearchedText::new(&text).ok_or_else(|| {
                let least = SearchedText::MIN_CHARACTERS;
                CliError::usage_error(format!("the text to match must have {least} characters at least"))
                    .with_hint("a shorter one is in records that have nothing to do with it")
            })
        });
        Ok(PurgeSelector { names: self.names.clone(), session: self.session.clone(), text: text.transpose()? })
    }

    fn print_report(&self, report: &PurgeReport, console: &mut Console) -> Result<CommandExit> {
        if self.json {
            let output = PurgeOutput { is_dry_run: false, erased: &report.erased, agent_logs: &report.agent_logs };
            console.print_json(&output)?;
        } else {
            console.print_line(&format!("erased {}", describe_counts(&report.erased)))?;
            print_agent_logs(&report.agent_logs, console);
        }
        Ok(CommandExit::Done)
    }
}

fn nothing_to_erase(selector: &PurgeSelector) -> RequestError {
    let (message, hint) = match selector {
        PurgeSelector { session: Some(session), .. } => (
            format!("nothing to erase: nothing is kept of session `{session}`"),
            "`archivist episodes --json` shows the sessions",
        ),
        // The text is not repeated: messages end up in logs.
        PurgeSelector { text: Some(_), .. } => (
            "nothing to erase: no record holds this text".to_owned(),
            "a part of it may have been redacted; try another",
        ),
        _ => ("nothing to erase".to_owned(), "`archivist list --all` and `archivist episodes` show what there is"),
    };
    RequestError::impossible_request(message, hint)
}

fn describe_counts(counts: &ErasureCounts) -> String {
    join_with_commas(counts.iter().map(|(kind, number)| format!("{kind}: {number}")))
}

fn print_agent_logs(logs: &[String], console: &mut Console) {
    for log in logs {
        console.print_note(&format!("the agent keeps its own log: {}", one_line(log)));
    }
}
