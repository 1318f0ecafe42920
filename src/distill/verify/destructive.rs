//! Advice that throws work away or switches a safeguard off: nobody is to be given it before a person has looked.

#[cfg(test)]
#[path = "destructive_tests.rs"]
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

/// What stands before a thing that is not to be done.
const REFUSALS: &[&str] = &["not ", "never ", "n't ", "without ", "avoid ", "instead of "];

/// So far before a thing its refusal may stand, in bytes.
const REFUSAL_BYTES: usize = 32;

/// Finds what a text asks for that destroys, forces or bypasses. `--force-with-lease` looks before it forces.
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
