use super::super::test_support::Does::{Agent, Begin, Calls, Edits, Fails, Reads, Runs, Stop, System, User};
use super::super::test_support::{Does, gather};
use super::*;

const BROKEN: &str =
    "error[E0382]: borrow of moved value: `cart`\n --> src/cart.rs:12:5\nerror: could not compile `shop`";
const RED: &str = "running 2 tests\ntest cart::total ... FAILED\n\nfailures:\n    cart::total\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored";
const GREEN: &str = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored";

/// What stands out, as `kind@step`.
fn kinds(session: &[Does<'_>]) -> Vec<String> {
    gather(session).signals.iter().map(|signal| format!("{}@{}", signal.kind, signal.step)).collect()
}

fn of_kind(session: &[Does<'_>], kind: SignalKind) -> Vec<Signal> {
    gather(session).signals.into_iter().filter(|signal| signal.kind == kind).collect()
}

#[test]
fn signals_are_found_where_they_are_and_nowhere_else() {
    let table: &[(&str, &[Does<'_>], &[&str])] = &[
        ("a quiet session", &[User("add a total"), Agent("done"), Runs("ls", "src")], &[]),
        ("a failure", &[Fails("cargo build", BROKEN)], &["failed_call@1", "verification_failed@1"]),
        (
            "a failure and its fix",
            &[Fails("cargo build", BROKEN), Edits("src/cart.rs", "cart", "&cart"), Runs("cargo build", "Finished")],
            &["failed_call@1", "fixed@3", "verification_passed@3"],
        ),
        (
            "a test that fails and passes with nothing done",
            &[Fails("cargo test", RED), Reads("src/cart.rs"), Runs("cargo test", GREEN)],
            &["failed_call@1", "flaky_test@3", "verification_passed@3"],
        ),
        (
            "a test that passes and fails with nothing done",
            &[Runs("cargo test", GREEN), Runs("git status", "clean"), Fails("cargo test", RED)],
            &["failed_call@3", "flaky_test@3", "verification_failed@3"],
        ),
        (
            "a test that fails after an edit is not flaky",
            &[Runs("cargo test", GREEN), Edits("src/cart.rs", "a", "b"), Fails("cargo test", RED)],
            &["failed_call@3", "verification_failed@3"],
        ),
        (
            "the same command three times",
            &[
                Fails("make deploy", "curl: (7) Connection refused"),
                Fails("make deploy", "curl: (7) Connection refused"),
                Fails("make deploy", "curl: (7) Connection refused"),
            ],
            &["failed_call@1", "retry_loop@3", "repeated_failure@3"],
        ),
        (
            "red before green on fresh tests",
            &[
                Edits("tests/cart.rs", "", "fn total() {}"),
                Fails("cargo test", RED),
                Edits("src/cart.rs", "a", "b"),
                Runs("cargo test", GREEN),
            ],
            &["verification_passed@4"],
        ),
        (
            "fresh tests that fail, and are mended themselves",
            &[
                Edits("tests/cart.rs", "", "fn total() {}"),
                Fails("cargo test", RED),
                Edits("tests/cart.rs", "a", "b"),
                Runs("cargo test", GREEN),
            ],
            &["failed_call@2", "verification_passed@4"],
        ),
        (
            "a linter's findings",
            &[Fails("cargo clippy", "Exit code 101\nwarning: unused\n --> src/a.rs:3:5\n"), Runs("make", "ok")],
            &["verification_passed@2"],
        ),
        (
            "another way",
            &[Fails("npm install", "npm error ERESOLVE could not resolve"), Runs("npm install --force", "ok")],
            &["failed_call@1", "fixed@2"],
        ),
        (
            "another matter",
            &[Fails("git push origin main", "error: failed to push some refs"), Runs("git push origin next", "ok")],
            &["failed_call@1"],
        ),
        (
            "another folder",
            &[Fails("cd a && npm install", "npm error ERESOLVE no"), Runs("cd b && npm install --force", "ok")],
            &["failed_call@1"],
        ),
        (
            "a list of things to do between",
            &[
                Fails("make deploy", "curl: (7) Connection refused"),
                Calls("TodoWrite", "ok"),
                Fails("make deploy", "curl: (7) Connection refused"),
                Calls("TodoWrite", "ok"),
                Fails("make deploy", "curl: (7) Connection refused"),
            ],
            &["failed_call@1", "retry_loop@5", "repeated_failure@5"],
        ),
        (
            "an edit by a server's tool",
            &[Fails("cargo test", RED), Calls("mcp__serena__replace_symbol_body", "ok"), Runs("cargo test", GREEN)],
            &["failed_call@1", "fixed@3", "verification_passed@3"],
        ),
        (
            "another check",
            &[Fails("cargo test cart", RED), Runs("cargo test list", GREEN), Runs("cargo test -p a", GREEN)],
            &["failed_call@1", "verification_failed@1"],
        ),
        (
            "a check of something else does not mend what failed",
            &[Fails("pytest", "ValueError: no"), Runs("npx prettier --check .", "All matched files use Prettier")],
            &["failed_call@1", "verification_failed@1"],
        ),
        (
            "a person may have mended it",
            &[Fails("cargo test", RED), User("run it again"), Runs("cargo test", GREEN)],
            &["failed_call@1", "fixed@3", "verification_passed@3"],
        ),
        (
            "the same check elsewhere",
            &[Fails("cargo test", RED), Runs("cd ../other", ""), Runs("cargo test", GREEN)],
            &["failed_call@1", "verification_passed@3"],
        ),
        (
            "the same check in the same folder",
            &[Fails("cd /a && cargo test", RED), Runs("cargo test", GREEN)],
            &["failed_call@1", "flaky_test@2", "verification_passed@2"],
        ),
        (
            "a command that mends and fails",
            &[
                Fails("cargo test", RED),
                Fails("sed -i s/1/2/ a; nope", "nope: command not found"),
                Runs("cargo test", GREEN),
            ],
            &["failed_call@1", "failed_call@2", "fixed@3", "verification_passed@3"],
        ),
        (
            "three failures that differ are no loop",
            &[
                Fails("make deploy", "curl: (7) Connection refused"),
                Fails("make deploy", "TypeError: x is not a function"),
                Fails("make deploy", "KeyError: 'y'"),
            ],
            &["failed_call@1", "failed_call@2", "failed_call@3"],
        ),
        (
            "a command of several parts in a loop",
            &[
                Fails("rm -rf a && make deploy", "curl: (7) Connection refused"),
                Fails("rm -rf a && make deploy", "curl: (7) Connection refused"),
                Fails("rm -rf a && make deploy", "curl: (7) Connection refused"),
            ],
            &["failed_call@1", "retry_loop@3", "repeated_failure@3"],
        ),
        (
            "an edit taken back by hand",
            &[Edits("src/a.rs", "one", "two"), Edits("src/a.rs", "two", "one")],
            &["edit_reverted@2"],
        ),
        (
            "an edit taken back by git",
            &[Edits("/home/dev/shop/src/a.rs", "one", "two"), Runs("git checkout -- src/a.rs", "")],
            &["edit_reverted@2"],
        ),
        ("a file that was not edited", &[Edits("src/a.rs", "one", "two"), Runs("git checkout -- src/b.rs", "")], &[]),
        (
            "a correction",
            &[User("add a total"), Agent("I used floats."), User("No, never use floats for money.")],
            &["user_correction@3"],
        ),
        ("an order is no correction", &[User("No database please, add a total"), Agent("done")], &[]),
        (
            "a changed mind after the stop key",
            &[User("add a total"), Agent("deleting the database"), Stop, User("Keep the database and add a view")],
            &["user_correction@3"],
        ),
        ("going on after the stop key", &[User("go"), Agent("working"), Stop, User("continue")], &[]),
        ("thanks", &[User("add"), Agent("done"), User("No problem, thanks!")], &[]),
        (
            "harness noise",
            &[Fails(
                "Edit",
                "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
            )],
            &[],
        ),
        ("what the harness says is no correction", &[Agent("x"), System("No, don't do that")], &[]),
        (
            "a new trajectory knows nothing of the last one",
            &[Fails("cargo build", BROKEN), Begin, Runs("cargo build", "Finished")],
            &["failed_call@1", "verification_failed@1", "verification_passed@1"],
        ),
    ];
    for (name, session, expected) in table {
        assert_eq!(kinds(session), *expected, "{name}");
    }
}

#[test]
fn a_fix_names_what_failed_how_often_and_what_changed() {
    let session = [
        Fails("cargo build", BROKEN),
        Edits("/home/dev/shop/src/cart.rs", "cart", "&cart"),
        Fails("cargo build", BROKEN),
        Edits("/home/dev/shop/src/order.rs", "x", "y"),
        Runs("cargo build 2>&1 | tail -5", "Finished"),
    ];
    let fixed = of_kind(&session, SignalKind::Fixed);
    let [fixed] = fixed.as_slice() else { panic!("{fixed:?}") };
    assert!(fixed.text.contains("failed 2 times (error[E0382]: borrow of moved value: `cart`)"), "{}", fixed.text);
    assert!(fixed.text.ends_with("passed after edits to src/order.rs"), "{}", fixed.text);
    assert_eq!((fixed.steps.as_slice(), fixed.times), (&[3, 4, 5][..], 2));
    assert_eq!(fixed.error_family, of_kind(&session, SignalKind::FailedCall)[0].error_family);
}

#[test]
fn a_flaky_test_is_named() {
    let flaky = of_kind(&[Fails("cargo test", RED), Runs("cargo test", GREEN)], SignalKind::FlakyTest);
    assert_eq!(flaky[0].text, "test cart::total failed, then passed, with no edit between");
    let other = RED.replace("cart::total", "order::sum");
    let flaky = of_kind(&[Fails("cargo test", RED), Fails("cargo test", &other)], SignalKind::FlakyTest);
    assert_eq!(flaky[0].text, "test cart::total failed, then passed, with no edit between");
}

#[test]
fn one_failure_is_one_family_however_its_details_change() {
    let at = |line: u32| BROKEN.replace(":12:", &format!(":{line}:"));
    let (a, b, c) = (at(12), at(80), at(300));
    let session = [
        Fails("cargo build", &a),
        Edits("src/a.rs", "1", "2"),
        Fails("cargo build", &b),
        Edits("src/a.rs", "2", "3"),
        Fails("cargo check", &c),
    ];
    let repeated = of_kind(&session, SignalKind::RepeatedFailure);
    assert_eq!(repeated.len(), 1);
    assert_eq!((repeated[0].times, repeated[0].steps.as_slice()), (3, &[1, 3, 5][..]));
}

#[test]
fn there_is_an_end_to_signals() {
    let texts: Vec<String> = (0..600).map(|n| format!("TypeError: thing_{} is not a function", letters(n))).collect();
    let session: Vec<Does<'_>> = texts.iter().map(|text| Fails("node app.js", text)).collect();
    let gathered = gather(&session);
    let failed: Vec<u32> =
        gathered.signals.iter().filter(|signal| signal.kind == SignalKind::FailedCall).map(|one| one.step).collect();
    assert_eq!((failed.len(), gathered.survey.signals_left_out), (MAX_OF_A_KIND, 400));
    assert_eq!((failed[0], failed[99], failed[100], failed[199]), (1, 100, 501, 600), "the first and the last");
}

#[test]
fn another_way_says_that_it_mends_nothing() {
    let session = [Fails("npm install", "npm error ERESOLVE could not resolve"), Runs("npm install --force", "ok")];
    let fixed = of_kind(&session, SignalKind::Fixed);
    assert!(fixed[0].alternative);
    let session = [Fails("cargo build", BROKEN), Edits("a.rs", "1", "2"), Runs("cargo build", "Finished")];
    assert!(of_kind(&session, SignalKind::Fixed)[0].extra.is_empty());
}

/// A command that came back.
fn returned(miner: &mut SignalMiner, step: u32, command: &str, result: ReturnOutcome, tests: Option<TestOutcome>) {
    let action = ToolAction::Run { command: command.to_owned() };
    let at = StepPlace { trajectory: 0, step };
    let is_check = command.starts_with("pytest");
    let (tool, duration_ms, directory) = ("Bash", None, None);
    miner.record_returned_call(&ReturnedCall {
        at,
        tool,
        action: &action,
        result,
        tests,
        is_check,
        duration_ms,
        directory,
    });
}

fn broken() -> ReturnOutcome {
    let failure = DetectedFailure {
        class: super::super::failure::FailureClass::Assertion,
        headline: "AssertionError: no".to_owned(),
        exit_code: None,
    };
    let family = super::super::failure::identify_family("Bash", failure.class.as_str(), &failure.headline);
    ReturnOutcome::Failed(failure, family)
}

#[test]
fn what_never_ran_says_nothing() {
    let mut miner = SignalMiner::default();
    returned(&mut miner, 1, "pytest", broken(), None);
    returned(&mut miner, 2, "rm -rf a", ReturnOutcome::Void, None);
    returned(&mut miner, 3, "pytest", ReturnOutcome::Void, None);
    assert_eq!(miner.end_trajectory(), Some(false));
    let kinds: Vec<String> = miner.finish().0.iter().map(|signal| signal.kind.to_string()).collect();
    assert_eq!(kinds, ["failed_call", "verification_failed"]);
    let mut miner = SignalMiner::default();
    returned(&mut miner, 1, "pytest", ReturnOutcome::Void, None);
    assert_eq!(miner.end_trajectory(), None);
}

#[test]
fn a_run_of_no_tests_says_nothing() {
    let tests = |passed, failed| Some(TestOutcome { passed, failed, names: Vec::new() });
    for (outcome, expected) in [(tests(0, 0), None), (tests(3, 0), Some(true)), (tests(3, 1), Some(false))] {
        let mut miner = SignalMiner::default();
        returned(&mut miner, 1, "pytest", ReturnOutcome::Passed, outcome);
        assert_eq!(miner.end_trajectory(), expected);
    }
    let mut miner = SignalMiner::default();
    returned(&mut miner, 1, "pytest", broken(), None);
    returned(&mut miner, 2, "pytest", ReturnOutcome::Passed, tests(0, 0));
    assert_eq!(miner.end_trajectory(), Some(false));
    assert!(miner.finish().0.iter().all(|signal| signal.kind != SignalKind::FlakyTest));
}

#[test]
fn the_failures_met_most_often_are_told() {
    let texts: Vec<String> = (0..205).map(|n| format!("TypeError: thing_{} is not a function", letters(n))).collect();
    let mut session: Vec<Does<'_>> = Vec::new();
    for text in &texts {
        session.extend([Fails("node app.js", text), Fails("node app.js", text), Fails("node app.js", text)]);
    }
    session.extend((0..9).map(|_| Fails("node app.js", "KeyError: 'the real one'")));
    session.extend([Fails("node app.js", &texts[110]), Runs("ls", "a")]);
    let repeated = of_kind(&session, SignalKind::RepeatedFailure);
    let times: Vec<u32> = repeated.iter().map(|signal| signal.times).filter(|times| *times > 3).collect();
    assert_eq!((repeated.len(), times.as_slice()), (MAX_OF_A_KIND, &[9, 4][..]));
}

/// A number in letters, which no mask takes for a number.
fn letters(number: u32) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

#[test]
fn a_failure_is_counted_as_often_as_it_came() {
    let cannot = |step: &'static str| Fails("make deploy", step);
    let session = [
        cannot("curl: (7) Failed to connect to 10.0.0.7 port 8080 after 12 ms"),
        Edits("a", "b", "c"),
        cannot("curl: (7) Failed to connect to 10.0.0.9 port 9090 after 3 ms"),
    ];
    let told: Vec<(u32, Vec<u32>)> =
        of_kind(&session, SignalKind::FailedCall).into_iter().map(|signal| (signal.times, signal.steps)).collect();
    assert_eq!(told, [(2, vec![1, 3])]);
}
