//! `archivist effect`: whether lessons help, by runs that had them and runs that had not.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::console::Console;
use super::failure::Exit;
use super::lesson::name;
use super::prose::{count, list};
use super::session::Session;
use super::table::{Column, Stay, Table};
use crate::domain::{Alias, Exposure, Fact, MemoryId, MemoryState, RunId};
use crate::memory::{FactFilter, Lesson, LessonName, MemoryService, Which};
use crate::recall::{Arm, Arms, Estimate, Harm, Trial, Verdict};

const EXAMPLES: &str = "\
Examples:
  archivist effect
  archivist effect m-001 m-004
  archivist effect --json | jq '.[] | select(.estimate.verdict == \"harms\")'

Each lesson that is due in a run is held back from some runs, by chance. The difference is how much more often its trouble
came back in runs that had it: below 0 the lesson helps. Runs of which nobody can tell do not count.";

/// From -100 % to +100 %, with a place for 0 in the middle.
const BAR_COLUMNS: usize = 21;
const BAR_HEADING: &str = "-100      0      +100";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Effect {
    /// Short names or ids; every lesson that was chosen for a run otherwise
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    names: Vec<LessonName>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// What is known of one lesson's effect.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Measured {
    /// Runs that had it.
    pub(super) shown: usize,
    /// Runs that it was held back from.
    pub(super) held_back: usize,
    /// Those of which something can be told.
    pub(super) arms: Arms,
    /// How much more often the trouble comes back, where both sides have runs.
    pub(super) estimate: Option<Estimate>,
    /// When it was certain that it does harm.
    pub(super) harm: Option<Harm>,
}

impl Measured {
    pub(super) fn of<'f>(id: &MemoryId, facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let facts: Vec<&Fact> = facts.into_iter().filter(|fact| fact.memory() == id).collect();
        let runs = |wanted: &Exposure| -> BTreeSet<&RunId> {
            let run = |fact: &&'f Fact| match fact {
                Fact::Injection { run, exposure, .. } if exposure == wanted => Some(run),
                _ => None,
            };
            facts.iter().filter_map(run).collect()
        };
        let (shown, withheld) = (runs(&Exposure::Exposed), runs(&Exposure::Withheld));
        let held_back = withheld.difference(&shown).count();
        let trial = Trial::of(id, facts.iter().copied());
        let arms = *trial.arms();
        Self { shown: shown.len(), held_back, arms, estimate: arms.estimate(), harm: trial.harm().copied() }
    }

    pub(super) fn verdict(&self) -> Verdict {
        match (&self.harm, &self.estimate) {
            (Some(_), _) => Verdict::Harms,
            (None, Some(estimate)) => estimate.verdict,
            (None, None) => Verdict::Unclear,
        }
    }
}

/// One lesson, as a program reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'l> {
    id: &'l MemoryId,
    alias: Option<&'l Alias>,
    summary: &'l str,
    state: Option<&'l MemoryState>,
    #[serde(flatten)]
    measured: Measured,
    verdict: Verdict,
}

impl Effect {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let facts = session.memory.facts(&FactFilter::default()).await?;
        let mut by_lesson: BTreeMap<&MemoryId, Vec<&Fact>> = BTreeMap::new();
        for fact in &facts {
            by_lesson.entry(fact.memory()).or_default().push(fact);
        }
        let lessons = self.lessons(session).await?;
        let mut rows: Vec<(&Lesson, Measured)> = Vec::new();
        for lesson in &lessons {
            let own = by_lesson.remove(&lesson.memory.id).unwrap_or_default();
            let measured = Measured::of(&lesson.memory.id, own);
            if !self.names.is_empty() || measured.shown + measured.held_back > 0 {
                rows.push((lesson, measured));
            }
        }
        if self.names.is_empty() {
            rows.sort_by_key(|(lesson, measured)| {
                let runs = measured.arms.exposed.runs + measured.arms.withheld.runs;
                (rank(measured.verdict()), std::cmp::Reverse(runs), lesson.memory.alias.as_ref().map(Alias::number))
            });
        }
        if self.json {
            console.json(&rows.into_iter().map(|(lesson, measured)| Row::of(lesson, measured)).collect::<Vec<_>>())?;
        } else if rows.is_empty() {
            console.note("no lesson was given to a run yet; `archivist recall --run ID` and hooks give them");
        } else {
            table(&rows).print(console)?;
            console.line("")?;
            console.line(&totals(&rows))?;
        }
        Ok(Exit::Done)
    }

    async fn lessons(&self, session: &Session) -> Result<Vec<Lesson>> {
        if self.names.is_empty() {
            let mut lessons = session.memory.lessons(Which::All).await?;
            lessons.retain(|lesson| session.sees(&lesson.memory));
            return Ok(lessons);
        }
        let mut lessons: Vec<Lesson> = Vec::new();
        for name in &self.names {
            let lesson = session.lesson(name).await?;
            if !lessons.iter().any(|other| other.memory.id == lesson.memory.id) {
                lessons.push(lesson);
            }
        }
        Ok(lessons)
    }
}

