//! Public sets of paraphrases, and how well each measure separates their pairs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::super::model::SentenceModel;
use super::super::redact::read_text_file;
use super::similarity_measures::{ComparedTexts, SimilarityMeasure, TextEmbeddings};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::text_format::format_count;

/// Best F1 as recorded in the README next to the public sets: the best measure without a neural network, and MiniLM.
const RECORDED: &[(&str, f64, f64)] =
    &[("nl2bash_pairs", 0.854, 0.905), ("mrpc_test", 0.823, 0.818), ("stsb_test", 0.698, 0.794)];

/// A named set of labelled pairs of texts.
pub(super) struct TextPairSet {
    pub(super) name: String,
    pub(super) pairs: Vec<LabelledTextPair>,
}

/// Two texts and a label, which is 1 if they mean the same.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct LabelledTextPair {
    pub(super) a: String,
    pub(super) b: String,
    pub(super) label: u8,
    /// The method by which the pair was made.
    #[serde(default)]
    pub(super) kind: String,
    /// The commands that the texts describe, where the set names them.
    #[serde(default)]
    pub(super) cmd: String,
    #[serde(default)]
    pub(super) cmd2: String,
}

/// The scores of all measures on one set.
#[derive(Debug, Serialize)]
pub(super) struct TextPairSetScore {
    pub(super) name: String,
    pub(super) pairs: usize,
    pub(super) measures: Vec<MeasureScore>,
    /// The best F1 without embeddings that was recorded with the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded_words: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded_embeddings: Option<f64>,
}

/// The score of one measure on one set.
#[derive(Debug, Serialize)]
pub(super) struct MeasureScore {
    pub(super) measure: &'static str,
    /// The best F1 over all thresholds, or the F1 at the measure's own fixed threshold.
    pub(super) best_f1: f64,
    pub(super) threshold: f64,
    /// The F1 on every second pair, starting with the second, on which no weight was fitted.
    pub(super) unseen_f1: f64,
}

/// Reads every set of a directory.
pub(super) fn read_pair_sets(directory: &Path, console: &mut Console) -> Result<Vec<TextPairSet>, CliError> {
    let cannot = |error| CliError::user_error(format!("cannot read {}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        paths.push(entry.map_err(cannot)?.path());
    }
    paths.sort();
    let mut sets = Vec::new();
    for path in paths {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let Some(name) = name.strip_suffix(".jsonl.gz").or_else(|| name.strip_suffix(".jsonl")) else { continue };
        let text = read_text_file(&path)?;
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let pairs: Vec<LabelledTextPair> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if pairs.len() < lines.len() {
            let strange = format_count(lines.len() - pairs.len(), "line", "lines");
            console.print_warning(&format!("{strange} of {name} not understood and skipped"));
        }
        sets.push(TextPairSet { name: name.to_owned(), pairs });
    }
    if sets.iter().all(|set| set.pairs.is_empty()) {
        let what = format!("there are no labelled pairs in {}", directory.display());
        return Err(CliError::user_error(what).with_hint("a labelled set is a file *.jsonl or *.jsonl.gz; see --help"));
    }
    Ok(sets)
}

/// Scores all measures on one set.
pub(super) fn score_pair_set(set: &TextPairSet, model: Option<&SentenceModel>) -> Result<TextPairSetScore> {
    let texts: Vec<String> = set.pairs.iter().flat_map(|pair| [pair.a.clone(), pair.b.clone()]).collect();
    let meanings = model.map(|model| model.embed_texts(&texts).map(TextEmbeddings::from_vectors)).transpose()?;
    let with_model: &[SimilarityMeasure] = if meanings.is_some() { &SimilarityMeasure::WITH_MODEL } else { &[] };
    let texts = ComparedTexts::new(&texts, meanings);
    let score = |&measure: &SimilarityMeasure| {
        let pairs = set.pairs.iter().enumerate();
        let scored: Vec<(f64, bool)> = pairs
            .map(|(index, pair)| (texts.measure_similarity(measure, 2 * index, 2 * index + 1), pair.label == 1))
            .collect();
        let unseen: Vec<(f64, bool)> = scored.iter().skip(1).step_by(2).copied().collect();
        let (best_f1, threshold) = compute_f1(&scored, measure.fixed_threshold());
        MeasureScore {
            measure: measure.name(),
            best_f1,
            threshold,
            unseen_f1: compute_f1(&unseen, measure.fixed_threshold()).0,
        }
    };
    let recorded = RECORDED.iter().find(|(name, ..)| *name == set.name);
    Ok(TextPairSetScore {
        name: set.name.clone(),
        pairs: set.pairs.len(),
        measures: SimilarityMeasure::PLAIN.iter().chain(with_model).map(score).collect(),
        recorded_words: recorded.map(|(_, words, _)| *words),
        recorded_embeddings: recorded.map(|(.., embeddings)| *embeddings),
    })
}

/// Returns the F1 at the best threshold, or at a fixed one, and that threshold.
fn compute_f1(scored: &[(f64, bool)], fixed: Option<f64>) -> (f64, f64) {
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
