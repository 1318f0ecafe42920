//! Converts between configuration keys and environment variables. Pure.

use super::name_suggestion::normalise_name;

/// The prefix of variables that set a key. Variables with a single underscore have other purposes.
const VARIABLE_PREFIX: &str = "ARCHIVIST__";

/// Returns the dotted path that a variable names, without case and single underscores, or `None` for other variables.
pub(super) fn path_from_variable(name: &str) -> Option<String> {
    let (prefix, rest) = name.split_at_checked(VARIABLE_PREFIX.len())?;
    let is_ours = prefix.eq_ignore_ascii_case(VARIABLE_PREFIX);
    is_ours.then(|| normalise_name(&rest.replace("__", ".")))
}

/// Returns the variable that sets a key: `memory.globalDir` is `ARCHIVIST__MEMORY__GLOBAL_DIR`.
pub(super) fn variable_for_key(key: &str) -> String {
    let mut name = String::from(VARIABLE_PREFIX);
    for letter in key.chars() {
        match letter {
            '.' => name.push_str("__"),
            upper if upper.is_uppercase() => name.extend(['_', upper]),
            lower => name.extend(lower.to_uppercase()),
        }
    }
    name
}

#[cfg(test)]
#[path = "environment_variables_tests.rs"]
mod tests;
