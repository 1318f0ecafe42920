//! Reads from the output of a test run how many tests passed, how many failed, and which.

use std::collections::BTreeMap;

use super::plain_output::{clip_characters, strip_control_codes};

#[cfg(test)]
#[path = "test_results_tests.rs"]
mod tests;

/// The number of failing tests that are listed.
const MAX_NAMES: usize = 100;

/// The longest name of a test, in characters.
const MAX_NAME_CHARACTERS: usize = 200;

/// The outcome of a test run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::context) struct TestOutcome {
    /// The number of tests that passed, as far as the runner says.
    pub passed: u64,
    /// The number of tests that failed or broke.
    pub failed: u64,
    /// The names of the failing tests, in order of appearance, each once.
    pub names: Vec<String>,
}

/// The test runner that printed a summary. One run may print many of one kind, and a runner may call another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TestRunner {
    Cargo,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    GoPackage,
    GoTest,
    Mocha,
    Rspec,
    Maven,
    Gradle,
    Bun,
    Ctest,
    TapLine,
    TapSum,
    Dotnet,
    PhpUnit,
    Elixir,
    Minitest,
    Swift,
    Deno,
}

impl TestRunner {
    /// Returns true if the runner prints one summary per target, to be added up; others repeat or correct themselves.
    fn prints_partial_counts(self) -> bool {
        matches!(
            self,
            Self::Cargo
                | Self::GoPackage
                | Self::GoTest
                | Self::Mocha
                | Self::Bun
                | Self::TapLine
                | Self::TapSum
                | Self::Dotnet
        )
    }
}

/// The tests that one line of output counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TestCount {
    runner: TestRunner,
    passed: u64,
    failed: u64,
}

/// Reads the outcome of a test run from its output; `None` if there is no count of tests in it.
pub(in crate::context) fn read_test_outcome(output: &str) -> Option<TestOutcome> {
    let text = strip_control_codes(output);
    let mut sums: BTreeMap<TestRunner, (u64, u64)> = BTreeMap::new();
    let mut names = FailedTestNames::default();
    for line in text.lines() {
        if line.len() > 600 {
            continue;
        }
        if let Some(TestCount { runner, passed, failed }) = read_test_count(line) {
            let sum = sums.entry(runner).or_default();
            *sum = match runner {
                _ if runner.prints_partial_counts() => (sum.0.saturating_add(passed), sum.1.saturating_add(failed)),
                // "Ran 5 tests" came before.
                TestRunner::Unittest if failed > 0 => (sum.0.saturating_sub(failed), failed),
                _ => (passed, failed),
            };
        }
        names.read_line(line);
    }
    if sums.contains_key(&TestRunner::TapSum) {
        sums.remove(&TestRunner::TapLine);
    }
    // Single tests say more than packages, except that a package may fail without one.
    if let (Some(packages), Some(tests)) =
        (sums.get(&TestRunner::GoPackage).copied(), sums.get(&TestRunner::GoTest).copied())
    {
        let failed = if tests.1 == 0 { packages.1 } else { tests.1 };
        sums.insert(TestRunner::GoTest, (tests.0.max(if tests.0 == 0 { packages.0 } else { 0 }), failed));
        sums.remove(&TestRunner::GoPackage);
    }
    if sums.is_empty() {
        return None;
    }
    let (passed, failed) =
        sums.values().fold((0_u64, 0_u64), |sum, next| (sum.0.saturating_add(next.0), sum.1.saturating_add(next.1)));
    if passed == 0 && failed == 0 {
        return None;
    }
    Some(TestOutcome { passed, failed, names: if failed > 0 { names.found } else { Vec::new() } })
}

/// Returns true if a line is the summary of a test run in which something failed.
pub(super) fn is_failed_summary(line: &str) -> bool {
    read_test_count(line).is_some_and(|count| {
        count.failed > 0 && !matches!(count.runner, TestRunner::TapLine | TestRunner::GoTest) && line.len() <= 600
    })
}

