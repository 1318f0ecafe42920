//! Prints the report of `archivist eval real`.

use super::RealEvalReport;
use crate::cli_error::CliError;
use crate::console::{Console, TextStyle};
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::one_line;

pub(super) fn print_report(report: &RealEvalReport, with_list: bool, console: &mut Console) -> Result<(), CliError> {
    let gold = report.gold;
    let mut table = TextTable::new([
        TableColumn::text("", ColumnVisibility::Always),
        TableColumn::number("count", ColumnVisibility::Always),
        TableColumn::number("of", ColumnVisibility::Always),
        TableColumn::number("share", ColumnVisibility::Always),
    ]);
    let rules = &report.rules;
    let reply = &report.reply;
    let wrong = &report.false_replies;
    let mut rows = vec![
        ("rules: lessons right (precision)".to_owned(), rules.right, rules.told),
        ("rules: right of those injected at once".to_owned(), rules.injected_right, rules.injected),
        ("rules: gold found".to_owned(), rules.found.total(), gold.total()),
        ("rules: gold of grade A found".to_owned(), rules.found.a, gold.a),
        ("reply: gold kept".to_owned(), reply.kept.total(), gold.total()),
        ("reply: gold of grade A kept".to_owned(), reply.kept.a, gold.a),
        ("reply: gold given at once".to_owned(), reply.injected, gold.total()),
        ("reply: gold waiting".to_owned(), reply.kept.total() - reply.injected, gold.total()),
        ("reply: gold quarantined".to_owned(), reply.quarantined, gold.total()),
        ("reply: gold dropped".to_owned(), reply.dropped, gold.total()),
        ("false: given at once".to_owned(), wrong.injected, wrong.claimed),
        ("false: waiting".to_owned(), wrong.waiting, wrong.claimed),
        ("false: quarantined".to_owned(), wrong.quarantined, wrong.claimed),
        ("false: dropped".to_owned(), wrong.dropped, wrong.claimed),
    ];
    for size in &report.digest {
        rows.push((format!("digest of {} tokens: gold steps shown", size.tokens), size.shown, size.steps));
    }
    for (name, (told, right)) in &rules.by_ground {
        rows.push((format!("rules: right where {name}"), *right, *told));
    }
    for (label, count, of) in rows {
        table.add_row([label, count.to_string(), of.to_string(), format_share(count, of)]);
    }
    console.print_line(&format!("{} sessions, {} gold lessons", report.sessions, gold.total()))?;
    table.print_to(console)?;
    if with_list {
        print_list(report, console)?;
    }
    Ok(())
}

fn format_share(count: usize, of: usize) -> String {
    let number = |count: usize| u32::try_from(count).map_or(f64::NAN, f64::from);
    if of == 0 { "–".to_owned() } else { format!("{:.3}", number(count) / number(of)) }
}

fn print_list(report: &RealEvalReport, console: &mut Console) -> Result<(), CliError> {
    for lesson in &report.rules.lessons {
        let (style, label) = match &lesson.gold {
            Some(gold) => (TextStyle::Bold, format!("right {gold}")),
            None => (TextStyle::Yellow, "false".to_owned()),
        };
        let at_once = if lesson.is_injected { " (at once)" } else { "" };
        let label = console.style_text(style, &label);
        console.print_line(&format!("{label}{at_once} {}: {}", lesson.session, one_line(&lesson.summary)))?;
    }
    let verdicts = report.false_replies.verdicts.iter();
    let verdicts = verdicts.map(|one| format!("{} ({}, {}): {}", one.verdict, one.kind, one.session, one.summary));
    let lists = [
        ("missed", report.rules.missed.clone()),
        ("held", report.reply.held.iter().map(|(id, why)| format!("{id}: {why}")).collect()),
        ("false reply", verdicts.collect()),
    ];
    let hidden =
        report.digest.iter().map(|size| ("hidden", vec![format!("{}: {}", size.tokens, size.hidden.join(", "))]));
    for (label, lines) in lists.into_iter().chain(hidden) {
        let label = console.style_text(TextStyle::Yellow, label);
        for line in lines {
            console.print_line(&format!("{label} {}", one_line(&line)))?;
        }
    }
    Ok(())
}
