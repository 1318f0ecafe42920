//! Formats short values in documents: unquoted where that is unambiguous, else as a JSON string, which is valid YAML.

#[cfg(test)]
#[path = "scalar_format_tests.rs"]
mod tests;

/// Returns the value formatted on one line.
pub(super) fn format_scalar(value: &str) -> String {
    let is_plain = !value.is_empty()
        && value.trim() == value
        && !value.contains(|c: char| c.is_control())
        && !value
            .starts_with(['"', '\'', '[', ']', '{', '}', '&', '*', '!', '|', '>', '%', '@', '`', '#', '-', '?', ','])
        && !value.contains(": ")
        && !value.contains(" #")
        && !value.ends_with(':');
    if is_plain { value.to_owned() } else { serde_json::Value::from(value).to_string() }
}

/// Returns the value that a line contains.
pub(super) fn parse_scalar(line: &str) -> String {
    let line = line.trim();
    if line.starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(line)
    {
        return text;
    }
    let single = line.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    single.map_or_else(|| line.to_owned(), |text| text.replace("''", "'"))
}
