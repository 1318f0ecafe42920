//! The prompts for models. The texts are the files in `prompts/`; each of them can be replaced.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::domain::StableHash;
use crate::model::{AnswerSchema, ModelTool};

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;

/// Each prompt, its text, and the placeholders that the text must contain.
const FILES: &[(&str, &str, &[&str])] = &[
    ("archivist.md", include_str!("../../../../prompts/archivist.md"), &[]),
    ("by-json.md", include_str!("../../../../prompts/by-json.md"), &[]),
    ("by-schema.md", include_str!("../../../../prompts/by-schema.md"), &[]),
    ("by-tools.md", include_str!("../../../../prompts/by-tools.md"), &[]),
    ("compare.md", include_str!("../../../../prompts/compare.md"), &["fence", "pairs"]),
    ("failure.md", include_str!("../../../../prompts/failure.md"), &[]),
    ("frame.md", include_str!("../../../../prompts/frame.md"), &["digest", "fence", "request"]),
    ("pattern.md", include_str!("../../../../prompts/pattern.md"), &[]),
    ("reflection.schema.json", include_str!("../../../../prompts/reflection.schema.json"), &[]),
    ("repair.md", include_str!("../../../../prompts/repair.md"), &[]),
    ("success.md", include_str!("../../../../prompts/success.md"), &[]),
    ("tools.json", include_str!("../../../../prompts/tools.json"), &[]),
];

/// The file of the reply schema, and its name where an endpoint asks for one.
const SCHEMA_FILE: &str = "reflection.schema.json";
const SCHEMA_NAME: &str = "reflection";

/// The tools that a model may call: to submit candidates, to look up known lessons, to score importance.
pub(super) const CREATE: &str = "memory_create_candidate_lessons";
pub(super) const NEAR: &str = "memory_detect_duplicates";
pub(super) const SCORE: &str = "memory_score_importance";
const TOOLS: [&str; 3] = [CREATE, NEAR, SCORE];

/// The reason why custom prompts cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PromptError {
    /// There is no prompt of this name.
    #[error("{name} is no prompt; the prompts are {}", PromptSet::NAMES.join(", "))]
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// A required placeholder is missing.
    #[error("{name} has no place for {{{place}}}")]
    NoPlace {
        /// The name of the prompt.
        name: &'static str,
        /// The name of the placeholder.
        place: &'static str,
    },
    /// The prompt is empty or no JSON of the required form.
    #[error("{name} cannot be used: {why}")]
    Broken {
        /// The name of the prompt.
        name: &'static str,
        /// The description of what is wrong.
        why: String,
    },
}

/// All texts that a model is given besides the log.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptSet {
    texts: BTreeMap<&'static str, String>,
    tools: Vec<ModelTool>,
    schema: Value,
    version: String,
}

/// A tool as `tools.json` describes it.
#[derive(Deserialize)]
struct ToolDescription {
    name: String,
    description: String,
    /// A schema, or the name of the file that contains it.
    parameters: Value,
}

impl PromptSet {
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

    /// Returns the prompts with some of them replaced, given as names and texts.
    pub fn with_overrides(own: impl IntoIterator<Item = (String, String)>) -> Result<Self, PromptError> {
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
                return Err(broken_prompt(name, "it is empty"));
            }
            if let Some(&place) = places.iter().find(|place| !text.contains(&format!("{{{place}}}"))) {
                return Err(PromptError::NoPlace { name, place });
            }
        }
        let schema = parse_prompt_json::<Value>(SCHEMA_FILE, &texts)?;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(broken_prompt(SCHEMA_FILE, "it is no schema of an object"));
        }
        let described = parse_prompt_json::<Vec<ToolDescription>>("tools.json", &texts)?;
        let tools: Vec<ModelTool> = described
            .into_iter()
            .map(|tool| {
                let is_schema = tool.parameters.as_str() == Some(SCHEMA_FILE);
                let parameters = if is_schema { schema.clone() } else { tool.parameters };
                ModelTool { name: tool.name, description: tool.description, parameters }
            })
            .collect();
        let named = |tool: &&str| tools.iter().any(|described: &ModelTool| described.name == **tool);
        if let Some(missing) = TOOLS.iter().find(|tool| !named(tool)) {
            return Err(broken_prompt("tools.json", &format!("it does not describe {missing}")));
        }
        let version = compute_version(&texts);
        Ok(Self { texts, tools, schema, version })
    }

    /// Returns the text of one prompt.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// Returns a fingerprint of all texts, which changes with every one of them.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Tells whether a prompt differs from the one that comes with the program.
    pub fn is_customized(&self, name: &str) -> bool {
        FILES.iter().any(|(known, text, _)| *known == name && self.get(name) != Some(*text))
    }

    /// Returns the tools that a model may call.
    pub(super) fn tools(&self) -> &[ModelTool] {
        &self.tools
    }

    /// Returns the schema of a whole reply.
    pub(super) fn reply_schema(&self) -> AnswerSchema {
        AnswerSchema { name: SCHEMA_NAME.to_owned(), schema: self.schema.clone() }
    }

    /// Returns a prompt with its placeholders filled. Placeholders within the filled-in values stay.
    pub(super) fn fill_prompt(&self, name: &str, values: &[(&str, &str)]) -> String {
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

fn parse_prompt_json<T: for<'t> Deserialize<'t>>(
    name: &'static str,
    texts: &BTreeMap<&'static str, String>,
) -> Result<T, PromptError> {
    let text = texts.get(name).map(String::as_str).unwrap_or_default();
    serde_json::from_str(text).map_err(|error| broken_prompt(name, &error.to_string()))
}

fn broken_prompt(name: &'static str, why: &str) -> PromptError {
    PromptError::Broken { name, why: why.to_owned() }
}

fn compute_version(texts: &BTreeMap<&'static str, String>) -> String {
    StableHash::from_parts(texts.iter().flat_map(|(name, text)| [*name, text.as_str()])).to_digits(12)
}
