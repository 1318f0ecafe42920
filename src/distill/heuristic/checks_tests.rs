use super::super::test_support::Session;
use crate::domain::{DropReason, Output};

#[test]
fn a_check_that_ran_out_of_time_is_not_flaky() {
    let session =
        Session::new("go").fails("cargo check --quiet", "command timed out").passes("cargo check --quiet", "");
    let distillate = session.distil();
    assert!(!distillate.claims.iter().any(|claim| claim.summary.contains("flaky")), "{:?}", distillate.claims);
    assert!(distillate.dropped.iter().any(|one| one.why == DropReason::OneOff));
}

#[test]
fn what_waits_on_purpose_is_not_slow() {
    let waits = |session: Session| {
        let output = Output { text: "ok".to_owned(), duration_ms: Some(300_000), ..Output::default() };
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
