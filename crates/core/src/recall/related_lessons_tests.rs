use super::super::test_support::{Lesson, all, day, id};
use super::*;

fn order(lessons: &[Lesson]) -> Vec<u64> {
    let given = all(lessons);
    let arranged = arrange_related(given.iter().collect());
    arranged.iter().map(|lesson| lesson.memory.alias.as_ref().unwrap().number()).collect()
}

#[test]
fn lessons_without_ties_keep_their_order() {
    assert_eq!(order(&[Lesson::new(2, "b"), Lesson::new(9, "c"), Lesson::new(1, "a")]), [2, 9, 1]);
    let stranger = Lesson::new(3, "x").linked(77, Relation::Contradicts);
    assert_eq!(order(&[Lesson::new(2, "b"), stranger]), [2, 3]);
    assert_eq!(order(&[]), [0_u64; 0]);
}

#[test]
fn the_newer_stands_right_before_the_older() {
    let old = Lesson::new(1, "old").linked(5, Relation::Contradicts);
    let new = Lesson::new(5, "new").linked(1, Relation::Contradicts);
    assert_eq!(order(&[old.clone(), Lesson::new(2, "b"), new.clone()]), [5, 1, 2]);
    assert_eq!(order(&[Lesson::new(2, "b"), new.clone(), Lesson::new(3, "c"), old.clone()]), [2, 5, 1, 3]);
    let (old, new) = (old.given(), new.given());
    assert_eq!((tie_to_older(&new, &old), tie_to_older(&old, &new)), (Some(LessonTie::Replaces), None));
    assert_eq!(tie_to_older(&old, &old), None);
}

#[test]
fn what_was_seen_again_is_the_newer() {
    let old = Lesson::new(1, "old")
        .linked(5, Relation::Similar)
        .changed(|lesson| lesson.counters.last_seen_at = Some(day(20)));
    let new = Lesson::new(5, "new");
    assert_eq!(order(&[new.clone(), old.clone()]), [1, 5]);
    assert_eq!(tie_to_older(&old.given(), &new.given()), Some(LessonTie::NewerThan));
}

#[test]
fn what_was_decided_counts_more_than_a_date() {
    let old = Lesson::new(1, "old").changed(|lesson| lesson.counters.last_seen_at = Some(day(20)));
    let finer = Lesson::new(5, "finer").linked(1, Relation::Refines);
    assert_eq!(order(&[old.clone(), finer.clone()]), [5, 1]);
    assert_eq!(tie_to_older(&finer.given(), &old.given()), Some(LessonTie::Replaces));
    let gone = old.changed(|lesson| lesson.memory.superseded_by = Some(id(6)));
    assert_eq!(order(&[gone, Lesson::new(6, "young")]), [6, 1]);
}

#[test]
fn a_circle_of_decisions_ends() {
    let gives_way = |number, to| Lesson::new(number, "x").changed(|lesson| lesson.memory.superseded_by = Some(id(to)));
    let mut found = order(&[gives_way(1, 2), gives_way(2, 3), gives_way(3, 1)]);
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3]);
}

#[test]
fn a_matter_is_as_large_as_its_ties() {
    let lessons = [
        Lesson::new(1, "a"),
        Lesson::new(9, "other"),
        Lesson::new(2, "b").linked(1, Relation::Refines),
        Lesson::new(3, "c").linked(2, Relation::Refines),
    ];
    assert_eq!(order(&lessons), [3, 2, 1, 9]);
}