fn read_test_count(line: &str) -> Option<TestCount> {
    let has_number = line.bytes().any(|byte| byte.is_ascii_digit());
    if !has_number && !line.starts_with("ok  \t") && !line.starts_with("FAIL\t") {
        return None;
    }
    let bare = line.trim_matches(|c: char| c.is_whitespace() || c == '=');
    let found = |runner, passed, failed| Some(TestCount { runner, passed, failed });
    let first = bare.chars().next()?;
    if let Some(rest) = bare.strip_prefix("test result: ") {
        return found(TestRunner::Cargo, number_before(rest, "passed")?, number_before(rest, "failed")?);
    }
    if bare.starts_with("Summary [") && bare.contains("tests run:") {
        return found(
            TestRunner::Nextest,
            number_before(bare, "passed").unwrap_or(0),
            number_before(bare, "failed").unwrap_or(0),
        );
    }
    if let Some(rest) = bare.strip_prefix("Tests:").map(str::trim_start) {
        if let Some(all) = rest.split(',').next().and_then(|count| count.trim().parse::<u64>().ok()) {
            let failed = number_after(bare, "Failures:").unwrap_or(0) + number_after(bare, "Errors:").unwrap_or(0);
            return found(TestRunner::PhpUnit, all.saturating_sub(failed), failed);
        }
        number_before(rest, "total")?;
        return found(
            TestRunner::Jest,
            number_before(rest, "passed").unwrap_or(0),
            number_before(rest, "failed").unwrap_or(0),
        );
    }
    if bare.starts_with("Tests ") && bare.ends_with(')') {
        let (passed, failed) = (number_before(bare, "passed"), number_before(bare, "failed"));
        passed.or(failed)?;
        return found(TestRunner::Vitest, passed.unwrap_or(0), failed.unwrap_or(0));
    }
    if let Some(at) = bare.find("Tests run: ") {
        let rest = bare.get(at..).unwrap_or_default();
        let all = number_after(rest, "Tests run:")?;
        let failed = number_after(rest, "Failures:")? + number_after(rest, "Errors:").unwrap_or(0);
        let passed = all.saturating_sub(failed + number_after(rest, "Skipped:").unwrap_or(0));
        return if rest.contains("Time elapsed") { None } else { found(TestRunner::Maven, passed, failed) };
    }
    if let Some(at) = bare.find("Failed: ").filter(|_| bare.contains("Passed: ") && bare.contains("Total: ")) {
        let rest = bare.get(at..).unwrap_or_default();
        return found(TestRunner::Dotnet, number_after(rest, "Passed:")?, number_after(rest, "Failed:")?);
    }
    if bare.contains("% tests passed, ") && bare.contains(" out of ") {
        let (failed, all) = (
            number_before(bare, "tests failed").or_else(|| number_before(bare, "test failed"))?,
            number_after(bare, "out of")?,
        );
        return found(TestRunner::Ctest, all.saturating_sub(failed), failed);
    }
    if let Some(rest) = bare.strip_prefix("Executed ").filter(|rest| rest.contains(" test") && rest.contains("failure"))
    {
        let all = rest.split(' ').next()?.parse::<u64>().ok()?;
        let failed = number_before(rest, "failures").or_else(|| number_before(rest, "failure"))?;
        return found(TestRunner::Swift, all.saturating_sub(failed), failed);
    }
    if let Some(rest) = bare.strip_prefix("FAILED | ").or_else(|| bare.strip_prefix("ok | ")) {
        return found(TestRunner::Deno, number_before(rest, "passed")?, number_before(rest, "failed")?);
    }
    if let Some(rest) = bare.strip_prefix("FAILED (") {
        let count = |key: &str| {
            rest.split([',', ')']).find_map(|part| part.trim().strip_prefix(key)?.parse::<u64>().ok()).unwrap_or(0)
        };
        let failed = count("failures=") + count("errors=");
        return if failed > 0 { found(TestRunner::Unittest, 0, failed) } else { None };
    }
    if let Some(rest) = bare.strip_prefix("Ran ").filter(|rest| rest.contains(" test") && rest.contains(" in ")) {
        // The failures follow on a later line that replaces this count.
        return found(TestRunner::Unittest, rest.split(' ').next()?.parse().ok()?, 0)
            .filter(|_| !rest.contains("across"));
    }
    if let Some(rest) = bare.strip_prefix("OK (").filter(|rest| rest.contains(" assertion")) {
        return found(TestRunner::PhpUnit, rest.split(' ').next()?.parse().ok()?, 0);
    }
    if line.starts_with("--- FAIL: ") || line.starts_with("--- PASS: ") {
        let failed = u64::from(line.starts_with("--- FAIL"));
        return found(TestRunner::GoTest, 1 - failed, failed);
    }
    if line.starts_with("ok  \t") || line.starts_with("FAIL\t") {
        let failed = u64::from(line.starts_with("FAIL"));
        return found(TestRunner::GoPackage, 1 - failed, failed);
    }
    if let Some(rest) = bare.strip_prefix("# ").or_else(|| bare.strip_prefix("ℹ ")) {
        let (word, number) = rest.split_once(' ')?;
        let number = number.trim().parse().ok()?;
        return match word {
            "pass" => found(TestRunner::TapSum, number, 0),
            "fail" => found(TestRunner::TapSum, 0, number),
            _ => None,
        };
    }
    if bare.starts_with("not ok ") || (bare.starts_with("ok ") && bare.get(3..4).is_some_and(is_all_digits)) {
        bare.trim_start_matches("not ").get(3..4).filter(|digit| is_all_digits(digit))?;
        let failed = u64::from(bare.starts_with("not") && !bare.contains("# TODO") && !bare.contains("# SKIP"));
        return found(TestRunner::TapLine, 1 - failed, failed);
    }
    if first.is_ascii_digit() { read_leading_count(line, bare) } else { None }
}

