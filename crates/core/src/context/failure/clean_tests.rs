use proptest::prelude::*;

use super::LoggedResult;
use super::detect_failure;

const SILENT: LoggedResult = LoggedResult { failed: None, exit_code: None, interrupted: false };
const FLAGGED: LoggedResult = LoggedResult { failed: Some(true), exit_code: None, interrupted: false };
const FINE: LoggedResult = LoggedResult { failed: Some(false), exit_code: None, interrupted: false };

fn exited(code: i32) -> LoggedResult {
    LoggedResult { exit_code: Some(code), ..SILENT }
}

fn clean(told: LoggedResult, tool: &str, command: &str, output: &str) {
    let command = Some(command).filter(|command| !command.is_empty());
    assert_eq!(detect_failure(tool, command, &told, output), None, "{tool} {command:?}\n{output}");
}

/// Tool, command, output: none of them failed.
const CLEAN: &[(&str, &str, &str)] = &[
    ("Bash", "cargo test", "test errors::a ... ok\n\ntest result: ok. 3 passed; 0 failed; 0 ignored\n"),
    ("Bash", "npm run lint", "0 errors, 0 warnings"),
    ("Bash", "mypy .", "Success: no issues found in 3 source files"),
    ("Bash", "grep -rn 'error: ' src", "src/a.rs:3:    println!(\"error: could not compile\");\nsrc/b.rs:error: x"),
    ("Bash", "cat log.txt", "Traceback (most recent call last):\n  File \"x\"\nValueError: no\n"),
    ("Bash", "tail -50 build.log", "error[E0382]: x\nerror: could not compile `a`\n"),
    ("Bash", "git log --oneline", "a1b2c3d fix: error handling\nerror: no"),
    ("Bash", "sed -n 1,5p a.rs", "panicked at x\nerror: no\n"),
    ("shell", "bash -lc \"rg -n 'rate limit' .\"", "a.md:3: Error: rate limit exceeded"),
    ("Read", "", "     1\tError: something\n     2\tTraceback (most recent call last):\n"),
    ("Grep", "", "a.py:3:raise ValueError('command not found')"),
    ("WebFetch", "", "Error 429: too many requests means that you hit the rate limit"),
    ("web_fetch", "", "{\"url\": \"x\", \"status\": 200, \"text\": \"Error: rate limit exceeded\"}"),
    ("view_file", "", "error: could not compile"),
    ("Bash", "ls", "error.rs\nfailed_tests.txt\nnot found.md\n"),
    ("Bash", "python x.py", "handled 3 errors\nno errors found\n"),
    ("Bash", "python x.py", "Error handling is on\nall is well\nnothing failed\n"),
    ("exec_command", "bun test", "12 tests passed"),
    ("exec_command", "x", "Process exited with code 0\nOutput:\nerror: this is only text\n"),
    ("shell", "cat README.md", "{\"output\":\"# Error: x\",\"metadata\":{\"exit_code\":0}}"),
    ("execute_code", "", "{\"status\": \"success\", \"output\": \"Old text not found - let me search\\n\"}"),
    ("Task", "", "I fixed the rate limit handling; the test for Command timed out is green."),
    ("Agent", "", "The report.\n\nError: 429 is what the server used to say.\n"),
    ("Edit", "", "The file /a/error.rs has been updated."),
    ("TodoWrite", "", "Todos have been modified successfully: fix error: x"),
    ("Bash", "find / -name x 2>&1 | head", "find: '/root': Permission denied\n/usr/x\n"),
    (
        "Bash",
        "cargo test 2>&1 | tail -3",
        "error: this was printed by a test\ntest result: ok. 3 passed; 0 failed; 0 ignored\n",
    ),
    ("Bash", "git diff", "+error[E0382]: x\n-Traceback (most recent call last):\n"),
    ("bash", "echo 'bash: foo: command not found' > x", ""),
    ("Bash", "docker logs web", "ERROR: connection refused\nTypeError: x is not a function\n"),
    ("Bash", "go test ./...", "ok  \tx/y\t0.1s\n"),
    ("Bash", "curl -s http://x", "{\"error\": \"not found\"}"),
    ("Read", "", "{\"status\": \"error\", \"content\": \"x\"}"),
];

