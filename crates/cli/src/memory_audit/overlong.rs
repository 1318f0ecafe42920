//! Recognizes entries that are longer than a lesson needs to be.

#[cfg(test)]
#[path = "overlong_tests.rs"]
mod tests;

/// The most characters of an entry, about 300 tokens: more than half of the budget for all lessons given to an agent
/// that builds something (`recall.budget.constructive`). An entry of that length leaves little room for others.
const MAX_CHARACTERS: usize = 1_200;

/// The most lines of an entry. A lesson has one to three sentences; more lines than this make a list or a report.
const MAX_LINES: usize = 12;

/// Returns a description of the entry's length if it is too long.
pub(super) fn describe_excess_length(text: &str) -> Option<String> {
    let text = text.trim();
    let characters = text.chars().count();
    if characters > MAX_CHARACTERS {
        return Some(format!("{characters} characters"));
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    (lines > MAX_LINES).then(|| format!("{lines} lines"))
}
