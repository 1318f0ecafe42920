use super::Class;
use super::Failure;
use super::Told;
use super::read;

const SILENT: Told = Told { failed: None, exit_code: None, interrupted: false };
const FLAGGED: Told = Told { failed: Some(true), exit_code: None, interrupted: false };
const FINE: Told = Told { failed: Some(false), exit_code: None, interrupted: false };

fn exited(code: i32) -> Told {
    Told { exit_code: Some(code), ..SILENT }
}

fn check(told: Told, tool: &str, command: &str, output: &str, class: Class, headline: &str) {
    let command = Some(command).filter(|command| !command.is_empty());
    let found = read(tool, command, &told, output).map(|failure| (failure.class, failure.headline));
    assert_eq!(found, Some((class, headline.to_owned())), "{tool} {command:?}\n{output}");
}

/// Nothing tells but the text: tool, command, output, class, headline.
const SPEAKING_FOR_ITSELF: &[(&str, &str, &str, Class, &str)] = &[
    // Shells.
    ("bash", "foo", "bash: foo: command not found", Class::NotFound, "bash: foo: command not found"),
    ("exec", "file x", "/usr/bin/sh: 1: file: not found\n", Class::NotFound, "/usr/bin/sh: 1: file: not found"),
    ("shell", "bun x", "zsh: command not found: bun", Class::NotFound, "zsh: command not found: bun"),
    (
        "Bash",
        "cat nope",
        "cat: nope: No such file or directory",
        Class::NotFound,
        "cat: nope: No such file or directory",
    ),
    ("Bash", "./x.sh", "bash: ./x.sh: Permission denied", Class::Permission, "bash: ./x.sh: Permission denied"),
    (
        "Bash",
        "git status",
        "fatal: not a git repository (or any of the parent directories): .git",
        Class::Command,
        "fatal: not a git repository (or any of the parent directories): .git",
    ),
    ("terminal", "./a.out", "Segmentation fault (core dumped)", Class::Exception, "Segmentation fault (core dumped)"),
    ("terminal", "python big.py", "loading\nKilled\n", Class::Resource, "Killed"),
    (
        "terminal",
        "curl http://x",
        "curl: (6) Could not resolve host: x",
        Class::Network,
        "curl: (6) Could not resolve host: x",
    ),
    (
        "Bash",
        "tar --frob",
        "tar: unrecognized option '--frob'\nTry 'tar --help'",
        Class::Command,
        "tar: unrecognized option '--frob'",
    ),
    // Python.
    (
        "exec",
        "python a.py",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nValueError: bad value\n",
        Class::Exception,
        "ValueError: bad value",
    ),
    (
        "exec",
        "python a.py",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 2\nRuntimeError: no x\n",
        Class::Exception,
        "RuntimeError: no x",
    ),
    (
        "exec",
        "python a.py",
        "  File \"a.py\", line 1\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n",
        Class::Compile,
        "SyntaxError: invalid syntax",
    ),
    (
        "terminal",
        "python -m pytest",
        "/usr/bin/python: No module named pytest",
        Class::NotFound,
        "/usr/bin/python: No module named pytest",
    ),
    (
        "exec",
        "python a.py",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nModuleNotFoundError: No module named 'pytz'\n",
        Class::NotFound,
        "ModuleNotFoundError: No module named 'pytz'",
    ),
    (
        "exec",
        "pytest",
        "E       assert 1 == 2\nFAILED tests/test_a.py::test_x - assert 1 == 2\n==== 1 failed, 3 passed in 0.1s ====\n",
        Class::Test,
        "FAILED tests/test_a.py::test_x - assert 1 == 2",
    ),
    (
        "exec",
        "python -m unittest",
        "FAIL: test_x (t.Case)\nTraceback (most recent call last):\n  File \"t.py\", line 3\nAssertionError: 1 != 2\n\nRan 1 test in 0.0s\n\nFAILED (failures=1)\n",
        Class::Test,
        "AssertionError: 1 != 2",
    ),
    // Rust.
    (
        "Bash",
        "cargo build",
        "error[E0382]: use of moved value: `x`\n --> src/a.rs:3:5\nerror: could not compile `a` (lib) due to 1 previous error\n",
        Class::Compile,
        "error[E0382]: use of moved value: `x`",
    ),
    (
        "Bash",
        "cargo build",
        "\u{1b}[1m\u{1b}[31merror[E0425]\u{1b}[0m: cannot find value `y`\nerror: could not compile `a`\n",
        Class::Compile,
        "error[E0425]: cannot find value `y`",
    ),
    (
        "Bash",
        "cargo test",
        "test a::b ... FAILED\n\n---- a::b stdout ----\nthread 'a::b' panicked at src/a.rs:9:5:\nassertion `left == right` failed: sums\n  left: 1\n right: 2\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
        Class::Test,
        "assertion `left == right` failed: sums",
    ),
    (
        "Bash",
        "cargo test",
        "thread 'a::b' panicked at src/a.rs:9:5:\nassertion `left == right` failed\n  left: 1\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
        Class::Test,
        "thread 'a::b' panicked at src/a.rs:9:5:",
    ),
    (
        "Bash",
        "cargo run",
        "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds: the len is 0\nnote: run with `RUST_BACKTRACE=1`\n",
        Class::Exception,
        "index out of bounds: the len is 0",
    ),
    // JavaScript.
    (
        "Bash",
        "npx tsc",
        "src/a.ts(3,5): error TS2345: Argument of type 'string' is not assignable\n",
        Class::Compile,
        "src/a.ts(3,5): error TS2345: Argument of type 'string' is not assignable",
    ),
    (
        "Bash",
        "npx tsc",
        "src/a.ts:3:5 - error TS2304: Cannot find name 'x'.\n\nFound 1 error in src/a.ts:3\n",
        Class::Compile,
        "src/a.ts:3:5 - error TS2304: Cannot find name 'x'.",
    ),
    (
        "Bash",
        "node a.js",
        "/a/a.js:1\nx()\n^\n\nReferenceError: x is not defined\n    at Object.<anonymous> (/a/a.js:1:1)\n",
        Class::Exception,
        "ReferenceError: x is not defined",
    ),
    (
        "Bash",
        "npm test",
        "  ● sum › adds\n\n    expect(received).toBe(expected)\n\nTests:       1 failed, 3 passed, 4 total\n",
        Class::Test,
        "● sum › adds",
    ),
    (
        "Bash",
        "npm run nope",
        "npm ERR! Missing script: \"nope\"\nnpm ERR! A complete log of this run can be found in: /x\n",
        Class::Command,
        "npm ERR! Missing script: \"nope\"",
    ),
    ("Bash", "bun test", "(fail) a > c [0.52ms]\n\n 1 pass\n 1 fail\n", Class::Test, "(fail) a > c [0.52ms]"),
    (
        "Bash",
        "node a.js",
        "Error: Cannot find module './x'\nRequire stack:\n- /a.js\n",
        Class::Command,
        "Error: Cannot find module './x'",
    ),
    (
        "Bash",
        "npx eslint .",
        "/a/x.js\n  1:5  error  'y' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n✖ 2 problems (1 error, 1 warning)\n",
        Class::Lint,
        "1:5  error  'y' is not defined  no-undef",
    ),
    // Go, C, Java, Ruby, PHP, Elixir.
    ("Bash", "go build", "# x\n./a.go:3:5: undefined: foo\n", Class::Compile, "./a.go:3:5: undefined: foo"),
    (
        "Bash",
        "go test ./...",
        "--- FAIL: TestA (0.00s)\n    a_test.go:7: got 1\nFAIL\nFAIL\tx\t0.1s\n",
        Class::Test,
        "--- FAIL: TestA (0.00s)",
    ),
    (
        "Bash",
        "go run .",
        "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\n",
        Class::Exception,
        "panic: runtime error: index out of range [3] with length 3",
    ),
    (
        "Bash",
        "gcc a.c",
        "a.c: In function 'main':\na.c:3:5: error: expected ';' before 'return'\n",
        Class::Compile,
        "a.c:3:5: error: expected ';' before 'return'",
    ),
    (
        "Bash",
        "make",
        "a.c:1:10: fatal error: x.h: No such file or directory\nmake: *** [Makefile:3: a.o] Error 1\n",
        Class::Compile,
        "a.c:1:10: fatal error: x.h: No such file or directory",
    ),
    (
        "Bash",
        "java A",
        "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat A.main(A.java:3)\n",
        Class::Exception,
        "Exception in thread \"main\" java.lang.IllegalStateException: no",
    ),
    (
        "Bash",
        "ruby a.rb",
        "a.rb:3:in 'f': undefined method 'x' for nil (NoMethodError)\n",
        Class::Exception,
        "a.rb:3:in 'f': undefined method 'x' for nil (NoMethodError)",
    ),
    (
        "Bash",
        "php a.php",
        "PHP Fatal error:  Uncaught Error: no in /a.php:3\n",
        Class::Exception,
        "PHP Fatal error:  Uncaught Error: no in /a.php:3",
    ),
    (
        "Bash",
        "mypy .",
        "a.py:3: error: Incompatible types in assignment  [assignment]\nFound 1 error in 1 file (checked 3 source files)\n",
        Class::Compile,
        "a.py:3: error: Incompatible types in assignment  [assignment]",
    ),
    // Services and limits.
    (
        "Task",
        "",
        "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}",
        Class::RateLimit,
        "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}",
    ),
    (
        "Agent",
        "",
        "prompt is too long: 210000 tokens > 200000 maximum",
        Class::ContextWindow,
        "prompt is too long: 210000 tokens > 200000 maximum",
    ),
    (
        "exec",
        "./agent",
        "Error: This model's maximum context length is 8192 tokens",
        Class::ContextWindow,
        "Error: This model's maximum context length is 8192 tokens",
    ),
    ("Bash", "sleep 999", "Command timed out after 2m 0.0s", Class::Timeout, "Command timed out after 2m 0.0s"),
    (
        "shell",
        "bash -lc cargo check",
        "failed in sandbox None with execution error: command timed out",
        Class::Timeout,
        "failed in sandbox None with execution error: command timed out",
    ),
    (
        "Bash",
        "psql",
        "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused",
        Class::Network,
        "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused",
    ),
    (
        "Bash",
        "node x.js",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
        Class::Resource,
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
    ),
    (
        "edit",
        "",
        "{\"status\": \"error\", \"tool\": \"edit\", \"error\": \"Could not find the exact text in /a/x.py. It must match.\"}",
        Class::Edit,
        "Could not find the exact text in /a/x.py. It must match.",
    ),
    ("shell", "sleep 9", "aborted by user after 3.1s", Class::Harness, "aborted by user after 3.1s"),
    // Exit codes in the text.
    ("Bash", "make", "Exit code 2\nsomething odd happened here", Class::Command, "something odd happened here"),
    (
        "exec_command",
        "x",
        "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nthe end",
        Class::Command,
        "the end",
    ),
    (
        "shell",
        "x",
        "Exit code: 101\nWall time: 1 seconds\nOutput:\nerror: no such command: `frob`\n",
        Class::NotFound,
        "error: no such command: `frob`",
    ),
    (
        "shell",
        "update_plan",
        "{\"output\":\"bash: line 1: update_plan: command not found\\n\",\"metadata\":{\"exit_code\":127,\"duration_seconds\":0.0}}",
        Class::NotFound,
        "bash: line 1: update_plan: command not found",
    ),
    ("Bash", "x", "it went wrong\n[error] tool reported failure\n[metadata] {}", Class::Command, "it went wrong"),
    ("exec", "python x.py", "half done\n\n(Command exited with code 1)", Class::Command, "half done"),
    ("Bash", "x", "nothing\n[exit_code] 4\n[metadata] {\"a\": 1}", Class::Command, "nothing"),
    // A pipe hides the exit code.
    (
        "shell",
        "cargo test 2>&1 | tail -3",
        "Exit code: 0\nOutput:\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n\nerror: test failed, to rerun pass `--lib`\n",
        Class::Test,
        "test result: FAILED. 1 passed; 2 failed; 0 ignored",
    ),
    (
        "terminal",
        "python x.py 2>&1 | head",
        "{\"output\": \"/usr/bin/python: No module named x\", \"exit_code\": 0, \"error\": null}",
        Class::NotFound,
        "/usr/bin/python: No module named x",
    ),
];

