use super::super::test_support::Session;
use crate::domain::{DropReason, ToolOutput};

#[test]
fn a_check_that_ran_out_of_time_is_not_flaky() {
    let session =
        Session::new("go").fails("cargo check --quiet", "command timed out").passes("cargo check --quiet", "");
    let distillate = session.distil();
    assert!(!distillate.claims.iter().any(|claim| claim.summary.contains("flaky")), "{:?}", distillate.claims);
    assert!(distillate.dropped.iter().any(|one| one.why == DropReason::OneOff));
}

#[test]
fn what_was_made_ready_between_is_no_chance() {
    let run = "npx playwright test e2e/login.spec.ts";
    let red = "Running 1 test using 1 worker\n\n  1) login.spec.ts:3:1 › logs in\n\n    Error: browserType.launch: Executable doesn't exist at /x/chrome\n\n  1 failed";
    let claims = Session::new("go")
        .fails(run, red)
        .passes("npx playwright install chromium", "Chromium downloaded")
        .passes(run, "Running 1 test using 1 worker\n  1 passed (2.1s)")
        .claims();
    assert_eq!(claims.len(), 1, "{claims:?}");
    assert!(claims[0].summary.contains("`npx playwright install chromium`"), "{}", claims[0].summary);
}

#[test]
fn every_runner_can_have_a_flaky_test() {
    let red = "✖ retries on reset (12.1ms)\n  AssertionError [ERR_ASSERTION]: 1 == 2\nℹ tests 4\nℹ pass 3\nℹ fail 1";
    let green = "✔ retries on reset (10.1ms)\nℹ tests 4\nℹ pass 4\nℹ fail 0";
    let claims = Session::new("go").fails("node --test", red).passes("node --test", green).claims();
    assert!(claims[0].summary.starts_with("`retries on reset` is flaky"), "{}", claims[0].summary);
    let told = Session::new("go").fails("node --test", red).user("I mended it, try again").passes("node --test", green);
    assert!(!told.claims().iter().any(|claim| claim.summary.contains("flaky")));
}

#[test]
fn what_waits_on_purpose_is_not_slow() {
    let waits = |session: Session| {
        let output = ToolOutput { text: "ok".to_owned(), duration_ms: Some(300_000), ..ToolOutput::default() };
        session.call("Bash", serde_json::json!({"command": "sleep 300 && make status-report"}), output)
    };
    assert!(waits(waits(Session::new("go"))).claims().is_empty());
}

#[test]
fn a_test_that_only_a_mark_names_is_flaky_too() {
    let green = "  ✓  3 [chromium] › board.spec.ts:33:3 › board › drags a card (2.8s)\n\n  4 passed (19.7s)\n";
    let red = "  ✘  3 [chromium] › board.spec.ts:33:3 › board › drags a card (7.1s)\n\n    Error: expect(locator).toHaveCount(expected)\n\n  1 failed\n  3 passed (31.2s)\n";
    let run = "npx playwright test board.spec.ts";
    let claims = super::super::test_support::Session::new("go").passes(run, green).fails(run, red).claims();
    assert!(
        claims[0].summary.starts_with("`board.spec.ts:33:3 › board › drags a card` is flaky"),
        "{}",
        claims[0].summary
    );
}
