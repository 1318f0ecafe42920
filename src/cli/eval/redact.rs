//! `archivist eval redact`: how many secrets are found, and what else is taken for one.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::cli::console::Console;
use crate::cli::failure::{Exit, Failure};
use crate::cli::prose::{bytes, count};
use crate::cli::table::{Column, Stay, Table};
use crate::redact::{Benign, BenignScore, Labelled, Redactor, RuleScore, SetScore, score};

const REDACT_EXAMPLES: &str = "\
Examples:
  archivist eval redact
  archivist eval redact --data bench/secrets --benign src --json

A labelled set is a file of JSON lines, gzipped or not, each with a `text`, a `label` (1 or 0)
and a `rule`. Benign texts are JSON lines with a `text` or a `summary`, or any other text.
Without --benign the folders `lessons` and `retrieval` beside the data are taken, if they are
there.";

/// What is measured without `--data`: a set of our own making. `¦` stands inside everything that another scanner might
/// take for a leak, and is taken out here.
const OWN_SECRETS: &str = include_str!("../../../fixtures/redact/secrets.jsonl");
/// Lines that look like secrets and are none.
const OWN_TRAPS: &str = include_str!("../../../fixtures/redact/benign.txt");
/// Code and documents as they usually are.
const OWN_ORDINARY: &str = include_str!("../../../fixtures/redact/ordinary.txt");
const SPLIT: char = '¦';

/// So many of a set's rules are named, the worst first.
const WORST_RULES: usize = 3;

/// Clean text is timed in pieces of about this size, as log lines come.
const PIECE_BYTES: usize = 16 * 1024;

const MEGABYTE: usize = 1_000_000;

/// Recall of other scanners' own rules, as recorded in the README beside the public sets.
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

/// False hits of another scanner for each thousand lines, from the same place.
const BENIGN_BASELINES: &[(&str, &str, f64)] =
    &[("shell lines", "gitleaks", 0.09), ("lines of coding chat", "gitleaks", 0.7)];

#[derive(Debug, Args)]
#[command(after_help = REDACT_EXAMPLES)]
pub(in crate::cli) struct EvalRedact {
    /// A directory of labelled sets (*.jsonl, *.jsonl.gz); a small one of our own otherwise
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A file or directory of text without secrets; may be given again
    #[arg(long, value_name = "PATH")]
    benign: Vec<PathBuf>,
    /// How many megabytes of clean text to time
    #[arg(long, value_name = "N", default_value_t = 64)]
    megabytes: usize,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Report {
    sets: Vec<SetScore>,
    benign: Vec<BenignScore>,
    clean: Throughput,
    baselines: Vec<Baseline>,
}

/// How fast clean text goes through, on one core.
#[derive(Debug, Serialize)]
struct Throughput {
    bytes: usize,
    seconds: f64,
    megabytes_per_second: f64,
}

/// What another scanner finds in a set of the same name.
#[derive(Debug, Serialize)]
struct Baseline {
    set: &'static str,
    scanner: &'static str,
    recall: f64,
}

/// A named set of labelled lines or of texts without secrets.
struct Named<T> {
    name: String,
    items: Vec<T>,
}

impl EvalRedact {
    pub(super) fn run(&self, console: &mut Console) -> Result<Exit> {
        let sets = match &self.data {
            Some(directory) => labelled_sets(directory, console)?,
            None => vec![own_secrets(console)],
        };
        let mut benign = Vec::new();
        for path in self.benign_paths()? {
            benign.push(Named { name: name_of(&path), items: texts_below(&path, console)? });
        }
        if benign.is_empty() {
            benign.push(Named { name: "traps".to_owned(), items: vec![OWN_TRAPS.to_owned()] });
            benign.push(Named { name: "ordinary".to_owned(), items: vec![OWN_ORDINARY.to_owned()] });
        }
        let redactor = Redactor::new();
        let borrowed: Vec<(&str, &[Labelled])> = sets.iter().map(|set| (set.name.as_str(), &*set.items)).collect();
        let clean: Vec<Benign<'_>> = benign.iter().map(|set| Benign { name: &set.name, texts: &set.items }).collect();
        let scores = score(&redactor, &borrowed, &clean);
        let is_measured = |(set, ..): &&(&str, &str, f64)| scores.sets.iter().any(|score| score.name == *set);
        let baselines = BASELINES.iter().filter(is_measured);
        let report = Report {
            baselines: baselines.map(|&(set, scanner, recall)| Baseline { set, scanner, recall }).collect(),
            clean: throughput(&redactor, &benign, self.megabytes.saturating_mul(MEGABYTE)),
            sets: scores.sets,
            benign: scores.benign,
        };
        if self.json {
            console.json(&report)?;
        } else {
            print(&report, console)?;
        }
        Ok(Exit::Done)
    }

