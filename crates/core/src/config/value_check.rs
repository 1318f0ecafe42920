//! Checks that a configuration key exists and that a value fits it. Pure: the rules come from the schema.

use config::ValueKind;

use super::displayed_setting::{Secrecy, SettingOrigin, hide_userinfo};
use super::environment_variables::variable_for_key;
use super::error::ConfigProblem;
use super::name_suggestion::nearest_name;

/// The number of characters after which a quoted text in a message is cut.
const MAX_QUOTED_CHARS: usize = 60;

/// All keys of the configuration, sorted.
#[derive(Clone, Copy)]
pub(super) struct ConfigKeys {
    pub(super) leaves: &'static [ConfigKey],
}

/// The thing that a dotted path names.
pub(super) enum KeyLookup {
    /// The path names a key that holds a value.
    Leaf(&'static ConfigKey),
    /// The path names a section that holds keys.
    Section,
    /// The path names neither a key nor a section.
    Unknown,
}

impl ConfigKeys {
    /// The keys of the configuration, as `build.rs` reads them from the published schema.
    pub(super) const OF_THE_CONFIGURATION: ConfigKeys =
        ConfigKeys { leaves: include!(concat!(env!("OUT_DIR"), "/keys.rs")) };

    /// Returns what `path` names, compared letter for letter.
    pub(super) fn look_up_path(&self, path: &str) -> KeyLookup {
        let at = self.leaves.partition_point(|leaf| leaf.key < path);
        if let Some(leaf) = self.leaves.get(at).filter(|leaf| leaf.key == path) {
            return KeyLookup::Leaf(leaf);
        }
        let below = format!("{path}.");
        let at = self.leaves.partition_point(|leaf| leaf.key < below.as_str());
        let is_section = self.leaves.get(at).is_some_and(|leaf| leaf.key.starts_with(&below));
        if is_section { KeyLookup::Section } else { KeyLookup::Unknown }
    }

    /// Returns what `path` names when every key is written the way `spelling` writes it.
    pub(super) fn look_up_spelling(&self, path: &str, spelling: impl Fn(&str) -> String) -> KeyLookup {
        for leaf in self.leaves {
            let spelt = spelling(leaf.key);
            if spelt == path {
                return KeyLookup::Leaf(leaf);
            }
            if spelt.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')) {
                return KeyLookup::Section;
            }
        }
        KeyLookup::Unknown
    }

    /// Returns the problem of a path that names nothing. `write` turns a key into its spelling at the place of origin.
    pub(super) fn unknown_key_problem(
        &self,
        path: &str,
        origin: &SettingOrigin,
        write: impl Fn(&str) -> String,
    ) -> ConfigProblem {
        let hint = match nearest_name(path, self.leaves.iter().map(|leaf| leaf.key)) {
            Some(key) => format!("did you mean `{}`?", write(key)),
            None => "`archivist config show` lists every key".to_owned(),
        };
        ConfigProblem::with_hint(format!("unknown key `{}` in {origin}", path.escape_debug()), hint)
    }
}

/// Returns the problem of a section that was set to a plain value.
pub(super) fn section_value_problem(path: &str, found: &ValueKind, origin: &SettingOrigin) -> ConfigProblem {
    // The value may have been meant for a secret key of the section, so it is not quoted.
    let found = describe_value(found, Secrecy::Secret);
    ConfigProblem::new(format!("`{path}` must be a section with keys of its own, found {found} in {origin}"))
}

/// A key that holds a value, with the rules for the values it may hold.
pub(super) struct ConfigKey {
    pub(super) key: &'static str,
    default: DefaultValue,
    pub(super) secrecy: Secrecy,
    /// The layers that may set this key: its field carries `#[schemars(extend("x-set-by" = …))]`, or none.
    setters: KeySetters,
    kind: ConfigValueKind,
    choices: &'static [&'static str],
    least: Option<f64>,
    above: Option<f64>,
    most: Option<f64>,
    fewest_chars: u64,
}

/// The layers that may set a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeySetters {
    /// Every layer may set it.
    Anyone,
    /// Every layer but a project's files: `"user"`.
    User,
    /// The user's own file alone: `"user-file"`. Whoever can run the program can set its environment and its flags.
    UserFile,
}

/// The types of values in use. A test fails if the schema comes to hold another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConfigValueKind {
    Boolean,
    Integer,
    Number,
    Text,
}

/// A default value that is known when the program is built.
#[derive(Clone, Copy)]
enum DefaultValue {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(&'static str),
}

impl ConfigKey {
    /// Returns the value that applies if no layer sets this key.
    pub(super) fn default_value(&self) -> ValueKind {
        match self.default {
            DefaultValue::Boolean(truth) => ValueKind::Boolean(truth),
            DefaultValue::Integer(number) => ValueKind::I64(number),
            DefaultValue::Number(number) => ValueKind::Float(number),
            DefaultValue::Text(text) => ValueKind::String(text.to_owned()),
        }
    }

    /// Returns the problem if a project may not set this key.
    pub(super) fn user_key_problem(&self, origin: &SettingOrigin) -> Option<ConfigProblem> {
        let hint = match self.setters {
            KeySetters::Anyone => return None,
            KeySetters::User => {
                format!("set it in the user file, with --config, or with {}", variable_for_key(self.key))
            }
            KeySetters::UserFile => "set it in the user file".to_owned(),
        };
        let message = format!("`{}` may not be set by a project, found in {origin}", self.key);
        Some(ConfigProblem::with_hint(message, hint))
    }

