//! How a key is written as an environment variable, and back. Pure.

use super::nearest::plain;

/// How the variables that set a key begin. A single underscore is another program's, or another purpose's.
const VARIABLE_PREFIX: &str = "ARCHIVIST__";

/// The path a variable names, without case and single underscores; nothing when the variable is not ours.
pub(super) fn variable_path(name: &str) -> Option<String> {
    let (prefix, rest) = name.split_at_checked(VARIABLE_PREFIX.len())?;
    let is_ours = prefix.eq_ignore_ascii_case(VARIABLE_PREFIX);
    is_ours.then(|| plain(&rest.replace("__", ".")))
}

/// The variable that sets a key: `memory.globalDir` is `ARCHIVIST__MEMORY__GLOBAL_DIR`.
pub(super) fn variable_name(key: &str) -> String {
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
#[path = "variables_tests.rs"]
mod tests;