#[test]
fn mere_talk_of_errors_is_no_failure() {
    for (tool, command, output) in CLEAN {
        clean(SILENT, tool, command, output);
    }
    for output in
        ["error: x", "Traceback (most recent call last):\nValueError: x", "npm ERR! x", "FAILED tests/a.py::b"]
    {
        clean(exited(0), "Bash", "cargo run", output);
        clean(FINE, "Bash", "python x.py", output);
        clean(FINE, "Read", "", output);
    }
}

#[test]
fn an_exit_code_that_answers_is_no_failure() {
    clean(exited(1), "Bash", "grep foo bar", "");
    clean(exited(1), "Bash", "cd x && rg foo | head", "");
    clean(FLAGGED, "Bash", "grep foo bar", "Exit code 1");
    clean(exited(1), "Bash", "diff a b", "1c1\n< error: a\n---\n> error: b\n");
    clean(exited(1), "Bash", "test -f x", "");
    clean(exited(1), "Bash", "[ -d y ] && ls y", "");
    clean(exited(1), "Bash", "git diff --quiet", "");
    clean(exited(1), "Bash", "od -c x | grep match", "\n\n(Command exited with code 1)");
    clean(exited(141), "Bash", "yes | head -1", "y");
    clean(exited(2), "Bash", "ls build dist", "ls: cannot access 'dist': No such file or directory\nbuild/x");
    clean(FLAGGED, "Bash", "ls dist", "ls: cannot access 'dist': No such file or directory");
    clean(exited(1), "Bash", "which jq; command -v yq", "/usr/bin/jq");
    clean(exited(127), "Bash", "node --version", "bash: line 1: node: command not found");
    clean(exited(1), "Bash", "cat a.rs && grep -n error b.rs", "fn f() {}\nerror: no\n");
    clean(
        exited(2),
        "Bash",
        "rg -n 'error: ' src nope",
        "src/a.rs:3:error: x\nrg: nope: No such file or directory (os error 2)",
    );
    clean(exited(1), "Bash", "git diff --exit-code", "-error: a\n+error: b");
    clean(exited(8), "Bash", "gh pr checks 12", "build\tpending\t0\thttps://x\n");
    clean(
        exited(0),
        "Bash",
        "for i in 1 2; do curl -sf x:1 && break; sleep 1; done; ./run",
        "curl: (7) Failed to connect to x\nup\n",
    );
}

#[test]
fn a_file_shown_beside_other_work_is_no_failure() {
    let shown = "Traceback (most recent call last):\n  File \"x\"\nValueError: no\n";
    let filler = "an ordinary line of text\n".repeat(60);
    clean(exited(0), "Bash", "make; cat old.log", &format!("built\n{filler}{shown}"));
    clean(exited(0), "Bash", "git log -3; make | tail -3", &format!("{shown}{filler}built\n"));
    clean(exited(0), "Bash", "python x.py || true; rg -n Error src", &format!("done\n{filler}{shown}"));
}

proptest! {
    #[test]
    fn nothing_panics(tool in "Bash|Read|Edit|Task|x", command in any::<Option<String>>(), failed in any::<Option<bool>>(), code in any::<Option<i32>>(), interrupted in any::<bool>(), output in any::<String>()) {
        let told = LoggedResult { failed, exit_code: code, interrupted };
        if let Some(failure) = detect_failure(&tool, command.as_deref(), &told, &output) {
            prop_assert!(!failure.headline.trim().is_empty());
            prop_assert!(failure.headline.chars().count() <= 300);
        }
    }

    #[test]
    fn nothing_panics_on_lookalikes(output in "(error: |Traceback \\(most recent call last\\):|\n|  |thread 'a' panicked at |:|\\{\"exit_code\":|é|\u{1b}\\[31m|FAILED |not ok |Exit code |[0-9]|Tests: |failed|\\}){0,30}", command in "(bash -lc |'|\"|cargo test|<<E\n|\\||&&|;|\\\\|é| ){0,12}") {
        let _ = detect_failure("Bash", Some(&command), &SILENT, &output);
        let _ = detect_failure("Bash", Some(&command), &FLAGGED, &output);
        let _ = crate::context::failure::read_test_outcome(&output);
    }
}
