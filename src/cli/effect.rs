//! `archivist effect`: whether lessons help, by runs that had them and runs that had not.

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::Exit;
use super::prose::{count, list};
use super::session::Session;
use super::table::{Column, Stay, Table};
use crate::desk::EffectRow;
use crate::domain::Alias;
use crate::memory::LessonName;
use crate::recall::{Arm, Estimate, Verdict};

const EXAMPLES: &str = "\
Examples:
  archivist effect
  archivist effect m-001 m-004
  archivist effect --json | jq '.[] | select(.estimate.verdict == \"harms\")'

Each lesson that is due in a run is held back from some runs, by chance. The difference is how much more often its trouble
came back in runs that had it: below 0 the lesson helps. Runs of which nobody can tell do not count.";

/// From -100 % to +100 %, with a place for 0 in the middle.
const BAR_COLUMNS: usize = 21;
pub(super) const BAR_HEADING: &str = "-100      0      +100";

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

impl Effect {
    pub(super) async fn run(&self, session: &Session, console: &mut Console) -> Result<Exit> {
        let rows = session.desk.effect(&self.names).await?;
        if self.json {
            console.json(&rows)?;
        } else if rows.is_empty() {
            console.note("no lesson was given to a run yet; `archivist recall --run ID` and hooks give them");
        } else {
            table(&rows).print(console)?;
            console.line("")?;
            console.line(&totals(&rows))?;
        }
        Ok(Exit::Done)
    }
}

fn table(rows: &[EffectRow]) -> Table {
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
    for row in rows {
        let measured = &row.measured;
        let arm = |arm: &Arm| format!("{}/{}", arm.recurred, arm.runs);
        let estimate = measured.estimate.as_ref();
        table.row([
            row.alias.as_ref().map_or_else(|| row.id.as_str(), Alias::as_str).to_owned(),
            measured.shown.to_string(),
            measured.held_back.to_string(),
            arm(&measured.arms.exposed),
            arm(&measured.arms.withheld),
            estimate.map_or_else(|| "-".to_owned(), difference),
            estimate.map(bar).unwrap_or_default(),
            word(row.verdict).to_owned(),
            row.summary.clone(),
        ]);
    }
    table
}

/// `2 lessons were given to runs: 1 helps, 1 unclear`.
fn totals(rows: &[EffectRow]) -> String {
    let said = |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let each = [Verdict::Harms, Verdict::Helps, Verdict::Unclear].into_iter().map(|verdict| (said(verdict), verdict));
    let each =
        list(each.filter(|(number, _)| *number > 0).map(|(number, verdict)| format!("{number} {}", word(verdict))));
    format!("{} on trial: {each}", count(rows.len(), "lesson", "lessons"))
}

/// `-58 (-85 to -4)`.
pub(super) fn difference(estimate: &Estimate) -> String {
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
pub(super) fn bar(estimate: &Estimate) -> String {
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
