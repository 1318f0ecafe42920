//! Prints the figures of `archivist eval dedup` as tables.

use super::DedupEvalReport;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::join_with_commas;

const KINDS: [&str; 6] = ["same", "refines", "contradicts", "similar", "unsure", "different"];

pub(super) fn print_report(report: &DedupEvalReport, console: &mut Console) -> Result<(), CliError> {
    let (same, different) = (report.same_above, report.different_below);
    console.print_line(&format!("the same from {same}, different below {different}"))?;
    console.print_line("")?;
    let mut table = TextTable::new([
        TableColumn::text("our pairs", ColumnVisibility::Always),
        TableColumn::text("measure", ColumnVisibility::Always),
        TableColumn::number("pairs", ColumnVisibility::UntilNarrow(1)),
        TableColumn::number("merged", ColumnVisibility::Always),
        TableColumn::number("precision", ColumnVisibility::Always),
        TableColumn::number("recall", ColumnVisibility::Always),
        TableColumn::number("changed swallowed", ColumnVisibility::Always),
        TableColumn::text("wrong", ColumnVisibility::UntilNarrow(2)),
    ]);
    for half in &report.pairs {
        let figures = [
            half.pairs.to_string(),
            half.merged.to_string(),
            format_share(half.precision),
            format_share(half.recall),
            half.changed_swallowed.to_string(),
            join_with_commas(&half.wrong),
        ];
        table.add_row([half.half.to_owned(), half.method.to_owned()].into_iter().chain(figures));
    }
    table.print_to(console)?;
    for half in &report.pairs {
        console.print_line("")?;
        console.print_line(&format!("{}, {}: what was said (across) of what it is (down)", half.half, half.method))?;
        let mut columns = vec![TableColumn::text("", ColumnVisibility::Always)];
        columns.extend(KINDS.map(|kind| TableColumn::number(kind, ColumnVisibility::Always)));
        let mut table = TextTable::new(columns);
        for (label, said) in &half.confusion {
            let counts = KINDS.iter().map(|kind| said.get(kind).copied().unwrap_or_default().to_string());
            table.add_row(std::iter::once(label.clone()).chain(counts));
        }
        table.print_to(console)?;
    }
    if !report.sets.is_empty() {
        print_sets(report, console)?;
    }
    print_store(report, console)
}

fn print_sets(report: &DedupEvalReport, console: &mut Console) -> Result<(), CliError> {
    console.print_line("")?;
    let mut table = TextTable::new([
        TableColumn::text("public set", ColumnVisibility::Always),
        TableColumn::text("measure", ColumnVisibility::Always),
        TableColumn::number("best F1", ColumnVisibility::Always),
        TableColumn::number("at", ColumnVisibility::UntilNarrow(1)),
        TableColumn::number("unseen half", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(2)),
    ]);
    for set in &report.sets {
        let mut name = set.name.as_str();
        for score in &set.measures {
            let figures = [
                format_share(score.best_f1),
                format_share(score.threshold),
                format_share(score.unseen_f1),
                String::new(),
            ];
            table.add_row([std::mem::take(&mut name).to_owned(), score.measure.to_owned()].into_iter().chain(figures));
        }
        let recorded = [("best without a network", set.recorded_words), ("MiniLM alone", set.recorded_embeddings)];
        for (measure, figure) in recorded.into_iter().filter_map(|(measure, figure)| Some((measure, figure?))) {
            let cells = ["", measure, &format_share(figure), "", "", "recorded with the data"];
            table.add_row(cells.map(str::to_owned));
        }
    }
    table.print_to(console)
}

fn print_store(report: &DedupEvalReport, console: &mut Console) -> Result<(), CliError> {
    let Some(store) = &report.store else { return Ok(()) };
    console.print_line("")?;
    console.print_line(&format!(
        "{} lessons are known; {} rewordings and {} new texts come (baselines: where they have as many right)",
        store.stored, store.rewordings, store.novel
    ))?;
    let mut table = TextTable::new([
        TableColumn::text("measure", ColumnVisibility::Always),
        TableColumn::number("threshold", ColumnVisibility::UntilNarrow(1)),
        TableColumn::number("right", ColumnVisibility::Always),
        TableColumn::number("wrong lesson", ColumnVisibility::Always),
        TableColumn::number("new swallowed", ColumnVisibility::Always),
        TableColumn::number("wrong in all", ColumnVisibility::Always),
    ]);
    for row in &store.rows {
        let counts = [row.right, row.misplaced, row.swallowed, row.misplaced + row.swallowed];
        let cells = [row.measure.to_owned(), format_share(row.threshold)];
        table.add_row(cells.into_iter().chain(counts.map(|count| count.to_string())));
    }
    table.print_to(console)
}

fn format_share(value: f64) -> String {
    format!("{value:.3}")
}
