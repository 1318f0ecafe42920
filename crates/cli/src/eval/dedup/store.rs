//! Measures merging with a memory of 500 lessons, to which 500 rewordings of them and 500 new texts are added.

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Serialize;

use super::super::model::SentenceModel;
use super::public::LabelledTextPair;
use super::similarity_measures::{ComparedTexts, SimilarityMeasure, TextEmbeddings};
use archivist_core::judge::{JudgedRelation, SimilarityThresholds, relate_lessons};

/// The number of stored lessons, of rewordings, and of new texts at most.
const SIZE: usize = 500;

/// The `kind` of pairs whose texts have nothing to do with each other.
const UNRELATED: &str = "random";

/// The thresholds below the configured one that are tried, to show what more merging would cost.
const LOWER: [f64; 2] = [0.7, 0.5];

/// The figures of all measures when rewordings and new texts are added to stored lessons.
#[derive(Debug, Serialize)]
pub(super) struct StoreMergeScore {
    pub(super) stored: usize,
    pub(super) rewordings: usize,
    pub(super) novel: usize,
    pub(super) rows: Vec<StoreMergeRow>,
}

/// The figures of one measure at one threshold.
#[derive(Debug, Serialize)]
pub(super) struct StoreMergeRow {
    pub(super) measure: &'static str,
    pub(super) threshold: f64,
    /// The number of rewordings that were merged into the lesson they reword.
    pub(super) right: usize,
    /// The number of rewordings that were merged into another lesson.
    pub(super) misplaced: usize,
    /// The number of new texts that were merged into any lesson.
    pub(super) swallowed: usize,
    /// The number of right merges of Archivist's row; a baseline without a threshold that reaches it has no row.
    pub(super) beside: usize,
}

