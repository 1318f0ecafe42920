//! Requests that discard work or disable a safeguard: they need a person's review before they are used.

#[cfg(test)]
#[path = "destructive_advice_tests.rs"]
mod tests;

/// Commands and flags that destroy, force or bypass.
const DESTRUCTIVE: &[&str] = &[
    "git stash",
    "git reset",
    "git checkout --",
    "git checkout .",
    "git restore",
    "git clean",
    "git branch -D",
    "push -f",
    "--force",
    "--no-verify",
    "--no-gpg-sign",
    "commit.gpgsign=false",
    "--dangerously",
    "rm -rf .git",
    "rm -rf ~",
    "rm -rf /",
];

/// Words before something that must not be done.
const REFUSALS: &[&str] = &["not ", "never ", "n't ", "without ", "avoid ", "instead of "];

/// The number of bytes before a command within which a refusal counts.
const REFUSAL_BYTES: usize = 32;

/// Returns what a text asks for that destroys, forces or bypasses. `--force-with-lease` is safe and does not count.
pub(in crate::distill) fn find_destructive(text: &str) -> Option<&'static str> {
    let is_asked = |words: &&&'static str| {
        text.match_indices(**words).any(|(at, found)| {
            let start = text.floor_char_boundary(at.saturating_sub(REFUSAL_BYTES));
            let before = text.get(start..at).unwrap_or_default().to_lowercase();
            let behind = text.get(at + found.len()..).unwrap_or_default();
            !behind.starts_with("-with-lease") && !REFUSALS.iter().any(|refusal| before.contains(refusal))
        })
    };
    DESTRUCTIVE.iter().find(is_asked).copied()
}
