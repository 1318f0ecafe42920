use super::super::test_support::Did::{Says, User};
use super::super::test_support::{claim, session, verified};
use super::*;

#[test]
fn platitudes_are_vague_whoever_says_them() {
    let context = session(&[User("be careful and always test your code"), Says("I am careful with the tests.")]);
    for summary in [
        "Be careful",
        "Write good tests",
        "Fix the error",
        "Always test your code",
        "Keep the code clean and handle errors properly",
    ] {
        let mut made = claim(summary, None, &[(1, "be careful and always test your code")]);
        made.facets.tool = Some("bash".to_owned());
        let became = verified(&context, vec![made]);
        assert_eq!(became.dropped[0].why, crate::domain::DropReason::Vague, "{summary}");
    }
}

#[test]
fn a_plain_preference_rests_on_the_person_who_has_it() {
    let context = session(&[User("prefer small commits"), Says("Then I make commits that are small and kind.")]);
    let by = |step, text| {
        verified(&context, vec![claim("Favour humble changesets, prefer little commits", None, &[(step, text)])])
    };
    assert_eq!(by(1, "prefer small commits").candidates.len(), 1);
    assert_eq!(by(2, "make commits that are small").candidates.len(), 0);
}

#[test]
fn names_are_known() {
    for text in [
        "set x to 5",
        "use src/a",
        "pass --locked",
        "run `make`",
        "ask Postgres",
        "the CI",
        "see fooBar",
        "a deadlock",
        "テスト",
    ] {
        assert!(has_name(text), "{text}");
    }
    for text in ["Be nice", "think about it. Then act", "IF you work THEN rest", "one - two"] {
        assert!(!has_name(text), "{text}");
    }
    assert!(NAMED.is_sorted());
}
