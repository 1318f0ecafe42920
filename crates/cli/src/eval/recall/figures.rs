//! Figures for the quality of a ranking.

use std::collections::BTreeMap;

use serde::Serialize;

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;

/// The number of places that count for nDCG.
const TEN: usize = 10;
/// The number of places that count for recall.
const FIVE: usize = 5;

/// The quality of a ranking, or the average over many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RankingFigures {
    pub(super) ndcg10: f64,
    pub(super) recall5: f64,
    /// The share of queries with a right answer in first place.
    pub(super) first: f64,
}

impl RankingFigures {
    /// Measures one ranking: ids with the best first, against the grades of the right answers.
    pub(super) fn from_ranking(ranked: &[&str], grades: &BTreeMap<String, f64>) -> Self {
        let grade = |name: &&str| grades.get(*name).copied().unwrap_or_default();
        let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let gain = |grades: &mut dyn Iterator<Item = f64>| -> f64 {
            grades.take(TEN).enumerate().map(|(place, grade)| grade * discount(place)).sum()
        };
        let mut best: Vec<f64> = grades.values().copied().filter(|grade| *grade > 0.0).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        let right = best.len().max(1) as f64;
        let ideal = gain(&mut best.into_iter());
        let found = ranked.iter().take(FIVE).filter(|name| grade(name) > 0.0).count() as f64;
        Self {
            ndcg10: if ideal > 0.0 { gain(&mut ranked.iter().map(grade)) / ideal } else { 0.0 },
            recall5: found / right,
            first: if ranked.first().is_some_and(|name| grade(name) > 0.0) { 1.0 } else { 0.0 },
        }
    }

    /// Returns the average of many figures.
    pub(super) fn mean(all: &[Self]) -> Self {
        let count = all.len().max(1) as f64;
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / count;
        Self { ndcg10: mean(|one| one.ndcg10), recall5: mean(|one| one.recall5), first: mean(|one| one.first) }
    }
}
