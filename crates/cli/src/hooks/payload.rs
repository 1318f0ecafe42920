//! Reads the few useful values of a hook's payload, without trusting its shape.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::dialect::HookDialect;

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;

/// The longest accepted path, in bytes.
const MAX_PATH_BYTES: usize = 4096;
/// The longest name of a task or a model.
const MAX_LABEL_CHARACTERS: usize = 200;
/// The longest reason. Anything longer is a sentence, which anyone may have written.
const MAX_WORD_BYTES: usize = 64;
/// The most logs of one session.
const MAX_LOGS: usize = 64;

/// The members of a payload that an agent's dialect names. All others are skipped and never stored.
#[derive(Debug, PartialEq)]
pub(super) struct HookPayload(Map<String, Value>);

impl HookPayload {
    /// Parses the first object of a text. Anything after it is ignored.
    pub(super) fn parse(text: &str, dialect: &HookDialect) -> Result<Self, &'static str> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
        if text.is_empty() {
            return Err("there is no payload");
        }
        if !text.starts_with('{') {
            return Err("the payload is no JSON object");
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let members = DialectMemberSeed(dialect).deserialize(&mut json);
        members.map(Self).map_err(|_| "the payload is not JSON")
    }

    /// Returns the first text under these names that is not empty.
    pub(super) fn find_text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str().filter(|text| !text.trim().is_empty()))
    }

    /// Returns an id: a text, or a number as text.
    pub(super) fn find_id(&self, names: &[&str]) -> Option<String> {
        let number = |name: &&str| self.0.get(*name)?.as_u64().map(|number| number.to_string());
        self.find_text(names).map(|text| text.trim().to_owned()).or_else(|| names.iter().find_map(number))
    }

    /// Returns one word of letters, digits and a few punctuation marks.
    pub(super) fn find_word(&self, names: &[&str]) -> Option<String> {
        let is_word = |word: &str| {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
            !word.is_empty() && word.len() <= MAX_WORD_BYTES && word.chars().all(is_letter)
        };
        let texts = names.iter().filter_map(|name| self.0.get(*name)?.as_str().map(str::trim));
        texts.into_iter().find(|text| is_word(text)).map(str::to_owned)
    }

    /// Returns a short name on one line.
    pub(super) fn find_label(&self, names: &[&str]) -> Option<String> {
        let label = self.find_id(names)?;
        let is_label = label.chars().count() <= MAX_LABEL_CHARACTERS && !label.contains(char::is_control);
        is_label.then_some(label)
    }

    /// Returns the first valid path under these names.
    pub(super) fn find_path(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| as_path(self.0.get(*name)?))
    }

    /// Returns all paths under these names, single ones and lists, each once.
    pub(super) fn find_paths(&self, names: &[&str]) -> Vec<String> {
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

/// Returns a path that can be printed and opened. It may hold line ends, which a file's name may, too.
fn as_path(value: &Value) -> Option<String> {
    let path = value.as_str()?;
    let has_controls = path.contains(|c: char| c.is_control() && c != '\n');
    let is_path = !path.trim().is_empty() && path.len() <= MAX_PATH_BYTES && !has_controls;
    is_path.then(|| path.to_owned())
}

/// Deserializes only the members that a dialect names. If a name occurs twice, the last one counts.
struct DialectMemberSeed<'d>(&'d HookDialect);

impl<'de> DeserializeSeed<'de> for DialectMemberSeed<'_> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DialectMemberSeed<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut kept = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if self.0.payload_keys().any(|wanted| wanted == name) {
                kept.insert(name, members.next_value()?);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(kept)
    }
}
