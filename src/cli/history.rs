//! `archivist history` and `archivist restore`: the versions of a lesson.

use anyhow::Result;
use clap::Args;

use super::console::{Console, Style};
use super::failure::{Exit, Failure};
use super::lesson::short;
use super::prose::{count, cut, list, moment, one_line};
use super::session::Session;
use crate::desk::Version;
use crate::memory::{LessonName, Revision};

/// How many versions are shown unless all are wanted.
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
pub(super) struct History {
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
pub(super) struct Restore {
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

impl History {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let lesson = session.desk.lesson(&self.name).await?;
        let mut versions = session.desk.versions(&self.name).await?;
        // A program is told everything: it cannot see that something is missing.
        let older = if self.all || self.json { 0 } else { versions.len().saturating_sub(SHOWN_VERSIONS) };
        versions.drain(..older);
        if self.json {
            console.json(&versions)?;
            return Ok(Exit::Done);
        }
        console.line(&console.styled(Style::Bold, &short(&lesson.memory)))?;
        let digits = lesson.version.to_string().len();
        for version in &versions {
            print(version, digits, console)?;
        }
        if older > 0 {
            console.note(&format!("{} not shown; --all shows them", count(older, "older version", "older versions")));
        }
        Ok(Exit::Done)
    }
}

impl Restore {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let lesson = session.desk.restore(&self.name, self.version, session.now).await?;
        if self.json {
            console.json(&lesson)?;
        } else {
            console.line(&short(&lesson.memory))?;
            console.note(&format!("version {} has the content of version {}", lesson.version, self.version));
        }
        Ok(Exit::Done)
    }
}

fn print(version: &Version, digits: usize, console: &mut Console) -> Result<(), Failure> {
    let Revision { version: number, memory } = &version.revision;
    let label = format!("version {number:<digits$}");
    let line = format!("{label}  {}  {}", moment(memory.version_at()), in_words(version));
    let indent = label.len() + 2;
    let summary = cut(&one_line(&memory.summary), console.columns().saturating_sub(indent));
    console.line("")?;
    console.line(&line)?;
    console.line(&format!("{:indent$}{}", "", console.styled(Style::Dim, &summary)))
}

fn in_words(version: &Version) -> String {
    let restored = version.revision.memory.restored_from.map(|version| format!("restored from version {version}"));
    let changed = match &version.changed {
        None => "the first".to_owned(),
        Some(fields) if fields.is_empty() => "nothing changed".to_owned(),
        Some(fields) => format!("changed: {}", list(fields)),
    };
    restored.into_iter().chain([changed]).collect::<Vec<_>>().join("; ")
}
