//! An audit for people.

use crate::audit::{Report, Sort};
use crate::cli::console::{Console, Style};
use crate::cli::failure::Failure;
use crate::cli::prose::{count, cut, grouped};
use crate::cli::table::{Column, Stay, Table};

pub(super) fn print(report: &Report, console: &mut Console) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::text("Sort", Stay::Always),
        Column::number("Entries", Stay::Always),
        Column::number("Share", Stay::Always),
        Column::text("What it is", Stay::UntilNarrow(1)),
    ]);
    for sort in Sort::ALL {
        let tally = report.sorts.get(&sort);
        let (entries, share) = match tally {
            Some(tally) => (tally.count.to_string(), percent(tally.share)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let what = if tally.is_some() { sort.described() } else { "this memory does not tell what was used" };
        table.row([sort.to_string(), entries, share, what.to_owned()]);
    }
    table.print(console)?;
    console.line("")?;
    console.line(&conclusion(report))?;
    for (sort, tally) in report.sorts.iter().filter(|(_, tally)| !tally.examples.is_empty()) {
        console.line("")?;
        console.line(&console.styled(Style::Bold, sort.as_str()))?;
        for example in &tally.examples {
            let columns = console.columns();
            console.line(&cut(&format!("  {}: {}", example.name, example.excerpt), columns))?;
            let why = cut(&format!("    {}", example.why), columns);
            console.line(&console.styled(Style::Dim, &why))?;
        }
    }
    Ok(())
}

/// `12 of 40 entries are junk (30.0%); 3 more are retired`.
fn conclusion(report: &Report) -> String {
    let entries = count(report.total, "entry", "entries");
    let junk = match report.junk {
        0 => format!("nothing wrong with {entries}"),
        1 => format!("1 of {entries} is junk ({})", percent(report.junk_share)),
        many => {
            let many = grouped(u64::try_from(many).unwrap_or(u64::MAX));
            format!("{many} of {entries} are junk ({})", percent(report.junk_share))
        }
    };
    match report.retired {
        0 => junk,
        retired => format!("{junk}; {} not looked at", count(retired, "retired one was", "retired ones were")),
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}