    /// What was asked for, or what usually lies beside the data.
    fn benign_paths(&self) -> Result<Vec<PathBuf>, Failure> {
        let beside = self.data.as_ref().and_then(|data| data.canonicalize().ok()?.parent().map(Path::to_owned));
        let Some(beside) = beside.filter(|_| self.benign.is_empty()) else { return Ok(self.benign.clone()) };
        let mut paths = Vec::new();
        let lessons = beside.join("lessons");
        if lessons.is_dir() {
            paths.push(lessons);
        }
        let retrieval = beside.join("retrieval");
        if retrieval.is_dir() {
            paths.extend(entries(&retrieval)?.into_iter().filter(|path| path.is_dir()));
        }
        Ok(paths)
    }
}

fn own_secrets(console: &mut Console) -> Named<Labelled> {
    let items = labelled(&OWN_SECRETS.replace(SPLIT, ""), "own", console);
    Named { name: "own".to_owned(), items }
}

/// Every set of a directory.
fn labelled_sets(directory: &Path, console: &mut Console) -> Result<Vec<Named<Labelled>>, Failure> {
    let mut sets = Vec::new();
    for path in entries(directory)?.into_iter().filter(|path| is_json_lines(path)) {
        let name = name_of(&path);
        let items = labelled(&read(&path)?, &name, console);
        sets.push(Named { name, items });
    }
    if sets.iter().all(|set| set.items.is_empty()) {
        let what = format!("there are no labelled lines in {}", directory.display());
        return Err(Failure::user(what).with_hint("a labelled set is a file *.jsonl or *.jsonl.gz; see --help"));
    }
    Ok(sets)
}

fn labelled(text: &str, name: &str, console: &mut Console) -> Vec<Labelled> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let items: Vec<Labelled> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let strange = lines.len() - items.len();
    if strange > 0 {
        console.warn(&format!("{} of {name} not understood and skipped", count(strange, "line", "lines")));
    }
    items
}

/// What a line of benign texts may hold.
#[derive(Deserialize)]
struct BenignLine {
    text: Option<String>,
    summary: Option<String>,
}

/// The texts of a file or of all files below a directory. What is not text is left out.
fn texts_below(path: &Path, console: &mut Console) -> Result<Vec<String>, Failure> {
    let mut texts = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            // A link may lead back up.
            open.extend(entries(&path)?.into_iter().filter(|path| !path.is_symlink()));
            continue;
        }
        let Ok(text) = read(&path) else {
            console.note(&format!("{} is not text and is left out", path.display()));
            continue;
        };
        if is_json_lines(&path) {
            let lines = text.lines().filter_map(|line| serde_json::from_str::<BenignLine>(line).ok());
            texts.extend(lines.filter_map(|line| line.text.or(line.summary)));
        } else {
            texts.push(text);
        }
    }
    Ok(texts)
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error| Failure::user(format!("cannot read {}: {error}", directory.display()));
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

/// A file's text, unpacked if need be.
pub(in crate::cli::eval) fn read(path: &Path) -> Result<String, Failure> {
    let cannot = |error| Failure::user(format!("cannot read {}: {error}", path.display()));
    let mut file = fs::File::open(path).map_err(cannot)?;
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).read_to_string(&mut text).map_err(cannot)?;
    } else {
        file.read_to_string(&mut text).map_err(cannot)?;
    }
    Ok(text)
}

