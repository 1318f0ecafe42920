//! Public sets of paraphrases: how well each measure tells the pairs apart.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::super::model::Model;
use super::super::redact::read;
use super::measure::{Meanings, Measure, Texts};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::prose::count;

/// Best F1 as recorded in the README beside the public sets: the best measure without a neural network, and MiniLM.
const RECORDED: &[(&str, f64, f64)] =
    &[("nl2bash_pairs", 0.854, 0.905), ("mrpc_test", 0.823, 0.818), ("stsb_test", 0.698, 0.794)];

/// A set of pairs.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) pairs: Vec<Pair>,
}

/// Two texts and whether they say the same.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Pair {
    pub(super) a: String,
    pub(super) b: String,
    pub(super) label: u8,
    /// How the pair was made.
    #[serde(default)]
    pub(super) kind: String,
    /// What the texts describe, where the set says so.
    #[serde(default)]
    pub(super) cmd: String,
    #[serde(default)]
    pub(super) cmd2: String,
}

/// What the measures reach on one set.
#[derive(Debug, Serialize)]
pub(super) struct SetScore {
    pub(super) name: String,
    pub(super) pairs: usize,
    pub(super) measures: Vec<MeasureScore>,
    /// Recorded with the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded_words: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded_embeddings: Option<f64>,
}

/// What one measure reaches.
#[derive(Debug, Serialize)]
pub(super) struct MeasureScore {
    pub(super) measure: &'static str,
    /// The best F1 over all thresholds, or that of a rule which has its own.
    pub(super) best_f1: f64,
    pub(super) threshold: f64,
    /// The same on every second pair, beginning with the second: no weight was fitted on these.
    pub(super) unseen_f1: f64,
}

/// Every set of a directory.
pub(super) fn sets(directory: &Path, console: &mut Console) -> Result<Vec<Set>, Failure> {
    let cannot = |error| Failure::user(format!("cannot read {}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        paths.push(entry.map_err(cannot)?.path());
    }
    paths.sort();
    let mut sets = Vec::new();
    for path in paths {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let Some(name) = name.strip_suffix(".jsonl.gz").or_else(|| name.strip_suffix(".jsonl")) else { continue };
        let text = read(&path)?;
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let pairs: Vec<Pair> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if pairs.len() < lines.len() {
            let strange = count(lines.len() - pairs.len(), "line", "lines");
            console.warn(&format!("{strange} of {name} not understood and skipped"));
        }
        sets.push(Set { name: name.to_owned(), pairs });
    }
    if sets.iter().all(|set| set.pairs.is_empty()) {
        let what = format!("there are no labelled pairs in {}", directory.display());
        return Err(Failure::user(what).with_hint("a labelled set is a file *.jsonl or *.jsonl.gz; see --help"));
    }
    Ok(sets)
}

/// Measures one set.
pub(super) fn score(set: &Set, model: Option<&Model>) -> Result<SetScore> {
    let texts: Vec<String> = set.pairs.iter().flat_map(|pair| [pair.a.clone(), pair.b.clone()]).collect();
    let meanings = model.map(|model| model.embed(&texts).map(Meanings::of)).transpose()?;
    let with_model: &[Measure] = if meanings.is_some() { &Measure::WITH_MODEL } else { &[] };
    let texts = Texts::new(&texts, meanings);
    let score = |&measure: &Measure| {
        let pairs = set.pairs.iter().enumerate();
        let scored: Vec<(f64, bool)> =
            pairs.map(|(index, pair)| (texts.alike(measure, 2 * index, 2 * index + 1), pair.label == 1)).collect();
        let unseen: Vec<(f64, bool)> = scored.iter().skip(1).step_by(2).copied().collect();
        let (best_f1, threshold) = f1(&scored, measure.fixed());
        MeasureScore { measure: measure.name(), best_f1, threshold, unseen_f1: f1(&unseen, measure.fixed()).0 }
    };
    let recorded = RECORDED.iter().find(|(name, ..)| *name == set.name);
    Ok(SetScore {
        name: set.name.clone(),
        pairs: set.pairs.len(),
        measures: Measure::PLAIN.iter().chain(with_model).map(score).collect(),
        recorded_words: recorded.map(|(_, words, _)| *words),
        recorded_embeddings: recorded.map(|(.., embeddings)| *embeddings),
    })
}

/// F1 at the best threshold, or at a fixed one, and that threshold.
fn f1(scored: &[(f64, bool)], fixed: Option<f64>) -> (f64, f64) {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = sorted.iter().filter(|(_, label)| *label).count() as f64;
    let (mut right, mut best) = (0.0, (0.0, 1.0));
    for (index, &(score, label)) in sorted.iter().enumerate() {
        right += f64::from(u8::from(label));
        // Equal scores fall on the same side of every threshold.
        let is_last = sorted.get(index + 1).is_none_or(|(next, _)| *next < score);
        let f1 = 2.0 * right / ((index + 1) as f64 + all);
        let is_asked = fixed.map_or(f1 > best.0, |fixed| score >= fixed);
        if is_last && is_asked {
            best = (f1, score);
        }
    }
    (best.0, fixed.unwrap_or(best.1))
}