    /// Returns the value in this key's own type, or the problem with it.
    pub(super) fn check_value(&self, found: ValueKind, origin: &SettingOrigin) -> Result<ValueKind, ConfigProblem> {
        self.check_setter(origin)?;
        let value = match (self.kind, found) {
            (ConfigValueKind::Number, ValueKind::I64(number)) => ValueKind::Float(number as f64),
            (ConfigValueKind::Number, ValueKind::U64(number)) => ValueKind::Float(number as f64),
            (_, other) => other,
        };
        let accepted = match (self.kind, &value) {
            (ConfigValueKind::Boolean, ValueKind::Boolean(_)) => true,
            (ConfigValueKind::Integer, ValueKind::I64(number)) => self.is_in_range(*number as f64),
            (ConfigValueKind::Integer, ValueKind::U64(number)) => self.is_in_range(*number as f64),
            (ConfigValueKind::Number, ValueKind::Float(number)) => number.is_finite() && self.is_in_range(*number),
            (ConfigValueKind::Text, ValueKind::String(text)) => self.is_allowed(text),
            _ => false,
        };
        if accepted { Ok(value) } else { Err(self.value_problem(&value, origin)) }
    }

    /// Refuses the layers, other than a project's files, that may not set this key.
    fn check_setter(&self, origin: &SettingOrigin) -> Result<(), ConfigProblem> {
        let is_user_file = matches!(origin, SettingOrigin::Default | SettingOrigin::User(_));
        if self.setters != KeySetters::UserFile || is_user_file {
            return Ok(());
        }
        Err(ConfigProblem::with_hint(
            format!("`{}` may be set by the user's own file alone, found in {origin}", self.key),
            "set it in the user file".to_owned(),
        ))
    }

    /// Reads a value in this key's type from a source that only has text. Text that cannot be read is returned as a
    /// string, which `check_value` then refuses.
    pub(super) fn parse_text(&self, text: &str) -> ValueKind {
        let word = text.trim();
        let value = match self.kind {
            ConfigValueKind::Boolean => match word.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(ValueKind::Boolean(true)),
                "false" | "0" | "no" | "off" => Some(ValueKind::Boolean(false)),
                _ => None,
            },
            ConfigValueKind::Integer => word.parse().ok().map(ValueKind::I64),
            ConfigValueKind::Number => word.parse().ok().map(ValueKind::Float),
            ConfigValueKind::Text => None,
        };
        value.unwrap_or_else(|| ValueKind::String(text.to_owned()))
    }

    fn is_in_range(&self, number: f64) -> bool {
        self.least.is_none_or(|least| number >= least)
            && self.above.is_none_or(|above| number > above)
            && self.most.is_none_or(|most| number <= most)
    }

    fn is_allowed(&self, text: &str) -> bool {
        if self.choices.is_empty() {
            return text.chars().count() as u64 >= self.fewest_chars;
        }
        self.choices.contains(&text)
    }

    fn value_problem(&self, value: &ValueKind, origin: &SettingOrigin) -> ConfigProblem {
        let message = format!(
            "`{}` must be {}, found {} in {origin}",
            self.key,
            self.describe_expected(),
            describe_value(value, self.secrecy)
        );
        let meant = match value {
            ValueKind::String(text) => nearest_name(text, self.choices.iter().copied()),
            _ => None,
        };
        match meant {
            Some(choice) => ConfigProblem::with_hint(message, format!("did you mean {choice:?}?")),
            None => ConfigProblem::new(message),
        }
    }

    /// Describes the values that this key may hold.
    fn describe_expected(&self) -> String {
        let range = match (self.least, self.above, self.most) {
            (Some(least), _, Some(most)) => format!(" from {least} to {most}"),
            (None, Some(above), Some(most)) => format!(" above {above}, at most {most}"),
            (Some(least), _, None) => format!(" of at least {least}"),
            (None, Some(above), None) => format!(" above {above}"),
            (None, None, Some(most)) => format!(" of at most {most}"),
            (None, None, None) => String::new(),
        };
        match self.kind {
            ConfigValueKind::Boolean => "true or false".to_owned(),
            ConfigValueKind::Integer => format!("a whole number{range}"),
            ConfigValueKind::Number => format!("a number{range}"),
            ConfigValueKind::Text if !self.choices.is_empty() => {
                let quoted: Vec<String> = self.choices.iter().map(|choice| format!("{choice:?}")).collect();
                quoted.join(" or ")
            }
            ConfigValueKind::Text if self.fewest_chars > 0 => "a string that is not empty".to_owned(),
            ConfigValueKind::Text => "a string".to_owned(),
        }
    }
}

/// Describes a value by its kind and, unless it is secret, by the value itself.
fn describe_value(value: &ValueKind, secrecy: Secrecy) -> String {
    let (kind, itself) = match value {
        ValueKind::Boolean(truth) => ("boolean", Some(truth.to_string())),
        ValueKind::I64(_) | ValueKind::I128(_) | ValueKind::U64(_) | ValueKind::U128(_) => {
            ("whole number", Some(value.to_string()))
        }
        ValueKind::Float(number) => ("number", Some(format!("{number:?}"))),
        ValueKind::String(text) => ("string", Some(quote_text(text))),
        ValueKind::Table(_) => ("section", None),
        ValueKind::Array(_) => ("list", None),
        ValueKind::Nil => return "null".to_owned(),
    };
    match (itself, secrecy) {
        (Some(itself), Secrecy::Open) => format!("the {kind} {itself}"),
        (None, _) | (_, Secrecy::Secret) => format!("a {kind}"),
    }
}

fn quote_text(text: &str) -> String {
    let shown = hide_userinfo(text);
    let mut kept: String = shown.chars().take(MAX_QUOTED_CHARS).collect();
    if kept.len() < shown.len() {
        kept.push('…');
    }
    format!("{kept:?}")
}

#[cfg(test)]
#[path = "value_check_tests.rs"]
mod tests;
