//! Suggests the name that was probably meant by one that does not exist.

/// Returns the candidate nearest to `wrong`, or `None` if none is near. Case, underscores and hyphens are ignored, and
/// a key in the wrong section counts as near: keys are often copied from tools with other conventions.
pub(super) fn nearest_name<'names>(wrong: &str, candidates: impl Iterator<Item = &'names str>) -> Option<&'names str> {
    let wrong = normalise_name(wrong);
    let (distance, _, candidate) = candidates
        .map(|candidate| {
            let right = normalise_name(candidate);
            let whole = strsim::damerau_levenshtein(&wrong, &right);
            let last = strsim::damerau_levenshtein(last_segment(&wrong), last_segment(&right));
            (whole.min(last), whole, candidate)
        })
        .min()?;
    // One wrong letter in three is still a typing error; more would be guessing.
    let slips_allowed = last_segment(&wrong).chars().count() / 3;
    (distance <= slips_allowed).then_some(candidate)
}

/// Returns a dotted name without case, underscores and hyphens, which differ between conventions.
pub(super) fn normalise_name(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn last_segment(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
#[path = "name_suggestion_tests.rs"]
mod tests;
