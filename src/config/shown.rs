//! A setting as it may be shown: with its origin, and without its secrets.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

/// What stands in the place of something that must not be shown.
const HIDDEN: &str = "***";

/// One effective setting and where it came from.
#[derive(Clone, PartialEq)]
pub struct Setting {
    /// The dotted key, such as `memory.dir`.
    pub key: String,
    /// The value itself. To print it, use [`Setting::shown`].
    pub value: Value,
    /// The layer that won.
    pub origin: Origin,
    /// Whether the value may be shown.
    pub secrecy: Secrecy,
}

impl Setting {
    /// The value as it may be printed: a secret is hidden, as is whatever stands before the `@` of a URL and what its
    /// query holds. An empty secret is shown, because "it is not set" is what its owner is looking for.
    pub fn shown(&self) -> Value {
        match self.secrecy {
            Secrecy::Open => without_credentials(&self.value),
            Secrecy::Secret if self.value.as_str() == Some("") => self.value.clone(),
            Secrecy::Secret => Value::from(HIDDEN),
        }
    }
}

/// Shows what [`Setting::shown`] shows, so that a log line cannot leak more.
impl fmt::Debug for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Setting")
            .field("key", &self.key)
            .field("value", &self.shown())
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// Whether a value may be shown. A key is secret when its field carries
/// `#[schemars(extend("writeOnly" = true))]`; names decide nothing, since `project.key` is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Anyone may read it.
    Open,
    /// It is never printed, logged or quoted in an error.
    Secret,
}

/// The layer a value came from, lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `config/default.toml`, compiled in.
    Default,
    /// The user's own file.
    User(PathBuf),
    /// `.openagents/archivist.toml` of the project.
    Project(PathBuf),
    /// The key `archivist` of the project's `.openagents/project.json`.
    ProjectJson(PathBuf),
    /// The file named by `--config`.
    Given(PathBuf),
    /// The environment variable of this name.
    Environment(String),
    /// A flag of the command line that sets this key.
    Flag(String),
}

/// Reads well after "in" and on its own.
impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => write!(formatter, "built-in default"),
            Origin::User(path) => write!(formatter, "user file {}", path.display()),
            Origin::Project(path) => write!(formatter, "project file {}", path.display()),
            Origin::ProjectJson(path) => write!(formatter, "key `archivist` of project file {}", path.display()),
            Origin::Given(path) => write!(formatter, "given file {}", path.display()),
            Origin::Environment(name) => write!(formatter, "environment variable {name}"),
            Origin::Flag(key) => write!(formatter, "command-line flag for {key}"),
        }
    }
}

impl Origin {
    /// The layer as a file, for what is wrong with the file as a whole.
    pub(super) fn as_file(&self) -> Origin {
        match self {
            Origin::ProjectJson(path) => Origin::Project(path.clone()),
            other => other.clone(),
        }
    }
}

/// The text with the user name and password of a URL in it hidden. Where it is not clear how far they reach, too much
/// is hidden rather than too little: everything up to the last `@`.
pub(super) fn without_userinfo(text: &str) -> String {
    let hidden = text.split_once("://").and_then(|(scheme, rest)| {
        let (_, host) = rest.rsplit_once('@')?;
        Some(format!("{scheme}://{HIDDEN}@{host}"))
    });
    hidden.unwrap_or_else(|| text.to_owned())
}

/// The text with the values of a URL's query hidden: some gateways take their key there.
fn without_query_values(text: &str) -> String {
    let Some((address, query)) = text.split_once('?').filter(|(address, _)| address.contains("://")) else {
        return text.to_owned();
    };
    let hidden = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() => format!("{name}={HIDDEN}"),
        _ => pair.to_owned(),
    };
    format!("{address}?{}", query.split('&').map(hidden).collect::<Vec<_>>().join("&"))
}

fn without_credentials(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(without_query_values(&without_userinfo(text))),
        Value::Array(items) => items.iter().map(without_credentials).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), without_credentials(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