#[test]
fn failures_that_speak_for_themselves() {
    for (tool, command, output, class, headline) in SPEAKING_FOR_ITSELF {
        check(SILENT, tool, command, output, *class, headline);
    }
}

#[test]
fn failures_that_the_log_tells_of() {
    check(
        FLAGGED,
        "terminal-bench-task",
        "",
        "FM_MAX_CONTEXT_CHARS is not defined",
        Class::Command,
        "FM_MAX_CONTEXT_CHARS is not defined",
    );
    check(
        FLAGGED,
        "terminal-bench-task",
        "",
        "Foundation Models request failed: Exceeded model context window size",
        Class::ContextWindow,
        "Foundation Models request failed: Exceeded model context window size",
    );
    let unread = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>";
    check(
        FLAGGED,
        "Edit",
        "",
        unread,
        Class::Harness,
        "File has not been read yet. Read it first before writing to it.",
    );
    check(
        FLAGGED,
        "Edit",
        "",
        "String to replace not found in file.\nString: x",
        Class::Edit,
        "String to replace not found in file.",
    );
    check(FLAGGED, "Read", "", "File does not exist.", Class::NotFound, "File does not exist.");
    check(
        FLAGGED,
        "Read",
        "",
        "EISDIR: illegal operation on a directory, read",
        Class::Command,
        "EISDIR: illegal operation on a directory, read",
    );
    check(
        FLAGGED,
        "Bash",
        "cat log",
        "Exit code 1\ncat: log: No such file or directory",
        Class::NotFound,
        "cat: log: No such file or directory",
    );
    check(
        FLAGGED,
        "Bash",
        "cargo build",
        "Exit code 101\n   Compiling x\nerror: expected `;`\n",
        Class::Compile,
        "error: expected `;`",
    );
    check(FLAGGED, "Bash", "x", "", Class::Command, "no output");
    check(exited(7), "Bash", "x", "\n----\n", Class::Command, "Exit code 7");
    check(exited(124), "Bash", "timeout 5 x", "working", Class::Timeout, "working");
    check(exited(127), "Bash", "x", "", Class::NotFound, "Exit code 127");
    check(exited(137), "Bash", "x", "a\nb c\n", Class::Resource, "b c");
    check(
        exited(2),
        "Bash",
        "grep x y",
        "grep: y: No such file or directory",
        Class::NotFound,
        "grep: y: No such file or directory",
    );
    check(exited(1), "Bash", "grep x y && cargo build", "error[E0001]: no\n", Class::Compile, "error[E0001]: no");
    let stopped = Told { interrupted: true, ..SILENT };
    check(stopped, "Bash", "sleep 99", "one line", Class::Interrupted, "one line");
    check(stopped, "Bash", "sleep 99", "Command timed out after 2m", Class::Timeout, "Command timed out after 2m");
    check(
        FINE,
        "Bash",
        "cargo build 2>&1 | tail -4",
        "error[E0382]: x\nerror: could not compile `a`",
        Class::Compile,
        "error[E0382]: x",
    );
    check(FINE, "Bash", "pytest -q || true", "1 failed, 2 passed in 0.1s", Class::Test, "1 failed, 2 passed in 0.1s");
}

