//! Is this a key, and is this a value for it? Pure: the rules come out of the schema, values in, problems out.

use config::ValueKind;

use super::error::Problem;
use super::nearest::nearest;
use super::shown::{Origin, Secrecy, without_userinfo};
use super::variables::variable_name;

/// A quoted text in a message is cut after this many characters.
const MAX_QUOTED_CHARS: usize = 60;

/// All keys there are, sorted.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    pub(super) leaves: &'static [Leaf],
}

/// What a dotted path names.
pub(super) enum Named {
    /// A key that holds a value.
    Leaf(&'static Leaf),
    /// A section that holds keys.
    Section,
    /// Nothing.
    Unknown,
}

impl Keys {
    /// The keys of the configuration, as `build.rs` reads them from the published schema.
    pub(super) const OF_THE_CONFIGURATION: Keys = Keys { leaves: include!(concat!(env!("OUT_DIR"), "/keys.rs")) };

    /// What `path` names, letter for letter.
    pub(super) fn named(&self, path: &str) -> Named {
        let at = self.leaves.partition_point(|leaf| leaf.key < path);
        if let Some(leaf) = self.leaves.get(at).filter(|leaf| leaf.key == path) {
            return Named::Leaf(leaf);
        }
        let below = format!("{path}.");
        let at = self.leaves.partition_point(|leaf| leaf.key < below.as_str());
        let is_section = self.leaves.get(at).is_some_and(|leaf| leaf.key.starts_with(&below));
        if is_section { Named::Section } else { Named::Unknown }
    }

    /// What `path` names once each key, too, is written the way `spelling` writes it.
    pub(super) fn named_as(&self, path: &str, spelling: impl Fn(&str) -> String) -> Named {
        for leaf in self.leaves {
            let spelt = spelling(leaf.key);
            if spelt == path {
                return Named::Leaf(leaf);
            }
            if spelt.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')) {
                return Named::Section;
            }
        }
        Named::Unknown
    }

    /// The problem of a path that names nothing. `write` says how a key is written where it was found.
    pub(super) fn unknown(&self, path: &str, origin: &Origin, write: impl Fn(&str) -> String) -> Problem {
        let hint = match nearest(path, self.leaves.iter().map(|leaf| leaf.key)) {
            Some(key) => format!("did you mean `{}`?", write(key)),
            None => "`archivist config show` lists every key".to_owned(),
        };
        Problem::with_hint(format!("unknown key `{}` in {origin}", path.escape_debug()), hint)
    }
}

/// The problem of a section that was given a value.
pub(super) fn not_a_section(path: &str, found: &ValueKind, origin: &Origin) -> Problem {
    // The value may have been meant for a secret key of the section, so it is not quoted.
    let found = described(found, Secrecy::Secret);
    Problem::new(format!("`{path}` must be a section with keys of its own, found {found} in {origin}"))
}

/// A key that holds a value, and which values it may hold.
pub(super) struct Leaf {
    pub(super) key: &'static str,
    default: Preset,
    pub(super) secrecy: Secrecy,
    /// Whether a project's files may not set it. A key is the user's alone when its field carries
    /// `#[schemars(extend("x-set-by" = "user"))]`.
    is_users: bool,
    kind: Kind,
    choices: &'static [&'static str],
    least: Option<f64>,
    above: Option<f64>,
    most: Option<f64>,
    fewest_chars: u64,
}

/// The types of value in use. A test fails when the schema comes to hold another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
}

/// A value that is known when the program is built.
#[derive(Clone, Copy)]
enum Preset {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(&'static str),
}

impl Leaf {
    /// What holds where nobody set anything.
    pub(super) fn default(&self) -> ValueKind {
        match self.default {
            Preset::Boolean(truth) => ValueKind::Boolean(truth),
            Preset::Integer(number) => ValueKind::I64(number),
            Preset::Number(number) => ValueKind::Float(number),
            Preset::Text(text) => ValueKind::String(text.to_owned()),
        }
    }

