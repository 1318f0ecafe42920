//! The line of an output that says why, where the one that was picked only says that something failed.

use super::words::{any, is_empty_talk};
use crate::distill::verify::reads_as_failure;

#[cfg(test)]
#[path = "headline_tests.rs"]
mod tests;

/// What only passes on that something inside failed.
const OUTER: &str = "failed to solve|did not complete successfully|command failed|exited with|exit status|returned non-zero|\
    returned a non-zero|elifecycle|lifecycle script|process completed|error response from daemon|build failed|failed to build|\
    subprocess-exited-with-error|could not build wheels|exit code|task failed|execution failed for task|make: ***|make[|\
    failed to compute cache key|unexpected status";

/// What stands over, under or beside the line that says why, and says nothing itself.
const HOLLOW: &str = "test suite failed to run|failed examples|failed tests:|[build failed]|cmake error at|syscall|errno|\
    build failed with an exception|something went wrong|caused by|traceback (most recent|failures:|panicked at src|\
    configuring incomplete|encountered an unexpected|error during build|compilation failed|failed to run custom build";

/// What says more than that, in lower case, the more telling first.
const INNER: &str = "toomanyrequests|rate limit|no space left on device|out of memory|cannot allocate memory|command not found|\
    permission denied|authentication required|unauthorized|could not resolve host|temporary failure in name resolution|\
    connection refused|certificate|no matching manifest|exec format error|no matching distribution|eresolve|\
    could not find a version|unsupported engine";

/// How a line beside a title must speak to be taken for what failed: anything may stand there, strangers' words too.
const PLAIN: &str = "error:|exception:|panicked|cannot |can't |could not |couldn't |not found|no such |does not |denied|refused|\
    is locked|missing |timeout - |timed out";

/// Of a longer output only the end is searched.
const SEARCHED_LINES: usize = 80;

/// So many lines around a hollow one may say what it means.
const AROUND: usize = 12;

/// The line that says what failed: the headline, or a line beside it where that is none, or none.
pub(super) fn said<'t>(output: &'t str, headline: &'t str) -> Option<&'t str> {
    let line = inner(output, headline).unwrap_or(headline);
    reads_as_failure(line).then_some(line)
}

/// The line that says why, where the headline only says that something inside failed.
pub(super) fn inner<'t>(output: &'t str, headline: &str) -> Option<&'t str> {
    let lower = headline.to_lowercase();
    let is_outer = any(OUTER, |outer| lower.contains(outer)) || is_empty_talk(headline);
    let is_hollow = is_hollow(headline);
    if !is_outer && !is_hollow {
        return None;
    }
    let telling = is_outer.then(|| telling(output, headline)).flatten();
    telling.or_else(|| if is_hollow { beside(output, headline) } else { None })
}

/// Whether a line is the title of a failure and not what failed.
fn is_hollow(headline: &str) -> bool {
    let lower = headline.trim().to_lowercase();
    any(HOLLOW, |hollow| lower.contains(hollow))
        || lower.starts_with(['●', '○'])
        || lower.starts_with("code:")
        || lower.ends_with("... failed")
        || lower.starts_with("failed in ")
}

/// The line near the end with the most telling words.
fn telling<'t>(output: &'t str, headline: &str) -> Option<&'t str> {
    let lines: Vec<(&str, String)> = output
        .lines()
        .rev()
        .take(SEARCHED_LINES)
        .map(str::trim)
        .filter(|line| line.len() < 400 && *line != headline.trim())
        .map(|line| (line, line.to_lowercase()))
        .collect();
    INNER.split('|').find_map(|telling| lines.iter().find(|(_, lower)| lower.contains(telling))).map(|(line, _)| *line)
}

/// The nearest line below a hollow one, or else above it, that says what failed.
fn beside<'t>(output: &'t str, headline: &str) -> Option<&'t str> {
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.contains(headline.trim()))?;
    let says = |line: &&&str| {
        let is_frame = line.starts_with("at ") || line.starts_with("File \"");
        let lower = line.to_lowercase();
        let is_plain = any(PLAIN, |words| lower.contains(words));
        line.len() < 400 && !is_frame && is_plain && !is_hollow(line) && !is_empty_talk(line) && reads_as_failure(line)
    };
    let below = lines.iter().skip(at + 1).take(AROUND).find(says);
    below.or_else(|| lines.iter().take(at).rev().take(AROUND).find(says)).copied()
}

/// A headline without the name of the test that it begins with: that one is told elsewhere, and changes.
pub(super) fn without_test(headline: &str) -> &str {
    let line = headline.trim();
    let rest = ["FAILED ", "ERROR "].iter().find_map(|mark| line.strip_prefix(mark));
    let said = rest
        .and_then(|rest| rest.split_once(" - "))
        .filter(|(test, said)| !test.contains(' ') && said.split_whitespace().count() >= 2);
    said.map_or(line, |(_, said)| said)
}
