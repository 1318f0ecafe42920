//! What somebody most likely meant by a name that does not exist.

/// The candidate nearest to `wrong`, or nothing when none is near. Case, underscores and hyphens do not count, and a
/// key in the wrong section counts as near: both are how keys come in from other tools' habits.
pub(super) fn nearest<'names>(wrong: &str, candidates: impl Iterator<Item = &'names str>) -> Option<&'names str> {
    let wrong = plain(wrong);
    let (distance, _, candidate) = candidates
        .map(|candidate| {
            let right = plain(candidate);
            let whole = strsim::damerau_levenshtein(&wrong, &right);
            let last = strsim::damerau_levenshtein(last_name(&wrong), last_name(&right));
            (whole.min(last), whole, candidate)
        })
        .min()?;
    // One slip in three letters is still the same word; more is guessing.
    let slips_allowed = last_name(&wrong).chars().count() / 3;
    (distance <= slips_allowed).then_some(candidate)
}

/// A dotted name without what only habit decides: case, underscores, hyphens.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn last_name(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