/// The stored lesson nearest to a text: their similarity, and whether merging them would be right.
#[derive(Clone, Copy)]
struct NearestMatch {
    alike: f64,
    outcome: MergeOutcome,
    is_merged: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MergeOutcome {
    Right,
    Misplaced,
    Swallowed,
}

/// Scores the merging of all texts, or returns `None` if the set has too few of them.
pub(super) fn score_store_merges(
    pairs: &[LabelledTextPair],
    thresholds: &SimilarityThresholds,
    model: Option<&SentenceModel>,
) -> Result<Option<StoreMergeScore>> {
    let mut commands = BTreeSet::new();
    let (mut texts, mut rewordings) = (Vec::new(), Vec::new());
    for pair in pairs.iter().filter(|pair| pair.label == 1) {
        // Two texts for the same command would be the same lesson.
        if texts.len() < SIZE && commands.insert(pair.cmd.as_str()) {
            texts.push(pair.a.clone());
            rewordings.push(pair.b.clone());
        }
    }
    let unrelated = pairs.iter().filter(|pair| pair.label == 0 && pair.kind == UNRELATED);
    let novel: BTreeSet<&str> =
        unrelated.filter(|pair| !commands.contains(pair.cmd2.as_str())).map(|pair| pair.b.as_str()).collect();
    let novel: Vec<String> = novel.into_iter().take(SIZE).map(str::to_owned).collect();
    if texts.len() < SIZE || novel.is_empty() {
        return Ok(None);
    }
    let (stored, novel_count) = (texts.len(), novel.len());
    texts.extend(rewordings);
    texts.extend(novel);
    let meanings = model.map(|model| model.embed_texts(&texts).map(TextEmbeddings::from_vectors)).transpose()?;
    let has_meanings = meanings.is_some();
    let texts = ComparedTexts::new(&texts, meanings);
    let find = |measure| find_nearest_lessons(&texts, measure, stored, novel_count, thresholds);
    let ours: &[SimilarityMeasure] = if has_meanings {
        &[SimilarityMeasure::Archivist, SimilarityMeasure::Embedded]
    } else {
        &[SimilarityMeasure::Archivist]
    };
    let mut baselines: Vec<(SimilarityMeasure, Vec<NearestMatch>)> =
        SimilarityMeasure::PLAIN.into_iter().skip(1).map(|measure| (measure, find(measure))).collect();
    if has_meanings {
        baselines.push((SimilarityMeasure::Cosine, find(SimilarityMeasure::Cosine)));
    }
    let mut rows = Vec::new();
    for &own in ours {
        let found = find(own);
        let decided: Vec<NearestMatch> = found.iter().filter(|one| one.is_merged).copied().collect();
        let mut levels = vec![build_row(own, thresholds.same_above, &decided)];
        levels.extend(LOWER.map(|threshold| build_row(own, threshold, &filter_above_threshold(&found, threshold))));
        for level in levels {
            let right = level.right;
            rows.push(level);
            rows.extend(baselines.iter().filter_map(|(measure, found)| row_with_as_many_right(*measure, found, right)));
        }
    }
    Ok(Some(StoreMergeScore { stored, rewordings: stored, novel: novel_count, rows }))
}

/// Finds the nearest stored lesson for every added text.
fn find_nearest_lessons(
    texts: &ComparedTexts,
    measure: SimilarityMeasure,
    stored: usize,
    novel: usize,
    thresholds: &SimilarityThresholds,
) -> Vec<NearestMatch> {
    let mut all = Vec::new();
    for new in stored..2 * stored + novel {
        let scored = (0..stored).map(|known| (known, texts.measure_similarity(measure, known, new)));
        let best = scored.max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        let Some((known, alike)) = best else { continue };
        let outcome = if new >= 2 * stored {
            MergeOutcome::Swallowed
        } else if new - stored == known {
            MergeOutcome::Right
        } else {
            MergeOutcome::Misplaced
        };
        all.push(NearestMatch { alike, outcome, is_merged: is_merged(texts, measure, known, new, thresholds) });
    }
    all
}

/// Tells whether Archivist would merge the two texts: similar enough, and without a sign of conflict.
fn is_merged(
    texts: &ComparedTexts,
    measure: SimilarityMeasure,
    known: usize,
    new: usize,
    thresholds: &SimilarityThresholds,
) -> bool {
    let (Some(one), Some(other)) = (texts.features_at(known), texts.features_at(new)) else { return false };
    let cosine = if measure == SimilarityMeasure::Embedded { texts.embedding_cosine(known, new) } else { None };
    matches!(
        relate_lessons(other, one, texts.word_frequencies(), cosine, thresholds).relation,
        JudgedRelation::Same | JudgedRelation::Refines
    )
}

fn filter_above_threshold(found: &[NearestMatch], threshold: f64) -> Vec<NearestMatch> {
    found.iter().filter(|one| one.alike >= threshold).copied().collect()
}

/// Returns a baseline's row at the threshold at which it first reaches this number of right merges.
fn row_with_as_many_right(measure: SimilarityMeasure, found: &[NearestMatch], right: usize) -> Option<StoreMergeRow> {
    let mut rights: Vec<f64> =
        found.iter().filter(|one| one.outcome == MergeOutcome::Right).map(|one| one.alike).collect();
    rights.sort_by(|a, b| b.total_cmp(a));
    let threshold = *rights.get(right.checked_sub(1)?)?;
    let mut row = build_row(measure, threshold, &filter_above_threshold(found, threshold));
    row.beside = right;
    Some(row)
}

fn build_row(measure: SimilarityMeasure, threshold: f64, merged: &[NearestMatch]) -> StoreMergeRow {
    let of = |outcome| merged.iter().filter(|one| one.outcome == outcome).count();
    let right = of(MergeOutcome::Right);
    StoreMergeRow {
        measure: measure.name(),
        threshold,
        right,
        misplaced: of(MergeOutcome::Misplaced),
        swallowed: of(MergeOutcome::Swallowed),
        beside: right,
    }
}
