//! Whether an entry is longer than a lesson needs to be.

#[cfg(test)]
#[path = "length_tests.rs"]
mod tests;

/// About 300 tokens: more than half of what all lessons together may cost an agent that builds something
/// (`recall.budget.constructive`). Whoever gives such an entry gives little else.
const MAX_CHARACTERS: usize = 1_200;

/// A lesson is a sentence or three. What has more lines than this is a list or a report.
const MAX_LINES: usize = 12;

/// How long the entry is, if that is too long.
pub(super) fn excess(text: &str) -> Option<String> {
    let text = text.trim();
    let characters = text.chars().count();
    if characters > MAX_CHARACTERS {
        return Some(format!("{characters} characters"));
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    (lines > MAX_LINES).then(|| format!("{lines} lines"))
}