    /// The value, in this key's own type, or the problem with it.
    pub(super) fn accept(&self, found: ValueKind, origin: &Origin) -> Result<ValueKind, Problem> {
        if self.is_users && matches!(origin, Origin::Project(_) | Origin::ProjectJson(_)) {
            return Err(Problem::with_hint(
                format!("`{}` may not be set by a project, found in {origin}", self.key),
                format!("set it in the user file, with --config, or with {}", variable_name(self.key)),
            ));
        }
        let value = match (self.kind, found) {
            (Kind::Number, ValueKind::I64(number)) => ValueKind::Float(number as f64),
            (Kind::Number, ValueKind::U64(number)) => ValueKind::Float(number as f64),
            (_, other) => other,
        };
        let accepted = match (self.kind, &value) {
            (Kind::Boolean, ValueKind::Boolean(_)) => true,
            (Kind::Integer, ValueKind::I64(number)) => self.is_in_range(*number as f64),
            (Kind::Integer, ValueKind::U64(number)) => self.is_in_range(*number as f64),
            (Kind::Number, ValueKind::Float(number)) => number.is_finite() && self.is_in_range(*number),
            (Kind::Text, ValueKind::String(text)) => self.is_allowed(text),
            _ => false,
        };
        if accepted { Ok(value) } else { Err(self.refusal(&value, origin)) }
    }

    /// A value from where there is only text, read in this key's type. What cannot be read stays text, and is
    /// refused as such.
    pub(super) fn read(&self, text: &str) -> ValueKind {
        let word = text.trim();
        let value = match self.kind {
            Kind::Boolean => match word.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(ValueKind::Boolean(true)),
                "false" | "0" | "no" | "off" => Some(ValueKind::Boolean(false)),
                _ => None,
            },
            Kind::Integer => word.parse().ok().map(ValueKind::I64),
            Kind::Number => word.parse().ok().map(ValueKind::Float),
            Kind::Text => None,
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

    fn refusal(&self, value: &ValueKind, origin: &Origin) -> Problem {
        let message =
            format!("`{}` must be {}, found {} in {origin}", self.key, self.expected(), described(value, self.secrecy));
        let meant = match value {
            ValueKind::String(text) => nearest(text, self.choices.iter().copied()),
            _ => None,
        };
        match meant {
            Some(choice) => Problem::with_hint(message, format!("did you mean {choice:?}?")),
            None => Problem::new(message),
        }
    }

    /// The values this key may hold, in words.
    fn expected(&self) -> String {
        let range = match (self.least, self.above, self.most) {
            (Some(least), _, Some(most)) => format!(" from {least} to {most}"),
            (None, Some(above), Some(most)) => format!(" above {above}, at most {most}"),
            (Some(least), _, None) => format!(" of at least {least}"),
            (None, Some(above), None) => format!(" above {above}"),
            (None, None, Some(most)) => format!(" of at most {most}"),
            (None, None, None) => String::new(),
        };
        match self.kind {
            Kind::Boolean => "true or false".to_owned(),
            Kind::Integer => format!("a whole number{range}"),
            Kind::Number => format!("a number{range}"),
            Kind::Text if !self.choices.is_empty() => {
                let quoted: Vec<String> = self.choices.iter().map(|choice| format!("{choice:?}")).collect();
                quoted.join(" or ")
            }
            Kind::Text if self.fewest_chars > 0 => "a string that is not empty".to_owned(),
            Kind::Text => "a string".to_owned(),
        }
    }
}

/// A value in words: its kind and, unless it is a secret, itself.
fn described(value: &ValueKind, secrecy: Secrecy) -> String {
    let (kind, itself) = match value {
        ValueKind::Boolean(truth) => ("boolean", Some(truth.to_string())),
        ValueKind::I64(_) | ValueKind::I128(_) | ValueKind::U64(_) | ValueKind::U128(_) => {
            ("whole number", Some(value.to_string()))
        }
        ValueKind::Float(number) => ("number", Some(format!("{number:?}"))),
        ValueKind::String(text) => ("string", Some(quoted(text))),
        ValueKind::Table(_) => ("section", None),
        ValueKind::Array(_) => ("list", None),
        ValueKind::Nil => return "null".to_owned(),
    };
    match (itself, secrecy) {
        (Some(itself), Secrecy::Open) => format!("the {kind} {itself}"),
        (None, _) | (_, Secrecy::Secret) => format!("a {kind}"),
    }
}

fn quoted(text: &str) -> String {
    let shown = without_userinfo(text);
    let mut kept: String = shown.chars().take(MAX_QUOTED_CHARS).collect();
    if kept.len() < shown.len() {
        kept.push('…');
    }
    format!("{kept:?}")
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