/// Reads `2 failed, 3 passed in 0.1s`, `3 passing`, `5 examples, 1 failure`, `1 fail`.
fn read_leading_count(line: &str, bare: &str) -> Option<TestCount> {
    let (number, rest) = bare.split_once(' ')?;
    let number = number.parse::<u64>().ok()?;
    let found = |runner, passed, failed| Some(TestCount { runner, passed, failed });
    let word = rest.split([' ', ',']).next().unwrap_or_default();
    let failures = || number_before(bare, "failures").or_else(|| number_before(bare, "failure"));
    match word {
        "passing" if !rest.contains(", ") => found(TestRunner::Mocha, number, 0),
        "failing" if rest == "failing" => found(TestRunner::Mocha, 0, number),
        "pass" if rest == "pass" && line.starts_with(' ') => found(TestRunner::Bun, number, 0),
        "fail" if rest == "fail" && line.starts_with(' ') => found(TestRunner::Bun, 0, number),
        "examples" | "example" => {
            let failed = failures()?;
            found(
                TestRunner::Rspec,
                number.saturating_sub(failed + number_before(bare, "pending").unwrap_or(0)),
                failed,
            )
        }
        "runs" if bare.contains("assertions") => {
            let failed = failures()? + number_before(bare, "errors").unwrap_or(0);
            found(TestRunner::Minitest, number.saturating_sub(failed), failed)
        }
        "tests" | "test" if rest.contains("completed, ") => {
            let failed = number_before(bare, "failed")?;
            found(TestRunner::Gradle, number.saturating_sub(failed), failed)
        }
        "tests" | "test" | "doctest" | "doctests" if rest.contains(", ") => {
            let failed = failures()?;
            found(TestRunner::Elixir, number.saturating_sub(failed), failed)
        }
        "failed" | "passed" | "error" | "errors" | "skipped" | "warnings" | "warning" | "deselected" | "xfailed"
            if bare.contains(" in ") && bare.split(" in ").last().is_some_and(|time| time.contains('s')) =>
        {
            let failed = number_before(bare, "failed").unwrap_or(0);
            let errors = number_before(bare, "errors").or_else(|| number_before(bare, "error")).unwrap_or(0);
            found(TestRunner::Pytest, number_before(bare, "passed").unwrap_or(0), failed + errors)
        }
        _ => None,
    }
}

fn is_all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the number right before a word.
fn number_before(text: &str, word: &str) -> Option<u64> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find(word).map(|at| at + from) {
        let ends = !text.get(at + word.len()..)?.starts_with(|c: char| c.is_alphanumeric());
        let ahead = text.get(..at)?.strip_suffix(' ');
        let digits = ahead.and_then(|ahead| ahead.rsplit(|c: char| !c.is_ascii_digit()).next());
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(number) if ends => return Some(number),
            _ => from = at + word.len(),
        }
    }
    None
}

/// Returns the number right after a word.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let at = text.find(word)? + word.len();
    let rest = text.get(at..)?.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Collects the names of failing tests.
#[derive(Default)]
struct FailedTestNames {
    found: Vec<String>,
    /// True inside the numbered list of failures that Mocha, PHPUnit and Elixir print at the end.
    in_list: bool,
    /// The suite of a Mocha failure whose own name follows on a later line.
    suite: Option<String>,
}

