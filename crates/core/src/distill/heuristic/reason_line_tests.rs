use super::super::failure_cause::FailureCause;
use super::{find_failure_line, find_inner_reason, strip_test_name};

#[test]
fn the_inner_line_tells_more_than_the_outer() {
    let output = "ERROR: failed to solve: node:22: unexpected status: 429 Too Many Requests\ntoomanyrequests: You have reached your pull rate limit.";
    let outer = output.lines().next().unwrap();
    let inner_line = find_inner_reason(output, outer).unwrap();
    assert_eq!(inner_line, "toomanyrequests: You have reached your pull rate limit.");
    assert_eq!(FailureCause::classify("command", inner_line), FailureCause::Patience);
    assert_eq!(find_inner_reason(output, "TypeError: x is not a function"), None);
}

#[test]
fn a_title_is_not_what_failed() {
    let cases = [
        (
            "CMake Error at CMakeLists.txt:12 (add_subdirectory):\n  The source directory\n\n    /a/third_party/fmt\n\n  does not contain a CMakeLists.txt file.",
            "CMake Error at CMakeLists.txt:12 (add_subdirectory):",
            Some("does not contain a CMakeLists.txt file."),
        ),
        (
            "FAIL src/a.test.ts\n  ● Test suite failed to run\n\n    Cannot find module '../generated/schema' from 'src/a.ts'",
            "● Test suite failed to run",
            Some("Cannot find module '../generated/schema' from 'src/a.ts'"),
        ),
        (
            "Error: ENOENT: no such file or directory, open 'data/seed.json'\n    at open (node:fs:1)\n  errno: -2,\n  code: 'ENOENT',\n  syscall: 'open',",
            "syscall: 'open',",
            Some("Error: ENOENT: no such file or directory, open 'data/seed.json'"),
        ),
        (
            "test store::a ... FAILED\n---- store::a stdout ----\nthread panicked: database is locked\ntest result: FAILED. 3 passed; 1 failed",
            "test store::a ... FAILED",
            Some("thread panicked: database is locked"),
        ),
        (
            "cgo: C compiler \"gcc\" not found: exec: \"gcc\": executable file not found in $PATH\nFAIL\tacme/store [build failed]",
            "FAIL\tacme/store [build failed]",
            Some("cgo: C compiler \"gcc\" not found: exec: \"gcc\": executable file not found in $PATH"),
        ),
        ("test a ... FAILED\n\nfiles={'file': ('private_key', f)},", "test a ... FAILED", None),
        ("Failed examples:\n\nrspec ./spec/a_spec.rb:22 # Cart adds", "Failed examples:", None),
        ("TypeError: x is not a function\n  at a.js:1", "TypeError: x is not a function", None),
    ];
    for (output, headline, wanted) in cases {
        assert_eq!(find_inner_reason(output, headline), wanted, "{headline}");
    }
}

#[test]
fn the_name_of_the_test_is_left_out() {
    assert_eq!(strip_test_name("FAILED tests/a.py::test_x - KeyError: 'price'"), "KeyError: 'price'");
    assert_eq!(strip_test_name("FAILED tests/a.py::test_x - KeyError"), "FAILED tests/a.py::test_x - KeyError");
    assert_eq!(strip_test_name("error: no - never"), "error: no - never");
}

#[test]
fn the_name_of_a_test_does_not_say_what_failed() {
    let jest = "  ● ws › pings\n\n    Timeout - Async callback was not invoked within the 5000 ms timeout";
    assert_eq!(
        find_failure_line(jest, "● ws › pings"),
        Some("Timeout - Async callback was not invoked within the 5000 ms timeout")
    );
    assert_eq!(find_failure_line("● ws › pings", "● ws › pings"), None);
}

proptest::proptest! {
    #[test]
    fn no_output_is_too_strange(output in "(.{0,60}\n){0,20}", headline in ".{0,60}") {
        let _ = (find_inner_reason(&output, &headline), find_failure_line(&output, &headline), strip_test_name(&headline));
    }
}
