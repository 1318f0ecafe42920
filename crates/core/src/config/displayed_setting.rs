//! A setting prepared for display: with its origin and without its secrets.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

/// The replacement for text that must not be shown.
const HIDDEN: &str = "***";

/// One effective setting and its origin.
#[derive(Clone, PartialEq)]
pub struct EffectiveSetting {
    /// The dotted key, such as `memory.dir`.
    pub key: String,
    /// The value itself. To print it, use [`EffectiveSetting::printable_value`].
    pub value: Value,
    /// The layer that the value comes from.
    pub origin: SettingOrigin,
    /// Tells whether the value may be shown.
    pub secrecy: Secrecy,
}

impl EffectiveSetting {
    /// Returns the value for printing: a secret is hidden, as is everything before the `@` of a URL and the values of
    /// its query. An empty secret is shown, so that its owner sees that it is not set.
    pub fn printable_value(&self) -> Value {
        match self.secrecy {
            Secrecy::Open => hide_credentials(&self.value),
            Secrecy::Secret if self.value.as_str() == Some("") => self.value.clone(),
            Secrecy::Secret => Value::from(HIDDEN),
        }
    }
}

/// Prints only [`EffectiveSetting::printable_value`], so that a log line cannot leak more.
impl fmt::Debug for EffectiveSetting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EffectiveSetting")
            .field("key", &self.key)
            .field("value", &self.printable_value())
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// Tells whether a value may be shown. A key is secret if its field carries `#[schemars(extend("writeOnly" = true))]`;
/// its name decides nothing, since `project.key` is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// The value may be shown to anyone.
    Open,
    /// The value is never printed, logged or quoted in an error.
    Secret,
}

/// The layer that a value comes from, lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The built-in `config/default.toml`.
    Default,
    /// The user's own file.
    User(PathBuf),
    /// The file `.openagents/archivist.toml` of the project.
    Project(PathBuf),
    /// The key `archivist` of the project's `.openagents/project.json`.
    ProjectJson(PathBuf),
    /// The file named by `--config`.
    Given(PathBuf),
    /// The environment variable of this name.
    Environment(String),
    /// A command-line flag that sets this key.
    Flag(String),
}

/// Writes the origin as a noun phrase that can follow "in" or stand alone.
impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingOrigin::Default => write!(formatter, "built-in default"),
            SettingOrigin::User(path) => write!(formatter, "user file {}", path.display()),
            SettingOrigin::Project(path) => write!(formatter, "project file {}", path.display()),
            SettingOrigin::ProjectJson(path) => write!(formatter, "key `archivist` of project file {}", path.display()),
            SettingOrigin::Given(path) => write!(formatter, "given file {}", path.display()),
            SettingOrigin::Environment(name) => write!(formatter, "environment variable {name}"),
            SettingOrigin::Flag(key) => write!(formatter, "command-line flag for {key}"),
        }
    }
}

impl SettingOrigin {
    /// Returns true if the layer comes with the project, whoever wrote it.
    pub(super) fn is_of_project(&self) -> bool {
        matches!(self, SettingOrigin::Project(_) | SettingOrigin::ProjectJson(_))
    }

    /// Returns the layer as a file, for problems of the file as a whole.
    pub(super) fn as_file(&self) -> SettingOrigin {
        match self {
            SettingOrigin::ProjectJson(path) => SettingOrigin::Project(path.clone()),
            other => other.clone(),
        }
    }
}

/// Hides the user name and password of a URL in the text. Where their end is unclear, too much is hidden rather than
/// too little: everything up to the last `@`.
pub(super) fn hide_userinfo(text: &str) -> String {
    let hidden = text.split_once("://").and_then(|(scheme, rest)| {
        let (_, host) = rest.rsplit_once('@')?;
        Some(format!("{scheme}://{HIDDEN}@{host}"))
    });
    hidden.unwrap_or_else(|| text.to_owned())
}

/// Hides the values of a URL's query, because some gateways take their key there.
fn hide_query_values(text: &str) -> String {
    let Some((address, query)) = text.split_once('?').filter(|(address, _)| address.contains("://")) else {
        return text.to_owned();
    };
    let hidden = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() => format!("{name}={HIDDEN}"),
        _ => pair.to_owned(),
    };
    format!("{address}?{}", query.split('&').map(hidden).collect::<Vec<_>>().join("&"))
}

fn hide_credentials(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(hide_query_values(&hide_userinfo(text))),
        Value::Array(items) => items.iter().map(hide_credentials).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), hide_credentials(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
#[path = "displayed_setting_tests.rs"]
mod tests;
