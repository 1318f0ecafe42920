//! Parses the text of a configuration file into a table, or reports the error with its line and column. Pure.

use std::error::Error;
use std::num::{ParseFloatError, ParseIntError};

use config::{ConfigError, File, FileFormat, Map, Source as _, Value};

/// Returns the table in the text, or a description of the error that continues a sentence after the file's name.
pub(super) fn parse_config_text(text: &str, format: FileFormat) -> Result<Map<String, Value>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match File::from_str(text, format).collect() {
        Ok(table) => Ok(table),
        Err(ConfigError::FileParse { cause, .. }) => Err(describe_parse_error(cause.as_ref(), text)),
        Err(other) => Err(format!("cannot be read: {other}")),
    }
}

/// Describes a parse error by place and reason only: the line itself may hold a secret, so it is not quoted.
fn describe_parse_error(cause: &(dyn Error + Send + Sync + 'static), text: &str) -> String {
    if let Some(error) = cause.downcast_ref::<toml::de::Error>() {
        let offset = error.span().map_or(0, |span| span.start);
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
        let reason = error.message().replace('\n', ", ");
        return format!("is not valid TOML at line {line}, column {column}: {reason}");
    }
    if let Some(error) = cause.downcast_ref::<serde_json::Error>() {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let reason = message.split(" at line ").next().unwrap_or(&message);
        return format!("is not valid JSON at line {line}, column {column}: {reason}");
    }
    if cause.is::<ParseIntError>() || cause.is::<ParseFloatError>() {
        return format!("holds a number that cannot be read: {cause}");
    }
    "must be a table of keys at its top level".to_owned()
}

#[cfg(test)]
#[path = "config_file_tests.rs"]
mod tests;
