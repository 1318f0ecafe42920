//! What became of many lessons, added up.

use serde::Serialize;

use super::play::{CLASSES, Class, Does, Fate, LOOKS, Played};
use super::rule::Rule;

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;

/// What one rule did to one class of lessons.
#[derive(Debug, Serialize)]
pub(super) struct ClassRow {
    pub(super) rule: &'static str,
    pub(super) class: &'static str,
    pub(super) effect: f64,
    pub(super) lessons: usize,
    pub(super) retired: usize,
    pub(super) kept: usize,
    /// After how many runs in which it was due half of the class was retired; nothing if less than half was.
    pub(super) half_after: Option<u64>,
    /// The same for nine of ten.
    pub(super) most_after: Option<u64>,
}

/// What our rule does with one share held back.
#[derive(Debug, Serialize)]
pub(super) struct HoldoutRow {
    pub(super) holdout: f64,
    pub(super) harmful_retired: f64,
    pub(super) neutral_retired: f64,
    pub(super) helpful_retired: f64,
    pub(super) harms: Vec<ClassRow>,
}

/// How often the interval held the truth.
#[derive(Debug, Serialize)]
pub(super) struct CoverageRow {
    /// After so many runs in which the lesson was due.
    pub(super) runs: u64,
    /// How many intervals were looked at; the rest had nothing held back yet.
    pub(super) intervals: usize,
    /// Which share of them; nothing where there were none.
    pub(super) covered: Option<f64>,
}

/// How one figure varies from seed to seed.
#[derive(Debug, Serialize)]
pub(super) struct SpreadRow {
    pub(super) rule: &'static str,
    pub(super) figure: &'static str,
    pub(super) least: f64,
    pub(super) mean: f64,
    pub(super) most: f64,
}

/// What every rule did to every class.
pub(super) fn rules(played: &Played) -> Vec<ClassRow> {
    let pairs = (0..).zip(Rule::ALL).flat_map(|rule| CLASSES.iter().map(move |class| (rule, class)));
    pairs.map(|((at, rule), class)| class_row(at, rule, class, &played.fates)).collect()
}

/// What our rule did.
pub(super) fn holdout(played: &Played) -> HoldoutRow {
    let harms = CLASSES.iter().filter(|class| class.does == Does::Harm);
    HoldoutRow {
        holdout: played.game.holdout,
        harmful_retired: retired(0, Does::Harm, played),
        neutral_retired: retired(0, Does::Nothing, played),
        helpful_retired: retired(0, Does::Good, played),
        harms: harms.map(|class| class_row(0, Rule::Archivist, class, &played.fates)).collect(),
    }
}

/// How often the interval held the truth, at each look.
pub(super) fn coverage(all: &[Played]) -> Vec<CoverageRow> {
    let row = |(at, runs): (usize, u64)| {
        let fates = all.iter().flat_map(|played| &played.fates);
        let held: Vec<bool> = fates.filter_map(|fate| fate.covered.get(at).copied().flatten()).collect();
        CoverageRow { runs, intervals: held.len(), covered: (!held.is_empty()).then(|| share_of(&held)) }
    };
    (0..).zip(LOOKS).map(row).collect()
}

/// How much the figures vary.
pub(super) fn spread(all: &[Played]) -> Vec<SpreadRow> {
    let kinds = [("harmful", Does::Harm), ("doing nothing", Does::Nothing), ("helpful", Does::Good)];
    let mut rows = Vec::new();
    for (at, rule) in (0..).zip(Rule::ALL) {
        for (figure, does) in kinds {
            rows.push(spread_row(rule.name(), figure, all, |played| retired(at, does, played)));
        }
    }
    rows
}

fn spread_row(rule: &'static str, figure: &'static str, all: &[Played], of: impl Fn(&Played) -> f64) -> SpreadRow {
    let values: Vec<f64> = all.iter().map(of).collect();
    SpreadRow {
        rule,
        figure,
        least: values.iter().copied().reduce(f64::min).unwrap_or_default(),
        mean: values.iter().sum::<f64>() / (values.len() as f64).max(1.0),
        most: values.iter().copied().reduce(f64::max).unwrap_or_default(),
    }
}

/// Which share of the lessons that do this one rule retired.
fn retired(rule: usize, does: Does, played: &Played) -> f64 {
    let fates = played.fates.iter().filter(|fate| fate.class.does == does);
    let is_retired = |fate: &Fate| fate.retired.get(rule).is_some_and(Option::is_some);
    share_of(&fates.map(is_retired).collect::<Vec<_>>())
}

fn class_row(at: usize, rule: Rule, class: &Class, fates: &[Fate]) -> ClassRow {
    let of_class: Vec<&Fate> = fates.iter().filter(|fate| fate.class.name == class.name).collect();
    let mut after: Vec<u64> = of_class.iter().filter_map(|fate| fate.retired.get(at).copied().flatten()).collect();
    after.sort_unstable();
    let lessons = of_class.len();
    ClassRow {
        rule: rule.name(),
        class: class.name,
        effect: class.effect,
        lessons,
        retired: after.len(),
        kept: lessons - after.len(),
        half_after: reached(&after, lessons.div_ceil(2)),
        most_after: reached(&after, (lessons * 9).div_ceil(10)),
    }
}

/// After how many runs so many lessons were retired, if they ever were.
fn reached(after: &[u64], lessons: usize) -> Option<u64> {
    after.get(lessons.checked_sub(1)?).copied()
}

/// Which share of them is so.
fn share_of(all: &[bool]) -> f64 {
    all.iter().filter(|one| **one).count() as f64 / (all.len() as f64).max(1.0)
}
