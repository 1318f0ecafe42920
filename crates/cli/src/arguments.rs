//! Defines the commands and the flags that all commands share.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, FromArgMatches, Parser, Subcommand};

use super::console::{ColorChoice, StderrVerbosity};
#[cfg(feature = "postgres")]
use crate::commands::migrate;
use crate::commands::{
    add, archeflow, audit, audit_check, batch, config, decisions, demo, effect, episodes, feedback, forget, history,
    hook, import_export, init, inspect, list, maintenance, prompt, purge, recall, reference_texts, reflect, show,
    trust, why, worker,
};
#[cfg(feature = "serve")]
use crate::commands::{mcp, serve};
#[cfg(feature = "eval")]
use crate::eval;
#[cfg(feature = "hud")]
use crate::terminal_hud;
use archivist_core::domain::Timestamp;

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;

const EXAMPLES: &str = "\
Examples:
  archivist demo
  archivist add \"Prefer rg over grep in this repository\"
  archivist recall \"the build fails with a linker error\" --tool bash
  archivist list --kind preference
  archivist show m-001

Exit codes: 0 done, 1 nothing found or cannot be done, 2 bad usage, 70 a fault of Archivist";

/// A memory for coding agents: lessons with evidence, given back only where they help.
#[derive(Debug, Parser)]
#[command(name = "archivist", version, after_help = EXAMPLES, max_term_width = 100)]
pub(super) struct CliArguments {
    #[command(flatten)]
    pub(super) globals: GlobalFlags,
    #[command(subcommand)]
    pub(super) command: CliCommand,
}

impl CliArguments {
    /// Parses the command line. For commands that agents call often, only that command's parser is built, because
    /// building all parsers takes a quarter of such a process's time. Arguments that this fast path rejects are parsed
    /// again in full.
    pub(super) fn parse_from(given: &[OsString]) -> Result<Self, clap::Error> {
        Self::parse_fast_path(given).map_or_else(|| Self::try_parse_from(given), Ok)
    }

    fn parse_fast_path(given: &[OsString]) -> Option<Self> {
        let (globals, command) = match given.get(1)?.to_str()? {
            // Arguments without flags need no parser.
            "archeflow" if !given.iter().skip(2).any(|word| word.as_encoded_bytes().starts_with(b"-")) => {
                let flow = archeflow::ArcheFlowCommand::from_words(given.iter().skip(2).cloned().collect());
                Some((GlobalFlags::default(), OtherCommand::Archeflow(flow)))
            }
            "hook" => parse_single_command("hook", given).map(|(globals, hook)| (globals, OtherCommand::Hook(hook))),
            "archeflow" => {
                parse_single_command("archeflow", given).map(|(globals, flow)| (globals, OtherCommand::Archeflow(flow)))
            }
            _ => None,
        }?;
        Some(Self { globals, command: CliCommand::Other(command) })
    }
}

/// Parses the global flags and one command, as if there were no other command.
fn parse_single_command<C: Args>(name: &'static str, given: &[OsString]) -> Option<(GlobalFlags, C)> {
    let own = C::augment_args(clap::Command::new(name));
    let command = GlobalFlags::augment_args(clap::Command::new("archivist")).subcommand(own);
    let matches = command.try_get_matches_from(given).ok()?;
    let (_, own) = matches.subcommand()?;
    Some((GlobalFlags::from_arg_matches(&matches).ok()?, C::from_arg_matches(own).ok()?))
}

/// Flags that every command takes.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct GlobalFlags {
    /// The root of the project; found from the current directory otherwise
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) project: Option<PathBuf>,
    /// The directory of the project's memories
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) memory_dir: Option<PathBuf>,
    /// A configuration file that wins over the user's and the project's
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// What time it is, for runs that must repeat exactly
    #[arg(long, global = true, value_name = "RFC3339", value_parser = parse_timestamp)]
    pub(super) now: Option<Timestamp>,
    /// The seed of new ids, for runs that must repeat exactly
    #[arg(long, global = true, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// When to use colour: auto, always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", hide_possible_values = true, default_value = "auto")]
    pub(super) color: ColorChoice,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say on stderr what happens; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
}

impl GlobalFlags {
    /// Returns these flags for another project, whose own settings name its memory.
    pub(super) fn for_project(&self, root: &Path) -> Self {
        Self { project: Some(root.to_owned()), memory_dir: None, ..self.clone() }
    }

