use super::super::test_support::Does::{Agent, Calls, Edits, Fails, Reads, Runs, Stop, System, User};
use super::super::test_support::{Does, events, gather, gather_events};
use super::*;
use crate::domain::{SessionDetails, SessionOutcome, TrajectoryEvent};

const RED: &str = "test result: FAILED. 1 passed; 1 failed; 0 ignored";
const GREEN: &str = "test result: ok. 2 passed; 0 failed; 0 ignored";
const EDIT: Does<'static> = Edits("src/cart.rs", "a", "b");

fn judge(gathered: &GatheredLogs) -> (String, String) {
    let JudgedStatus { status, basis } = judge_status(gathered, None);
    (status.to_string(), basis.to_string())
}

fn check(table: &[(&[Does<'_>], &str, &str)]) {
    for (number, (session, status, basis)) in table.iter().enumerate() {
        assert_eq!(judge(&gather(session)), ((*status).to_owned(), (*basis).to_owned()), "row {number}");
    }
}

#[test]
fn a_check_counts_when_it_follows_the_last_change() {
    let lint = || Runs("pnpm lint", "Found 0 warnings and 0 errors.");
    check(&[
        (&[User("Mend it"), EDIT, Runs("cargo test", GREEN), Agent("Done.")], "success", "check"),
        (&[User("Mend it"), EDIT, Fails("cargo test", RED), Agent("Done.")], "failed", "check"),
        (&[User("Mend it"), Runs("cargo test", GREEN), EDIT, Agent("Done.")], "partial", "claim"),
        (&[User("Mend it"), EDIT, lint(), Agent("Done.")], "success", "check"),
        (&[User("Test it"), Fails("cargo test", RED)], "failed", "check"),
        (&[User("Test it"), Fails("cargo test", RED), Agent("The cart works now.")], "failed", "check"),
        (&[User("Review it"), Runs("cargo test", GREEN), Agent("Two remarks.")], "success", "answer"),
        (&[User("Mend it"), EDIT, Runs("cargo fmt", ""), Agent("Done.")], "partial", "claim"),
        // No check covers a document.
        (
            &[User("x"), EDIT, Runs("cargo test", GREEN), Edits("README.md", "a", "b"), Agent("Done.")],
            "success",
            "check",
        ),
        // A check that could not start shows nothing, and neither does an error in a file that was never changed.
        (
            &[User("x"), EDIT, Fails("npx eslint .", "sh: 1: eslint: command not found"), Agent("Done.")],
            "partial",
            "claim",
        ),
        (
            &[
                User("Mend it"),
                EDIT,
                Fails("npx tsc --noEmit", "demo/old.ts(29,13): error TS2322: Type 'string' is not assignable."),
                Agent("Done."),
            ],
            "partial",
            "claim",
        ),
        (
            &[
                User("Review it"),
                Reads("cart.go"),
                Fails(
                    "go test ./...",
                    "panic: httptest: failed to listen on a port: bind: operation not permitted\nFAIL",
                ),
                Agent("Two remarks."),
            ],
            "success",
            "answer",
        ),
        // The linter had nothing against it when the person complained; a test run is another matter.
        (
            &[User("x"), EDIT, lint(), Agent("Done."), User("its still there"), EDIT, lint(), Agent("Done.")],
            "partial",
            "claim",
        ),
        (
            &[
                User("x"),
                EDIT,
                lint(),
                Agent("Done."),
                User("its still there"),
                EDIT,
                Runs("cargo test", GREEN),
                Agent("y"),
            ],
            "success",
            "check",
        ),
    ]);
}

#[test]
fn without_anything_to_show_for_it_a_session_is_partial() {
    check(&[
        (&[], "aborted", "nothing"),
        (&[User("hi")], "aborted", "nothing"),
        (&[User("hi"), Agent("done")], "partial", "claim"),
        (&[User("Mend it"), EDIT, Agent("All fixed, production ready!")], "partial", "claim"),
        (&[User("Mend it"), EDIT], "partial", "nothing"),
        (&[Fails("./deploy.sh", "bash: ./deploy.sh: No such file or directory")], "partial", "nothing"),
        (&[User("Count them"), Runs("python3 count.py", "4"), Agent("There are 4.")], "partial", "claim"),
        (&[User("Deploy"), EDIT, Agent("I could not reach the server.")], "failed", "claim"),
        (&[User("Mend it"), EDIT, Agent("Fixed: users cannot log in twice any more.")], "partial", "claim"),
    ]);
}

#[test]
fn results_answers_and_the_person_show_success_too() {
    let commit = || Runs("git commit -am x", "[main 1a2b3c4] x");
    check(&[
        (&[User("Commit it"), EDIT, commit(), Agent("Done.")], "success", "result"),
        (&[User("Commit it"), commit(), EDIT, Agent("Done.")], "partial", "claim"),
        (&[User("Write it up"), Edits("docs/plan.md", "a", "b"), Agent("Written.")], "success", "result"),
        (
            &[
                User("Mend it"),
                EDIT,
                Agent("Done."),
                System("/changelog"),
                Runs("git log \"$(git tag | head -1)\"", "v1"),
                Edits("CHANGELOG.md", "a", "b"),
                Agent("Written."),
            ],
            "success",
            "result",
        ),
        (&[User("What does it do?"), Reads("src/cart.rs"), Agent("It adds.")], "success", "answer"),
        (
            &[User("Mend it"), EDIT, Agent("Done."), User("Thanks, what is next?"), Agent("The tests.")],
            "success",
            "person",
        ),
        (&[User("Mend it"), EDIT, Agent("Done."), User("No, that is wrong"), Agent("Sorry.")], "failed", "person"),
        (
            &[User("Mend it"), EDIT, Runs("cargo test", GREEN), Agent("Done."), User("No, use decimals")],
            "partial",
            "person",
        ),
    ]);
}

#[test]
fn a_session_that_was_broken_off_is_aborted() {
    check(&[
        (&[User("hi"), Agent("working"), Stop, User("stop that")], "aborted", "interrupted"),
        (
            &[User("Build it"), Calls("Workflow", "Workflow launched in background. Task ID: 1"), Agent("I wait.")],
            "aborted",
            "interrupted",
        ),
        (
            &[
                User("Build it"),
                Calls("Workflow", "Workflow launched in background. Task ID: 1"),
                System("The workflow ended."),
                Runs("cargo test", GREEN),
                Agent("Done."),
            ],
            "success",
            "check",
        ),
        (&[User("Colour it"), Calls("Task", "The background is blue."), Agent("Blue.")], "success", "answer"),
    ]);
    let mut open = events(&[User("Mend it"), EDIT, Runs("cargo test", GREEN), Runs("cargo build", "")]);
    open.pop();
    assert_eq!(judge(&gather_events(open)), ("aborted".to_owned(), "interrupted".to_owned()));
}

#[test]
fn what_somebody_says_about_a_session_counts_before_what_it_shows() {
    let told = |status: EpisodeStatus, reward: Option<f64>, from: &str| {
        let mut events = events(&[User("Mend it"), EDIT, Fails("cargo test", RED), Agent("Done.")]);
        events.push(TrajectoryEvent::Outcome(SessionOutcome { status, reward, error: None, from: from.to_owned() }));
        gather_events(events)
    };
    let owned = |status: &str, basis: &str| (status.to_owned(), basis.to_owned());
    assert_eq!(judge(&told(EpisodeStatus::Success, None, "result.json")), owned("success", "caller"));
    assert_eq!(judge(&told(EpisodeStatus::Success, Some(1.0), "result.json")), owned("success", "verifier"));
    // That a turn ended in good order says nothing about the work.
    assert_eq!(judge(&told(EpisodeStatus::Success, None, "result")), owned("failed", "check"));
    let judged = judge_status(&told(EpisodeStatus::Failed, Some(0.0), "result.json"), Some(&EpisodeStatus::Partial));
    assert_eq!(judged, JudgedStatus { status: EpisodeStatus::Partial, basis: StatusBasis::Caller });
}

#[test]
fn what_another_agent_changed_is_no_mere_answer() {
    let mut all = events(&[User("Mend it"), Calls("Task", "It is mended."), Agent("Mended.")]);
    assert_eq!(judge(&gather_events(all.clone())).1, "answer");
    all.push(TrajectoryEvent::Begin);
    let about = SessionDetails { parent_session_id: Some("s-1".to_owned()), ..SessionDetails::default() };
    all.push(TrajectoryEvent::About(Box::new(about)));
    all.extend(events(&[User("Mend it"), EDIT, Agent("Mended.")]));
    assert_eq!(judge(&gather_events(all)), ("partial".to_owned(), "claim".to_owned()));
}
