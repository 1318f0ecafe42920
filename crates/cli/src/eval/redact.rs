//! `archivist eval redact` measures how many secrets are found, and what else is taken for one.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::cli_error::{CliError, CommandExit};
use crate::console::Console;
use crate::table::{ColumnVisibility, TableColumn, TextTable};
use crate::text_format::{format_bytes, format_count};
use archivist_core::redact::{
    BenignScore, BenignTextSet, LabelledSecretLine, Redactor, RuleScore, SecretSetScore, score_redactor,
};

const REDACT_EXAMPLES: &str = "\
Examples:
  archivist eval redact
  archivist eval redact --data bench/secrets --benign src --json
  archivist eval redact --benign ~/.codex/sessions --hits

A labelled set is a file of JSON lines, gzipped or not, each with a `text`, a `label` (1 or 0), a
`rule` and, if known, the `secret` of which nothing may be left. The character `¦`, by which sets
break up samples, is removed. Benign texts are JSON lines with a `text` or a `summary`, or any other
text, such as logs of sessions.
Without --benign the folders `lessons` and `retrieval` beside the data are taken, if they are
there.";

/// The labelled lines that are measured without `--data`.
const OWN_SECRETS: &str = include_str!("../../../../fixtures/redact/secrets.jsonl");
/// Lines that look like secrets and are none.
const OWN_TRAPS: &str = include_str!("../../../../fixtures/redact/benign.txt");
/// Ordinary code and documents without secrets.
const OWN_ORDINARY: &str = include_str!("../../../../fixtures/redact/ordinary.txt");
/// The character that breaks up sample secrets, so that other scanners do not report them as leaks.
const SPLIT: char = '¦';

/// The number of rules that the table names for a set, the worst first.
const WORST_RULES: usize = 3;

/// The approximate size of the pieces in which clean text is timed, as log lines come.
const PIECE_BYTES: usize = 16 * 1024;

const MEGABYTE: usize = 1_000_000;

/// Recall of other scanners with their own rules, as recorded in the README next to the public sets.
const BASELINES: &[(&str, &str, f64)] = &[
    ("gitleaks", "gitleaks", 0.995),
    ("gitleaks", "detect-secrets", 0.492),
    ("gitleaks", "Kingfisher", 0.378),
    ("gitleaks", "Nosey Parker", 0.193),
    ("detect_secrets", "detect-secrets", 0.797),
    ("detect_secrets", "gitleaks", 0.145),
    ("detect_secrets", "Kingfisher", 0.123),
    ("detect_secrets", "Nosey Parker", 0.123),
];

/// False hits of another scanner per thousand lines, as recorded in the same README.
const BENIGN_BASELINES: &[(&str, &str, f64)] =
    &[("shell lines", "gitleaks", 0.09), ("lines of coding chat", "gitleaks", 0.7)];

#[derive(Debug, Args)]
#[command(after_help = REDACT_EXAMPLES)]
pub(crate) struct EvalRedact {
    /// A directory of labelled sets (*.jsonl, *.jsonl.gz); a small one of our own otherwise
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A file or directory of text without secrets; may be given again
    #[arg(long, value_name = "PATH")]
    benign: Vec<PathBuf>,
    /// How many megabytes of clean text to time
    #[arg(long, value_name = "N", default_value_t = 64)]
    megabytes: usize,
    /// Show what was found in texts without secrets
    #[arg(long)]
    hits: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The figures of all measurements of `archivist eval redact`.
#[derive(Debug, Serialize)]
struct RedactEvalReport {
    sets: Vec<SecretSetScore>,
    benign: Vec<BenignScore>,
    clean: CleanTextThroughput,
    baselines: Vec<ScannerBaseline>,
}

/// The speed at which clean text is redacted on one core.
#[derive(Debug, Serialize)]
struct CleanTextThroughput {
    bytes: usize,
    seconds: f64,
    megabytes_per_second: f64,
}

/// The recall of another scanner on the set of this name.
#[derive(Debug, Serialize)]
struct ScannerBaseline {
    set: &'static str,
    scanner: &'static str,
    recall: f64,
}

/// A named set of labelled lines, or of texts without secrets.
struct NamedSet<T> {
    name: String,
    items: Vec<T>,
}

impl EvalRedact {
    pub(super) fn run(&self, console: &mut Console) -> Result<CommandExit> {
        let sets = match &self.data {
            Some(directory) => read_labelled_sets(directory, console)?,
            None => vec![parse_own_secrets(console)],
        };
        let mut benign = Vec::new();
        for path in self.benign_paths()? {
            benign.push(NamedSet { name: set_name(&path), items: read_texts_below(&path, console)? });
        }
        if benign.is_empty() {
            benign.push(NamedSet { name: "traps".to_owned(), items: vec![OWN_TRAPS.to_owned()] });
            benign.push(NamedSet { name: "ordinary".to_owned(), items: vec![OWN_ORDINARY.to_owned()] });
        }
        let redactor = Redactor::new();
        let borrowed: Vec<(&str, &[LabelledSecretLine])> =
            sets.iter().map(|set| (set.name.as_str(), &*set.items)).collect();
        let clean: Vec<BenignTextSet<'_>> =
            benign.iter().map(|set| BenignTextSet { name: &set.name, texts: &set.items }).collect();
        let scores = score_redactor(&redactor, &borrowed, &clean);
        let is_measured = |(set, ..): &&(&str, &str, f64)| scores.sets.iter().any(|score| score.name == *set);
        let baselines = BASELINES.iter().filter(is_measured);
        let report = RedactEvalReport {
            baselines: baselines.map(|&(set, scanner, recall)| ScannerBaseline { set, scanner, recall }).collect(),
            clean: measure_throughput(&redactor, &benign, self.megabytes.saturating_mul(MEGABYTE)),
            sets: scores.sets,
            benign: scores.benign,
        };
        if self.json {
            console.print_json(&report)?;
        } else {
            print_report(&report, console)?;
            if self.hits {
                for hit in report.benign.iter().flat_map(|set| &set.findings) {
                    console.print_line(&format!("{}: {}", hit.kind, hit.words))?;
                }
            }
        }
        Ok(CommandExit::Done)
    }

