use super::*;

#[test]
fn a_failure_is_read_behind_what_hides_its_exit_code() {
    let failed = "E   assert 1 == 2\nFAILED tests/a.py::b - assert 1 == 2\n1 failed in 0.1s\n";
    let headline = "FAILED tests/a.py::b - assert 1 == 2";
    for command in ["pytest | tail -5", "pytest || true", "pytest; true", "pytest > log 2>&1; tail -5 log"] {
        check(exited(0), "Bash", command, failed, FailureClass::Test, headline);
    }
    check(exited(0), "Bash", "cat a.py; pytest | tail -3", failed, FailureClass::Test, headline);
    check(exited(0), "Bash", "./deploy; echo \"EXIT: $?\"", "copying\nEXIT: 3\n", FailureClass::Command, "copying");
    check(exited(0), "Bash", "./deploy; echo $?", "3\n", FailureClass::Command, "Exit code 3");
    check(
        exited(1),
        "Bash",
        "cargo build && grep -n x y",
        "error[E0382]: moved\n",
        FailureClass::Compile,
        "error[E0382]: moved",
    );
    check(
        exited(1),
        "Bash",
        "grep -rn x --include=*.go .",
        "(eval):1: no matches found: --include=*.go",
        FailureClass::NotFound,
        "(eval):1: no matches found: --include=*.go",
    );
}

#[test]
fn findings_of_a_linter_are_told_from_a_linter_that_cannot_run() {
    for (command, output) in [
        ("golangci-lint run", "a/b.go:12:4: Error return value is not checked (errcheck)\n"),
        (
            "cargo clippy -- -D warnings",
            "error: this could be simpler\n --> src/a.rs:3:5\nerror: could not compile `a`\n",
        ),
        ("cargo fmt --check", "Diff in /a/src/b.rs:12:\n-x\n+y\n"),
        ("npx prettier --check .", "Checking formatting...\n[warn] a.ts\n"),
        ("ruff check .", "a.py:1:1: F401 `os` imported but unused\nFound 1 error.\n"),
    ] {
        let failure = detect_failure("Bash", Some(command), &exited(1), output).unwrap();
        assert!(failure.class == FailureClass::Lint && failure.is_disregarded(), "{command}: {failure:?}");
    }
    for (command, code, output) in [
        ("ruff check .", 127, "bash: ruff: command not found"),
        ("npm run lint", 1, "npm ERR! Missing script: \"lint\"\n"),
        ("npx eslint .", 2, "Oops! Something went wrong! :(\nESLint couldn't find a configuration file.\n"),
        ("cargo clippy", 101, "error[E0425]: cannot find value `x`\n --> src/a.rs:3:5\n"),
        ("mypy .", 1, "a.py:3: error: Incompatible types\nFound 1 error in 1 file (checked 3 source files)\n"),
    ] {
        let failure = detect_failure("Bash", Some(command), &exited(code), output).unwrap();
        assert!(!failure.is_disregarded(), "{command}: {failure:?}");
    }
}

#[test]
fn the_headline_is_the_error_and_not_a_warning_before_it() {
    for (output, class, headline) in [
        (
            "WARNING: apt does not have a stable CLI interface.\n\nE: Unable to locate package isoinfo\n\nReading lists...",
            FailureClass::Command,
            "E: Unable to locate package isoinfo",
        ),
        (
            "WARNING: Retrying after connection timed out\nERROR: No matching distribution found for x",
            FailureClass::Command,
            "ERROR: No matching distribution found for x",
        ),
        (
            "npm warn deprecated a@1: does not work\nnpm error Missing script: \"x\"",
            FailureClass::Command,
            "npm error Missing script: \"x\"",
        ),
        (
            "(node:46002) [MODULE_TYPELESS] Warning: Module type of a.ts is not specified.\nx.ts: 2 errors cannot be fixed",
            FailureClass::Command,
            "x.ts: 2 errors cannot be fixed",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\"\n\n... [133 characters truncated] ...\nValueError: no",
            FailureClass::Exception,
            "ValueError: no",
        ),
    ] {
        check(FLAGGED, "Bash", "./install", output, class, headline);
    }
}
