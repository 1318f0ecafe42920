//! The commands and the flags that all of them share.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, FromArgMatches, Parser, Subcommand};

use super::console::{ColorChoice, Talk};
#[cfg(feature = "postgres")]
use super::migrate;
use super::{
    add, archeflow, audit, audit_check, batch, decide, demo, effect, episodes, eval, feedback, forget, history, hook,
    hud, init, inspect, list, mcp, moving, prompt, recall, reference, reflect, serve, settings, show, upkeep, why,
    worker,
};
use crate::domain::Timestamp;

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
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) globals: Globals,
    #[command(subcommand)]
    pub(super) command: Command,
}

impl Arguments {
    /// Reads what the process was called with. For those that call often and wait, only their own command is set up:
    /// all of them together take a quarter of what such a process takes. Whatever is wrong then is told by the whole.
    pub(super) fn parse_from(given: &[OsString]) -> Result<Self, clap::Error> {
        Self::in_haste(given).map_or_else(|| Self::try_parse_from(given), Ok)
    }

    fn in_haste(given: &[OsString]) -> Option<Self> {
        let (globals, command) = match given.get(1)?.to_str()? {
            // Words alone need no reader.
            "archeflow" if !given.iter().skip(2).any(|word| word.as_encoded_bytes().starts_with(b"-")) => {
                let flow = archeflow::ArcheFlow::of(given.iter().skip(2).cloned().collect());
                Some((Globals::default(), OtherCommand::Archeflow(flow)))
            }
            "hook" => alone("hook", given).map(|(globals, hook)| (globals, OtherCommand::Hook(hook))),
            "archeflow" => alone("archeflow", given).map(|(globals, flow)| (globals, OtherCommand::Archeflow(flow))),
            _ => None,
        }?;
        Some(Self { globals, command: Command::Other(command) })
    }
}

/// One command and the flags that every command takes, as if there were no other.
fn alone<C: Args>(name: &'static str, given: &[OsString]) -> Option<(Globals, C)> {
    let own = C::augment_args(clap::Command::new(name));
    let command = Globals::augment_args(clap::Command::new("archivist")).subcommand(own);
    let matches = command.try_get_matches_from(given).ok()?;
    let (_, own) = matches.subcommand()?;
    Some((Globals::from_arg_matches(&matches).ok()?, C::from_arg_matches(own).ok()?))
}

/// Flags that every command takes.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Globals {
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
    #[arg(long, global = true, value_name = "RFC3339", value_parser = moment)]
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

impl Globals {
    /// The same for another project, with the memory that its own settings name.
    pub(super) fn in_project(&self, root: &Path) -> Self {
        Self { project: Some(root.to_owned()), memory_dir: None, ..self.clone() }
    }

