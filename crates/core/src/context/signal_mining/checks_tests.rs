use super::*;

/// What is said at the end of runs, each with its folder and whether it passed.
fn verdict(runs: &[(&str, Option<&str>, bool)]) -> Option<bool> {
    let mut checks = CheckTracker::default();
    for (step, (command, folder, has_passed)) in (1..).zip(runs) {
        checks.record_check(StepPlace { trajectory: 0, step }, *folder, command, *has_passed);
    }
    checks.final_verdict().map(|(passed, ..)| passed)
}

#[test]
fn all_is_well_if_no_check_failed_last() {
    let run = |command, passed| (command, None, passed);
    assert_eq!(verdict(&[]), None);
    assert_eq!(verdict(&[run("pytest", true)]), Some(true));
    assert_eq!(verdict(&[run("pytest", false), run("pytest -q", true)]), Some(true));
    assert_eq!(verdict(&[run("pytest", false), run("npx prettier --check .", true)]), Some(false));
    assert_eq!(verdict(&[run("pytest tests/a.py", false), run("pytest tests/b.py", true)]), Some(false));
    assert_eq!(verdict(&[run("pytest tests/a.py", false), run("pytest", true)]), Some(true));
    assert_eq!(verdict(&[run("pytest", false), run("pytest tests/a.py", true)]), Some(false));
    assert_eq!(verdict(&[run("python -m pytest tests", false), run("uv run pytest", true)]), Some(true));
    assert_eq!(verdict(&[run("npm run test", false), run("npm test", true)]), Some(true));
    assert_eq!(verdict(&[run("cargo build", false), run("cargo test", true)]), Some(true));
    assert_eq!(verdict(&[run("cargo test", false), run("cargo build", true)]), Some(false));
    assert_eq!(verdict(&[run("npm run lint && npm test", false), run("npm test", true)]), Some(false));
    let both = [run("npm run lint && npm test", false), run("npm test", true), run("npm run lint", true)];
    assert_eq!(verdict(&both), Some(true));
}

#[test]
fn a_check_belongs_to_its_folder() {
    assert_eq!(verdict(&[("npm test", Some("web"), false), ("npm test", Some("api"), true)]), Some(false));
    assert_eq!(verdict(&[("npm test", Some("web"), false), ("npm test", Some("web"), true)]), Some(true));
    assert_eq!(verdict(&[("npm test", None, false), ("npm test", Some("web"), true)]), Some(true));
}
