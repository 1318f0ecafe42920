//! What a model is told. The texts are the files in `prompts/`; whoever has other habits may bring their own.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::model::{Schema, Tool};

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;

/// Each prompt with the places that its text must leave open.
const FILES: &[(&str, &str, &[&str])] = &[
    ("archivist.md", include_str!("../../prompts/archivist.md"), &[]),
    ("by-json.md", include_str!("../../prompts/by-json.md"), &[]),
    ("by-schema.md", include_str!("../../prompts/by-schema.md"), &[]),
    ("by-tools.md", include_str!("../../prompts/by-tools.md"), &[]),
    ("compare.md", include_str!("../../prompts/compare.md"), &["fence", "pairs"]),
    ("failure.md", include_str!("../../prompts/failure.md"), &[]),
    ("frame.md", include_str!("../../prompts/frame.md"), &["digest", "fence", "request"]),
    ("pattern.md", include_str!("../../prompts/pattern.md"), &[]),
    ("reflection.schema.json", include_str!("../../prompts/reflection.schema.json"), &[]),
    ("repair.md", include_str!("../../prompts/repair.md"), &[]),
    ("success.md", include_str!("../../prompts/success.md"), &[]),
    ("tools.json", include_str!("../../prompts/tools.json"), &[]),
];

/// The schema's file, and its name where an endpoint asks for one.
const SCHEMA_FILE: &str = "reflection.schema.json";
const SCHEMA_NAME: &str = "reflection";

/// What a model may call: to claim lessons, to ask what is known already, to say how much one matters.
pub(super) const CREATE: &str = "memory_create_candidate_lessons";
pub(super) const NEAR: &str = "memory_detect_duplicates";
pub(super) const SCORE: &str = "memory_score_importance";
const TOOLS: [&str; 3] = [CREATE, NEAR, SCORE];

/// Why somebody's own prompts cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PromptError {
    /// There is no prompt of this name.
    #[error("{name} is no prompt; the prompts are {}", Prompts::NAMES.join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// A place is missing without which nothing can be asked.
    #[error("{name} has no place for {{{place}}}")]
    NoPlace {
        /// The prompt.
        name: &'static str,
        /// What would stand there.
        place: &'static str,
    },
    /// It is to be JSON of a certain form.
    #[error("{name} cannot be used: {why}")]
    Broken {
        /// The prompt.
        name: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// All that a model is told besides the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompts {
    texts: BTreeMap<&'static str, String>,
    tools: Vec<Tool>,
    schema: Value,
    version: String,
}

/// A tool as its file describes it.
#[derive(Deserialize)]
struct Described {
    name: String,
    description: String,
    /// A schema, or the name of the file that holds it.
    parameters: Value,
}

impl Prompts {
    /// The names of all prompts.
    pub const NAMES: [&'static str; FILES.len()] = {
        let mut names = [""; FILES.len()];
        let mut at = 0;
        while at < FILES.len() {
            #[expect(clippy::indexing_slicing, reason = "bounds are checked while compiling")]
            {
                names[at] = FILES[at].0;
            }
            at += 1;
        }
        names
    };

    /// The prompts with some of them replaced: names and texts.
    pub fn with(own: impl IntoIterator<Item = (String, String)>) -> Result<Self, PromptError> {
        let mut texts: BTreeMap<&'static str, String> =
            FILES.iter().map(|(name, text, _)| (*name, (*text).to_owned())).collect();
        for (name, text) in own {
            match texts.iter_mut().find(|(known, _)| **known == name) {
                Some((_, held)) => *held = text,
                None => return Err(PromptError::Unknown { name }),
            }
        }
        for &(name, _, places) in FILES {
            let text = texts.get(name).map(String::as_str).unwrap_or_default();
            if text.trim().is_empty() {
                return Err(broken(name, "it is empty"));
            }
            if let Some(&place) = places.iter().find(|place| !text.contains(&format!("{{{place}}}"))) {
                return Err(PromptError::NoPlace { name, place });
            }
        }
        let schema = parse::<Value>(SCHEMA_FILE, &texts)?;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(broken(SCHEMA_FILE, "it is no schema of an object"));
        }
        let described = parse::<Vec<Described>>("tools.json", &texts)?;
        let tools: Vec<Tool> = described
            .into_iter()
            .map(|tool| {
                let is_schema = tool.parameters.as_str() == Some(SCHEMA_FILE);
                let parameters = if is_schema { schema.clone() } else { tool.parameters };
                Tool { name: tool.name, description: tool.description, parameters }
            })
            .collect();
        let named = |tool: &&str| tools.iter().any(|described: &Tool| described.name == **tool);
        if let Some(missing) = TOOLS.iter().find(|tool| !named(tool)) {
            return Err(broken("tools.json", &format!("it does not describe {missing}")));
        }
        let version = version(&texts);
        Ok(Self { texts, tools, schema, version })
    }

    /// The text of one prompt.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// A fingerprint of all texts: whoever changes one changes it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether a prompt is not the one that comes with the program.
    pub fn is_own(&self, name: &str) -> bool {
        FILES.iter().any(|(known, text, _)| *known == name && self.get(name) != Some(*text))
    }

    /// The tools that a model may call.
    pub(super) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// What a whole answer looks like.
    pub(super) fn schema(&self) -> Schema {
        Schema { name: SCHEMA_NAME.to_owned(), schema: self.schema.clone() }
    }

    /// A prompt with its open places filled. What is filled in is not looked at again.
    pub(super) fn fill(&self, name: &str, values: &[(&str, &str)]) -> String {
        let mut rest = self.get(name).unwrap_or_default();
        let mut filled = String::with_capacity(rest.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
        while let Some((before, behind)) = rest.split_once('{') {
            filled.push_str(before);
            let named = behind.split_once('}').and_then(|(name, after)| {
                let (_, value) = values.iter().find(|(known, _)| *known == name)?;
                Some((value, after))
            });
            match named {
                Some((value, after)) => {
                    filled.push_str(value);
                    rest = after;
                }
                None => {
                    filled.push('{');
                    rest = behind;
                }
            }
        }
        filled.push_str(rest);
        filled.trim().to_owned()
    }
}

fn parse<T: for<'t> Deserialize<'t>>(
    name: &'static str,
    texts: &BTreeMap<&'static str, String>,
) -> Result<T, PromptError> {
    let text = texts.get(name).map(String::as_str).unwrap_or_default();
    serde_json::from_str(text).map_err(|error| broken(name, &error.to_string()))
}

fn broken(name: &'static str, why: &str) -> PromptError {
    PromptError::Broken { name, why: why.to_owned() }
}

fn version(texts: &BTreeMap<&'static str, String>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, text) in texts {
        hasher.update(name.as_bytes()).update(&[0]).update(text.as_bytes()).update(&[0]);
    }
    hasher.finalize().to_hex().chars().take(12).collect()
}
