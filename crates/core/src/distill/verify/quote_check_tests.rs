use super::super::test_support::Did::{Fails, Reads, Runs, Says, User};
use super::super::test_support::{claim, known, session};
use super::*;
use crate::context::step_text;

fn context() -> ReflectionContext {
    session(&[
        User("Please fix the parser; never touch vendor/."),
        Fails(
            "cargo test",
            "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nthread 'b' panicked at src/lib.rs:7:\n\tassertion failed: left == right\r\n  left: 3\r\n right: 4\n",
        ),
        Says("The total is off by one, because “split” keeps the empty tail."),
        Runs("cargo test", "test result: ok. 2 passed; 0 failed"),
        Reads("src/lib.rs", "fn total(x: u32) -> u32 {\n    x + 1\n}"),
    ])
}

fn quoted(context: &ReflectionContext, step: u32, text: &str) -> Result<Vec<String>, (DropReason, String)> {
    let found = QuoteLookup::new(context, &PassedOnLines::default()).look_up_all(&claim("x", None, &[(step, text)]))?;
    for one in &found {
        let step = context.trajectories[0].steps.iter().find(|step| step.number == one.quote.step).unwrap();
        let whole = step_text(step);
        let (start, end) = (usize::try_from(one.quote.start).unwrap(), usize::try_from(one.quote.end).unwrap());
        assert_eq!(whole.get(start..end), Some(one.quote.text.as_str()));
    }
    Ok(found.into_iter().map(|one| one.quote.text).collect())
}

#[test]
fn words_of_the_log_are_found_however_they_are_wrapped() {
    let context = context();
    for (step, text, expected) in [
        (1, "never touch vendor/.", vec!["never touch vendor/."]),
        (1, "  never\n touch\tvendor/ ", vec!["never touch vendor/"]),
        (2, "test b ... FAILED", vec!["test b ... FAILED"]),
        (
            2,
            "assertion failed: left == right left: 3 right: 4",
            vec!["assertion failed: left == right\r\n  left: 3\r\n right: 4"],
        ),
        (2, "`thread 'b' panicked at src/lib.rs:7:`", vec!["thread 'b' panicked at src/lib.rs:7:"]),
        (2, "“assertion failed … right: 4”", vec!["assertion failed", "right: 4"]),
        (2, "running 2 tests [...] panicked at src/lib.rs", vec!["running 2 tests", "panicked at src/lib.rs"]),
        (2, "running 2 tests\n[… 120 bytes cut …]\nassertion failed", vec!["running 2 tests", "assertion failed"]),
        (2, "assertion failed: left == right...", vec!["assertion failed: left == right"]),
        (3, "because “split” keeps the empty tail", vec!["because “split” keeps the empty tail"]),
        (4, "cargo test", vec!["cargo test"]),
    ] {
        assert_eq!(quoted(&context, step, text).unwrap(), expected, "{text}");
    }
}

#[test]
fn other_words_are_not_and_the_reason_is_told() {
    let context = context();
    for (step, text, reason) in [
        (1, "Never touch vendor/.", "do not stand in t0.s1"),
        (1, "never change vendor/.", "do not stand"),
        (2, "right: 4 … assertion failed", "do not stand"),
        (3, "assertion failed: left == right", "stand in t0.s2, not in t0.s3"),
        (9, "assertion failed", "t0.s9 is not among the steps"),
        (2, "left", "too short"),
        (2, "…", "too short"),
        (2, "cargo test … test b", "do not stand"),
    ] {
        let (why, detail) = quoted(&context, step, text).unwrap_err();
        assert_eq!(why, DropReason::NoEvidence);
        assert!(detail.contains(reason), "{text}: {detail}");
    }
    let (_, detail) =
        QuoteLookup::new(&context, &PassedOnLines::default()).look_up_all(&claim("x", None, &[])).unwrap_err();
    assert_eq!(detail, "it quotes nothing");
}

#[test]
fn a_known_lesson_that_was_shown_again_proves_nothing() {
    let mut context = context();
    context.existing_memories = vec![known("Please fix the parser; never touch vendor/ by hand.")];
    let (why, detail) = quoted(&context, 1, "fix the parser; never touch vendor/").unwrap_err();
    assert_eq!(why, DropReason::Echo, "{detail}");
    // A few words may be the same by chance.
    assert!(quoted(&context, 1, "never touch vendor/").is_ok());
}

#[test]
fn a_failure_that_a_known_lesson_quotes_is_met_again() {
    let error = "error: failed to connect to localhost port 6379";
    let lesson = "`make e2e` says \"failed to connect to localhost port 6379\" until `docker compose up -d redis` ran.";
    let mut context = session(&[Fails("make e2e", error), Runs("docker compose up -d redis", "done")]);
    context.existing_memories = vec![known(lesson)];
    assert!(quoted(&context, 1, "failed to connect to localhost port 6379").is_ok(), "what came of a command");
    assert!(quoted(&context, 2, "docker compose up -d redis").is_ok(), "what was done");
    // Where the lesson itself is shown, or is talked about, nobody met anything.
    for shown in
        [Fails("cat lessons.md", lesson), Says("It failed to connect to localhost port 6379, as lesson 1 says.")]
    {
        let mut context = session(&[shown]);
        context.existing_memories = vec![known(lesson)];
        let (why, _) = quoted(&context, 1, "failed to connect to localhost port 6379").unwrap_err();
        assert_eq!(why, DropReason::Echo);
    }
}

#[test]
fn a_lesson_that_was_given_is_never_proof() {
    let mut context = context();
    context.trajectories[0].steps[0].trust = Some(TrustClass::InjectedMemory);
    let (why, _) = quoted(&context, 1, "never touch vendor/").unwrap_err();
    assert_eq!(why, DropReason::Echo);
}

#[test]
fn long_quotations_are_cut_and_stay_letter_for_letter() {
    let long = "größe ".repeat(300);
    let context = session(&[User(&long)]);
    let kept = quoted(&context, 1, &long).unwrap();
    assert!(kept[0].chars().count() <= MAX_QUOTE_CHARACTERS && kept[0].chars().count() > 390);
}

#[test]
fn large_texts_and_many_quotations_take_no_time() {
    let output: String = (0..600).map(|line| format!("line {line} of the build says nothing new\n")).collect();
    let context = session(&[Fails("make", &output), Fails("make all", &"ab ".repeat(5000))]);
    let quotes: Vec<(u32, &str)> = (0..24).map(|_| (1, "line 599 of the build … says nothing old")).collect();
    let passed_on = PassedOnLines::default();
    let mut lookup = QuoteLookup::new(&context, &passed_on);
    for _ in 0..50 {
        assert!(lookup.look_up_all(&claim("x", None, &quotes)).is_err());
    }
    assert!(lookup.look_up_all(&claim("x", None, &[(2, &"ab ".repeat(2000))])).is_ok());
}
