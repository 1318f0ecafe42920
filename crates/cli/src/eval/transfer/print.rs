//! Prints the report of `archivist eval transfer`.

use super::TransferEvalReport;
use crate::cli_error::CliError;
use crate::console::{Console, TextStyle};
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::one_line;

/// The number of characters of a query that are shown.
const SHOWN_CHARACTERS: usize = 160;

pub(super) fn print_report(
    report: &TransferEvalReport,
    with_list: bool,
    console: &mut Console,
) -> Result<(), CliError> {
    let TransferEvalReport { sessions, models, tasks, lessons, lessons_in_use, .. } = report;
    console.print_line(&format!(
        "{sessions} sessions of {tasks} tasks by {models} models; {lessons} lessons in {models} memories, \
         {lessons_in_use} of them in use"
    ))?;
    let mut table = TextTable::new([
        TableColumn::text("asked by", ColumnVisibility::Always),
        TableColumn::number("asked", ColumnVisibility::Always),
        TableColumn::number("known", ColumnVisibility::Always),
        TableColumn::number("in use", ColumnVisibility::Always),
        TableColumn::number("right", ColumnVisibility::Always),
        TableColumn::number("share", ColumnVisibility::Always),
        TableColumn::number("or record", ColumnVisibility::Always),
        TableColumn::number("share", ColumnVisibility::Always),
        TableColumn::number("waiting too", ColumnVisibility::UntilNarrow(1)),
        TableColumn::number("plain", ColumnVisibility::UntilNarrow(1)),
        TableColumn::number("silent", ColumnVisibility::Always),
        TableColumn::number("lessons given", ColumnVisibility::UntilNarrow(2)),
    ]);
    let rows = [
        ("error, same family", &report.errors),
        ("error, same family or task", &report.errors_or_task),
        ("instruction, same task", &report.instructions),
    ];
    for (label, figures) in rows {
        let counts = [figures.asked, figures.known, figures.in_use, figures.right].map(|count| count.to_string());
        let rest = [figures.unlocked_right, figures.plain_right, figures.silent, figures.given];
        table.add_row(
            [label.to_owned()]
                .into_iter()
                .chain(counts)
                .chain([format_share(figures.right, figures.asked)])
                .chain([figures.right_or_record.to_string(), format_share(figures.right_or_record, figures.asked)])
                .chain(rest.map(|count| count.to_string())),
        );
    }
    table.print_to(console)?;
    console.print_line("")?;
    let mut table = TextTable::new([
        TableColumn::text("nothing is known of", ColumnVisibility::Always),
        TableColumn::number("asked", ColumnVisibility::Always),
        TableColumn::number("silent", ColumnVisibility::Always),
        TableColumn::number("share", ColumnVisibility::Always),
    ]);
    let silence = &report.silence;
    let rows = [
        ("the failure", silence.errors, silence.errors_silent),
        ("the task", silence.instructions, silence.instructions_silent),
        ("either", silence.errors + silence.instructions, silence.errors_silent + silence.instructions_silent),
    ];
    for (label, asked, silent) in rows {
        table.add_row([label.to_owned(), asked.to_string(), silent.to_string(), format_share(silent, asked)]);
    }
    table.print_to(console)?;
    for one in report.questions.iter().filter(|_| with_list) {
        let label = console.style_text(TextStyle::Bold, &format!("{} {}", one.kind, one.result));
        let text: String = one_line(&one.text).chars().take(SHOWN_CHARACTERS).collect();
        console.print_line(&format!("{label} {} {}: {text}", one.model, one.task))?;
        for (label, lessons) in [("given", &one.given), ("missed", &one.missed)] {
            for lesson in lessons {
                console.print_line(&format!("  {label} {}", one_line(lesson)))?;
            }
        }
    }
    Ok(())
}

fn format_share(count: usize, of: usize) -> String {
    let number = |count: usize| u32::try_from(count).map_or(f64::NAN, f64::from);
    if of == 0 { "–".to_owned() } else { format!("{:.3}", number(count) / number(of)) }
}
