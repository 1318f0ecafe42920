//! Short values in documents: as they are where that is clear, else as a JSON string, which is YAML as well.

#[cfg(test)]
#[path = "scalar_tests.rs"]
mod tests;

/// The value on one line.
pub(super) fn written(value: &str) -> String {
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

/// The value that stands on a line.
pub(super) fn read(line: &str) -> String {
    let line = line.trim();
    if line.starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(line)
    {
        return text;
    }
    let single = line.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    single.map_or_else(|| line.to_owned(), |text| text.replace("''", "'"))
}
