use super::*;

#[test]
fn rules_come_to_one_form() {
    for (text, expected) in [
        ("IF the build fails THEN run make clean", "IF the build fails THEN run make clean"),
        ("If the build fails, then run make clean.", "IF the build fails THEN run make clean"),
        ("When pytest says `a, then b`, pass -n 1", "IF pytest says `a, then b` THEN pass -n 1"),
        ("Whenever CI is red: look at the runner", "IF CI is red THEN look at the runner"),
        ("Before committing Cargo.lock, run cargo check", "IF before committing Cargo.lock THEN run cargo check"),
        ("if x (a, b) holds, do y now", "IF x (a, b) holds THEN do y now"),
    ] {
        assert_eq!(LessonRule::parse(text).unwrap().normal_form(), expected, "{text}");
        assert_eq!(LessonRule::parse(text).unwrap().find_fault(), None, "{text}");
    }
}

#[test]
fn what_is_no_rule_is_told() {
    for text in ["", "Run make clean", "IF the build fails run make", "THEN run it"] {
        assert!(LessonRule::parse(text).is_err(), "{text}");
    }
    for (text, fault) in [
        ("IF always THEN use pnpm here", "condition is none"),
        ("IF something fails THEN use pnpm here", "condition is none"),
        ("IF x THEN use pnpm here", "single word"),
        ("IF pnpm is missing THEN reinstall", "single word"),
        ("IF use pnpm THEN use pnpm", "say the same"),
        ("IF pnpm is missing THEN .", "empty"),
        ("IF the tests fail THEN fix the code", "could do"),
        ("IF pnpm is missing THEN do it all over again", "could do"),
    ] {
        let rule = LessonRule::parse(text).unwrap();
        assert!(rule.find_fault().is_some_and(|why| why.contains(fault)), "{text}: {:?}", rule.find_fault());
    }
}