    pub(super) fn talk(&self) -> Talk {
        if self.quiet { Talk::Quiet } else { Talk::Normal }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    #[command(flatten)]
    Memory(MemoryCommand),
    #[command(flatten)]
    Reflecting(ReflectingCommand),
    #[command(flatten)]
    Other(OtherCommand),
}

impl Command {
    /// Whether it takes the whole terminal over.
    pub(super) fn draws(&self) -> bool {
        matches!(self, Self::Reflecting(ReflectingCommand::Hud(_)))
    }
}

/// Commands that open the memory.
#[derive(Debug, Subcommand)]
pub(super) enum MemoryCommand {
    /// Write a lesson, a preference or a decision by hand
    Add(Box<add::Add>),
    /// List lessons, the newest first
    List(list::List),
    /// Show a lesson in full
    Show(show::Show),
    /// Say why a lesson is believed: its words, its runs, what came of it
    Why(why::Why),
    /// Take lessons out of use; they are kept and can be restored
    Forget(forget::Forget),
    /// Show the versions of a lesson
    History(history::History),
    /// Bring back an earlier version of a lesson, as a new one
    Restore(history::Restore),
    /// Stand behind a lesson: it is given from now on, and does not grow old
    Promote(decide::Promote),
    /// Let a lesson out of quarantine
    Approve(decide::Approve),
    /// Take a lesson out of use, and do not learn it again
    Reject(decide::Reject),
    /// Make two lessons of one again
    Unmerge(decide::Unmerge),
    /// List the runs that lessons were learned from
    Episodes(episodes::Episodes),
    /// Give back the lessons that help with a matter
    Recall(Box<recall::Recall>),
    /// Say whether lessons help, by runs that had them and runs that had not
    Effect(effect::Effect),
    /// Say that lessons held, were noise, or how a run ended that was given them
    #[command(subcommand, after_help = feedback::EXAMPLES)]
    Feedback(feedback::FeedbackCommand),
    /// Say how much of a memory is junk, of this project's or of any other
    Audit(audit::Audit),
    /// Say which of the lessons that a run was given helped it
    AuditCheck(audit_check::AuditCheck),
    /// Let lessons grow old that a run did not show
    Decay(audit_check::Decay),
    /// Take in the lessons of another memory
    Import(moving::Import),
    /// Hand out the lessons in the shape of another memory
    Export(moving::Export),
    /// Say how large and how healthy the memory is
    Status(upkeep::Status),
    /// Look for damage, and repair it if asked
    Doctor(upkeep::Doctor),
    /// Move old versions and retired lessons to the archive
    Compact(upkeep::Compact),
    /// Make the tables of a memory on a server, or bring them up to date
    #[cfg(feature = "postgres")]
    Migrate(migrate::Migrate),
}

/// Commands that reflect, may ask a model, or look on while others do.
#[derive(Debug, Subcommand)]
pub(super) enum ReflectingCommand {
    /// Reflect on one session, and keep what it teaches
    Reflect(reflect::Reflect),
    /// Reflect on every session of the last days that was not reflected on
    Batch(batch::Batch),
    /// Watch lessons arrive in the terminal, read them and decide about them
    Hud(hud::Hud),
    /// Serve the memory over HTTP: a panel, an API, events
    Serve(serve::Serve),
    /// Answer an agent by the Model Context Protocol, over stdin and stdout
    Mcp(mcp::Mcp),
    /// Work off the queue of sessions to reflect on
    Worker(worker::Work),
}

/// Commands that do not.
#[derive(Debug, Subcommand)]
pub(super) enum OtherCommand {
    /// Reflect on bundled sessions, and show what is learned and given back
    Demo(demo::DemoCommand),
    /// Put hooks into the settings of agents, or take them out again
    Init(init::Init),
    /// Say what session logs hold: steps, failures, fixes, corrections, cost
    Inspect(inspect::Inspect),
    /// Take what an agent's hook says; always ends with 0
    Hook(hook::Hook),
    /// Keep ArcheFlow's memory of its runs, in place of archeflow-memory.sh
    Archeflow(archeflow::ArcheFlow),
    /// Show the configuration and its schema
    #[command(subcommand)]
    Config(settings::ConfigCommand),
    /// Show what a model is told
    #[command(subcommand, after_help = prompt::EXAMPLES)]
    Prompt(prompt::PromptCommand),
    /// Measure the parts that decide by rules
    #[command(subcommand, after_help = eval::EXAMPLES)]
    Eval(eval::EvalCommand),
    /// Write the completions of a shell to stdout
    Completions(reference::Completions),
    /// Write the manual pages
    Man(reference::Manual),
}

/// Reads one of the words of a published enum, and offers them in help and completions.
pub(super) fn word<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: From<String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).map(T::from)
}

fn moment(text: &str) -> Result<Timestamp, String> {
    chrono::DateTime::parse_from_rfc3339(text)
        .map(|moment| moment.to_utc())
        .map_err(|_| "a moment is written like 2026-01-31T12:00:00Z".to_owned())
}
