//! A memory of 500 lessons to which 500 rewordings of them and 500 new texts come.

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Serialize;

use super::super::model::Model;
use super::measure::{Meanings, Measure, Texts};
use super::public::Pair;
use crate::judge::{Kin, Thresholds, relate};

/// How many lessons are in the memory, and how many texts of either kind come to it.
const SIZE: usize = 500;

/// How texts were paired that have nothing to do with each other.
const UNRELATED: &str = "random";

/// Below the threshold in use, what more merging would cost.
const LOWER: [f64; 2] = [0.7, 0.5];

/// What became of the texts.
#[derive(Debug, Serialize)]
pub(super) struct StoreScore {
    pub(super) stored: usize,
    pub(super) rewordings: usize,
    pub(super) novel: usize,
    pub(super) rows: Vec<StoreRow>,
}

/// What one measure does at one threshold.
#[derive(Debug, Serialize)]
pub(super) struct StoreRow {
    pub(super) measure: &'static str,
    pub(super) threshold: f64,
    /// Rewordings that were merged into the lesson they reword.
    pub(super) right: usize,
    /// Rewordings that were merged into another lesson.
    pub(super) misplaced: usize,
    /// New texts that were merged into any.
    pub(super) swallowed: usize,
    /// Ours has so many right ones; a baseline has at least as many at this threshold, or has no row.
    pub(super) beside: usize,
}

/// The nearest lesson of a text: how alike they are, and whether it is the right one, a wrong one, or none would be.
#[derive(Clone, Copy)]
struct Nearest {
    alike: f64,
    outcome: Outcome,
    is_merged: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Right,
    Misplaced,
    Swallowed,
}

/// Plays the texts into the memory. `None` where the set has too few.
pub(super) fn score(pairs: &[Pair], thresholds: &Thresholds, model: Option<&Model>) -> Result<Option<StoreScore>> {
    let mut commands = BTreeSet::new();
    let (mut texts, mut rewordings) = (Vec::new(), Vec::new());
    for pair in pairs.iter().filter(|pair| pair.label == 1) {
        // A text for the same command is no other lesson.
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
    let meanings = model.map(|model| model.embed(&texts).map(Meanings::of)).transpose()?;
    let has_meanings = meanings.is_some();
    let texts = Texts::new(&texts, meanings);
    let find = |measure| nearest(&texts, measure, stored, novel_count, thresholds);
    let ours: &[Measure] = if has_meanings { &[Measure::Archivist, Measure::Embedded] } else { &[Measure::Archivist] };
    let mut baselines: Vec<(Measure, Vec<Nearest>)> =
        Measure::PLAIN.into_iter().skip(1).map(|measure| (measure, find(measure))).collect();
    if has_meanings {
        baselines.push((Measure::Cosine, find(Measure::Cosine)));
    }
    let mut rows = Vec::new();
    for &own in ours {
        let found = find(own);
        let decided: Vec<Nearest> = found.iter().filter(|one| one.is_merged).copied().collect();
        let mut levels = vec![row(own, thresholds.same_above, &decided)];
        levels.extend(LOWER.map(|threshold| row(own, threshold, &above(&found, threshold))));
        for level in levels {
            let right = level.right;
            rows.push(level);
            rows.extend(baselines.iter().filter_map(|(measure, found)| as_many_right(*measure, found, right)));
        }
    }
    Ok(Some(StoreScore { stored, rewordings: stored, novel: novel_count, rows }))
}

/// The nearest lesson of every text that comes.
fn nearest(texts: &Texts, measure: Measure, stored: usize, novel: usize, thresholds: &Thresholds) -> Vec<Nearest> {
    let mut all = Vec::new();
    for new in stored..2 * stored + novel {
        let scored = (0..stored).map(|known| (known, texts.alike(measure, known, new)));
        let best = scored.max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        let Some((known, alike)) = best else { continue };
        let outcome = if new >= 2 * stored {
            Outcome::Swallowed
        } else if new - stored == known {
            Outcome::Right
        } else {
            Outcome::Misplaced
        };
        all.push(Nearest { alike, outcome, is_merged: is_merged(texts, measure, known, new, thresholds) });
    }
    all
}

/// Whether the product would merge the two: similar enough, and no sign of a conflict.
fn is_merged(texts: &Texts, measure: Measure, known: usize, new: usize, thresholds: &Thresholds) -> bool {
    let (Some(one), Some(other)) = (texts.features(known), texts.features(new)) else { return false };
    let cosine = if measure == Measure::Embedded { texts.cosine(known, new) } else { None };
    matches!(relate(other, one, texts.background(), cosine, thresholds).relation, Kin::Same | Kin::Refines)
}

fn above(found: &[Nearest], threshold: f64) -> Vec<Nearest> {
    found.iter().filter(|one| one.alike >= threshold).copied().collect()
}

/// A baseline at the threshold at which it first has as many right as we have.
fn as_many_right(measure: Measure, found: &[Nearest], right: usize) -> Option<StoreRow> {
    let mut rights: Vec<f64> = found.iter().filter(|one| one.outcome == Outcome::Right).map(|one| one.alike).collect();
    rights.sort_by(|a, b| b.total_cmp(a));
    let threshold = *rights.get(right.checked_sub(1)?)?;
    let mut row = row(measure, threshold, &above(found, threshold));
    row.beside = right;
    Some(row)
}

fn row(measure: Measure, threshold: f64, merged: &[Nearest]) -> StoreRow {
    let of = |outcome| merged.iter().filter(|one| one.outcome == outcome).count();
    let right = of(Outcome::Right);
    StoreRow {
        measure: measure.name(),
        threshold,
        right,
        misplaced: of(Outcome::Misplaced),
        swallowed: of(Outcome::Swallowed),
        beside: right,
    }
}