impl FailedTestNames {
    fn read_line(&mut self, line: &str) {
        if let Some(suite) = self.suite.take() {
            let part = line.trim();
            match part.strip_suffix(':') {
                Some(last) => self.add_name(&format!("{suite} {last}")),
                None if part.is_empty() || suite.len() > MAX_NAME_CHARACTERS => self.add_name(&suite),
                None => self.suite = Some(format!("{suite} {part}")),
            }
            return;
        }
        let bare = line.trim();
        if let Some(name) = failed_test_name(line, bare) {
            self.add_name(name);
        } else if bare.ends_with("failing") || bare.starts_with("There was") || bare.starts_with("There were") {
            self.in_list = true;
        } else if let Some((number, name)) = bare.split_once(") ").filter(|(number, _)| is_all_digits(number)) {
            if name.contains("::") || name.starts_with("test ") {
                self.add_name(name);
            } else if self.in_list && !number.is_empty() {
                match name.strip_suffix(':') {
                    Some(name) => self.add_name(name),
                    None => self.suite = Some(name.to_owned()),
                }
            }
        }
    }

    fn add_name(&mut self, name: &str) {
        let name = clip_characters(name.trim(), MAX_NAME_CHARACTERS);
        if !name.is_empty() && self.found.len() < MAX_NAMES && !self.found.iter().any(|known| known == name) {
            self.found.push(name.to_owned());
        }
    }
}

fn failed_test_name<'a>(line: &'a str, bare: &'a str) -> Option<&'a str> {
    let untimed = |name: &'a str| {
        let cut = name
            .rfind([' ', '\t'])
            .filter(|&at| name.get(at..).is_some_and(|tail| tail.contains(['[', ']', '(', ')'])));
        let name = name.rfind(" [").or(cut).and_then(|at| name.get(..at)).unwrap_or(name);
        name.trim()
    };
    if let Some(rest) = bare.strip_prefix("test ") {
        return rest.strip_suffix(" ... FAILED").map(|name| name.trim_end_matches(" - should panic"));
    }
    if let Some(rest) = bare.strip_prefix("FAILED ").or_else(|| bare.strip_prefix("ERROR ")) {
        let name = rest.split(" - ").next()?;
        return (name.contains("::") || name.ends_with(".py")).then_some(name);
    }
    if let Some(rest) = bare.strip_prefix("--- FAIL: ") {
        return rest.split(' ').next();
    }
    if let Some(rest) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
        return rest.ends_with(')').then_some(rest).filter(|rest| rest.contains(" (") && !rest.contains(": "));
    }
    if let Some(rest) = bare.strip_prefix("(fail) ").or_else(|| bare.strip_prefix("✗ ")) {
        return Some(untimed(rest));
    }
    if let Some(rest) = bare.strip_prefix("● ") {
        return rest.contains(" › ").then_some(rest);
    }
    if let Some(rest) = bare.strip_prefix("FAIL ") {
        if let Some((time, name)) = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            return time.trim().ends_with('s').then_some(name.trim());
        }
        return rest.contains(" > ").then_some(rest.trim());
    }
    if let Some(rest) = bare.strip_prefix("rspec ./") {
        return rest.split_once(" # ").map(|(_, name)| name);
    }
    if let Some(rest) = bare.strip_prefix("not ok ") {
        let name = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ' || c == '-');
        return (!rest.contains("# TODO") && !rest.contains("# SKIP")).then_some(name);
    }
    if let Some(rest) = bare.strip_suffix(" FAILED") {
        return rest.contains(" > ").then_some(rest);
    }
    if let Some(rest) = bare.strip_suffix(" (Failed)").or_else(|| bare.strip_suffix(" (Timeout)")) {
        return rest.split_once(" - ").filter(|(number, _)| is_all_digits(number)).map(|(_, name)| name);
    }
    if let Some(rest) = bare.strip_prefix("[ERROR] ").map(str::trim_start) {
        let name = rest.split([':', ' ']).next()?;
        return (name.contains("Test") && name.contains('.') && !name.ends_with(".java")).then_some(name);
    }
    if let Some(rest) = line.strip_prefix("  Failed ") {
        return rest.ends_with(']').then(|| untimed(rest));
    }
    bare.strip_prefix("Test Case '").and_then(|rest| rest.split_once("' failed")).map(|(name, _)| name)
}
