//! `archivist effect`: compares sessions that had a lesson with sessions that it was withheld from.

use anyhow::Result;
use clap::Args;

use crate::cli_error::CommandExit;
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::{format_count, join_with_commas};
use archivist_core::domain::Alias;
use archivist_core::memory::LessonName;
use archivist_core::recall::{EffectEstimate, EffectVerdict, TrialArm};
use archivist_core::service::LessonEffectRow;

const EXAMPLES: &str = "\
Examples:
  archivist effect
  archivist effect m-001 m-004
  archivist effect --json | jq '.[] | select(.estimate.verdict == \"harms\")'

Each lesson that is due in a run is held back from some runs, by chance. The difference is how much more often its trouble
came back in runs that had it: below 0 the lesson helps. Runs of which nobody can tell do not count.";

/// The width of the bar from -100 % to +100 %, with 0 in the middle.
const BAR_COLUMNS: usize = 21;
pub(crate) const BAR_HEADING: &str = "-100      0      +100";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EffectCommand {
    /// Short names or ids; every lesson that was chosen for a run otherwise
    #[arg(value_name = "ID", value_parser = LessonName::parse)]
    names: Vec<LessonName>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl EffectCommand {
    pub(crate) async fn run(&self, session: &CommandContext, console: &mut Console) -> Result<CommandExit> {
        let rows = session.archivist.measure_lesson_effects(&self.names).await?;
        if self.json {
            console.print_json(&rows)?;
        } else if rows.is_empty() {
            console.print_note("no lesson was given to a run yet; `archivist recall --run ID` and hooks give them");
        } else {
            build_effect_table(&rows).print_to(console)?;
            console.print_line("")?;
            console.print_line(&describe_totals(&rows))?;
        }
        Ok(CommandExit::Done)
    }
}

fn build_effect_table(rows: &[LessonEffectRow]) -> TextTable {
    let mut table = TextTable::new([
        TableColumn::text("ID", ColumnVisibility::Always),
        TableColumn::number("Shown", ColumnVisibility::UntilNarrow(2)),
        TableColumn::number("Held", ColumnVisibility::UntilNarrow(1)),
        TableColumn::number("With", ColumnVisibility::UntilNarrow(5)),
        TableColumn::number("Without", ColumnVisibility::UntilNarrow(4)),
        TableColumn::text("Difference, %", ColumnVisibility::UntilNarrow(6)),
        TableColumn::text(BAR_HEADING, ColumnVisibility::UntilNarrow(3)),
        TableColumn::text("Says", ColumnVisibility::Always),
        TableColumn::text("Summary", ColumnVisibility::Always),
    ]);
    for row in rows {
        let measured = &row.measured;
        let arm = |arm: &TrialArm| format!("{}/{}", arm.recurred, arm.runs);
        let estimate = measured.estimate.as_ref();
        table.add_row([
            row.alias.as_ref().map_or_else(|| row.id.as_str(), Alias::as_str).to_owned(),
            measured.shown.to_string(),
            measured.held_back.to_string(),
            arm(&measured.arms.exposed),
            arm(&measured.arms.withheld),
            estimate.map_or_else(|| "-".to_owned(), format_difference),
            estimate.map(draw_interval).unwrap_or_default(),
            verdict_word(row.verdict).to_owned(),
            row.summary.clone(),
        ]);
    }
    table
}

/// Returns a sentence such as `2 lessons on trial: 1 helps, 1 unclear`.
fn describe_totals(rows: &[LessonEffectRow]) -> String {
    let said = |verdict: EffectVerdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let each = [EffectVerdict::Harms, EffectVerdict::Helps, EffectVerdict::Unclear]
        .into_iter()
        .map(|verdict| (said(verdict), verdict));
    let each = join_with_commas(
        each.filter(|(number, _)| *number > 0).map(|(number, verdict)| format!("{number} {}", verdict_word(verdict))),
    );
    format!("{} on trial: {each}", format_count(rows.len(), "lesson", "lessons"))
}

/// Returns the difference with its interval, such as `-58 (-85 to -4)`.
pub(crate) fn format_difference(estimate: &EffectEstimate) -> String {
    let EffectEstimate { difference, low, high, .. } = estimate;
    format!(
        "{} ({} to {})",
        format_signed_percent(*difference),
        format_signed_percent(*low),
        format_signed_percent(*high)
    )
}

/// Returns a share as a signed whole percentage, without the percent sign.
pub(crate) fn format_signed_percent(share: f64) -> String {
    match format!("{:+.0}", share * 100.0) {
        zero if matches!(zero.as_str(), "+0" | "-0") => "0".to_owned(),
        other => other,
    }
}

/// Draws the interval on a line from -100 % to +100 %, with marks for the difference and for 0.
pub(crate) fn draw_interval(estimate: &EffectEstimate) -> String {
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

fn verdict_word(verdict: EffectVerdict) -> &'static str {
    match verdict {
        EffectVerdict::Helps => "helps",
        EffectVerdict::Harms => "harms",
        EffectVerdict::Unclear => "unclear",
    }
}

#[cfg(test)]
#[path = "effect_tests.rs"]
mod tests;
