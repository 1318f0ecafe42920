//! Prints an audit for people.

use crate::cli_error::CliError;
use crate::console::{Console, TextStyle};
use crate::memory_audit::{AuditReport, JunkKind};
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::{cut_to_width, format_count, format_number};

pub(super) fn print_audit(report: &AuditReport, console: &mut Console) -> Result<(), CliError> {
    let mut table = TextTable::new([
        TableColumn::text("Sort", ColumnVisibility::Always),
        TableColumn::number("Entries", ColumnVisibility::Always),
        TableColumn::number("Share", ColumnVisibility::Always),
        TableColumn::text("What it is", ColumnVisibility::UntilNarrow(1)),
    ]);
    for sort in JunkKind::ALL {
        let tally = report.sorts.get(&sort);
        let (entries, share) = match tally {
            Some(tally) => (tally.count.to_string(), format_percent(tally.share)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let what = if tally.is_some() { sort.description() } else { "this memory does not tell what was used" };
        table.add_row([sort.to_string(), entries, share, what.to_owned()]);
    }
    table.print_to(console)?;
    console.print_line("")?;
    console.print_line(&describe_junk_share(report))?;
    for (sort, tally) in report.sorts.iter().filter(|(_, tally)| !tally.examples.is_empty()) {
        console.print_line("")?;
        console.print_line(&console.style_text(TextStyle::Bold, sort.as_str()))?;
        for example in &tally.examples {
            let columns = console.columns();
            console.print_line(&cut_to_width(&format!("  {}: {}", example.name, example.excerpt), columns))?;
            let why = cut_to_width(&format!("    {}", example.why), columns);
            console.print_line(&console.style_text(TextStyle::Dim, &why))?;
        }
    }
    Ok(())
}

/// Returns a sentence such as `12 of 40 entries are junk (30.0%); 3 retired ones were not looked at`.
fn describe_junk_share(report: &AuditReport) -> String {
    let entries = format_count(report.total, "entry", "entries");
    let junk = match report.junk {
        0 => format!("nothing wrong with {entries}"),
        1 => format!("1 of {entries} is junk ({})", format_percent(report.junk_share)),
        many => {
            let many = format_number(u64::try_from(many).unwrap_or(u64::MAX));
            format!("{many} of {entries} are junk ({})", format_percent(report.junk_share))
        }
    };
    match report.retired {
        0 => junk,
        retired => format!("{junk}; {} not looked at", format_count(retired, "retired one was", "retired ones were")),
    }
}

pub(super) fn format_percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}
