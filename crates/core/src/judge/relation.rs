//! The relation of a new lesson to a known one.

use std::collections::BTreeSet;

use super::conflict::{LessonConflict, find_conflict};
use super::lesson_features::{Bag, LessonFeatures};
use super::similarity::{SimilaritySignals, WordWeights};
use super::word_rarity::WordFrequencies;
use crate::domain::Facet;

#[cfg(test)]
#[path = "relation_tests.rs"]
mod tests;

/// The share of the known lesson that the new one must contain to be more than another wording of it.
const REFINED_SHARE: f64 = 0.75;
/// The factor by which the new lesson must say more.
const REFINED_GROWTH: f64 = 1.3;

/// The share of names that only one side has from which two lessons are only related.
const STRANGE_SHARE: f64 = 0.6;

/// The share of names that only one side has below which one thing replaces another.
const ONE_THING_SHARE: f64 = 0.4;

/// The share of names that only one side has from which a decision may have changed.
const SETTLED_STRANGE_SHARE: f64 = 0.2;

/// The share of its words in the other lesson from which a recommendation is contained whole.
const WHOLE_SHARE: f64 = 1.0 - 1e-9;

/// The share of a rule's recommendation that may be new to a lesson without a rule.
const NEWS_SHARE: f64 = 0.6;

/// Facets that name the subject of a lesson: where they differ, so do the lessons.
const TELLING: [Facet; 4] = [Facet::Task, Facet::Provider, Facet::Tool, Facet::Component];

/// The thresholds between the same and the different.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarityThresholds {
    /// Lessons at least this similar are the same, if nothing speaks against it.
    pub same_above: f64,
    /// Lessons less similar than this are unrelated.
    pub different_below: f64,
}

/// The relation of a new lesson to a known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedRelation {
    /// It says the same.
    Same,
    /// It says the same and more.
    Refines,
    /// Both cannot hold, or something has changed.
    Contradicts,
    /// It is on a related subject, and both may hold.
    Similar,
    /// It is unrelated to it.
    Different,
    /// Words alone do not tell.
    Unsure,
}

/// The result of comparing a new lesson with a known one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LessonLikeness {
    /// The similarity of their subjects, from 0 to 1.
    pub similarity: f64,
    /// The relation that follows from it.
    pub relation: JudgedRelation,
}

/// Compares a new lesson with a known one. `cosine` is that of their embeddings, where there are any.
pub fn relate_lessons(
    new: &LessonFeatures,
    known: &LessonFeatures,
    background: &WordFrequencies,
    cosine: Option<f64>,
    thresholds: &SimilarityThresholds,
) -> LessonLikeness {
    let signals = SimilaritySignals::compare(new, known, background);
    let similarity = if new.plain == known.plain { 1.0 } else { signals.weighted_similarity(cosine) };
    let is_same = similarity >= thresholds.same_above;
    let relation = if similarity < thresholds.different_below {
        JudgedRelation::Different
    } else if have_different_facets(new, known) {
        JudgedRelation::Similar
    } else if let Some(conflict) = find_conflict(new, known, background) {
        // Keeping two lessons apart takes less than merging them. Another order may be another wording.
        let is_one_matter = similarity >= f64::midpoint(thresholds.same_above, thresholds.different_below);
        if is_one_matter && conflict != LessonConflict::Reordered {
            JudgedRelation::Contradicts
        } else {
            JudgedRelation::Unsure
        }
    } else if new.plain == known.plain {
        JudgedRelation::Same
    } else if is_same && signals.lone > 0.0 {
        // One thing that replaces another is a change; several may be another wording.
        if signals.strange < ONE_THING_SHARE { JudgedRelation::Contradicts } else { JudgedRelation::Unsure }
    } else if is_same
        && (have_different_names(new, known)
            || may_be_new_decision(new, known, &signals)
            || recommend_differently(new, known, &signals, background))
    {
        JudgedRelation::Unsure
    } else if is_same && is_refinement(new, known, background) {
        // A longer text may describe what to give up; only rules tell what is still recommended.
        if keeps_recommendation(new, known, background) { JudgedRelation::Refines } else { JudgedRelation::Unsure }
    } else if is_same {
        JudgedRelation::Same
    } else if signals.strange >= STRANGE_SHARE && signals.lone > 0.0 {
        JudgedRelation::Similar
    } else {
        JudgedRelation::Unsure
    };
    LessonLikeness { similarity, relation }
}

/// Tells whether both name a tool, a provider, a component or a task, and not the same one.
fn have_different_facets(new: &LessonFeatures, known: &LessonFeatures) -> bool {
    TELLING.into_iter().any(|facet| match (new.facets.get(facet), known.facets.get(facet)) {
        (Some(own), Some(other)) => own != other,
        _ => false,
    })
}

/// Tells whether each has code names that the other does not have: in all of its text, or in its recommendation.
fn have_different_names(new: &LessonFeatures, known: &LessonFeatures) -> bool {
    let are_apart = |one: &BTreeSet<String>, other: &BTreeSet<String>| !one.is_subset(other) && !other.is_subset(one);
    are_apart(&new.marks, &known.marks) || are_apart(&new.advised_marks, &known.advised_marks)
}

/// Tells whether one is a decision or a preference and each has names of its own: the decision may have changed.
fn may_be_new_decision(new: &LessonFeatures, known: &LessonFeatures, signals: &SimilaritySignals) -> bool {
    (new.settles || known.settles) && signals.strange >= SETTLED_STRANGE_SHARE
}

/// Tells whether each recommends something that the other does not: one thing may replace another. No similarity
/// separates that from another wording, so rules alone do not make them one. Where neither lesson has a rule, all of
/// its text is its recommendation, and each having a name of its own is enough.
fn recommend_differently(
    new: &LessonFeatures,
    known: &LessonFeatures,
    signals: &SimilaritySignals,
    background: &WordFrequencies,
) -> bool {
    let lacks = |own: &Bag, other: &Bag| WordWeights::measure(own, other, background).covered_share() < WHOLE_SHARE;
    match (new.rule.is_some(), known.rule.is_some()) {
        (true, true) => {
            lacks(&new.recommendation, &known.recommendation) && lacks(&known.recommendation, &new.recommendation)
        }
        (false, false) => signals.strange > 0.0,
        (is_new, _) => {
            let (ruled, plain) = if is_new { (new, known) } else { (known, new) };
            let is_news = WordWeights::measure(&ruled.recommendation, &plain.whole, background).covered_share()
                < 1.0 - NEWS_SHARE;
            is_news || signals.strange > 0.0
        }
    }
}

fn is_refinement(new: &LessonFeatures, known: &LessonFeatures, background: &WordFrequencies) -> bool {
    let weighed = WordWeights::measure(&known.whole, &new.whole, background);
    weighed.covered_share() >= REFINED_SHARE && weighed.other >= REFINED_GROWTH * weighed.one
}

/// Tells whether the new lesson recommends what the known one recommends, and does not only mention it.
fn keeps_recommendation(new: &LessonFeatures, known: &LessonFeatures, background: &WordFrequencies) -> bool {
    new.rule.is_some()
        && known.rule.is_some()
        && WordWeights::measure(&known.recommendation, &new.recommendation, background).covered_share() >= WHOLE_SHARE
}
