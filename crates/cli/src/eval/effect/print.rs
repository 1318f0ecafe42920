//! Prints the figures of `archivist eval effect` as tables.

use super::EffectEvalReport;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::{format_count, format_number};

pub(super) fn print_report(report: &EffectEvalReport, console: &mut Console) -> Result<(), CliError> {
    console.print_line(&format!(
        "{} lessons, {} sessions, {} held back, seed {}",
        format_number(report.lessons),
        format_number(report.sessions),
        format_percent(report.holdout),
        report.seed
    ))?;
    console.print_line(&format!(
        "without the lesson trouble comes back in {} of runs; of {} it is not known; runs are those it was due in",
        format_percent(report.base),
        format_percent(report.unknown)
    ))?;
    console.print_line("")?;
    print_rules(report, console)?;
    console.print_line("")?;
    print_holdouts(report, console)?;
    console.print_line("")?;
    let mut table = TextTable::new([
        TableColumn::text("the 95 % interval", ColumnVisibility::Always),
        TableColumn::number("looked at", ColumnVisibility::Always),
        TableColumn::number("holds the truth", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    for row in &report.coverage {
        let after = format!("after {} runs", format_number(row.runs));
        table.add_row([
            after,
            row.intervals.to_string(),
            row.covered.map_or_else(|| "–".to_owned(), format_share),
            String::new(),
        ]);
    }
    table.print_to(console)?;
    console.print_line("")?;
    print_spread(report, console)
}

fn print_rules(report: &EffectEvalReport, console: &mut Console) -> Result<(), CliError> {
    let mut table = TextTable::new([
        TableColumn::text("rule", ColumnVisibility::Always),
        TableColumn::text("a lesson that", ColumnVisibility::Always),
        TableColumn::number("lessons", ColumnVisibility::UntilNarrow(2)),
        TableColumn::number("retired", ColumnVisibility::Always),
        TableColumn::number("kept", ColumnVisibility::Always),
        TableColumn::number("half after", ColumnVisibility::Always),
        TableColumn::number("nine in ten after", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    let mut last = "";
    for row in &report.rules {
        let rule = if row.rule == last { "" } else { row.rule };
        last = row.rule;
        let counts = [row.lessons, row.retired, row.kept].map(|count| count.to_string());
        let after = [format_run_count(row.half_after), format_run_count(row.most_after), String::new()];
        table.add_row([rule.to_owned(), row.class.to_owned()].into_iter().chain(counts).chain(after));
    }
    table.print_to(console)
}

fn print_spread(report: &EffectEvalReport, console: &mut Console) -> Result<(), CliError> {
    console.print_line(&format!("what share is retired, over {}", format_count(report.seeds, "seed", "seeds")))?;
    let mut table = TextTable::new([
        TableColumn::text("rule", ColumnVisibility::Always),
        TableColumn::text("of lessons", ColumnVisibility::Always),
        TableColumn::number("least", ColumnVisibility::Always),
        TableColumn::number("mean", ColumnVisibility::Always),
        TableColumn::number("most", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    let mut last = "";
    for row in &report.spread {
        let rule = if row.rule == last { "" } else { row.rule };
        last = row.rule;
        let figures = [row.least, row.mean, row.most].map(format_share);
        let cells = [rule.to_owned(), row.figure.to_owned()].into_iter().chain(figures);
        table.add_row(cells.chain([String::new()]));
    }
    table.print_to(console)
}

fn print_holdouts(report: &EffectEvalReport, console: &mut Console) -> Result<(), CliError> {
    let mut table = TextTable::new([
        TableColumn::text("held back", ColumnVisibility::Always),
        TableColumn::text("a lesson that", ColumnVisibility::Always),
        TableColumn::number("retired", ColumnVisibility::Always),
        TableColumn::number("half after", ColumnVisibility::Always),
        TableColumn::number("nine in ten after", ColumnVisibility::Always),
        TableColumn::number("all harmful", ColumnVisibility::Always),
        TableColumn::number("doing nothing", ColumnVisibility::Always),
        TableColumn::number("helpful", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    for row in &report.holdouts {
        let mut held = format_percent(row.holdout);
        let mut totals = [row.harmful_retired, row.neutral_retired, row.helpful_retired].map(format_share);
        for class in &row.harms {
            let retired = format!("{} of {}", class.retired, class.lessons);
            let cells = [std::mem::take(&mut held), class.class.to_owned(), retired];
            let after = [format_run_count(class.half_after), format_run_count(class.most_after)];
            let totals = std::mem::take(&mut totals);
            table.add_row(cells.into_iter().chain(after).chain(totals).chain([String::new()]));
        }
    }
    table.print_to(console)
}

fn format_run_count(after: Option<u64>) -> String {
    after.map_or_else(|| "–".to_owned(), format_number)
}

fn format_share(value: f64) -> String {
    format!("{value:.3}")
}

fn format_percent(value: f64) -> String {
    format!("{} %", (value * 1000.0).round() / 10.0)
}
