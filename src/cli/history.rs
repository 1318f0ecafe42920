//! `archivist history` and `archivist restore`: the versions of a lesson.

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::console::{Console, Style};
use super::failure::{Exit, Failure};
use super::lesson::short;
use super::prose::{count, cut, list, moment, one_line};
use super::session::Session;
use crate::domain::AgentMemory;
use crate::memory::{LessonName, MemoryService, Revision};

/// How many versions are shown unless all are wanted.
const SHOWN_VERSIONS: usize = 10;
/// Fields that change with every version and say nothing about its content.
const BOOKKEEPING: [&str; 4] = ["updatedAt", "usageCount", "lastUsedAt", "restoredFrom"];

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

/// A version and what it changed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    #[serde(flatten)]
    revision: Revision,
    /// The fields that differ from the version before; `None` for the first.
    changed: Option<Vec<String>>,
}

impl History {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let lesson = session.lesson(&self.name).await?;
        let mut steps = steps(session.memory.history(&lesson.memory.id).await?)?;
        // A program is told everything: it cannot see that something is missing.
        let older = if self.all || self.json { 0 } else { steps.len().saturating_sub(SHOWN_VERSIONS) };
        steps.drain(..older);
        if self.json {
            console.json(&steps)?;
            return Ok(Exit::Done);
        }
        console.line(&console.styled(Style::Bold, &short(&lesson.memory)))?;
        let digits = lesson.version.to_string().len();
        for step in &steps {
            step.print(digits, console)?;
        }
        if older > 0 {
            console.note(&format!("{} not shown; --all shows them", count(older, "older version", "older versions")));
        }
        Ok(Exit::Done)
    }
}

impl Restore {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let id = session.lesson(&self.name).await?.memory.id;
        session.memory.restore(&id, self.version, session.now).await?;
        let lesson = session.lesson(&LessonName::Id(id)).await?;
        if self.json {
            console.json(&lesson)?;
        } else {
            console.line(&short(&lesson.memory))?;
            console.note(&format!("version {} has the content of version {}", lesson.version, self.version));
        }
        Ok(Exit::Done)
    }
}

impl Step {
    fn print(&self, digits: usize, console: &mut Console) -> Result<(), Failure> {
        let Revision { version, memory } = &self.revision;
        let label = format!("version {version:<digits$}");
        let line = format!("{label}  {}  {}", moment(memory.version_at()), self.in_words());
        let indent = label.len() + 2;
        let summary = cut(&one_line(&memory.summary), console.columns().saturating_sub(indent));
        console.line("")?;
        console.line(&line)?;
        console.line(&format!("{:indent$}{}", "", console.styled(Style::Dim, &summary)))
    }

    fn in_words(&self) -> String {
        let restored = self.revision.memory.restored_from.map(|version| format!("restored from version {version}"));
        let changed = match &self.changed {
            None => "the first".to_owned(),
            Some(fields) if fields.is_empty() => "nothing changed".to_owned(),
            Some(fields) => format!("changed: {}", list(fields)),
        };
        restored.into_iter().chain([changed]).collect::<Vec<_>>().join("; ")
    }
}

fn steps(history: Vec<Revision>) -> Result<Vec<Step>, Failure> {
    let mut before: Option<AgentMemory> = None;
    let mut steps = Vec::new();
    for revision in history {
        let changed = before.map(|before| differing_fields(&before, &revision.memory)).transpose()?;
        before = Some(revision.memory.clone());
        steps.push(Step { revision, changed });
    }
    Ok(steps)
}

/// The names that differ, as they stand in the files, sorted.
fn differing_fields(before: &AgentMemory, after: &AgentMemory) -> Result<Vec<String>, Failure> {
    let before = serde_json::to_value(before).map_err(Failure::Encode)?;
    let after = serde_json::to_value(after).map_err(Failure::Encode)?;
    let keys = [&before, &after].into_iter().filter_map(|value| value.as_object()).flat_map(|fields| fields.keys());
    let mut differing: Vec<String> = keys
        .filter(|key| before.get(key.as_str()) != after.get(key.as_str()))
        .filter(|key| !BOOKKEEPING.contains(&key.as_str()))
        .cloned()
        .collect();
    differing.sort_unstable();
    differing.dedup();
    Ok(differing)
}