impl<'l> Row<'l> {
    fn of(lesson: &'l Lesson, measured: Measured) -> Self {
        let memory = &lesson.memory;
        let verdict = measured.verdict();
        let (alias, state) = (memory.alias.as_ref(), memory.state.as_ref());
        Self { id: &memory.id, alias, summary: &memory.summary, state, measured, verdict }
    }
}

fn table(rows: &[(&Lesson, Measured)]) -> Table {
    let mut table = Table::new([
        Column::text("ID", Stay::Always),
        Column::number("Shown", Stay::UntilNarrow(2)),
        Column::number("Held", Stay::UntilNarrow(1)),
        Column::number("With", Stay::UntilNarrow(5)),
        Column::number("Without", Stay::UntilNarrow(4)),
        Column::text("Difference, %", Stay::UntilNarrow(6)),
        Column::text(BAR_HEADING, Stay::UntilNarrow(3)),
        Column::text("Says", Stay::Always),
        Column::text("Summary", Stay::Always),
    ]);
    for (lesson, measured) in rows {
        let arm = |arm: &Arm| format!("{}/{}", arm.recurred, arm.runs);
        let estimate = measured.estimate.as_ref();
        table.row([
            name(&lesson.memory).to_owned(),
            measured.shown.to_string(),
            measured.held_back.to_string(),
            arm(&measured.arms.exposed),
            arm(&measured.arms.withheld),
            estimate.map_or_else(|| "-".to_owned(), difference),
            estimate.map(bar).unwrap_or_default(),
            word(measured.verdict()).to_owned(),
            lesson.memory.summary.clone(),
        ]);
    }
    table
}

/// `2 lessons were given to runs: 1 helps, 1 unclear`.
fn totals(rows: &[(&Lesson, Measured)]) -> String {
    let said = |verdict: Verdict| rows.iter().filter(|(_, measured)| measured.verdict() == verdict).count();
    let each = [Verdict::Harms, Verdict::Helps, Verdict::Unclear].into_iter().map(|verdict| (said(verdict), verdict));
    let each =
        list(each.filter(|(number, _)| *number > 0).map(|(number, verdict)| format!("{number} {}", word(verdict))));
    format!("{} on trial: {each}", count(rows.len(), "lesson", "lessons"))
}

/// `-58 (-85 to -4)`.
fn difference(estimate: &Estimate) -> String {
    let Estimate { difference, low, high, .. } = estimate;
    format!("{} ({} to {})", percent(*difference), percent(*low), percent(*high))
}

/// A share of a hundred, with its sign.
pub(super) fn percent(share: f64) -> String {
    match format!("{:+.0}", share * 100.0) {
        zero if matches!(zero.as_str(), "+0" | "-0") => "0".to_owned(),
        other => other,
    }
}

/// The interval on a line from -100 % to +100 %, the difference on it, and where 0 is.
fn bar(estimate: &Estimate) -> String {
    let half = BAR_COLUMNS / 2;
    let place = |share: f64| {
        let steps = (share.clamp(-1.0, 1.0) * half as f64).round();
        (0..BAR_COLUMNS).find(|at| (*at as f64 - half as f64 - steps).abs() < 0.5).unwrap_or(half)
    };
    let (low, middle, high) = (place(estimate.low), place(estimate.difference), place(estimate.high));
    let drawn = (0..BAR_COLUMNS).map(|at| match at {
        at if at == middle => '●',
        at if at == half => '│',
        at if (low..=high).contains(&at) => '─',
        _ => '·',
    });
    drawn.collect()
}

/// What is to be looked at first.
fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Harms => 0,
        Verdict::Helps => 1,
        Verdict::Unclear => 2,
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Helps => "helps",
        Verdict::Harms => "harms",
        Verdict::Unclear => "unclear",
    }
}

#[cfg(test)]
#[path = "effect_tests.rs"]
mod tests;
