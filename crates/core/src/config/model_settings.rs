//! Settings of distillation and of the language model, with its prices and spending caps.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::absolute_path;

/// How lessons are distilled from a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DistillSettings {
    /// Who distills. "auto": the model where one is set, else the heuristics; "heuristic": never a model; "model": a
    /// model must be set. When a model fails, the heuristics stand in.
    #[schemars(extend("x-set-by" = "user"))]
    pub engine: EngineChoice,
    /// The most tokens of a session that a model is shown.
    #[schemars(range(min = 500, max = 1_000_000), extend("x-set-by" = "user"))]
    pub digest_tokens: u32,
    /// A directory of prompts that replace those of the same name, absolute or below `~/`; empty: none.
    #[schemars(extend("x-set-by" = "user"))]
    pub prompt_dir: String,
}

impl DistillSettings {
    /// Returns the directory of the user's own prompts, if there is one.
    pub fn prompt_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        user_path(&self.prompt_dir, home)
    }
}

impl ModelSettings {
    /// Returns the path of the file that holds the key, if there is one.
    pub fn key_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        user_path(&self.key_file, home)
    }

    /// Returns the name of the variable that holds the endpoint's key.
    pub fn key_variable_name(&self) -> &str {
        key_variable_for(&self.base_url, &self.key_variable)
    }

    /// Returns the directory of recorded exchanges, if there is one.
    pub fn cassette_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        user_path(&self.cassette_dir, home)
    }
}

/// Returns the variable of an endpoint's key: the one that is set, else that of OpenAI for OpenAI alone. A key of one
/// service is not sent to another.
pub(super) fn key_variable_for<'s>(base_url: &str, key_variable: &'s str) -> &'s str {
    let is_openai = base_url.starts_with("https://api.openai.com/");
    if key_variable.is_empty() && is_openai { "OPENAI_API_KEY" } else { key_variable }
}

/// Returns a path set by the user, which the checks have found to be absolute or below a known home directory.
pub(super) fn user_path(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    if path.is_empty() { None } else { absolute_path(path, Path::new("/"), home) }
}

/// The engine that distills lessons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EngineChoice {
    /// The model where one is set, else the heuristics.
    Auto,
    /// Never a model.
    Heuristic,
    /// A model, which must be set.
    Model,
}

/// The language model that reflections may ask. None of it may be set by a project: a repository does not decide where
/// sessions are sent, nor what may be spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSettings {
    /// Where an OpenAI-compatible endpoint listens, such as "http://127.0.0.1:11434/v1"; empty: no model is asked.
    #[schemars(extend("x-set-by" = "user"))]
    pub base_url: String,
    /// The model's name, as the endpoint knows it.
    #[schemars(extend("x-set-by" = "user"))]
    pub name: String,
    /// The environment variable that holds the endpoint's key; empty: OPENAI_API_KEY for api.openai.com, and no key for
    /// any other endpoint.
    #[schemars(extend("x-set-by" = "user"))]
    pub key_variable: String,
    /// A file that holds the key, absolute or below `~/`, taken before the variable; empty: none.
    #[schemars(extend("x-set-by" = "user"))]
    pub key_file: String,
    /// In which form answers are asked for. "auto": the endpoint is tried once and the best form remembered.
    #[schemars(extend("x-set-by" = "user"))]
    pub form: AnswerFormatChoice,
    /// How freely the model words its answers.
    #[schemars(range(min = 0.0, max = 2.0), extend("x-set-by" = "user"))]
    pub temperature: f64,
    /// The most tokens of one answer.
    #[schemars(range(min = 100, max = 100_000), extend("x-set-by" = "user"))]
    pub max_output_tokens: u32,
    /// How many times a question is asked before giving up, the first included.
    #[schemars(range(min = 1, max = 20), extend("x-set-by" = "user"))]
    pub max_attempts: u32,
    /// How many seconds one attempt may take.
    #[schemars(range(min = 1, max = 3600), extend("x-set-by" = "user"))]
    pub attempt_timeout_seconds: u64,
    /// How many seconds a whole reflection may wait for the model.
    #[schemars(range(min = 1, max = 86_400), extend("x-set-by" = "user"))]
    pub reflection_timeout_seconds: u64,
    /// Whether exchanges are kept or played back. "off": neither; "record": each is written to `cassetteDir`;
    /// "replay": answers come from there and nothing is sent anywhere.
    #[schemars(extend("x-set-by" = "user"))]
    pub cassette: CassetteMode,
    /// The directory of recorded exchanges, absolute or below `~/`.
    #[schemars(extend("x-set-by" = "user"))]
    pub cassette_dir: String,
    /// What tokens cost, in US dollars.
    pub prices: ModelPriceSettings,
    /// What may be spent; each cap is 0 for no such cap.
    pub caps: SpendCapSettings,
}

/// In which form answers are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FormChoice")]
pub enum AnswerFormatChoice {
    /// The best that the endpoint understands.
    Auto,
    /// Calls of tools.
    Tools,
    /// JSON held against a schema by the endpoint.
    JsonSchema,
    /// JSON by the endpoint's switch.
    JsonObject,
    /// Plain text in any form.
    Text,
}

/// Whether exchanges are kept or played back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CassetteMode {
    /// Nothing is recorded or replayed.
    Off,
    /// Each exchange is written.
    Record,
    /// Answers come from what was written.
    Replay,
}

/// What tokens cost, in US dollars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PriceSettings")]
pub struct ModelPriceSettings {
    /// A million tokens read by the model.
    #[schemars(range(min = 0.0, max = 100_000.0), extend("x-set-by" = "user"))]
    pub input_per_million: f64,
    /// A million tokens written by the model.
    #[schemars(range(min = 0.0, max = 100_000.0), extend("x-set-by" = "user"))]
    pub output_per_million: f64,
}

/// What may be spent; each cap is 0 for no such cap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CapSettings")]
pub struct SpendCapSettings {
    /// Calls in one reflection, repeated ones included.
    #[schemars(range(min = 0, max = 10_000), extend("x-set-by" = "user"))]
    pub calls_per_reflection: u32,
    /// Tokens in one reflection.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64), extend("x-set-by" = "user"))]
    pub tokens_per_reflection: u64,
    /// Dollars in one reflection.
    #[schemars(range(min = 0.0, max = 1_000_000.0), extend("x-set-by" = "user"))]
    pub usd_per_reflection: f64,
    /// Tokens a day, all projects together.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64), extend("x-set-by" = "user"))]
    pub tokens_per_day: u64,
    /// Dollars a day, all projects together.
    #[schemars(range(min = 0.0, max = 1_000_000.0), extend("x-set-by" = "user"))]
    pub usd_per_day: f64,
    /// Tokens a day in one project.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64), extend("x-set-by" = "user"))]
    pub tokens_per_project_day: u64,
    /// Dollars a day in one project.
    #[schemars(range(min = 0.0, max = 1_000_000.0), extend("x-set-by" = "user"))]
    pub usd_per_project_day: f64,
}
