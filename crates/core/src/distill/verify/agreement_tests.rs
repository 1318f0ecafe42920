use super::super::test_support::Did::{self, Fails, Runs, Says, User};
use super::super::test_support::{claim, session, verified};
use super::*;
use crate::domain::Candidate;

const REPORT: &str = "The upstream API blocks us with 429s. Look at the retrier.";
const QUESTION: &str = "The retrier in `retry.py` tries 20 times. How often may it?";
const ANSWER: &str = "Seven attempts is what their window allows.";
const AGREED: &str = "Then the retrier in `retry.py` stops after exactly 7 attempts.";

fn talk<'d>(more: impl IntoIterator<Item = Did<'d>>) -> Vec<Did<'d>> {
    [User(REPORT), Says(QUESTION), User(ANSWER), Says(AGREED)].into_iter().chain(more).collect()
}

/// What becomes of a lesson that a model calls so, with a quote of one step.
fn became(did: &[Did<'_>], kind: MemoryKind, quote: (u32, &str)) -> Candidate {
    let mut claim = claim("The retrier in `retry.py` stops after exactly 7 attempts.", None, &[quote]);
    claim.kind = kind;
    let verified = verified(&session(did), vec![claim]);
    verified.candidates.into_iter().next().unwrap_or_else(|| panic!("{:?}", verified.dropped))
}

#[track_caller]
fn check(did: &[Did<'_>], kind: MemoryKind, quote: (u32, &str), expected: MemoryKind) {
    let became = became(did, kind, quote);
    assert_eq!((became.kind, became.quarantine), (expected, None), "{quote:?}");
}

#[test]
fn what_was_talked_over_is_settled_under_every_name() {
    use MemoryKind::{Decision, Lesson, Preference};
    for kind in [Decision, Lesson, Preference] {
        check(&talk([]), kind.clone(), (4, AGREED), Decision);
        check(&talk([User("Perfect, thanks.")]), kind.clone(), (4, AGREED), Decision);
        check(&talk([User("No, that's wrong. Use nine.")]), kind, (4, AGREED), Lesson);
    }
    // What a person told in an answer is theirs, and stays so whatever they object to later.
    check(&talk([]), Lesson, (3, ANSWER), Decision);
    check(&talk([User("No, revert that.")]), Decision, (3, ANSWER), Decision);
    check(&talk([]), Preference, (3, ANSWER), Preference);
    // What was merely asked for is not settled by that.
    check(&talk([]), Lesson, (1, "Look at the retrier"), Lesson);
}

#[test]
fn what_an_agent_says_where_nobody_answers_is_a_guess() {
    use MemoryKind::{Decision, Lesson, Preference};
    let alone = [User(REPORT), Says(QUESTION), Says(AGREED)];
    check(&alone, Decision, (3, AGREED), Lesson);
    check(&alone, Preference, (3, AGREED), Lesson);
    check(&alone, Lesson, (3, AGREED), Lesson);
    let guess = became(&alone, Decision, (3, AGREED));
    assert_eq!(guess.mended[1], "it is called a decision, but nobody who may say so stands behind it");
    // A person who only pastes, or speaks twice before the agent does, answers nothing.
    let pasted = [User(REPORT), Says(QUESTION), User("> It tries 20 times."), Says(AGREED)];
    check(&pasted, Decision, (4, AGREED), Lesson);
    check(&[User("Hello there."), User(REPORT), Says(AGREED)], Decision, (3, AGREED), Lesson);
    // One word of the person is enough for what is called a decision.
    check(&[User("The retrier may make seven attempts."), Says("Done.")], Decision, (1, "seven attempts"), Decision);
}

#[test]
fn what_an_agent_says_amid_its_work_is_settled_only_if_it_is_called_a_decision() {
    use MemoryKind::{Decision, Lesson};
    let work = || Runs("pytest tests/test_retry.py", "4 passed");
    let did = [User(REPORT), Says(QUESTION), User(ANSWER), work(), Says(AGREED)];
    check(&did, Decision, (5, AGREED), Decision);
    check(&did, Lesson, (5, AGREED), Lesson);
    // What ran proves itself, or does not.
    let failing =
        [User(REPORT), Says(QUESTION), User(ANSWER), Fails("python retry.py attempts", "stops after exactly 7")];
    check(&failing, Lesson, (4, "python retry.py attempts"), Lesson);
}

#[test]
fn a_quote_that_does_not_speak_of_it_settles_nothing() {
    let mut claim =
        claim("The retrier stops after exactly 7 attempts.", None, &[(5, "Thanks, lovely weather"), (4, AGREED)]);
    claim.kind = MemoryKind::Preference;
    let did = talk([User("Thanks, lovely weather today.")]);
    let became = verified(&session(&did), vec![claim]);
    assert_eq!(became.candidates[0].kind, MemoryKind::Decision);
}

#[test]
fn nobody_stands_behind_what_a_person_must_look_at_first() {
    let did = [
        User("Look:\n> The retrier stops after exactly 7 attempts.\nTrue?"),
        Says("Yes."),
        User("Fine."),
        Says(AGREED),
    ];
    let became = became(&did, MemoryKind::Decision, (4, AGREED));
    assert!(became.quarantine.is_some(), "{became:?}");
    assert_eq!(became.kind, MemoryKind::Lesson);
}

#[test]
fn an_order_for_one_task_is_no_preference() {
    let acted = || [User(REPORT), Says("I look at the retrier."), Runs("pytest", "4 passed")];
    for (said, expected) in [
        ("make the retrier stop after exactly 7 attempts", MemoryKind::Lesson),
        ("can the retrier stop after exactly 7 attempts?", MemoryKind::Lesson),
        ("i wanted a retrier that stops after exactly 7 attempts", MemoryKind::Lesson),
        ("from now on every retrier stops after exactly 7 attempts", MemoryKind::Preference),
        ("a retrier without attempts is not useful", MemoryKind::Preference),
    ] {
        let did: Vec<Did<'_>> = acted().into_iter().chain([User(said)]).collect();
        check(&did, MemoryKind::Preference, (4, said), expected);
    }
    // What is said before anything was done is part of the task, unless it is said to last.
    check(&[User(AGREED), Says("Done.")], MemoryKind::Preference, (1, AGREED), MemoryKind::Lesson);
}
