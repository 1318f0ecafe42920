//! `archivist audit-check` and `archivist decay`: what is left to say when a run is over.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::console::Console;
use super::failure::Exit;
use super::lesson::{name, short};
use super::prose::{count, list, one_line};
use super::session::Session;
use super::table::{Column, Stay, Table};
use crate::desk::Refusal;
use crate::domain::{Alias, Effect, Exposure, MemoryId, RunId};
use crate::memory::MemoryService;
use crate::service::{ArchivistService, Audited, Reading, episode_of};

const AUDIT_EXAMPLES: &str = "\
Examples:
  archivist audit-check --run run-7
  archivist audit-check --run run-7 --threshold 50 --json

A lesson is helpful if its trouble was spared, ineffective if it came back, and unknown if nobody can tell: no review was
held and no check passed, or the run was not reflected on. --threshold reads the run's logs again.";

const DECAY_EXAMPLES: &str = "\
Examples:
  archivist decay --run run-7
  archivist decay --run run-7 --json

Preferences, decisions, evergreen lessons, active ones and those that the run showed are left alone.";

#[derive(Debug, Args)]
#[command(after_help = AUDIT_EXAMPLES)]
pub(super) struct AuditCheck {
    /// The run, as its agent or its orchestrator names it
    #[arg(long, value_name = "ID", value_parser = RunId::parse)]
    run: RunId,
    /// How much of a finding must be in a lesson's words, in percent; `audit.threshold` otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    threshold: Option<u8>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = DECAY_EXAMPLES)]
pub(super) struct Decay {
    /// The run that is over
    #[arg(long, value_name = "ID", value_parser = RunId::parse)]
    run: RunId,
    /// Print the lessons that ended as JSON
    #[arg(long)]
    json: bool,
}

/// A lesson and its verdict, as a program reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'l> {
    id: &'l MemoryId,
    alias: Option<&'l Alias>,
    summary: &'l str,
    verdict: &'static str,
    effect: &'l Effect,
}

/// All of them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'l> {
    run: &'l RunId,
    /// Whether the run was reflected on.
    reflected: bool,
    lessons: Vec<Row<'l>>,
    /// Those that the run did not see.
    held_back: Vec<&'l MemoryId>,
}

impl AuditCheck {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let reading = self.threshold.map_or(Reading::Recorded, |percent| Reading::Anew(f64::from(percent) / 100.0));
        let audit = service(session).audit(&self.run, reading).await.map_err(Refusal::from)?;
        let ours = audit.lessons.iter().filter(|one| session.desk.sees(&one.memory));
        let (shown, held_back): (Vec<&Audited>, Vec<&Audited>) =
            ours.partition(|one| one.exposure == Exposure::Exposed);
        if self.json {
            let held_back = held_back.iter().map(|one| &one.memory.id).collect();
            let lessons = shown.into_iter().map(Row::of).collect();
            console.json(&Reply { run: &self.run, reflected: audit.is_known, lessons, held_back })?;
            return Ok(Exit::Done);
        }
        if shown.is_empty() {
            console.note(&format!("run {} was given no lessons", self.run));
        } else {
            table(&shown).print(console)?;
            console.line("")?;
            console.line(&totals(&shown))?;
        }
        if !held_back.is_empty() {
            console.note(&format!("{} held back from it", count(held_back.len(), "lesson was", "lessons were")));
        }
        if !shown.is_empty() && !audit.is_known {
            console.note(&format!(
                "run {} was not reflected on yet; `archivist reflect --session {}` does",
                self.run, self.run
            ));
        } else if !shown.is_empty() && reading != audit.reading {
            console.warn("the logs of the run are gone; the verdicts are those noted when it was reflected on");
        }
        Ok(Exit::Done)
    }
}

impl Decay {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let is_known = episode_of(&*session.desk.memory, &self.run).await?.is_some();
        let mut ended = service(session).decay(&self.run).await.map_err(Refusal::from)?;
        ended.retain(|memory| session.desk.sees(memory));
        if self.json {
            console.json(&ended)?;
            return Ok(Exit::Done);
        }
        for memory in &ended {
            let reason = memory.state_reason.as_deref().map(one_line).unwrap_or_default();
            console.line(&format!("{}  (deprecated: {reason})", short(memory)))?;
        }
        if ended.is_empty() {
            console.note("no lesson ends with this run");
        }
        if !is_known {
            console.note(&format!("run {} was not reflected on; it counts as over now", self.run));
        }
        Ok(Exit::Done)
    }
}

impl<'l> Row<'l> {
    fn of(one: &'l Audited) -> Self {
        let (memory, effect) = (&one.memory, &one.effect);
        let (id, alias, summary) = (&memory.id, memory.alias.as_ref(), memory.summary.as_str());
        Self { id, alias, summary, verdict: verdict(effect), effect }
    }
}

fn table(shown: &[&Audited]) -> Table {
    let mut table = Table::new([
        Column::text("ID", Stay::Always),
        Column::text("Verdict", Stay::Always),
        Column::text("Summary", Stay::Always),
    ]);
    for one in shown {
        let cells = [name(&one.memory).to_owned(), verdict(&one.effect).to_owned(), one.memory.summary.clone()];
        table.row(cells);
    }
    table
}

/// `3 lessons: 1 helpful, 2 unknown`.
fn totals(shown: &[&Audited]) -> String {
    let said = |word: &'static str| shown.iter().filter(|one| verdict(&one.effect) == word).count();
    let each = ["helpful", "ineffective", "unknown"].into_iter().map(|word| (said(word), word));
    let each = list(each.filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")));
    format!("{}: {each}", count(shown.len(), "lesson", "lessons"))
}

fn verdict(effect: &Effect) -> &'static str {
    match effect {
        Effect::Prevented => "helpful",
        Effect::Recurred => "ineffective",
        Effect::Unknown | Effect::Other(_) => "unknown",
    }
}

/// A service that asks nobody and tells nobody.
fn service(session: &Session) -> ArchivistService {
    let memory: Arc<dyn MemoryService> = Arc::clone(&session.desk.memory);
    ArchivistService::new(memory, session.desk.project().clone(), session.desk.config().habits())
        .with_clock(session.clock.clone())
}
