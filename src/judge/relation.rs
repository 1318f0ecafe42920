//! How a new lesson relates to a known one.

use std::collections::BTreeSet;

use super::background::Background;
use super::conflict::{Conflict, conflict};
use super::features::{Bag, Features};
use super::similarity::{Signals, Weighed};
use crate::domain::Facet;

#[cfg(test)]
#[path = "relation_tests.rs"]
mod tests;

/// So much of the known lesson must stand in the new one for that to be more than another wording of it.
const REFINED_SHARE: f64 = 0.75;
/// And the new one must say so much more.
const REFINED_GROWTH: f64 = 1.3;

/// With so many names on each side that the other does not have, two lessons are only related.
const STRANGE_SHARE: f64 = 0.6;

/// With fewer names than this on each side that the other does not have, one thing stands in the place of another.
const ONE_THING_SHARE: f64 = 0.4;

/// A settled matter is the same only with fewer names than this on each side that the other does not have.
const SETTLED_STRANGE_SHARE: f64 = 0.2;

/// With so much of its words in the other one, a piece of advice stands there whole.
const WHOLE_SHARE: f64 = 1.0 - 1e-9;

/// Where only one of two lessons has a rule, so much of what that advises may be news to the other.
const NEWS_SHARE: f64 = 0.6;

/// Facets that name what a lesson is about: where they differ, so do the lessons.
const TELLING: [Facet; 4] = [Facet::Task, Facet::Provider, Facet::Tool, Facet::Component];

/// Where the same ends and where the different begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Lessons at least this similar are the same, if nothing speaks against it.
    pub same_above: f64,
    /// Lessons less similar than this have nothing to do with each other.
    pub different_below: f64,
}

/// How a new lesson relates to a known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kin {
    /// It says the same.
    Same,
    /// It says the same and more.
    Refines,
    /// Both cannot hold, or something has changed.
    Contradicts,
    /// It is on a related matter, and both may stand.
    Similar,
    /// It has nothing to do with it.
    Different,
    /// Words alone do not tell.
    Unsure,
}

/// What comes of holding a new lesson against a known one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// How much they are about the same, from 0 to 1.
    pub similarity: f64,
    /// What that means.
    pub relation: Kin,
}

/// Holds a new lesson against a known one. `cosine` is that of their embeddings, where there are any.
pub fn relate(
    new: &Features,
    known: &Features,
    background: &Background,
    cosine: Option<f64>,
    thresholds: &Thresholds,
) -> Likeness {
    let signals = Signals::between(new, known, background);
    let similarity = if new.plain == known.plain { 1.0 } else { signals.similarity(cosine) };
    let is_same = similarity >= thresholds.same_above;
    let relation = if similarity < thresholds.different_below {
        Kin::Different
    } else if told_apart(new, known) {
        Kin::Similar
    } else if let Some(conflict) = conflict(new, known, background) {
        // To keep two apart takes less than to make them one. Another order may be another wording.
        let is_one_matter = similarity >= f64::midpoint(thresholds.same_above, thresholds.different_below);
        if is_one_matter && conflict != Conflict::Reordered { Kin::Contradicts } else { Kin::Unsure }
    } else if new.plain == known.plain {
        Kin::Same
    } else if is_same && signals.lone > 0.0 {
        // One thing in the place of another is a change; several may be another wording.
        if signals.strange < ONE_THING_SHARE { Kin::Contradicts } else { Kin::Unsure }
    } else if is_same
        && (names_otherwise(new, known)
            || is_settled_otherwise(new, known, &signals)
            || advises_otherwise(new, known, &signals, background))
    {
        Kin::Unsure
    } else if is_same && refines(new, known, background) {
        // What is told at length may be told to be given up; only rules tell what is still advised.
        if keeps_advice(new, known, background) { Kin::Refines } else { Kin::Unsure }
    } else if is_same {
        Kin::Same
    } else if signals.strange >= STRANGE_SHARE && signals.lone > 0.0 {
        Kin::Similar
    } else {
        Kin::Unsure
    };
    Likeness { similarity, relation }
}

/// Whether both name a tool, a provider, a path or a task, and not the same one.
fn told_apart(new: &Features, known: &Features) -> bool {
    TELLING.into_iter().any(|facet| match (new.facets.get(facet), known.facets.get(facet)) {
        (Some(own), Some(other)) => own != other,
        _ => false,
    })
}

/// Whether each of them writes as code what the other does not: all of it, or what their rules advise.
fn names_otherwise(new: &Features, known: &Features) -> bool {
    let are_apart = |one: &BTreeSet<String>, other: &BTreeSet<String>| !one.is_subset(other) && !other.is_subset(one);
    are_apart(&new.marks, &known.marks) || are_apart(&new.advised_marks, &known.advised_marks)
}

/// Whether one of them settles something and each has names that the other does not have: it may have been settled anew.
fn is_settled_otherwise(new: &Features, known: &Features, signals: &Signals) -> bool {
    (new.settles || known.settles) && signals.strange >= SETTLED_STRANGE_SHARE
}

/// Whether each of them advises something that the other does not: one thing may stand in the place of another. No
/// similarity tells that from another wording, so rules alone do not make them one. Where a lesson has no rule, all
/// that it says is its advice, and each having a name of its own is enough.
fn advises_otherwise(new: &Features, known: &Features, signals: &Signals, background: &Background) -> bool {
    let lacks = |own: &Bag, other: &Bag| Weighed::of(own, other, background).covered() < WHOLE_SHARE;
    match (new.rule.is_some(), known.rule.is_some()) {
        (true, true) => lacks(&new.advice, &known.advice) && lacks(&known.advice, &new.advice),
        (false, false) => signals.strange > 0.0,
        (is_new, _) => {
            let (ruled, plain) = if is_new { (new, known) } else { (known, new) };
            let is_news = Weighed::of(&ruled.advice, &plain.whole, background).covered() < 1.0 - NEWS_SHARE;
            is_news || signals.strange > 0.0
        }
    }
}

fn refines(new: &Features, known: &Features, background: &Background) -> bool {
    let weighed = Weighed::of(&known.whole, &new.whole, background);
    weighed.covered() >= REFINED_SHARE && weighed.other >= REFINED_GROWTH * weighed.one
}

/// Whether what the known lesson advises is what the new one advises, and not only what it speaks of.
fn keeps_advice(new: &Features, known: &Features, background: &Background) -> bool {
    new.rule.is_some()
        && known.rule.is_some()
        && Weighed::of(&known.advice, &new.advice, background).covered() >= WHOLE_SHARE
}
