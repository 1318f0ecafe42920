//! Lessons on the same matter: the newer stands right before the older, and says so.
//!
//! A block that shows both without a word lets an agent follow what was amended.

use std::cmp::Ordering;

use super::Given;
use crate::domain::Relation;

#[cfg(test)]
#[path = "related_tests.rs"]
mod tests;

/// What the newer of two lessons is to the older.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// It holds in the other's place.
    Replaces,
    /// They may be about the same; nobody has decided.
    NewerThan,
}

impl Tie {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::NewerThan => "newer than",
        }
    }
}

/// What `lesson` is to `other`, if both are on the same matter and it is the newer.
pub(super) fn takes_over(lesson: &Given<'_>, other: &Given<'_>) -> Option<Tie> {
    let tie = tie(lesson, other)?;
    newer_first(lesson, other).is_lt().then_some(tie)
}

/// The same lessons, each right before the older ones on its matter; a matter stands where its first lesson stood.
pub(super) fn arranged<'g, 'a>(lessons: Vec<&'g Given<'a>>) -> Vec<&'g Given<'a>> {
    let mut waiting = lessons;
    let mut arranged = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let mut matter: Vec<&Given<'_>> = waiting.drain(..1).collect();
        // A lesson may be tied to one that is tied to the first.
        let mut looked_at = 0;
        while let Some(known) = matter.get(looked_at).copied() {
            let (tied, others) = waiting.into_iter().partition(|other| tie(known, other).is_some());
            matter.extend::<Vec<_>>(tied);
            waiting = others;
            looked_at += 1;
        }
        matter.sort_by(|left, right| by_sign(left, right));
        put_right(&mut matter);
        arranged.append(&mut matter);
    }
    arranged
}

/// What ties two lessons, whichever is newer.
fn tie(one: &Given<'_>, other: &Given<'_>) -> Option<Tie> {
    if gave_way(one, other) || gave_way(other, one) {
        return Some(Tie::Replaces);
    }
    let mut ties = relations(one, other).chain(relations(other, one)).filter_map(|relation| match relation {
        Relation::Same | Relation::Refines | Relation::Contradicts => Some(Tie::Replaces),
        Relation::Similar => Some(Tie::NewerThan),
        Relation::Other(_) => None,
    });
    let first = ties.next()?;
    Some(if ties.any(|tie| tie == Tie::Replaces) { Tie::Replaces } else { first })
}

fn relations<'g>(from: &'g Given<'_>, to: &'g Given<'_>) -> impl Iterator<Item = &'g Relation> {
    from.memory.links.iter().filter(|link| link.to == to.memory.id).map(|link| &link.relation)
}

/// Whether it was decided that `older` gave way to `newer`.
fn gave_way(older: &Given<'_>, newer: &Given<'_>) -> bool {
    older.memory.superseded_by.as_ref() == Some(&newer.memory.id) || (refines(newer, older) && !refines(older, newer))
}

fn refines(one: &Given<'_>, other: &Given<'_>) -> bool {
    relations(one, other).any(|relation| *relation == Relation::Refines)
}

/// Which of two lessons is newer: as was decided, else by the last sign that it held.
fn newer_first(left: &Given<'_>, right: &Given<'_>) -> Ordering {
    match (gave_way(right, left), gave_way(left, right)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => by_sign(left, right),
    }
}

/// The last sign, then the making, then the name: never equal but for one and the same lesson.
fn by_sign(left: &Given<'_>, right: &Given<'_>) -> Ordering {
    let key = |lesson: &Given<'_>| (lesson.last_sign(), lesson.memory.created_at, lesson.memory.id.clone());
    key(right).cmp(&key(left))
}

/// Moves what was decided to be newer before what gave way to it. Decisions that go round in a circle stay as they are.
fn put_right(matter: &mut Vec<&Given<'_>>) {
    for _ in 0..matter.len() {
        let late = (1..matter.len()).find_map(|place| {
            let newer = matter.get(place)?;
            let older = matter.iter().take(place).position(|older| gave_way(older, newer))?;
            Some((place, older))
        });
        let Some((place, older)) = late else { return };
        let newer = matter.remove(place);
        matter.insert(older, newer);
    }
}