    /// Returns the given paths, or the folders that usually are next to the data.
    fn benign_paths(&self) -> Result<Vec<PathBuf>, CliError> {
        let beside = self.data.as_ref().and_then(|data| data.canonicalize().ok()?.parent().map(Path::to_owned));
        let Some(beside) = beside.filter(|_| self.benign.is_empty()) else { return Ok(self.benign.clone()) };
        let mut paths = Vec::new();
        let lessons = beside.join("lessons");
        if lessons.is_dir() {
            paths.push(lessons);
        }
        let retrieval = beside.join("retrieval");
        if retrieval.is_dir() {
            paths.extend(list_entries(&retrieval)?.into_iter().filter(|path| path.is_dir()));
        }
        Ok(paths)
    }
}

fn parse_own_secrets(console: &mut Console) -> NamedSet<LabelledSecretLine> {
    let items = parse_labelled_lines(&OWN_SECRETS.replace(SPLIT, ""), "own", console);
    NamedSet { name: "own".to_owned(), items }
}

/// Reads every labelled set of a directory.
fn read_labelled_sets(directory: &Path, console: &mut Console) -> Result<Vec<NamedSet<LabelledSecretLine>>, CliError> {
    let mut sets = Vec::new();
    for path in list_entries(directory)?.into_iter().filter(|path| is_json_lines(path)) {
        let name = set_name(&path);
        let items = parse_labelled_lines(&read_text_file(&path)?.replace(SPLIT, ""), &name, console);
        sets.push(NamedSet { name, items });
    }
    if sets.iter().all(|set| set.items.is_empty()) {
        let what = format!("there are no labelled lines in {}", directory.display());
        return Err(CliError::user_error(what).with_hint("a labelled set is a file *.jsonl or *.jsonl.gz; see --help"));
    }
    Ok(sets)
}

fn parse_labelled_lines(text: &str, name: &str, console: &mut Console) -> Vec<LabelledSecretLine> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let items: Vec<LabelledSecretLine> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let strange = lines.len() - items.len();
    if strange > 0 {
        console
            .print_warning(&format!("{} of {name} not understood and skipped", format_count(strange, "line", "lines")));
    }
    items
}

/// A line of a file of benign texts.
#[derive(Deserialize)]
struct BenignLine {
    text: Option<String>,
    summary: Option<String>,
}

/// Reads the texts of a file, or of all files below a directory, and leaves out what is not text.
fn read_texts_below(path: &Path, console: &mut Console) -> Result<Vec<String>, CliError> {
    let mut texts = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            // A link could lead back to a parent folder.
            open.extend(list_entries(&path)?.into_iter().filter(|path| !path.is_symlink()));
            continue;
        }
        let Ok(text) = read_text_file(&path) else {
            console.print_note(&format!("{} is not text and is left out", path.display()));
            continue;
        };
        if is_json_lines(&path) {
            texts.extend(text.lines().map(|line| {
                let known = serde_json::from_str::<BenignLine>(line).ok().and_then(|line| line.text.or(line.summary));
                known.unwrap_or_else(|| line.to_owned())
            }));
        } else {
            texts.push(text);
        }
    }
    Ok(texts)
}

fn list_entries(directory: &Path) -> Result<Vec<PathBuf>, CliError> {
    let cannot = |error| CliError::user_error(format!("cannot read {}: {error}", directory.display()));
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        paths.push(entry.map_err(cannot)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn is_json_lines(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
}

/// Reads the text of a file, decompressed if its extension is `gz`.
pub(in crate::eval) fn read_text_file(path: &Path) -> Result<String, CliError> {
    let cannot = |error| CliError::user_error(format!("cannot read {}: {error}", path.display()));
    let mut file = fs::File::open(path).map_err(cannot)?;
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).read_to_string(&mut text).map_err(cannot)?;
    } else {
        file.read_to_string(&mut text).map_err(cannot)?;
    }
    Ok(text)
}

