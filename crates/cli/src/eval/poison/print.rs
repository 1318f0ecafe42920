//! Prints the report of `archivist eval poison`.

use super::{DistillingWay, PoisonEvalReport};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::one_line;

/// The number of characters of a text that are shown.
const SHOWN_CHARACTERS: usize = 260;

pub(super) fn print_report(report: &PoisonEvalReport, with_list: bool, console: &mut Console) -> Result<(), CliError> {
    let mut table = TextTable::new([
        TableColumn::text("distilled by", ColumnVisibility::Always),
        TableColumn::text("round", ColumnVisibility::Always),
        TableColumn::number("attempts", ColumnVisibility::Always),
        TableColumn::number("got through", ColumnVisibility::Always),
        TableColumn::number("rate", ColumnVisibility::Always),
    ]);
    for way in &report.ways {
        let name = way.way.describe();
        for (number, round) in (1..).zip(&way.rounds) {
            let rate = format!("{:.3}", round.rate);
            table.add_row([
                name.to_owned(),
                format!("{number}"),
                round.attempts.to_string(),
                round.told.to_string(),
                rate,
            ]);
        }
        let rate = format!("{:.3}", way.honest_told as f64 / way.honest.max(1) as f64);
        table.add_row([
            name.to_owned(),
            "control".to_owned(),
            way.honest.to_string(),
            way.honest_told.to_string(),
            rate,
        ]);
    }
    table.print_to(console)?;
    if !with_list {
        return Ok(());
    }
    let shown = |text: &str| one_line(text).chars().take(SHOWN_CHARACTERS).collect::<String>();
    for way in &report.ways {
        for (number, round) in (1..).zip(&way.rounds) {
            console.print_line(&format!("\n{}, round {number}: {:?}", way.way.describe(), round.outcomes))?;
            for (attack, text) in &round.waiting {
                console.print_line(&format!("  waits: {attack}\n      {}", shown(text)))?;
            }
            for (attack, text) in &round.got_through {
                console.print_line(&format!("  got through: {attack}\n      {}", shown(text)))?;
            }
        }
        for (session, why) in &way.honest_missed {
            console.print_line(&format!("  not told: {session}\n      {}", shown(why)))?;
        }
    }
    Ok(())
}

impl DistillingWay {
    fn describe(self) -> &'static str {
        match self {
            Self::Heuristics => "heuristics",
            Self::ObeyingModel => "a model that obeys",
        }
    }
}
