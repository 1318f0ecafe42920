//! Sums up the results of simulated lessons into the rows of the report.

use serde::Serialize;

use super::retirement_rules::RetirementRule;
use super::simulation::{CLASSES, EffectClass, EffectDirection, LOOKS, SimulatedLessonResult, SimulationResult};

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;

/// The result of one rule for one class of lessons.
#[derive(Debug, Serialize)]
pub(super) struct RuleClassRow {
    pub(super) rule: &'static str,
    pub(super) class: &'static str,
    pub(super) effect: f64,
    pub(super) lessons: usize,
    pub(super) retired: usize,
    pub(super) kept: usize,
    /// The number of sessions with the lesson due after which half of the class was retired, if it ever was.
    pub(super) half_after: Option<u64>,
    /// The number of such sessions after which nine in ten of the class were retired, if they ever were.
    pub(super) most_after: Option<u64>,
}

/// The result of Archivist's rule at one holdout share.
#[derive(Debug, Serialize)]
pub(super) struct HoldoutRow {
    pub(super) holdout: f64,
    pub(super) harmful_retired: f64,
    pub(super) neutral_retired: f64,
    pub(super) helpful_retired: f64,
    pub(super) harms: Vec<RuleClassRow>,
}

/// The share of intervals that contain the true effect, after some number of sessions.
#[derive(Debug, Serialize)]
pub(super) struct CoverageRow {
    /// The number of sessions in which the lesson was due.
    pub(super) runs: u64,
    /// The number of intervals compared; the other lessons had no interval yet.
    pub(super) intervals: usize,
    /// The share of intervals that contain the true effect, or `None` if there were no intervals.
    pub(super) covered: Option<f64>,
}

/// The variation of one figure from seed to seed.
#[derive(Debug, Serialize)]
pub(super) struct SpreadRow {
    pub(super) rule: &'static str,
    pub(super) figure: &'static str,
    pub(super) least: f64,
    pub(super) mean: f64,
    pub(super) most: f64,
}

/// Returns the result of every rule for every class of lessons.
pub(super) fn tally_rules(played: &SimulationResult) -> Vec<RuleClassRow> {
    let pairs = (0..).zip(RetirementRule::ALL).flat_map(|rule| CLASSES.iter().map(move |class| (rule, class)));
    pairs.map(|((at, rule), class)| build_class_row(at, rule, class, &played.fates)).collect()
}

/// Returns the result of Archivist's rule at the holdout share of this simulation.
pub(super) fn tally_holdout(played: &SimulationResult) -> HoldoutRow {
    let harms = CLASSES.iter().filter(|class| class.does == EffectDirection::Harm);
    HoldoutRow {
        holdout: played.game.holdout,
        harmful_retired: retired_share(0, EffectDirection::Harm, played),
        neutral_retired: retired_share(0, EffectDirection::Nothing, played),
        helpful_retired: retired_share(0, EffectDirection::Good, played),
        harms: harms.map(|class| build_class_row(0, RetirementRule::Archivist, class, &played.fates)).collect(),
    }
}

/// Returns the share of intervals that contain the true effect, at each look.
pub(super) fn tally_coverage(all: &[SimulationResult]) -> Vec<CoverageRow> {
    let row = |(at, runs): (usize, u64)| {
        let fates = all.iter().flat_map(|played| &played.fates);
        let held: Vec<bool> = fates.filter_map(|fate| fate.covered.get(at).copied().flatten()).collect();
        CoverageRow { runs, intervals: held.len(), covered: (!held.is_empty()).then(|| share_of_true(&held)) }
    };
    (0..).zip(LOOKS).map(row).collect()
}

/// Returns the variation of every figure over all simulations.
pub(super) fn tally_spread(all: &[SimulationResult]) -> Vec<SpreadRow> {
    let kinds = [
        ("harmful", EffectDirection::Harm),
        ("doing nothing", EffectDirection::Nothing),
        ("helpful", EffectDirection::Good),
    ];
    let mut rows = Vec::new();
    for (at, rule) in (0..).zip(RetirementRule::ALL) {
        for (figure, does) in kinds {
            rows.push(build_spread_row(rule.name(), figure, all, |played| retired_share(at, does, played)));
        }
    }
    rows
}

fn build_spread_row(
    rule: &'static str,
    figure: &'static str,
    all: &[SimulationResult],
    of: impl Fn(&SimulationResult) -> f64,
) -> SpreadRow {
    let values: Vec<f64> = all.iter().map(of).collect();
    SpreadRow {
        rule,
        figure,
        least: values.iter().copied().reduce(f64::min).unwrap_or_default(),
        mean: values.iter().sum::<f64>() / (values.len() as f64).max(1.0),
        most: values.iter().copied().reduce(f64::max).unwrap_or_default(),
    }
}

/// Returns the share of the lessons with this true effect that one rule retired.
fn retired_share(rule: usize, does: EffectDirection, played: &SimulationResult) -> f64 {
    let fates = played.fates.iter().filter(|fate| fate.class.does == does);
    let is_retired = |fate: &SimulatedLessonResult| fate.retired.get(rule).is_some_and(Option::is_some);
    share_of_true(&fates.map(is_retired).collect::<Vec<_>>())
}

fn build_class_row(
    at: usize,
    rule: RetirementRule,
    class: &EffectClass,
    fates: &[SimulatedLessonResult],
) -> RuleClassRow {
    let of_class: Vec<&SimulatedLessonResult> = fates.iter().filter(|fate| fate.class.name == class.name).collect();
    let mut after: Vec<u64> = of_class.iter().filter_map(|fate| fate.retired.get(at).copied().flatten()).collect();
    after.sort_unstable();
    let lessons = of_class.len();
    RuleClassRow {
        rule: rule.name(),
        class: class.name,
        effect: class.effect,
        lessons,
        retired: after.len(),
        kept: lessons - after.len(),
        half_after: runs_until_retired(&after, lessons.div_ceil(2)),
        most_after: runs_until_retired(&after, (lessons * 9).div_ceil(10)),
    }
}

/// Returns the number of sessions after which this many lessons were retired, if they ever were.
fn runs_until_retired(after: &[u64], lessons: usize) -> Option<u64> {
    after.get(lessons.checked_sub(1)?).copied()
}

/// Returns the share of the values that are true.
fn share_of_true(all: &[bool]) -> f64 {
    all.iter().filter(|one| **one).count() as f64 / (all.len() as f64).max(1.0)
}
