//! `archivist eval audit` measures how well flawed memory entries are told apart from sound ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::cli_error::{CliError, CommandExit};
use crate::console::Console;
use crate::memory_audit::{AuditEntry, AuditProjectView, AuditRules, EntryFlaw, JunkKind, find_flaws};
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::join_with_commas;
use archivist_core::config::{ConfigLoadRequest, load_config};
use archivist_core::judge::SimilarityThresholds;

const EXAMPLES: &str = "\
Examples:
  archivist eval audit
  archivist eval audit --entries my-entries.jsonl --json

Entries are measured that were written for this before the rules were, and are part of the program: one half the rules
were made with, the other was held back. Entries of your own are a file of JSON lines, each with a `half`, a `name`, a
`text` and its `labels`, as in fixtures/audit; they are held against the same document and the same files.";

const OWN: &str = include_str!("../../../../fixtures/audit/labelled.jsonl");
const DOCUMENT: &str = include_str!("../../../../fixtures/audit/labelled-docs.md");
const FILES: &str = include_str!("../../../../fixtures/audit/labelled-files.txt");

/// The character that breaks up sample secrets in the fixtures, so that other scanners do not report them as leaks.
const SPLIT: char = '¦';

/// The number of wrong entries of each kind of flaw that the table names.
const MAX_NAMED: usize = 4;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalAudit {
    /// Labelled entries of your own, instead of those of the program
    #[arg(long, value_name = "FILE")]
    entries: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// A memory entry together with the kinds of flaw it is labelled with.
#[derive(Debug, Deserialize)]
struct LabelledAuditEntry {
    half: String,
    name: String,
    text: String,
    labels: Vec<String>,
    used: Option<u64>,
}

/// The figures for one kind of flaw in one half of the entries.
#[derive(Debug, Serialize)]
struct FlawScore {
    half: String,
    sort: &'static str,
    /// The number of entries in this half.
    entries: usize,
    /// The number of entries that are labelled with this flaw.
    labelled: usize,
    /// The number of entries that the rules report for this flaw.
    said: usize,
    /// The number of entries that are both labelled and reported.
    rightly: usize,
    precision: f64,
    recall: f64,
    /// The names of entries that were reported without the label; `missed` holds those labelled but not reported.
    wrong: Vec<String>,
    missed: Vec<String>,
}

impl EvalAudit {
    pub(super) fn run(&self, console: &mut Console) -> Result<CommandExit> {
        let text = match &self.entries {
            Some(path) => fs::read_to_string(path)
                .map_err(|error| CliError::user_error(format!("{} cannot be read: {error}", path.display())))?,
            None => OWN.to_owned(),
        };
        let labelled = parse_labelled_entries(&text)?;
        let judge = load_config(&ConfigLoadRequest::default())?.config.judge;
        let thresholds = SimilarityThresholds { same_above: judge.same_above, different_below: judge.different_below };
        let rules = AuditRules { thresholds, examples: 0, now: None };
        let halves: BTreeSet<&str> = labelled.iter().map(|one| one.half.as_str()).collect();
        let scores: Vec<FlawScore> = halves.into_iter().flat_map(|half| score_half(half, &labelled, &rules)).collect();
        if self.json {
            console.print_json(&scores)?;
            return Ok(CommandExit::Done);
        }
        let mut table = TextTable::new([
            TableColumn::text("half", ColumnVisibility::Always),
            TableColumn::text("sort", ColumnVisibility::Always),
            TableColumn::number("entries", ColumnVisibility::UntilNarrow(2)),
            TableColumn::number("labelled", ColumnVisibility::UntilNarrow(3)),
            TableColumn::number("said", ColumnVisibility::UntilNarrow(3)),
            TableColumn::number("precision", ColumnVisibility::Always),
            TableColumn::number("recall", ColumnVisibility::Always),
            TableColumn::text("wrong, and missed behind /", ColumnVisibility::UntilNarrow(1)),
        ]);
        for one in &scores {
            let named = |names: &[String]| join_with_commas(names.iter().take(MAX_NAMED));
            let wrong = match (one.wrong.is_empty(), one.missed.is_empty()) {
                (true, true) => String::new(),
                _ => format!("{} / {}", named(&one.wrong), named(&one.missed)),
            };
            table.add_row([
                one.half.clone(),
                one.sort.to_owned(),
                one.entries.to_string(),
                one.labelled.to_string(),
                one.said.to_string(),
                format!("{:.2}", one.precision),
                format!("{:.2}", one.recall),
                wrong,
            ]);
        }
        table.print_to(console)?;
        Ok(CommandExit::Done)
    }
}

fn parse_labelled_entries(text: &str) -> Result<Vec<LabelledAuditEntry>, CliError> {
    let mut labelled = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut one: LabelledAuditEntry = serde_json::from_str(line).map_err(|error| {
            CliError::user_error(format!("line {number} is no labelled entry: {error}")).with_hint("see --help")
        })?;
        one.text = one.text.replace(SPLIT, "");
        if let Some(unknown) = one.labels.iter().find(|label| label.parse::<JunkKind>().is_err()) {
            let words = join_with_commas(JunkKind::ALL);
            return Err(CliError::user_error(format!("line {number} has the label {unknown}"))
                .with_hint(format!("labels are {words}")));
        }
        labelled.push(one);
    }
    Ok(labelled)
}

fn score_half(half: &str, labelled: &[LabelledAuditEntry], rules: &AuditRules) -> Vec<FlawScore> {
    let labelled: Vec<&LabelledAuditEntry> = labelled.iter().filter(|one| one.half == half).collect();
    let entries: Vec<AuditEntry> = labelled
        .iter()
        .map(|one| AuditEntry {
            name: one.name.clone(),
            text: one.text.clone(),
            at: None,
            used: one.used,
            is_retired: false,
        })
        .collect();
    let documents = [("README.md".to_owned(), DOCUMENT.to_owned())];
    let is_there = |path: &str| FILES.lines().any(|file| file == path || file.ends_with(&format!("/{path}")));
    let found = find_flaws(&entries, &AuditProjectView { documents: &documents, is_there: &is_there }, rules);
    JunkKind::ALL.into_iter().map(|sort| score_flaw_kind(half, sort, &labelled, &found)).collect()
}

fn score_flaw_kind(
    half: &str,
    sort: JunkKind,
    labelled: &[&LabelledAuditEntry],
    found: &[Vec<EntryFlaw>],
) -> FlawScore {
    let (mut should, mut said, mut rightly) = (0, 0, 0_u32);
    let (mut wrong, mut missed) = (Vec::new(), Vec::new());
    for (one, flaws) in labelled.iter().zip(found) {
        let is_labelled = one.labels.iter().any(|label| label == sort.as_str());
        let is_said = flaws.iter().any(|flaw| flaw.sort == sort);
        should += usize::from(is_labelled);
        said += usize::from(is_said);
        match (is_labelled, is_said) {
            (true, true) => rightly += 1,
            (false, true) => wrong.push(one.name.clone()),
            (true, false) => missed.push(one.name.clone()),
            (false, false) => {}
        }
    }
    let share = |whole: usize| if whole > 0 { f64::from(rightly) / whole as f64 } else { 1.0 };
    let half = half.to_owned();
    let (precision, recall) = (share(said), share(should));
    let rightly = usize::try_from(rightly).unwrap_or_default();
    let entries = labelled.len();
    FlawScore { half, sort: sort.as_str(), entries, labelled: should, said, rightly, precision, recall, wrong, missed }
}
