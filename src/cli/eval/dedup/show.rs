//! The figures as tables.

use super::Report;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::prose::list;
use crate::cli::table::{Column, Stay, Table};

const KINDS: [&str; 6] = ["same", "refines", "contradicts", "similar", "unsure", "different"];

pub(super) fn print(report: &Report, console: &mut Console) -> Result<(), Failure> {
    let (same, different) = (report.same_above, report.different_below);
    console.line(&format!("the same from {same}, different below {different}"))?;
    console.line("")?;
    let mut table = Table::new([
        Column::text("our pairs", Stay::Always),
        Column::text("measure", Stay::Always),
        Column::number("pairs", Stay::UntilNarrow(1)),
        Column::number("merged", Stay::Always),
        Column::number("precision", Stay::Always),
        Column::number("recall", Stay::Always),
        Column::number("changed swallowed", Stay::Always),
        Column::text("wrong", Stay::UntilNarrow(2)),
    ]);
    for half in &report.pairs {
        let figures = [
            half.pairs.to_string(),
            half.merged.to_string(),
            share(half.precision),
            share(half.recall),
            half.changed_swallowed.to_string(),
            list(&half.wrong),
        ];
        table.row([half.half.to_owned(), half.method.to_owned()].into_iter().chain(figures));
    }
    table.print(console)?;
    for half in &report.pairs {
        console.line("")?;
        console.line(&format!("{}, {}: what was said (across) of what it is (down)", half.half, half.method))?;
        let mut columns = vec![Column::text("", Stay::Always)];
        columns.extend(KINDS.map(|kind| Column::number(kind, Stay::Always)));
        let mut table = Table::new(columns);
        for (label, said) in &half.confusion {
            let counts = KINDS.iter().map(|kind| said.get(kind).copied().unwrap_or_default().to_string());
            table.row(std::iter::once(label.clone()).chain(counts));
        }
        table.print(console)?;
    }
    if !report.sets.is_empty() {
        print_sets(report, console)?;
    }
    print_store(report, console)
}

fn print_sets(report: &Report, console: &mut Console) -> Result<(), Failure> {
    console.line("")?;
    let mut table = Table::new([
        Column::text("public set", Stay::Always),
        Column::text("measure", Stay::Always),
        Column::number("best F1", Stay::Always),
        Column::number("at", Stay::UntilNarrow(1)),
        Column::number("unseen half", Stay::Always),
        Column::text("", Stay::UntilNarrow(2)),
    ]);
    for set in &report.sets {
        let mut name = set.name.as_str();
        for score in &set.measures {
            let figures = [share(score.best_f1), share(score.threshold), share(score.unseen_f1), String::new()];
            table.row([std::mem::take(&mut name).to_owned(), score.measure.to_owned()].into_iter().chain(figures));
        }
        let recorded = [("best without a network", set.recorded_words), ("MiniLM alone", set.recorded_embeddings)];
        for (measure, figure) in recorded.into_iter().filter_map(|(measure, figure)| Some((measure, figure?))) {
            let cells = ["", measure, &share(figure), "", "", "recorded with the data"];
            table.row(cells.map(str::to_owned));
        }
    }
    table.print(console)
}

fn print_store(report: &Report, console: &mut Console) -> Result<(), Failure> {
    let Some(store) = &report.store else { return Ok(()) };
    console.line("")?;
    console.line(&format!(
        "{} lessons are known; {} rewordings and {} new texts come (baselines: where they have as many right)",
        store.stored, store.rewordings, store.novel
    ))?;
    let mut table = Table::new([
        Column::text("measure", Stay::Always),
        Column::number("threshold", Stay::UntilNarrow(1)),
        Column::number("right", Stay::Always),
        Column::number("wrong lesson", Stay::Always),
        Column::number("new swallowed", Stay::Always),
        Column::number("wrong in all", Stay::Always),
    ]);
    for row in &store.rows {
        let counts = [row.right, row.misplaced, row.swallowed, row.misplaced + row.swallowed];
        let cells = [row.measure.to_owned(), share(row.threshold)];
        table.row(cells.into_iter().chain(counts.map(|count| count.to_string())));
    }
    table.print(console)
}

fn share(value: f64) -> String {
    format!("{value:.3}")
}
