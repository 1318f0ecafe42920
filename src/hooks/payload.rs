//! The few things that are wanted of a payload, out of JSON that need not be what its agent promises.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::dialect::Dialect;

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;

/// Longer than any path that a system takes.
const MAX_PATH_BYTES: usize = 4096;
/// The longest name of a task or a model.
const MAX_LABEL_CHARACTERS: usize = 200;
/// The longest reason. A longer one is a sentence, and sentences may be anybody's.
const MAX_WORD_BYTES: usize = 64;
/// So many logs belong to one session at most.
const MAX_LOGS: usize = 64;

/// The members of a payload that an agent's dialect knows. All others are read over and never held.
#[derive(Debug, PartialEq)]
pub(super) struct Payload(Map<String, Value>);

impl Payload {
    /// Reads the first object of a text. What stands behind it does not count.
    pub(super) fn read(text: &str, dialect: &Dialect) -> Result<Self, &'static str> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
        if text.is_empty() {
            return Err("there is no payload");
        }
        if !text.starts_with('{') {
            return Err("the payload is no JSON object");
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let members = Wanted(dialect).deserialize(&mut json);
        members.map(Self).map_err(|_| "the payload is not JSON")
    }

    /// The first of these names under which a text stands that is not empty.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str().filter(|text| !text.trim().is_empty()))
    }

    /// An id: a text, or a number as text.
    pub(super) fn id(&self, names: &[&str]) -> Option<String> {
        let number = |name: &&str| self.0.get(*name)?.as_u64().map(|number| number.to_string());
        self.text(names).map(|text| text.trim().to_owned()).or_else(|| names.iter().find_map(number))
    }

    /// One word of letters, digits and a few marks.
    pub(super) fn word(&self, names: &[&str]) -> Option<String> {
        let is_word = |word: &str| {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
            !word.is_empty() && word.len() <= MAX_WORD_BYTES && word.chars().all(is_letter)
        };
        let texts = names.iter().filter_map(|name| self.0.get(*name)?.as_str().map(str::trim));
        texts.into_iter().find(|text| is_word(text)).map(str::to_owned)
    }

    /// A short name on one line.
    pub(super) fn label(&self, names: &[&str]) -> Option<String> {
        let label = self.id(names)?;
        let is_label = label.chars().count() <= MAX_LABEL_CHARACTERS && !label.contains(char::is_control);
        is_label.then_some(label)
    }

    /// One path.
    pub(super) fn path(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| as_path(self.0.get(*name)?))
    }

    /// All paths under these names, single ones and lists, each once.
    pub(super) fn paths(&self, names: &[&str]) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for value in names.iter().filter_map(|name| self.0.get(*name)) {
            let listed = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for path in listed.iter().filter_map(as_path) {
                if paths.len() < MAX_LOGS && !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }
}

/// A path that can be printed and opened.
fn as_path(value: &Value) -> Option<String> {
    let path = value.as_str()?;
    let is_path = !path.trim().is_empty() && path.len() <= MAX_PATH_BYTES && !path.contains(char::is_control);
    is_path.then(|| path.to_owned())
}

/// Takes the members that a dialect knows out of an object. A name that comes twice counts as it stands last.
struct Wanted<'d>(&'d Dialect);

impl<'de> DeserializeSeed<'de> for Wanted<'_> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut kept = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if self.0.names().any(|wanted| wanted == name) {
                kept.insert(name, members.next_value()?);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(kept)
    }
}
