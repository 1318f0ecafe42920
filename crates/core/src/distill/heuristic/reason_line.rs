//! Finds the line of an output that gives the reason, where the headline only says that something failed.

use super::sentence_text::{any_listed, is_uninformative};
use crate::distill::verify::reads_as_failure;

#[cfg(test)]
#[path = "reason_line_tests.rs"]
mod tests;

/// Phrases, in lower case, that only report that something inside failed.
const OUTER: &str = "failed to solve|did not complete successfully|command failed|exited with|exit status|returned non-zero|\
    returned a non-zero|elifecycle|lifecycle script|process completed|error response from daemon|build failed|failed to build|\
    subprocess-exited-with-error|could not build wheels|exit code|task failed|execution failed for task|make: ***|make[|\
    failed to compute cache key|unexpected status";

/// Phrases, in lower case, that surround the line with the reason and say nothing themselves.
const HOLLOW: &str = "test suite failed to run|failed examples|failed tests:|[build failed]|cmake error at|syscall|errno|\
    build failed with an exception|something went wrong|caused by|traceback (most recent|failures:|panicked at src|\
    configuring incomplete|encountered an unexpected|error during build|compilation failed|failed to run custom build";

/// Phrases, in lower case, that give a reason; the more specific ones come first.
const INNER: &str = "toomanyrequests|rate limit|no space left on device|out of memory|cannot allocate memory|command not found|\
    permission denied|authentication required|unauthorized|could not resolve host|temporary failure in name resolution|\
    connection refused|certificate|no matching manifest|exec format error|no matching distribution|eresolve|\
    could not find a version|unsupported engine";

/// Phrases that a line near a title must have to be taken for the failure: strangers' words may be there too.
const PLAIN: &str = "error:|exception:|panicked|cannot |can't |could not |couldn't |not found|no such |does not |denied|refused|\
    is locked|missing |timeout - |timed out";

/// The number of last lines of an output that are searched.
const SEARCHED_LINES: usize = 80;

/// The number of lines around a failure title that are searched for the reason.
const AROUND: usize = 12;

/// Returns the line that says what failed: a nearby line with the reason, else the headline if it reads as a failure.
pub(super) fn find_failure_line<'t>(output: &'t str, headline: &'t str) -> Option<&'t str> {
    let line = find_inner_reason(output, headline).unwrap_or(headline);
    reads_as_failure(line).then_some(line)
}

/// Returns the line with the reason, where the headline only reports that something inside failed.
pub(super) fn find_inner_reason<'t>(output: &'t str, headline: &str) -> Option<&'t str> {
    let lower = headline.to_lowercase();
    let is_outer = any_listed(OUTER, |outer| lower.contains(outer)) || is_uninformative(headline);
    let is_hollow = is_failure_title(headline);
    if !is_outer && !is_hollow {
        return None;
    }
    let telling = is_outer.then(|| find_specific_line(output, headline)).flatten();
    telling.or_else(|| if is_hollow { find_nearby_failure(output, headline) } else { None })
}

/// Tells whether a line is the title of a failure and not the failure itself.
fn is_failure_title(headline: &str) -> bool {
    let lower = headline.trim().to_lowercase();
    any_listed(HOLLOW, |hollow| lower.contains(hollow))
        || lower.starts_with(['●', '○'])
        || lower.starts_with("code:")
        || lower.ends_with("... failed")
        || lower.starts_with("failed in ")
}

/// Returns the line near the end that contains the most specific phrase.
fn find_specific_line<'t>(output: &'t str, headline: &str) -> Option<&'t str> {
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

/// Returns the nearest line below a failure title, or else above it, that says what failed.
fn find_nearby_failure<'t>(output: &'t str, headline: &str) -> Option<&'t str> {
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.contains(headline.trim()))?;
    let says = |line: &&&str| {
        let is_frame = line.starts_with("at ") || line.starts_with("File \"");
        let lower = line.to_lowercase();
        let is_plain = any_listed(PLAIN, |words| lower.contains(words));
        line.len() < 400
            && !is_frame
            && is_plain
            && !is_failure_title(line)
            && !is_uninformative(line)
            && reads_as_failure(line)
    };
    let below = lines.iter().skip(at + 1).take(AROUND).find(says);
    below.or_else(|| lines.iter().take(at).rev().take(AROUND).find(says)).copied()
}

/// Returns a headline without the name of the test that it begins with, which changes and is reported elsewhere.
pub(super) fn strip_test_name(headline: &str) -> &str {
    let line = headline.trim();
    let rest = ["FAILED ", "ERROR "].iter().find_map(|mark| line.strip_prefix(mark));
    let said = rest
        .and_then(|rest| rest.split_once(" - "))
        .filter(|(test, said)| !test.contains(' ') && said.split_whitespace().count() >= 2);
    said.map_or(line, |(_, said)| said)
}
