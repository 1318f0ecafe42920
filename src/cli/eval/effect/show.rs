//! The figures as tables.

use super::Report;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::prose::{count, grouped};
use crate::cli::table::{Column, Stay, Table};

pub(super) fn print(report: &Report, console: &mut Console) -> Result<(), Failure> {
    console.line(&format!(
        "{} lessons, {} sessions, {} held back, seed {}",
        grouped(report.lessons),
        grouped(report.sessions),
        percent(report.holdout),
        report.seed
    ))?;
    console.line(&format!(
        "without the lesson trouble comes back in {} of runs; of {} it is not known; runs are those it was due in",
        percent(report.base),
        percent(report.unknown)
    ))?;
    console.line("")?;
    print_rules(report, console)?;
    console.line("")?;
    print_holdouts(report, console)?;
    console.line("")?;
    let mut table = Table::new([
        Column::text("the 95 % interval", Stay::Always),
        Column::number("looked at", Stay::Always),
        Column::number("holds the truth", Stay::Always),
        Column::text("", Stay::UntilNarrow(1)),
    ]);
    for row in &report.coverage {
        let after = format!("after {} runs", grouped(row.runs));
        table.row([after, row.intervals.to_string(), row.covered.map_or_else(|| "–".to_owned(), share), String::new()]);
    }
    table.print(console)?;
    console.line("")?;
    print_spread(report, console)
}

fn print_rules(report: &Report, console: &mut Console) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::text("rule", Stay::Always),
        Column::text("a lesson that", Stay::Always),
        Column::number("lessons", Stay::UntilNarrow(2)),
        Column::number("retired", Stay::Always),
        Column::number("kept", Stay::Always),
        Column::number("half after", Stay::Always),
        Column::number("nine in ten after", Stay::Always),
        Column::text("", Stay::UntilNarrow(1)),
    ]);
    let mut last = "";
    for row in &report.rules {
        let rule = if row.rule == last { "" } else { row.rule };
        last = row.rule;
        let counts = [row.lessons, row.retired, row.kept].map(|count| count.to_string());
        let after = [runs(row.half_after), runs(row.most_after), String::new()];
        table.row([rule.to_owned(), row.class.to_owned()].into_iter().chain(counts).chain(after));
    }
    table.print(console)
}

fn print_spread(report: &Report, console: &mut Console) -> Result<(), Failure> {
    console.line(&format!("what share is retired, over {}", count(report.seeds, "seed", "seeds")))?;
    let mut table = Table::new([
        Column::text("rule", Stay::Always),
        Column::text("of lessons", Stay::Always),
        Column::number("least", Stay::Always),
        Column::number("mean", Stay::Always),
        Column::number("most", Stay::Always),
        Column::text("", Stay::UntilNarrow(1)),
    ]);
    let mut last = "";
    for row in &report.spread {
        let rule = if row.rule == last { "" } else { row.rule };
        last = row.rule;
        let figures = [row.least, row.mean, row.most].map(share);
        let cells = [rule.to_owned(), row.figure.to_owned()].into_iter().chain(figures);
        table.row(cells.chain([String::new()]));
    }
    table.print(console)
}

fn print_holdouts(report: &Report, console: &mut Console) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::text("held back", Stay::Always),
        Column::text("a lesson that", Stay::Always),
        Column::number("retired", Stay::Always),
        Column::number("half after", Stay::Always),
        Column::number("nine in ten after", Stay::Always),
        Column::number("all harmful", Stay::Always),
        Column::number("doing nothing", Stay::Always),
        Column::number("helpful", Stay::Always),
        Column::text("", Stay::UntilNarrow(1)),
    ]);
    for row in &report.holdouts {
        let mut held = percent(row.holdout);
        let mut totals = [row.harmful_retired, row.neutral_retired, row.helpful_retired].map(share);
        for class in &row.harms {
            let retired = format!("{} of {}", class.retired, class.lessons);
            let cells = [std::mem::take(&mut held), class.class.to_owned(), retired];
            let after = [runs(class.half_after), runs(class.most_after)];
            let totals = std::mem::take(&mut totals);
            table.row(cells.into_iter().chain(after).chain(totals).chain([String::new()]));
        }
    }
    table.print(console)
}

fn runs(after: Option<u64>) -> String {
    after.map_or_else(|| "–".to_owned(), grouped)
}

fn share(value: f64) -> String {
    format!("{value:.3}")
}

fn percent(value: f64) -> String {
    format!("{} %", (value * 1000.0).round() / 10.0)
}
