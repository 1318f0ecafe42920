//! `archivist audit-check` and `archivist decay`: what follows when a session is over.

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::lesson_format::{display_name, summary_line};
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::{format_count, join_with_commas, one_line};
use archivist_core::domain::{Alias, Effect, Exposure, MemoryId, RunId};
use archivist_core::service::RequestError;
use archivist_core::service::{EffectBasis, InjectionEffect, find_episode_by_run};

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
pub(crate) struct AuditCheckCommand {
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
pub(crate) struct DecayCommand {
    /// The run that is over
    #[arg(long, value_name = "ID", value_parser = RunId::parse)]
    run: RunId,
    /// Print the lessons that ended as JSON
    #[arg(long)]
    json: bool,
}

/// A lesson and its verdict, as JSON for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LessonVerdictRow<'l> {
    id: &'l MemoryId,
    alias: Option<&'l Alias>,
    summary: &'l str,
    verdict: &'static str,
    effect: &'l Effect,
}

/// The verdicts on all lessons of one session, as JSON for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditCheckReport<'l> {
    run: &'l RunId,
    /// True if the session was reflected on.
    reflected: bool,
    lessons: Vec<LessonVerdictRow<'l>>,
    /// The lessons that were withheld from the session.
    held_back: Vec<&'l MemoryId>,
}

impl AuditCheckCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let reading =
            self.threshold.map_or(EffectBasis::Recorded, |percent| EffectBasis::Anew(f64::from(percent) / 100.0));
        let audit = session
            .archivist
            .offline_service()
            .report_injection_effects(&self.run, reading)
            .await
            .map_err(RequestError::from)?;
        let ours = audit.lessons.iter().filter(|one| session.archivist.sees_lesson(&one.memory));
        let (shown, held_back): (Vec<&InjectionEffect>, Vec<&InjectionEffect>) =
            ours.partition(|one| one.exposure == Exposure::Exposed);
        if self.json {
            let held_back = held_back.iter().map(|one| &one.memory.id).collect();
            let lessons = shown.into_iter().map(LessonVerdictRow::from_audited).collect();
            console.print_json(&AuditCheckReport { run: &self.run, reflected: audit.is_known, lessons, held_back })?;
            return Ok(CommandExit::Done);
        }
        if shown.is_empty() {
            console.print_note(&format!("run {} was given no lessons", self.run));
        } else {
            build_verdict_table(&shown).print_to(console)?;
            console.print_line("")?;
            console.print_line(&describe_totals(&shown))?;
        }
        if !held_back.is_empty() {
            console.print_note(&format!(
                "{} held back from it",
                format_count(held_back.len(), "lesson was", "lessons were")
            ));
        }
        if !shown.is_empty() && !audit.is_known {
            console.print_note(&format!(
                "run {} was not reflected on yet; `archivist reflect --session {}` does",
                self.run, self.run
            ));
        } else if !shown.is_empty() && reading != audit.reading {
            console
                .print_warning("the logs of the run are gone; the verdicts are those noted when it was reflected on");
        }
        Ok(CommandExit::Done)
    }
}

impl DecayCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let is_known = find_episode_by_run(&*session.archivist.memory, &self.run).await?.is_some();
        let mut ended =
            session.archivist.offline_service().decay_lessons(&self.run).await.map_err(RequestError::from)?;
        ended.retain(|memory| session.archivist.sees_lesson(memory));
        if self.json {
            console.print_json(&ended)?;
            return Ok(CommandExit::Done);
        }
        for memory in &ended {
            let reason = memory.state_reason.as_deref().map(one_line).unwrap_or_default();
            console.print_line(&format!("{}  (deprecated: {reason})", summary_line(memory)))?;
        }
        if ended.is_empty() {
            console.print_note("no lesson ends with this run");
        }
        if !is_known {
            console.print_note(&format!("run {} was not reflected on; it counts as over now", self.run));
        }
        Ok(CommandExit::Done)
    }
}

impl<'l> LessonVerdictRow<'l> {
    fn from_audited(one: &'l InjectionEffect) -> Self {
        let (memory, effect) = (&one.memory, &one.effect);
        let (id, alias, summary) = (&memory.id, memory.alias.as_ref(), memory.summary.as_str());
        Self { id, alias, summary, verdict: verdict_word(effect), effect }
    }
}

fn build_verdict_table(shown: &[&InjectionEffect]) -> TextTable {
    let mut table = TextTable::new([
        TableColumn::text("ID", ColumnVisibility::Always),
        TableColumn::text("Verdict", ColumnVisibility::Always),
        TableColumn::text("Summary", ColumnVisibility::Always),
    ]);
    for one in shown {
        let cells =
            [display_name(&one.memory).to_owned(), verdict_word(&one.effect).to_owned(), one.memory.summary.clone()];
        table.add_row(cells);
    }
    table
}

/// Returns a sentence such as `3 lessons: 1 helpful, 2 unknown`.
fn describe_totals(shown: &[&InjectionEffect]) -> String {
    let said = |word: &'static str| shown.iter().filter(|one| verdict_word(&one.effect) == word).count();
    let each = ["helpful", "ineffective", "unknown"].into_iter().map(|word| (said(word), word));
    let each =
        join_with_commas(each.filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")));
    format!("{}: {each}", format_count(shown.len(), "lesson", "lessons"))
}

fn verdict_word(effect: &Effect) -> &'static str {
    match effect {
        Effect::Prevented => "helpful",
        Effect::Recurred => "ineffective",
        Effect::Unknown | Effect::Other(_) => "unknown",
    }
}