/// Returns the name of a file or directory up to its first full stop.
fn set_name(path: &Path) -> String {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or("benign");
    name.split('.').find(|part| !part.is_empty()).unwrap_or(name).to_owned()
}

/// Times the redaction of the benign texts without findings, repeated until enough bytes are done.
fn measure_throughput(redactor: &Redactor, benign: &[NamedSet<String>], enough: usize) -> CleanTextThroughput {
    let mut pieces: Vec<String> = vec![String::new()];
    for text in benign.iter().flat_map(|set| &set.items).filter(|text| redactor.redact(text).found.is_empty()) {
        match pieces.last_mut() {
            Some(last) if last.len() < PIECE_BYTES => last.extend([text, "\n"]),
            _ => pieces.push(format!("{text}\n")),
        }
    }
    // Two harmless texts can look like a secret when joined.
    pieces.retain(|piece| !piece.is_empty() && redactor.redact(piece).found.is_empty());
    let (mut done, mut took) = (0usize, Duration::ZERO);
    for piece in pieces.iter().cycle() {
        if done >= enough {
            break;
        }
        let started = Instant::now();
        std::hint::black_box(redactor.redact(std::hint::black_box(piece)));
        took += started.elapsed();
        done += piece.len();
    }
    let seconds = took.as_secs_f64();
    let speed = if seconds > 0.0 { done as f64 / MEGABYTE as f64 / seconds } else { 0.0 };
    CleanTextThroughput { bytes: done, seconds, megabytes_per_second: speed }
}

fn print_report(report: &RedactEvalReport, console: &mut Console) -> Result<(), CliError> {
    let mut table = TextTable::new([
        TableColumn::text("set", ColumnVisibility::Always),
        TableColumn::text("scanner", ColumnVisibility::Always),
        TableColumn::number("lines", ColumnVisibility::UntilNarrow(2)),
        TableColumn::number("recall", ColumnVisibility::Always),
        TableColumn::number("by rule", ColumnVisibility::Always),
        TableColumn::text("worst rules", ColumnVisibility::UntilNarrow(1)),
    ]);
    for set in &report.sets {
        let lines: usize = set.rules.values().map(|rule| rule.total).sum();
        let figures = [format_share(set.recall), format_share(set.macro_recall), list_worst_rules(set)];
        table.add_row([set.name.clone(), "archivist".to_owned(), lines.to_string()].into_iter().chain(figures));
        for other in report.baselines.iter().filter(|other| other.set == set.name) {
            let names = [String::new(), other.scanner.to_owned(), String::new()];
            table.add_row(names.into_iter().chain([
                format_share(other.recall),
                String::new(),
                "recorded with the data".to_owned(),
            ]));
        }
    }
    table.print_to(console)?;
    console.print_line("")?;
    let mut table = TextTable::new([
        TableColumn::text("without secrets", ColumnVisibility::Always),
        TableColumn::text("scanner", ColumnVisibility::Always),
        TableColumn::number("lines", ColumnVisibility::Always),
        TableColumn::number("hits", ColumnVisibility::Always),
        TableColumn::number("per 1,000", ColumnVisibility::Always),
        TableColumn::text("", ColumnVisibility::UntilNarrow(1)),
    ]);
    for set in &report.benign {
        let figures = [set.lines.to_string(), set.hits.to_string(), format!("{:.2}", set.per_thousand), String::new()];
        table.add_row([set.name.clone(), "archivist".to_owned()].into_iter().chain(figures));
    }
    if !report.baselines.is_empty() {
        for (set, scanner, per_thousand) in BENIGN_BASELINES {
            let figures =
                [String::new(), String::new(), format!("{per_thousand:.2}"), "recorded with the data".to_owned()];
            table.add_row([(*set).to_owned(), (*scanner).to_owned()].into_iter().chain(figures));
        }
    }
    table.print_to(console)?;
    console.print_line("")?;
    let size = format_bytes(u64::try_from(report.clean.bytes).unwrap_or(u64::MAX));
    console.print_line(&format!("clean text: {:.0} MB/s on one core ({size})", report.clean.megabytes_per_second))
}

fn format_share(value: f64) -> String {
    format!("{value:.3}")
}

/// Returns the rules with the lowest recall, each with its counts.
fn list_worst_rules(set: &SecretSetScore) -> String {
    let missed = |rule: &RuleScore| rule.total - rule.found;
    let share = |rule: &RuleScore| rule.found as f64 / rule.total.max(1) as f64;
    let mut rules: Vec<(&String, &RuleScore)> = set.rules.iter().filter(|(_, rule)| missed(rule) > 0).collect();
    rules.sort_by(|(_, a), (_, b)| share(a).total_cmp(&share(b)));
    let named = rules.iter().take(WORST_RULES).map(|(name, rule)| format!("{name} {}/{}", rule.found, rule.total));
    named.collect::<Vec<_>>().join(", ")
}
