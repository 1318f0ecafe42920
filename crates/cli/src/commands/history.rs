//! `archivist history` and `archivist restore`: the versions of a lesson.

use anyhow::Result;
use clap::Args;

use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::{Console, TextStyle};
use crate::lesson_format::summary_line;
use crate::text_format::{cut_to_width, format_count, format_timestamp, join_with_commas, one_line};
use archivist_core::memory::{LessonName, LessonRevision};
use archivist_core::service::LessonVersion;

/// The number of versions that are shown without `--all`.
const SHOWN_VERSIONS: usize = 10;

const HISTORY_EXAMPLES: &str = "\
Examples:
  archivist history m-001
  archivist history m-001 --all --json";

const RESTORE_EXAMPLES: &str = "\
Examples:
  archivist restore m-001 --version 2";

#[derive(Debug, Args)]
#[command(after_help = HISTORY_EXAMPLES)]
pub(crate) struct HistoryCommand {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    name: LessonName,
    /// Every version, not only the last 10
    #[arg(long)]
    all: bool,
    /// Print the versions as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub(crate) struct RestoreCommand {
    /// The lesson's short name or its id
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    name: LessonName,
    /// Which version, as `archivist history` counts them
    #[arg(long, value_name = "N")]
    version: u64,
    /// Print the lesson as JSON
    #[arg(long)]
    json: bool,
}

impl HistoryCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let lesson = session.archivist.get_lesson(&self.name).await?;
        let mut versions = session.archivist.list_versions(&self.name).await?;
        // JSON output is always complete, because a program cannot see that something is missing.
        let older = if self.all || self.json { 0 } else { versions.len().saturating_sub(SHOWN_VERSIONS) };
        versions.drain(..older);
        if self.json {
            console.print_json(&versions)?;
            return Ok(CommandExit::Done);
        }
        console.print_line(&console.style_text(TextStyle::Bold, &summary_line(&lesson.memory)))?;
        let digits = lesson.version.to_string().len();
        for version in &versions {
            print_version(version, digits, console)?;
        }
        if older > 0 {
            console.print_note(&format!(
                "{} not shown; --all shows them",
                format_count(older, "older version", "older versions")
            ));
        }
        Ok(CommandExit::Done)
    }
}

impl RestoreCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let lesson = session.archivist.restore_version(&self.name, self.version).await?;
        if self.json {
            console.print_json(&lesson)?;
        } else {
            console.print_line(&summary_line(&lesson.memory))?;
            console.print_note(&format!("version {} has the content of version {}", lesson.version, self.version));
        }
        Ok(CommandExit::Done)
    }
}

fn print_version(version: &LessonVersion, digits: usize, console: &mut Console) -> Result<(), CliError> {
    let LessonRevision { version: number, memory } = &version.revision;
    let label = format!("version {number:<digits$}");
    let line = format!("{label}  {}  {}", format_timestamp(memory.version_at()), describe_version(version));
    let indent = label.len() + 2;
    let summary = cut_to_width(&one_line(&memory.summary), console.columns().saturating_sub(indent));
    console.print_line("")?;
    console.print_line(&line)?;
    console.print_line(&format!("{:indent$}{}", "", console.style_text(TextStyle::Dim, &summary)))
}

fn describe_version(version: &LessonVersion) -> String {
    let restored = version.revision.memory.restored_from.map(|version| format!("restored from version {version}"));
    let changed = match &version.changed {
        None => "the first".to_owned(),
        Some(fields) if fields.is_empty() => "nothing changed".to_owned(),
        Some(fields) => format!("changed: {}", join_with_commas(fields)),
    };
    restored.into_iter().chain([changed]).collect::<Vec<_>>().join("; ")
}