#[test]
fn exit_codes_are_found() {
    for (output, code) in [
        ("Exit code 2\nx", Some(2)),
        ("make: *** [all] Error 2", Some(2)),
        ("error: script \"test\" exited with code 1", Some(1)),
        ("panic: x\nexit status 2", Some(2)),
        ("npm ERR! code 1\nerror Command failed with exit code 9.", Some(9)),
        ("bash: x: command not found", None),
    ] {
        let found = read("Bash", Some("make"), &SILENT, output).and_then(|failure| failure.exit_code);
        assert_eq!(found, code, "{output}");
    }
}

#[test]
fn headlines_are_short_and_quotable() {
    let output = format!("error: {}", "x".repeat(5000).replace("xxxxx", "xxxx "));
    let Some(Failure { headline, .. }) = read("Bash", None, &FLAGGED, &output) else { panic!("it failed") };
    assert!(headline.chars().count() <= 300);
    assert!(output.contains(&headline));
}

#[test]
fn the_telling_line_is_found_deep_inside() {
    let filler = "all quiet here\n".repeat(40_000);
    let output = format!("{filler}error[E0499]: cannot borrow `x`\n{filler}");
    check(exited(101), "Bash", "cargo build", &output, Class::Compile, "error[E0499]: cannot borrow `x`");
}