    pub(super) fn stderr_verbosity(&self) -> StderrVerbosity {
        if self.quiet { StderrVerbosity::Quiet } else { StderrVerbosity::Normal }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum CliCommand {
    #[command(flatten)]
    Memory(MemoryCommand),
    #[command(flatten)]
    Reflecting(ReflectingCommand),
    #[command(flatten)]
    Other(OtherCommand),
}

impl CliCommand {
    /// Returns true if an agent makes the call.
    pub(super) fn is_hook(&self) -> bool {
        matches!(self, Self::Other(OtherCommand::Hook(_)))
    }

    /// Returns true if the command takes over the whole terminal.
    pub(super) fn takes_over_terminal(&self) -> bool {
        #[cfg(feature = "hud")]
        return matches!(self, Self::Reflecting(ReflectingCommand::Hud(_)));
        #[cfg(not(feature = "hud"))]
        false
    }
}

/// Commands that open the memory.
#[derive(Debug, Subcommand)]
pub(super) enum MemoryCommand {
    /// Write a lesson, a preference or a decision by hand
    Add(Box<add::AddCommand>),
    /// List lessons, the newest first
    List(list::ListCommand),
    /// Show a lesson in full
    Show(show::ShowCommand),
    /// Say why a lesson is believed: its words, its runs, what came of it
    Why(why::WhyCommand),
    /// Take lessons out of use; they are kept and can be restored
    Forget(forget::ForgetCommand),
    /// Erase lessons, sessions or a text for good, from every file and table
    Purge(purge::PurgeCommand),
    /// Show the versions of a lesson
    History(history::HistoryCommand),
    /// Bring back an earlier version of a lesson, as a new one
    Restore(history::RestoreCommand),
    /// Stand behind a lesson: it is given from now on, and does not grow old
    Promote(decisions::PromoteCommand),
    /// Let a lesson out of quarantine
    Approve(decisions::ApproveCommand),
    /// Take a lesson out of use, and do not learn it again
    Reject(decisions::RejectCommand),
    /// Make two lessons of one again
    Unmerge(decisions::UnmergeCommand),
    /// List the runs that lessons were learned from
    Episodes(episodes::EpisodesCommand),
    /// Give back the lessons that help with a matter
    Recall(Box<recall::RecallCommand>),
    /// Say whether lessons help, by runs that had them and runs that had not
    Effect(effect::EffectCommand),
    /// Say that lessons held, were noise, or how a run ended that was given them
    #[command(subcommand, after_help = feedback::EXAMPLES)]
    Feedback(feedback::FeedbackCommand),
    /// Say how much of a memory is junk, of this project's or of any other
    Audit(audit::AuditCommand),
    /// Say which of the lessons that a run was given helped it
    AuditCheck(audit_check::AuditCheckCommand),
    /// Let lessons grow old that a run did not show
    Decay(audit_check::DecayCommand),
    /// Take in the lessons of another memory
    Import(import_export::ImportCommand),
    /// Hand out the lessons in the shape of another memory
    Export(import_export::ExportCommand),
    /// Say how large and how healthy the memory is
    Status(maintenance::StatusCommand),
    /// Look for damage, and repair it if asked
    Doctor(maintenance::DoctorCommand),
    /// Move old versions and retired lessons to the archive
    Compact(maintenance::CompactCommand),
    /// Make the tables of a memory on a server, or bring them up to date
    #[cfg(feature = "postgres")]
    Migrate(migrate::MigrateCommand),
}

/// Commands that reflect, may ask a model, or look on while others do.
#[derive(Debug, Subcommand)]
pub(super) enum ReflectingCommand {
    /// Reflect on one session, and keep what it teaches
    Reflect(reflect::ReflectCommand),
    /// Reflect on every session of the last days that was not reflected on
    Batch(batch::BatchCommand),
    /// Watch lessons arrive in the terminal, read them and decide about them
    #[cfg(feature = "hud")]
    Hud(terminal_hud::HudCommand),
    /// Serve the memory over HTTP: a panel, an API, events
    #[cfg(feature = "serve")]
    Serve(serve::ServeCommand),
    /// Answer an agent by the Model Context Protocol, over stdin and stdout
    #[cfg(feature = "serve")]
    Mcp(mcp::McpCommand),
    /// Work off the queue of sessions to reflect on
    Worker(worker::WorkerCommand),
}

/// Commands that do not.
#[derive(Debug, Subcommand)]
pub(super) enum OtherCommand {
    /// Reflect on bundled sessions, and show what is learned and given back
    Demo(demo::DemoCommand),
    /// Put hooks into the settings of agents, or take them out again
    Init(init::InitCommand),
    /// Trust a repository, so that what it brings along is used
    Trust(trust::TrustCommand),
    /// Say what session logs hold: steps, failures, fixes, corrections, cost
    Inspect(inspect::InspectCommand),
    /// Take what an agent's hook says; always ends with 0
    Hook(hook::HookCommand),
    /// Keep ArcheFlow's memory of its runs, in place of archeflow-memory.sh
    Archeflow(archeflow::ArcheFlowCommand),
    /// Show the configuration and its schema
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Show what a model is told
    #[command(subcommand, after_help = prompt::EXAMPLES)]
    Prompt(prompt::PromptCommand),
    /// Measure the parts that decide by rules
    #[cfg(feature = "eval")]
    #[command(subcommand, after_help = eval::EXAMPLES)]
    Eval(eval::EvalCommand),
    /// Write the completions of a shell to stdout
    Completions(reference_texts::CompletionsCommand),
    /// Write the manual pages
    Man(reference_texts::ManualCommand),
}

/// Returns a parser for the words of a published enum, which also lists them in help and completions.
pub(super) fn word_parser<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: From<String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).map(T::from)
}

fn parse_timestamp(text: &str) -> Result<Timestamp, String> {
    chrono::DateTime::parse_from_rfc3339(text)
        .map(|moment| moment.to_utc())
        .map_err(|_| "a moment is written like 2026-01-31T12:00:00Z".to_owned())
}
