use super::DetectedFailure;
use super::FailureClass;
use super::LoggedResult;
use super::detect_failure;

#[path = "read_meaning_tests.rs"]
mod meaning;

const SILENT: LoggedResult = LoggedResult { failed: None, exit_code: None, interrupted: false };
const FLAGGED: LoggedResult = LoggedResult { failed: Some(true), exit_code: None, interrupted: false };
const FINE: LoggedResult = LoggedResult { failed: Some(false), exit_code: None, interrupted: false };

fn exited(code: i32) -> LoggedResult {
    LoggedResult { exit_code: Some(code), ..SILENT }
}

fn check(told: LoggedResult, tool: &str, command: &str, output: &str, class: FailureClass, headline: &str) {
    let command = Some(command).filter(|command| !command.is_empty());
    let found = detect_failure(tool, command, &told, output).map(|failure| (failure.class, failure.headline));
    assert_eq!(found, Some((class, headline.to_owned())), "{tool} {command:?}\n{output}");
}

/// Nothing tells but the text: tool, command, output, class, headline.
const SPEAKING_FOR_ITSELF: &[(&str, &str, &str, FailureClass, &str)] = &[
    // Shells.
    ("bash", "foo", "bash: foo: command not found", FailureClass::NotFound, "bash: foo: command not found"),
    ("exec", "file x", "/usr/bin/sh: 1: file: not found\n", FailureClass::NotFound, "/usr/bin/sh: 1: file: not found"),
    ("shell", "bun x", "zsh: command not found: bun", FailureClass::NotFound, "zsh: command not found: bun"),
    (
        "Bash",
        "cat nope",
        "cat: nope: No such file or directory",
        FailureClass::NotFound,
        "cat: nope: No such file or directory",
    ),
    ("Bash", "./x.sh", "bash: ./x.sh: Permission denied", FailureClass::Permission, "bash: ./x.sh: Permission denied"),
    (
        "Bash",
        "git status",
        "fatal: not a git repository (or any of the parent directories): .git",
        FailureClass::Command,
        "fatal: not a git repository (or any of the parent directories): .git",
    ),
    (
        "terminal",
        "./a.out",
        "Segmentation fault (core dumped)",
        FailureClass::Exception,
        "Segmentation fault (core dumped)",
    ),
    ("terminal", "python big.py", "loading\nKilled\n", FailureClass::Resource, "Killed"),
    (
        "terminal",
        "curl http://x",
        "curl: (6) Could not resolve host: x",
        FailureClass::Network,
        "curl: (6) Could not resolve host: x",
    ),
    (
        "Bash",
        "tar --frob",
        "tar: unrecognized option '--frob'\nTry 'tar --help'",
        FailureClass::Command,
        "tar: unrecognized option '--frob'",
    ),
    // Python.
    (
        "exec",
        "python a.py",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nValueError: bad value\n",
        FailureClass::Exception,
        "ValueError: bad value",
    ),
    (
        "exec",
        "python a.py",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 2\nRuntimeError: no x\n",
        FailureClass::Exception,
        "RuntimeError: no x",
    ),
    (
        "exec",
        "python a.py",
        "  File \"a.py\", line 1\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n",
        FailureClass::Compile,
        "SyntaxError: invalid syntax",
    ),
    (
        "terminal",
        "python -m pytest",
        "/usr/bin/python: No module named pytest",
        FailureClass::NotFound,
        "/usr/bin/python: No module named pytest",
    ),
    (
        "exec",
        "python a.py",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nModuleNotFoundError: No module named 'pytz'\n",
        FailureClass::NotFound,
        "ModuleNotFoundError: No module named 'pytz'",
    ),
    (
        "exec",
        "pytest",
        "E       assert 1 == 2\nFAILED tests/test_a.py::test_x - assert 1 == 2\n==== 1 failed, 3 passed in 0.1s ====\n",
        FailureClass::Test,
        "FAILED tests/test_a.py::test_x - assert 1 == 2",
    ),
    (
        "exec",
        "python -m unittest",
        "FAIL: test_x (t.Case)\nTraceback (most recent call last):\n  File \"t.py\", line 3\nAssertionError: 1 != 2\n\nRan 1 test in 0.0s\n\nFAILED (failures=1)\n",
        FailureClass::Test,
        "AssertionError: 1 != 2",
    ),
    // Rust.
    (
        "Bash",
        "cargo build",
        "error[E0382]: use of moved value: `x`\n --> src/a.rs:3:5\nerror: could not compile `a` (lib) due to 1 previous error\n",
        FailureClass::Compile,
        "error[E0382]: use of moved value: `x`",
    ),
    (
        "Bash",
        "cargo build",
        "\u{1b}[1m\u{1b}[31merror[E0425]\u{1b}[0m: cannot find value `y`\nerror: could not compile `a`\n",
        FailureClass::Compile,
        "error[E0425]: cannot find value `y`",
    ),
    (
        "Bash",
        "cargo test",
        "test a::b ... FAILED\n\n---- a::b stdout ----\nthread 'a::b' panicked at src/a.rs:9:5:\nassertion `left == right` failed: sums\n  left: 1\n right: 2\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
        FailureClass::Test,
        "assertion `left == right` failed: sums",
    ),
    (
        "Bash",
        "cargo test",
        "thread 'a::b' panicked at src/a.rs:9:5:\nassertion `left == right` failed\n  left: 1\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
        FailureClass::Test,
        "thread 'a::b' panicked at src/a.rs:9:5:",
    ),
    (
        "Bash",
        "cargo run",
        "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds: the len is 0\nnote: run with `RUST_BACKTRACE=1`\n",
        FailureClass::Exception,
        "index out of bounds: the len is 0",
    ),
    // JavaScript.
    (
        "Bash",
        "npx tsc",
        "src/a.ts(3,5): error TS2345: Argument of type 'string' is not assignable\n",
        FailureClass::Compile,
        "src/a.ts(3,5): error TS2345: Argument of type 'string' is not assignable",
    ),
    (
        "Bash",
        "npx tsc",
        "src/a.ts:3:5 - error TS2304: Cannot find name 'x'.\n\nFound 1 error in src/a.ts:3\n",
        FailureClass::Compile,
        "src/a.ts:3:5 - error TS2304: Cannot find name 'x'.",
    ),
    (
        "Bash",
        "node a.js",
        "/a/a.js:1\nx()\n^\n\nReferenceError: x is not defined\n    at Object.<anonymous> (/a/a.js:1:1)\n",
        FailureClass::Exception,
        "ReferenceError: x is not defined",
    ),
    (
        "Bash",
        "npm test",
        "  ● sum › adds\n\n    expect(received).toBe(expected)\n\nTests:       1 failed, 3 passed, 4 total\n",
        FailureClass::Test,
        "● sum › adds",
    ),
    (
        "Bash",
        "npm run nope",
        "npm ERR! Missing script: \"nope\"\nnpm ERR! A complete log of this run can be found in: /x\n",
        FailureClass::Command,
        "npm ERR! Missing script: \"nope\"",
    ),
    ("Bash", "bun test", "(fail) a > c [0.52ms]\n\n 1 pass\n 1 fail\n", FailureClass::Test, "(fail) a > c [0.52ms]"),
    (
        "Bash",
        "node a.js",
        "Error: Cannot find module './x'\nRequire stack:\n- /a.js\n",
        FailureClass::Command,
        "Error: Cannot find module './x'",
    ),
    (
        "Bash",
        "npx eslint .",
        "/a/x.js\n  1:5  error  'y' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n✖ 2 problems (1 error, 1 warning)\n",
        FailureClass::Lint,
        "1:5  error  'y' is not defined  no-undef",
    ),
    // Go, C, Java, Ruby, PHP, Elixir.
    ("Bash", "go build", "# x\n./a.go:3:5: undefined: foo\n", FailureClass::Compile, "./a.go:3:5: undefined: foo"),
    (
        "Bash",
        "go test ./...",
        "--- FAIL: TestA (0.00s)\n    a_test.go:7: got 1\nFAIL\nFAIL\tx\t0.1s\n",
        FailureClass::Test,
        "--- FAIL: TestA (0.00s)",
    ),
    (
        "Bash",
        "go run .",
        "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\n",
        FailureClass::Exception,
        "panic: runtime error: index out of range [3] with length 3",
    ),
    (
        "Bash",
        "gcc a.c",
        "a.c: In function 'main':\na.c:3:5: error: expected ';' before 'return'\n",
        FailureClass::Compile,
        "a.c:3:5: error: expected ';' before 'return'",
    ),
    (
        "Bash",
        "make",
        "a.c:1:10: fatal error: x.h: No such file or directory\nmake: *** [Makefile:3: a.o] Error 1\n",
        FailureClass::Compile,
        "a.c:1:10: fatal error: x.h: No such file or directory",
    ),
    (
        "Bash",
        "java A",
        "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat A.main(A.java:3)\n",
        FailureClass::Exception,
        "Exception in thread \"main\" java.lang.IllegalStateException: no",
    ),
    (
        "Bash",
        "ruby a.rb",
        "a.rb:3:in 'f': undefined method 'x' for nil (NoMethodError)\n",
        FailureClass::Exception,
        "a.rb:3:in 'f': undefined method 'x' for nil (NoMethodError)",
    ),
    (
        "Bash",
        "php a.php",
        "PHP Fatal error:  Uncaught Error: no in /a.php:3\n",
        FailureClass::Exception,
        "PHP Fatal error:  Uncaught Error: no in /a.php:3",
    ),
    (
        "Bash",
        "mypy .",
        "a.py:3: error: Incompatible types in assignment  [assignment]\nFound 1 error in 1 file (checked 3 source files)\n",
        FailureClass::Compile,
        "a.py:3: error: Incompatible types in assignment  [assignment]",
    ),
    // Services and limits.
    (
        "Task",
        "",
        "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}",
        FailureClass::RateLimit,
        "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}",
    ),
    (
        "Agent",
        "",
        "prompt is too long: 210000 tokens > 200000 maximum",
        FailureClass::ContextWindow,
        "prompt is too long: 210000 tokens > 200000 maximum",
    ),
    (
        "exec",
        "./agent",
        "Error: This model's maximum context length is 8192 tokens",
        FailureClass::ContextWindow,
        "Error: This model's maximum context length is 8192 tokens",
    ),
    ("Bash", "sleep 999", "Command timed out after 2m 0.0s", FailureClass::Timeout, "Command timed out after 2m 0.0s"),
    (
        "shell",
        "bash -lc cargo check",
        "failed in sandbox None with execution error: command timed out",
        FailureClass::Timeout,
        "failed in sandbox None with execution error: command timed out",
    ),
    (
        "Bash",
        "psql",
        "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused",
        FailureClass::Network,
        "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused",
    ),
    (
        "Bash",
        "node x.js",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
        FailureClass::Resource,
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
    ),
    (
        "edit",
        "",
        "{\"status\": \"error\", \"tool\": \"edit\", \"error\": \"Could not find the exact text in /a/x.py. It must match.\"}",
        FailureClass::Edit,
        "Could not find the exact text in /a/x.py. It must match.",
    ),
    ("shell", "sleep 9", "aborted by user after 3.1s", FailureClass::Harness, "aborted by user after 3.1s"),
    // Exit codes in the text.
    ("Bash", "make", "Exit code 2\nsomething odd happened here", FailureClass::Command, "something odd happened here"),
    (
        "exec_command",
        "x",
        "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nthe end",
        FailureClass::Command,
        "the end",
    ),
    (
        "shell",
        "x",
        "Exit code: 101\nWall time: 1 seconds\nOutput:\nerror: no such command: `frob`\n",
        FailureClass::NotFound,
        "error: no such command: `frob`",
    ),
    (
        "shell",
        "update_plan",
        "{\"output\":\"bash: line 1: update_plan: command not found\\n\",\"metadata\":{\"exit_code\":127,\"duration_seconds\":0.0}}",
        FailureClass::NotFound,
        "bash: line 1: update_plan: command not found",
    ),
    (
        "Bash",
        "x",
        "it went wrong\n[error] tool reported failure\n[metadata] {}",
        FailureClass::Command,
        "it went wrong",
    ),
    ("exec", "python x.py", "half done\n\n(Command exited with code 1)", FailureClass::Command, "half done"),
    ("Bash", "x", "nothing\n[exit_code] 4\n[metadata] {\"a\": 1}", FailureClass::Command, "nothing"),
    // A pipe hides the exit code.
    (
        "shell",
        "cargo test 2>&1 | tail -3",
        "Exit code: 0\nOutput:\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n\nerror: test failed, to rerun pass `--lib`\n",
        FailureClass::Test,
        "test result: FAILED. 1 passed; 2 failed; 0 ignored",
    ),
    (
        "terminal",
        "python x.py 2>&1 | head",
        "{\"output\": \"/usr/bin/python: No module named x\", \"exit_code\": 0, \"error\": null}",
        FailureClass::NotFound,
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
        FailureClass::Command,
        "FM_MAX_CONTEXT_CHARS is not defined",
    );
    check(
        FLAGGED,
        "terminal-bench-task",
        "",
        "Foundation Models request failed: Exceeded model context window size",
        FailureClass::ContextWindow,
        "Foundation Models request failed: Exceeded model context window size",
    );
    let unread = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>";
    check(
        FLAGGED,
        "Edit",
        "",
        unread,
        FailureClass::Harness,
        "File has not been read yet. Read it first before writing to it.",
    );
    check(
        FLAGGED,
        "Edit",
        "",
        "String to replace not found in file.\nString: x",
        FailureClass::Edit,
        "String to replace not found in file.",
    );
    check(FLAGGED, "Read", "", "File does not exist.", FailureClass::NotFound, "File does not exist.");
    check(
        FLAGGED,
        "Read",
        "",
        "EISDIR: illegal operation on a directory, read",
        FailureClass::Command,
        "EISDIR: illegal operation on a directory, read",
    );
    check(
        FLAGGED,
        "Bash",
        "cat log",
        "Exit code 1\ncat: log: No such file or directory",
        FailureClass::NotFound,
        "cat: log: No such file or directory",
    );
    check(
        FLAGGED,
        "Bash",
        "cargo build",
        "Exit code 101\n   Compiling x\nerror: expected `;`\n",
        FailureClass::Compile,
        "error: expected `;`",
    );
    check(FLAGGED, "Bash", "x", "", FailureClass::Command, "no output");
    check(exited(7), "Bash", "x", "\n----\n", FailureClass::Command, "Exit code 7");
    check(exited(124), "Bash", "timeout 5 x", "working", FailureClass::Timeout, "working");
    check(exited(127), "Bash", "x", "", FailureClass::NotFound, "Exit code 127");
    check(exited(137), "Bash", "x", "a\nb c\n", FailureClass::Resource, "b c");
    check(
        exited(2),
        "Bash",
        "grep x y",
        "grep: y: No such file or directory",
        FailureClass::NotFound,
        "grep: y: No such file or directory",
    );
    check(
        exited(1),
        "Bash",
        "grep x y && cargo build",
        "error[E0001]: no\n",
        FailureClass::Compile,
        "error[E0001]: no",
    );
    let stopped = LoggedResult { interrupted: true, ..SILENT };
    check(stopped, "Bash", "sleep 99", "one line", FailureClass::Interrupted, "one line");
    check(
        stopped,
        "Bash",
        "sleep 99",
        "Command timed out after 2m",
        FailureClass::Timeout,
        "Command timed out after 2m",
    );
    check(
        FINE,
        "Bash",
        "cargo build 2>&1 | tail -4",
        "error[E0382]: x\nerror: could not compile `a`",
        FailureClass::Compile,
        "error[E0382]: x",
    );
    check(
        FINE,
        "Bash",
        "pytest -q || true",
        "1 failed, 2 passed in 0.1s",
        FailureClass::Test,
        "1 failed, 2 passed in 0.1s",
    );
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
        let found = detect_failure("Bash", Some("make"), &SILENT, output).and_then(|failure| failure.exit_code);
        assert_eq!(found, code, "{output}");
    }
}

