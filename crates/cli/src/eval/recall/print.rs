//! Prints the figures of `archivist eval recall` as tables.

use super::RecallEvalReport;
use super::figures::RankingFigures;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};

pub(super) fn print_report(report: &RecallEvalReport, console: &mut Console) -> Result<(), CliError> {
    let store = &report.store;
    console.print_line(&format!("a memory of {} lessons (seed {})", store.lessons, store.seed))?;
    let mut table = TextTable::new([
        TableColumn::text("tasks", ColumnVisibility::Always),
        TableColumn::number("asked", ColumnVisibility::Always),
        TableColumn::number("right first", ColumnVisibility::Always),
        TableColumn::number("right given", ColumnVisibility::Always),
        TableColumn::number("silent", ColumnVisibility::Always),
        TableColumn::number("lessons given", ColumnVisibility::UntilNarrow(1)),
    ]);
    let rows =
        [("matched", &store.matched), ("unmatched", &store.unmatched), ("in other words altogether", &store.apart)];
    for (name, row) in rows {
        let share = |part: usize| format_share(part as f64 / row.tasks.max(1) as f64);
        let right = |part: usize| if name == "unmatched" { String::new() } else { share(part) };
        let cells =
            [row.tasks.to_string(), right(row.first), right(row.given), share(row.silent), row.lessons.to_string()];
        table.add_row(std::iter::once(name.to_owned()).chain(cells));
    }
    table.print_to(console)?;
    if report.sets.is_empty() {
        return Ok(());
    }
    console.print_line("")?;
    let mut table = TextTable::new([
        TableColumn::text("public set", ColumnVisibility::Always),
        TableColumn::text("ranked by", ColumnVisibility::Always),
        TableColumn::number("nDCG@10", ColumnVisibility::Always),
        TableColumn::number("recall@5", ColumnVisibility::Always),
        TableColumn::number("right first", ColumnVisibility::UntilNarrow(2)),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    for set in &report.sets {
        let mut name = set.name.as_str();
        for row in &set.rows {
            let RankingFigures { ndcg10, recall5, first } = row.figures;
            let time =
                if row.method == "words" { format!("{:.0} µs a question", set.microseconds) } else { String::new() };
            let figures = [format_share(ndcg10), format_share(recall5), format_share(first), time];
            table.add_row([std::mem::take(&mut name).to_owned(), row.method.to_owned()].into_iter().chain(figures));
        }
        for (method, figure) in set.recorded.iter().flat_map(|recorded| {
            [
                ("best of four by words", recorded.words),
                ("MiniLM", recorded.embeddings),
                ("rank fusion", recorded.rank_fusion),
            ]
        }) {
            // For this set only first places were recorded.
            let (ndcg, first) = if set.name == "sde_chat" {
                (String::new(), format_share(figure))
            } else {
                (format_share(figure), String::new())
            };
            table.add_row([
                String::new(),
                method.to_owned(),
                ndcg,
                String::new(),
                first,
                "recorded with the data".to_owned(),
            ]);
        }
    }
    table.print_to(console)?;
    print_means(report, console)
}

/// Prints the mean over the sets for every ranking method.
fn print_means(report: &RecallEvalReport, console: &mut Console) -> Result<(), CliError> {
    let graded: Vec<_> = report.sets.iter().filter(|set| set.name != "sde_chat").collect();
    let count = graded.len().max(1) as f64;
    console.print_line("")?;
    console.print_line(&format!(
        "mean nDCG@10 over {} sets (of sde_chat only first places were recorded)",
        graded.len()
    ))?;
    let mut table = TextTable::new([
        TableColumn::text("ranked by", ColumnVisibility::Always),
        TableColumn::number("nDCG@10", ColumnVisibility::Always),
    ]);
    for (place, row) in graded.first().iter().flat_map(|set| set.rows.iter()).enumerate() {
        let all = graded.iter().filter_map(|set| set.rows.get(place)).map(|row| row.figures.ndcg10);
        table.add_row([row.method.to_owned(), format_share(all.sum::<f64>() / count)]);
    }
    let recorded = |of: fn(&super::sets::RecordedFigures) -> f64| {
        graded.iter().filter_map(|set| set.recorded.as_ref()).map(of).sum::<f64>() / count
    };
    if graded.iter().all(|set| set.recorded.is_some()) {
        table.add_row(["best of four by words (recorded)".to_owned(), format_share(recorded(|set| set.words))]);
        table.add_row(["MiniLM (recorded)".to_owned(), format_share(recorded(|set| set.embeddings))]);
        table.add_row(["rank fusion (recorded)".to_owned(), format_share(recorded(|set| set.rank_fusion))]);
    }
    table.print_to(console)
}

fn format_share(value: f64) -> String {
    format!("{value:.3}")
}
