//! The report, for a person.

use super::TransferReport;
use crate::cli::console::{Console, Style};
use crate::cli::failure::Failure;
use crate::cli::prose::one_line;
use crate::cli::table::{Column, Stay, Table};

/// As much of a question is shown.
const SHOWN_CHARACTERS: usize = 160;

pub(super) fn print_report(report: &TransferReport, with_list: bool, console: &mut Console) -> Result<(), Failure> {
    let TransferReport { sessions, models, tasks, lessons, lessons_in_use, .. } = report;
    console.line(&format!(
        "{sessions} sessions of {tasks} tasks by {models} models; {lessons} lessons in {models} memories, \
         {lessons_in_use} of them in use"
    ))?;
    let mut table = Table::new([
        Column::text("asked by", Stay::Always),
        Column::number("asked", Stay::Always),
        Column::number("known", Stay::Always),
        Column::number("in use", Stay::Always),
        Column::number("right", Stay::Always),
        Column::number("share", Stay::Always),
        Column::number("waiting too", Stay::UntilNarrow(1)),
        Column::number("plain", Stay::UntilNarrow(1)),
        Column::number("silent", Stay::Always),
        Column::number("lessons given", Stay::UntilNarrow(2)),
    ]);
    let rows = [
        ("error, same family", &report.errors),
        ("error, same family or task", &report.errors_or_task),
        ("instruction, same task", &report.instructions),
    ];
    for (label, figures) in rows {
        let counts = [figures.asked, figures.known, figures.in_use, figures.right].map(|count| count.to_string());
        let rest = [figures.unlocked_right, figures.plain_right, figures.silent, figures.given];
        table.row(
            [label.to_owned()]
                .into_iter()
                .chain(counts)
                .chain([share(figures.right, figures.asked)])
                .chain(rest.map(|count| count.to_string())),
        );
    }
    table.print(console)?;
    console.line("")?;
    let mut table = Table::new([
        Column::text("nothing is known of", Stay::Always),
        Column::number("asked", Stay::Always),
        Column::number("silent", Stay::Always),
        Column::number("share", Stay::Always),
    ]);
    let silence = &report.silence;
    let rows = [
        ("the failure", silence.errors, silence.errors_silent),
        ("the task", silence.instructions, silence.instructions_silent),
        ("either", silence.errors + silence.instructions, silence.errors_silent + silence.instructions_silent),
    ];
    for (label, asked, silent) in rows {
        table.row([label.to_owned(), asked.to_string(), silent.to_string(), share(silent, asked)]);
    }
    table.print(console)?;
    for one in report.questions.iter().filter(|_| with_list) {
        let label = console.styled(Style::Bold, &format!("{} {}", one.kind, one.result));
        let text: String = one_line(&one.text).chars().take(SHOWN_CHARACTERS).collect();
        console.line(&format!("{label} {} {}: {text}", one.model, one.task))?;
        for (label, lessons) in [("given", &one.given), ("missed", &one.missed)] {
            for lesson in lessons {
                console.line(&format!("  {label} {}", one_line(lesson)))?;
            }
        }
    }
    Ok(())
}

fn share(count: usize, of: usize) -> String {
    let number = |count: usize| u32::try_from(count).map_or(f64::NAN, f64::from);
    if of == 0 { "–".to_owned() } else { format!("{:.3}", number(count) / number(of)) }
}