#[test]
fn headlines_are_short_and_quotable() {
    let output = format!("error: {}", "x".repeat(5000).replace("xxxxx", "xxxx "));
    let Some(DetectedFailure { headline, .. }) = detect_failure("Bash", None, &FLAGGED, &output) else {
        panic!("it failed")
    };
    assert!(headline.chars().count() <= 300);
    assert!(output.contains(&headline));
}

#[test]
fn the_telling_line_is_found_deep_inside() {
    let filler = "all quiet here\n".repeat(40_000);
    let output = format!("{filler}error[E0499]: cannot borrow `x`\n{filler}");
    check(exited(101), "Bash", "cargo build", &output, FailureClass::Compile, "error[E0499]: cannot borrow `x`");
}

#[test]
fn a_line_that_only_announces_an_error_does_not_hide_it() {
    for told in [FLAGGED, SILENT] {
        check(
            told,
            "python",
            "",
            "Error:\nError when executing tool f with arguments {}: TypeError: f() got no x\nUse it rightly.",
            FailureClass::Exception,
            "Error when executing tool f with arguments {}: TypeError: f() got no x",
        );
        check(
            told,
            "python",
            "",
            "Error:\nError in generating model output:\nlitellm.RateLimitError: too many requests",
            FailureClass::RateLimit,
            "litellm.RateLimitError: too many requests",
        );
    }
    check(
        FLAGGED,
        "python",
        "",
        "Error:\nCode execution failed at line 'for x in y:\n    f(x)' due to: InterpreterError: f is not allowed",
        FailureClass::Exception,
        "f(x)' due to: InterpreterError: f is not allowed",
    );
    check(
        FLAGGED,
        "Bash",
        "deploy",
        "warning: old flag\nError:\n\n  the host is gone",
        FailureClass::Command,
        "the host is gone",
    );
}