#[test]
fn a_line_that_only_announces_an_error_does_not_hide_it() {
    for told in [FLAGGED, SILENT] {
        check(
            told,
            "python",
            "",
            "Error:\nError when executing tool f with arguments {}: TypeError: f() got no x\nUse it rightly.",
            Class::Exception,
            "Error when executing tool f with arguments {}: TypeError: f() got no x",
        );
        check(
            told,
            "python",
            "",
            "Error:\nError in generating model output:\nlitellm.RateLimitError: too many requests",
            Class::RateLimit,
            "litellm.RateLimitError: too many requests",
        );
    }
    check(
        FLAGGED,
        "python",
        "",
        "Error:\nCode execution failed at line 'for x in y:\n    f(x)' due to: InterpreterError: f is not allowed",
        Class::Exception,
        "f(x)' due to: InterpreterError: f is not allowed",
    );
    check(
        FLAGGED,
        "Bash",
        "deploy",
        "warning: old flag\nError:\n\n  the host is gone",
        Class::Command,
        "the host is gone",
    );
}

#[test]
fn a_failure_is_read_behind_what_hides_its_exit_code() {
    let failed = "E   assert 1 == 2\nFAILED tests/a.py::b - assert 1 == 2\n1 failed in 0.1s\n";
    let headline = "FAILED tests/a.py::b - assert 1 == 2";
    for command in ["pytest | tail -5", "pytest || true", "pytest; true", "pytest > log 2>&1; tail -5 log"] {
        check(exited(0), "Bash", command, failed, Class::Test, headline);
    }
    check(exited(0), "Bash", "cat a.py; pytest | tail -3", failed, Class::Test, headline);
    check(exited(0), "Bash", "./deploy; echo \"EXIT: $?\"", "copying\nEXIT: 3\n", Class::Command, "copying");
    check(exited(0), "Bash", "./deploy; echo $?", "3\n", Class::Command, "Exit code 3");
    check(
        exited(1),
        "Bash",
        "cargo build && grep -n x y",
        "error[E0382]: moved\n",
        Class::Compile,
        "error[E0382]: moved",
    );
    check(
        exited(1),
        "Bash",
        "grep -rn x --include=*.go .",
        "(eval):1: no matches found: --include=*.go",
        Class::NotFound,
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
        let failure = read("Bash", Some(command), &exited(1), output).unwrap();
        assert!(failure.class == Class::Lint && failure.is_void(), "{command}: {failure:?}");
    }
    for (command, code, output) in [
        ("ruff check .", 127, "bash: ruff: command not found"),
        ("npm run lint", 1, "npm ERR! Missing script: \"lint\"\n"),
        ("npx eslint .", 2, "Oops! Something went wrong! :(\nESLint couldn't find a configuration file.\n"),
        ("cargo clippy", 101, "error[E0425]: cannot find value `x`\n --> src/a.rs:3:5\n"),
        ("mypy .", 1, "a.py:3: error: Incompatible types\nFound 1 error in 1 file (checked 3 source files)\n"),
    ] {
        let failure = read("Bash", Some(command), &exited(code), output).unwrap();
        assert!(!failure.is_void(), "{command}: {failure:?}");
    }
}

#[test]
fn the_headline_is_the_error_and_not_a_warning_before_it() {
    for (output, class, headline) in [
        (
            "WARNING: apt does not have a stable CLI interface.\n\nE: Unable to locate package isoinfo\n\nReading lists...",
            Class::Command,
            "E: Unable to locate package isoinfo",
        ),
        (
            "WARNING: Retrying after connection timed out\nERROR: No matching distribution found for x",
            Class::Command,
            "ERROR: No matching distribution found for x",
        ),
        (
            "npm warn deprecated a@1: does not work\nnpm error Missing script: \"x\"",
            Class::Command,
            "npm error Missing script: \"x\"",
        ),
        (
            "(node:46002) [MODULE_TYPELESS] Warning: Module type of a.ts is not specified.\nx.ts: 2 errors cannot be fixed",
            Class::Command,
            "x.ts: 2 errors cannot be fixed",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\"\n\n... [133 characters truncated] ...\nValueError: no",
            Class::Exception,
            "ValueError: no",
        ),
    ] {
        check(FLAGGED, "Bash", "./install", output, class, headline);
    }
}
