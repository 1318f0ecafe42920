use super::*;

#[test]
fn the_next_name_is_above_all_others() {
    for (taken, next) in [
        (&[][..], "m-001"),
        (&["m-001"], "m-002"),
        (&["m-009", "m-002"], "m-010"),
        (&["m-999"], "m-1000"),
        (&["m-7"], "m-008"),
        (&["x-50", "m-", "m-1a", "m-+5", "50", "m-1+a[$(touch x)]", "m--3"], "m-001"),
        (&["m-1234567890"], "m-001"),
        (&["m-999999999", "m-1000000000"], "m-1000000001"),
    ] {
        assert_eq!(LessonIdSequence::from_taken(taken.iter().copied()).next_id(), next, "{taken:?}");
    }
}

#[test]
fn names_follow_each_other() {
    let mut ids = LessonIdSequence::from_taken(["m-003"]);
    assert_eq!([ids.next_id(), ids.next_id()], ["m-004", "m-005"]);
}
