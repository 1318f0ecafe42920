//! The figures as tables.

use super::Report;
use super::figures::Figures;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::table::{Column, Stay, Table};

pub(super) fn print(report: &Report, console: &mut Console) -> Result<(), Failure> {
    let store = &report.store;
    console.line(&format!("a memory of {} lessons (seed {})", store.lessons, store.seed))?;
    let mut table = Table::new([
        Column::text("tasks", Stay::Always),
        Column::number("asked", Stay::Always),
        Column::number("right first", Stay::Always),
        Column::number("right given", Stay::Always),
        Column::number("silent", Stay::Always),
        Column::number("lessons given", Stay::UntilNarrow(1)),
    ]);
    let rows =
        [("matched", &store.matched), ("unmatched", &store.unmatched), ("in other words altogether", &store.apart)];
    for (name, row) in rows {
        let share = |part: usize| share(part as f64 / row.tasks.max(1) as f64);
        let right = |part: usize| if name == "unmatched" { String::new() } else { share(part) };
        let cells =
            [row.tasks.to_string(), right(row.first), right(row.given), share(row.silent), row.lessons.to_string()];
        table.row(std::iter::once(name.to_owned()).chain(cells));
    }
    table.print(console)?;
    if report.sets.is_empty() {
        return Ok(());
    }
    console.line("")?;
    let mut table = Table::new([
        Column::text("public set", Stay::Always),
        Column::text("ranked by", Stay::Always),
        Column::number("nDCG@10", Stay::Always),
        Column::number("recall@5", Stay::Always),
        Column::number("right first", Stay::UntilNarrow(2)),
        Column::text("", Stay::UntilNarrow(1)),
    ]);
    for set in &report.sets {
        let mut name = set.name.as_str();
        for row in &set.rows {
            let Figures { ndcg10, recall5, first } = row.figures;
            let time =
                if row.method == "words" { format!("{:.0} µs a question", set.microseconds) } else { String::new() };
            let figures = [share(ndcg10), share(recall5), share(first), time];
            table.row([std::mem::take(&mut name).to_owned(), row.method.to_owned()].into_iter().chain(figures));
        }
        for (method, figure) in set.recorded.iter().flat_map(|recorded| {
            [
                ("best of four by words", recorded.words),
                ("MiniLM", recorded.embeddings),
                ("rank fusion", recorded.rank_fusion),
            ]
        }) {
            // Of one set only the first places were recorded.
            let (ndcg, first) =
                if set.name == "sde_chat" { (String::new(), share(figure)) } else { (share(figure), String::new()) };
            table.row([
                String::new(),
                method.to_owned(),
                ndcg,
                String::new(),
                first,
                "recorded with the data".to_owned(),
            ]);
        }
    }
    table.print(console)?;
    print_means(report, console)
}

/// The mean over the sets, for every way to rank that was measured on all of them.
fn print_means(report: &Report, console: &mut Console) -> Result<(), Failure> {
    let graded: Vec<_> = report.sets.iter().filter(|set| set.name != "sde_chat").collect();
    let count = graded.len().max(1) as f64;
    console.line("")?;
    console.line(&format!("mean nDCG@10 over {} sets (of sde_chat only first places were recorded)", graded.len()))?;
    let mut table = Table::new([Column::text("ranked by", Stay::Always), Column::number("nDCG@10", Stay::Always)]);
    for (place, row) in graded.first().iter().flat_map(|set| set.rows.iter()).enumerate() {
        let all = graded.iter().filter_map(|set| set.rows.get(place)).map(|row| row.figures.ndcg10);
        table.row([row.method.to_owned(), share(all.sum::<f64>() / count)]);
    }
    let recorded = |of: fn(&super::sets::Recorded) -> f64| {
        graded.iter().filter_map(|set| set.recorded.as_ref()).map(of).sum::<f64>() / count
    };
    if graded.iter().all(|set| set.recorded.is_some()) {
        table.row(["best of four by words (recorded)".to_owned(), share(recorded(|set| set.words))]);
        table.row(["MiniLM (recorded)".to_owned(), share(recorded(|set| set.embeddings))]);
        table.row(["rank fusion (recorded)".to_owned(), share(recorded(|set| set.rank_fusion))]);
    }
    table.print(console)
}

fn share(value: f64) -> String {
    format!("{value:.3}")
}
