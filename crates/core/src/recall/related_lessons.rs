//! Order of related lessons: the newer is placed right before the older, and names it.
//!
//! A block that showed both without a note would let an agent follow an outdated lesson.

use std::cmp::Ordering;

use super::PromptLesson;
use crate::domain::Relation;

#[cfg(test)]
#[path = "related_lessons_tests.rs"]
mod tests;

/// The relation of the newer of two lessons to the older.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LessonTie {
    /// The newer replaces the older.
    Replaces,
    /// The two may be about the same; that is undecided.
    NewerThan,
}

impl LessonTie {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::NewerThan => "newer than",
        }
    }
}

/// Returns the tie of `lesson` to `other`, if they are related and it is the newer.
pub(super) fn tie_to_older(lesson: &PromptLesson<'_>, other: &PromptLesson<'_>) -> Option<LessonTie> {
    let tie = find_tie(lesson, other)?;
    compare_newer_first(lesson, other).is_lt().then_some(tie)
}

/// Returns the same lessons, each right before the older related ones; a group is placed where its first lesson was.
pub(super) fn arrange_related<'g, 'a>(lessons: Vec<&'g PromptLesson<'a>>) -> Vec<&'g PromptLesson<'a>> {
    let mut waiting = lessons;
    let mut arranged = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let mut matter: Vec<&PromptLesson<'_>> = waiting.drain(..1).collect();
        // A lesson may be tied to one that is tied to the first.
        let mut looked_at = 0;
        while let Some(known) = matter.get(looked_at).copied() {
            let (tied, others) = waiting.into_iter().partition(|other| find_tie(known, other).is_some());
            matter.extend::<Vec<_>>(tied);
            waiting = others;
            looked_at += 1;
        }
        matter.sort_by(|left, right| compare_by_last_sign(left, right));
        reorder_superseded(&mut matter);
        arranged.append(&mut matter);
    }
    arranged
}

/// Returns the tie between two lessons, regardless of which is newer.
fn find_tie(one: &PromptLesson<'_>, other: &PromptLesson<'_>) -> Option<LessonTie> {
    if was_superseded_by(one, other) || was_superseded_by(other, one) {
        return Some(LessonTie::Replaces);
    }
    let mut ties =
        relations_between(one, other).chain(relations_between(other, one)).filter_map(|relation| match relation {
            Relation::Same | Relation::Refines | Relation::Contradicts => Some(LessonTie::Replaces),
            Relation::Similar => Some(LessonTie::NewerThan),
            Relation::Other(_) => None,
        });
    let first = ties.next()?;
    Some(if ties.any(|tie| tie == LessonTie::Replaces) { LessonTie::Replaces } else { first })
}

fn relations_between<'g>(from: &'g PromptLesson<'_>, to: &'g PromptLesson<'_>) -> impl Iterator<Item = &'g Relation> {
    from.memory.links.iter().filter(|link| link.to == to.memory.id).map(|link| &link.relation)
}

/// Returns true if it was decided that `newer` supersedes `older`.
fn was_superseded_by(older: &PromptLesson<'_>, newer: &PromptLesson<'_>) -> bool {
    older.memory.superseded_by.as_ref() == Some(&newer.memory.id)
        || (refines_lesson(newer, older) && !refines_lesson(older, newer))
}

fn refines_lesson(one: &PromptLesson<'_>, other: &PromptLesson<'_>) -> bool {
    relations_between(one, other).any(|relation| *relation == Relation::Refines)
}

/// Compares two lessons, the newer first: by decision, else by the last sign that they held.
fn compare_newer_first(left: &PromptLesson<'_>, right: &PromptLesson<'_>) -> Ordering {
    match (was_superseded_by(right, left), was_superseded_by(left, right)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => compare_by_last_sign(left, right),
    }
}

/// Compares by last sign, then by creation, then by id: two different lessons are never equal.
fn compare_by_last_sign(left: &PromptLesson<'_>, right: &PromptLesson<'_>) -> Ordering {
    let key = |lesson: &PromptLesson<'_>| (lesson.last_sign(), lesson.memory.created_at, lesson.memory.id.clone());
    key(right).cmp(&key(left))
}

/// Moves a superseding lesson before the one it supersedes. Circular decisions leave the order as it is.
fn reorder_superseded(matter: &mut Vec<&PromptLesson<'_>>) {
    for _ in 0..matter.len() {
        let late = (1..matter.len()).find_map(|place| {
            let newer = matter.get(place)?;
            let older = matter.iter().take(place).position(|older| was_superseded_by(older, newer))?;
            Some((place, older))
        });
        let Some((place, older)) = late else { return };
        let newer = matter.remove(place);
        matter.insert(older, newer);
    }
}
