use super::TestOutcome;
use super::is_failed_summary;
use super::read_test_outcome;

fn check(output: &str, passed: u64, failed: u64, names: &[&str]) {
    let expected = TestOutcome { passed, failed, names: names.iter().map(|name| (*name).to_owned()).collect() };
    assert_eq!(read_test_outcome(output), Some(expected), "{output}");
}

#[test]
fn cargo() {
    check(
        "running 2 tests\ntest a::ok ... ok\ntest a::bad ... FAILED\n\nfailures:\n    a::bad\n\n\
         test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.01s\n",
        1,
        1,
        &["a::bad"],
    );
    check(
        "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured\n\ntest result: ok. 4 passed; 0 failed; 1 ignored\n",
        7,
        0,
        &[],
    );
    check(
        "     Summary [   0.016s] 3 tests run: 2 passed, 1 failed, 0 skipped\n        FAIL [   0.005s] mycrate tests::bad\n",
        2,
        1,
        &["mycrate tests::bad"],
    );
}

#[test]
fn python() {
    check(
        "FAILED tests/test_a.py::test_x - AssertionError: assert 1 == 2\nFAILED tests/test_a.py::test_y[1-2]\n\
         ========= 2 failed, 3 passed, 1 warning in 0.12s =========\n",
        3,
        2,
        &["tests/test_a.py::test_x", "tests/test_a.py::test_y[1-2]"],
    );
    check("3 passed in 0.01s\n", 3, 0, &[]);
    check("ERROR tests/test_b.py - ImportError: x\n===== 1 error in 0.20s =====\n", 0, 1, &["tests/test_b.py"]);
    check(
        "FAIL: test_x (pkg.tests.Case)\n-----\nRan 5 tests in 0.003s\n\nFAILED (failures=1, errors=1)\n",
        3,
        2,
        &["test_x (pkg.tests.Case)"],
    );
    check("..\n----\nRan 2 tests in 0.000s\n\nOK\n", 2, 0, &[]);
}

#[test]
fn javascript() {
    check(
        "  ● sum › adds\n\n    expect(received).toBe(expected)\n\nTest Suites: 1 failed, 1 total\n\
         Tests:       1 failed, 1 skipped, 3 passed, 5 total\n",
        3,
        1,
        &["sum › adds"],
    );
    check(
        " FAIL  src/x.test.ts > sum > adds\n Test Files  1 failed (1)\n      Tests  1 failed | 3 passed (4)\n",
        3,
        1,
        &["src/x.test.ts > sum > adds"],
    );
    check(
        "bun test v1.3.3\n(pass) a > b [0.1ms]\n(fail) a > c [0.52ms]\n\n 1 pass\n 1 fail\n 2 expect() calls\n\
         Ran 2 tests across 1 file. [12.00ms]\n",
        1,
        1,
        &["a > c"],
    );
    check(
        "  3 passing (12ms)\n  1 failing\n\n  1) Thing\n       does it:\n     AssertionError: no\n",
        3,
        1,
        &["Thing does it"],
    );
    check("# tests 4\n# pass 3\n# fail 1\nnot ok 2 - parses\nok 1 - a\n", 3, 1, &["parses"]);
    check("TAP version 13\nok 1 - a\nnot ok 2 - b\nnot ok 3 - c # TODO later\n1..3\n", 2, 1, &["b"]);
    check("FAILED | 2 passed | 1 failed (10ms)\n", 2, 1, &[]);
    check("ok | 2 passed | 0 failed (10ms)\n", 2, 0, &[]);
}

#[test]
fn go_and_c() {
    check(
        "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:7: bad\n--- PASS: TestB (0.00s)\nFAIL\nFAIL\tx/y\t0.1s\n",
        1,
        1,
        &["TestA"],
    );
    check("ok  \tx/y\t0.1s\nok  \tx/z\t0.2s\n", 2, 0, &[]);
    check("FAIL\tx/y [build failed]\n", 0, 1, &[]);
    check(
        "75% tests passed, 1 tests failed out of 4\n\nThe following tests FAILED:\n\t  3 - parse (Failed)\n",
        3,
        1,
        &["parse"],
    );
}

#[test]
fn others() {
    check(
        "5 examples, 1 failure, 1 pending\n\nFailed examples:\n\nrspec ./spec/x_spec.rb:12 # Thing works\n",
        3,
        1,
        &["Thing works"],
    );
    check(
        "Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE!\n\
         [ERROR]   FooTest.bar:12 expected\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n",
        2,
        2,
        &["FooTest.bar"],
    );
    check("FooTest > bar() FAILED\n\n5 tests completed, 1 failed\n", 4, 1, &["FooTest > bar()"]);
    check(
        "  Failed My.Tests.Adds [5 ms]\nFailed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4\n",
        3,
        1,
        &["My.Tests.Adds"],
    );
    check(
        "There was 1 failure:\n\n1) FooTest::testBar\nFailed asserting\n\nTests: 5, Assertions: 9, Failures: 1.\n",
        4,
        1,
        &["FooTest::testBar"],
    );
    check("OK (5 tests, 9 assertions)\n", 5, 0, &[]);
    check("  1) test adds (MyTest)\n\n5 tests, 1 failure\n", 4, 1, &["test adds (MyTest)"]);
    check("5 runs, 9 assertions, 1 failures, 0 errors, 0 skips\n", 4, 1, &[]);
    check(
        "Test Case '-[XTests testY]' failed (0.1 seconds).\nExecuted 5 tests, with 1 failure (0 unexpected) in 0.1\n",
        4,
        1,
        &["-[XTests testY]"],
    );
}

#[test]
fn colours_do_not_matter() {
    check("\u{1b}[1mTests:\u{1b}[22m       \u{1b}[31m1 failed\u{1b}[39m, 3 passed, 4 total\n", 3, 1, &[]);
}

#[test]
fn other_text_is_no_test_run() {
    for output in [
        "",
        "hello",
        "Tests are good",
        "3 files changed, 2 insertions(+), 1 deletion(-)",
        "error: could not compile `x`",
        "test result: unknown",
        "12 tests",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored",
        "# Heading\n# fail safe\n",
        "ok then",
    ] {
        assert_eq!(read_test_outcome(output), None, "{output}");
    }
}

#[test]
fn only_failed_summaries_count_as_such() {
    assert!(is_failed_summary("test result: FAILED. 1 passed; 1 failed; 0 ignored"));
    assert!(is_failed_summary("=== 1 failed, 2 passed in 1.2s ==="));
    assert!(!is_failed_summary("test result: ok. 1 passed; 0 failed; 0 ignored"));
    assert!(!is_failed_summary("5 examples, 0 failures"));
    assert!(!is_failed_summary("# fail 0"));
}