/// A file's or directory's name up to its first full stop.
fn name_of(path: &Path) -> String {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or("benign");
    name.split('.').find(|part| !part.is_empty()).unwrap_or(name).to_owned()
}

/// Times the benign texts in which nothing is found, over and over until there were enough of them.
fn throughput(redactor: &Redactor, benign: &[Named<String>], enough: usize) -> Throughput {
    let mut pieces: Vec<String> = vec![String::new()];
    for text in benign.iter().flat_map(|set| &set.items).filter(|text| redactor.redact(text).found.is_empty()) {
        match pieces.last_mut() {
            Some(last) if last.len() < PIECE_BYTES => last.extend([text, "\n"]),
            _ => pieces.push(format!("{text}\n")),
        }
    }
    // Side by side two texts may say more than each alone.
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
    Throughput { bytes: done, seconds, megabytes_per_second: speed }
}

fn print(report: &Report, console: &mut Console) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::text("set", Stay::Always),
        Column::text("scanner", Stay::Always),
        Column::number("lines", Stay::UntilNarrow(2)),
        Column::number("recall", Stay::Always),
        Column::number("by rule", Stay::Always),
        Column::text("worst rules", Stay::UntilNarrow(1)),
    ]);
    for set in &report.sets {
        let lines: usize = set.rules.values().map(|rule| rule.total).sum();
        let figures = [share(set.recall), share(set.macro_recall), worst(set)];
        table.row([set.name.clone(), "archivist".to_owned(), lines.to_string()].into_iter().chain(figures));
        for other in report.baselines.iter().filter(|other| other.set == set.name) {
            let names = [String::new(), other.scanner.to_owned(), String::new()];
            table.row(names.into_iter().chain([
                share(other.recall),
                String::new(),
                "recorded with the data".to_owned(),
            ]));
        }
    }
    table.print(console)?;
    console.line("")?;
    let mut table = Table::new([
        Column::text("without secrets", Stay::Always),
        Column::text("scanner", Stay::Always),
        Column::number("lines", Stay::Always),
        Column::number("hits", Stay::Always),
        Column::number("per 1,000", Stay::Always),
        Column::text("", Stay::UntilNarrow(1)),
    ]);
    for set in &report.benign {
        let figures = [set.lines.to_string(), set.hits.to_string(), format!("{:.2}", set.per_thousand), String::new()];
        table.row([set.name.clone(), "archivist".to_owned()].into_iter().chain(figures));
    }
    if !report.baselines.is_empty() {
        for (set, scanner, per_thousand) in BENIGN_BASELINES {
            let figures =
                [String::new(), String::new(), format!("{per_thousand:.2}"), "recorded with the data".to_owned()];
            table.row([(*set).to_owned(), (*scanner).to_owned()].into_iter().chain(figures));
        }
    }
    table.print(console)?;
    console.line("")?;
    let size = bytes(u64::try_from(report.clean.bytes).unwrap_or(u64::MAX));
    console.line(&format!("clean text: {:.0} MB/s on one core ({size})", report.clean.megabytes_per_second))
}

fn share(value: f64) -> String {
    format!("{value:.3}")
}

/// The rules of which most is missed.
fn worst(set: &SetScore) -> String {
    let missed = |rule: &RuleScore| rule.total - rule.found;
    let share = |rule: &RuleScore| rule.found as f64 / rule.total.max(1) as f64;
    let mut rules: Vec<(&String, &RuleScore)> = set.rules.iter().filter(|(_, rule)| missed(rule) > 0).collect();
    rules.sort_by(|(_, a), (_, b)| share(a).total_cmp(&share(b)));
    let named = rules.iter().take(WORST_RULES).map(|(name, rule)| format!("{name} {}/{}", rule.found, rule.total));
    named.collect::<Vec<_>>().join(", ")
}
