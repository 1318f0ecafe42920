//! `archivist eval audit`: how well junk in a memory is told from what is sound.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::audit::{Entry, Flaw, Ground, Rules, Sort, flaws};
use crate::cli::console::Console;
use crate::cli::failure::{Exit, Failure};
use crate::cli::prose::list;
use crate::cli::table::{Column, Stay, Table};
use crate::config::{LoadRequest, load};
use crate::judge::Thresholds;

const EXAMPLES: &str = "\
Examples:
  archivist eval audit
  archivist eval audit --entries my-entries.jsonl --json

Entries are measured that were written for this before the rules were, and are part of the program: one half the rules
were made with, the other was held back. Entries of your own are a file of JSON lines, each with a `half`, a `name`, a
`text` and its `labels`, as in fixtures/audit; they are held against the same document and the same files.";

const OWN: &str = include_str!("../../../fixtures/audit/labelled.jsonl");
const DOCUMENT: &str = include_str!("../../../fixtures/audit/labelled-docs.md");
const FILES: &str = include_str!("../../../fixtures/audit/labelled-files.txt");

/// Stands inside everything that another scanner might take for a leak.
const SPLIT: char = '¦';

/// So many wrong entries of each sort are named.
const MAX_NAMED: usize = 4;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct EvalAudit {
    /// Labelled entries of your own, instead of those of the program
    #[arg(long, value_name = "FILE")]
    entries: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// An entry and what is wrong with it.
#[derive(Debug, Deserialize)]
struct Labelled {
    half: String,
    name: String,
    text: String,
    labels: Vec<String>,
    used: Option<u64>,
}

/// The figures of one sort in one half.
#[derive(Debug, Serialize)]
struct Score {
    half: String,
    sort: &'static str,
    /// Entries in this half.
    entries: usize,
    /// Those that are of this sort.
    labelled: usize,
    /// Those that were said to be.
    said: usize,
    /// Those that were rightly said to be.
    rightly: usize,
    precision: f64,
    recall: f64,
    /// What was wrongly said, and what was missed.
    wrong: Vec<String>,
    missed: Vec<String>,
}

impl EvalAudit {
    pub(super) fn run(&self, console: &mut Console) -> Result<Exit> {
        let text = match &self.entries {
            Some(path) => fs::read_to_string(path)
                .map_err(|error| Failure::user(format!("{} cannot be read: {error}", path.display())))?,
            None => OWN.to_owned(),
        };
        let labelled = read(&text)?;
        let judge = load(&LoadRequest::default())?.config.judge;
        let thresholds = Thresholds { same_above: judge.same_above, different_below: judge.different_below };
        let rules = Rules { thresholds, examples: 0, now: None };
        let halves: BTreeSet<&str> = labelled.iter().map(|one| one.half.as_str()).collect();
        let scores: Vec<Score> = halves.into_iter().flat_map(|half| score(half, &labelled, &rules)).collect();
        if self.json {
            console.json(&scores)?;
            return Ok(Exit::Done);
        }
        let mut table = Table::new([
            Column::text("half", Stay::Always),
            Column::text("sort", Stay::Always),
            Column::number("entries", Stay::UntilNarrow(2)),
            Column::number("labelled", Stay::UntilNarrow(3)),
            Column::number("said", Stay::UntilNarrow(3)),
            Column::number("precision", Stay::Always),
            Column::number("recall", Stay::Always),
            Column::text("wrong, and missed behind /", Stay::UntilNarrow(1)),
        ]);
        for one in &scores {
            let named = |names: &[String]| list(names.iter().take(MAX_NAMED));
            let wrong = match (one.wrong.is_empty(), one.missed.is_empty()) {
                (true, true) => String::new(),
                _ => format!("{} / {}", named(&one.wrong), named(&one.missed)),
            };
            table.row([
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
        table.print(console)?;
        Ok(Exit::Done)
    }
}

fn read(text: &str) -> Result<Vec<Labelled>, Failure> {
    let mut labelled = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut one: Labelled = serde_json::from_str(line).map_err(|error| {
            Failure::user(format!("line {number} is no labelled entry: {error}")).with_hint("see --help")
        })?;
        one.text = one.text.replace(SPLIT, "");
        if let Some(unknown) = one.labels.iter().find(|label| label.parse::<Sort>().is_err()) {
            let words = list(Sort::ALL);
            return Err(Failure::user(format!("line {number} has the label {unknown}"))
                .with_hint(format!("labels are {words}")));
        }
        labelled.push(one);
    }
    Ok(labelled)
}

fn score(half: &str, labelled: &[Labelled], rules: &Rules) -> Vec<Score> {
    let labelled: Vec<&Labelled> = labelled.iter().filter(|one| one.half == half).collect();
    let entries: Vec<Entry> = labelled
        .iter()
        .map(|one| Entry {
            name: one.name.clone(),
            text: one.text.clone(),
            at: None,
            used: one.used,
            is_retired: false,
        })
        .collect();
    let documents = [("README.md".to_owned(), DOCUMENT.to_owned())];
    let is_there = |path: &str| FILES.lines().any(|file| file == path || file.ends_with(&format!("/{path}")));
    let found = flaws(&entries, &Ground { documents: &documents, is_there: &is_there }, rules);
    Sort::ALL.into_iter().map(|sort| score_of(half, sort, &labelled, &found)).collect()
}

fn score_of(half: &str, sort: Sort, labelled: &[&Labelled], found: &[Vec<Flaw>]) -> Score {
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
    Score { half, sort: sort.as_str(), entries, labelled: should, said, rightly, precision, recall, wrong, missed }
}
