//! Settings around a reflection: the display, progress notes, hooks, the worker and embeddings.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model_settings::{key_variable_for, user_path};

/// Who hears of reflections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HudSettings {
    /// A file that every message is appended to, absolute or below `~/`; empty: none.
    #[schemars(extend("x-set-by" = "user"))]
    pub file: String,
    /// The address of a heads-up display, such as "ws://localhost:8080/ws"; empty: none.
    #[schemars(extend("x-set-by" = "user"))]
    pub web_socket: String,
    /// A lesson at least this important is told by itself.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub highlight_min: f64,
}

impl HudSettings {
    /// Returns the path of the file that messages are appended to, if there is one.
    pub fn file_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        user_path(&self.file, home)
    }
}

/// The progress notes of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressSettings {
    /// Whether what was learned is written into `.openagents/progress.md`.
    pub append_lessons: bool,
}

/// What hooks of agents do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookSettings {
    /// Whether a hook starts a worker when none runs.
    pub start_worker: bool,
    /// Whether lessons are given when a session starts.
    pub recall_at_start: bool,
    /// Whether lessons are given with every prompt.
    pub recall_on_prompt: bool,
    /// The most lessons that a hook gives.
    #[schemars(range(min = 1, max = 100))]
    pub max_lessons: u32,
    /// The most characters that a hook prints.
    #[schemars(range(min = 200, max = 10_000))]
    pub max_characters: u32,
    /// The most tokens that a hook prints.
    #[schemars(range(min = 50, max = 2_500))]
    pub max_tokens: u32,
    /// After how long a hook at the start of a session says nothing rather than make the agent wait.
    #[schemars(range(min = 1, max = 60_000))]
    pub start_deadline_millis: u32,
    /// After how long any other hook says nothing rather than make the agent wait.
    #[schemars(range(min = 1, max = 60_000))]
    pub deadline_millis: u32,
}

/// What only a person decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisionSettings {
    /// Whether lessons are approved and promoted without a terminal, too.
    #[schemars(extend("x-set-by" = "user-file"))]
    pub without_terminal: bool,
}

/// How the queue is worked off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerSettings {
    /// The most workers for one memory.
    #[schemars(range(min = 1, max = 64))]
    pub processes: u32,
    /// After how many seconds without a sign of life a job is taken from its worker.
    #[schemars(range(min = 2, max = 86_400))]
    pub lease_seconds: u64,
    /// How often a job is tried before it is put aside.
    #[schemars(range(min = 1, max = 100))]
    pub max_attempts: u32,
    /// How many seconds a job waits after its first failure; twice as long after each further one.
    #[schemars(range(min = 0, max = 86_400))]
    pub retry_seconds: u64,
    /// For how many seconds a session must be quiet that has not said that it is over.
    #[schemars(range(min = 0, max = 86_400))]
    pub quiet_seconds: u64,
    /// For how many seconds a log must not have grown before it is read.
    #[schemars(range(min = 0, max = 3_600))]
    pub settle_seconds: u64,
    /// For how many seconds a worker waits for jobs that are not due before it ends.
    #[schemars(range(min = 0, max = 86_400))]
    pub linger_seconds: u64,
    /// The most jobs of one project that the workers of a fleet have at once.
    #[schemars(range(min = 1, max = 1000))]
    pub per_project: u32,
    /// For how many days finished jobs are remembered.
    #[schemars(range(min = 0, max = 3_650))]
    pub keep_done_days: u32,
}

/// A model that tells how close two texts are in meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddingSettings {
    /// The folder of a sentence model (config.json, tokenizer.json, model.safetensors), absolute or below `~/`; empty:
    /// none.
    #[schemars(extend("x-set-by" = "user"))]
    pub dir: String,
    /// Where an OpenAI-compatible endpoint for embeddings listens, such as "http://127.0.0.1:11434/v1". Lessons and
    /// questions are sent there, without secrets, if `dir` is empty; empty: nothing is sent.
    #[schemars(extend("x-set-by" = "user"))]
    pub base_url: String,
    /// The embedding model's name, as the endpoint knows it.
    #[schemars(extend("x-set-by" = "user"))]
    pub model: String,
    /// The environment variable that holds the endpoint's key; empty: OPENAI_API_KEY for api.openai.com, and no key for
    /// any other endpoint.
    #[schemars(extend("x-set-by" = "user"))]
    pub key_variable: String,
    /// A file that holds the key, absolute or below `~/`, taken before the variable; empty: none.
    #[schemars(extend("x-set-by" = "user"))]
    pub key_file: String,
}

impl EmbeddingSettings {
    /// Returns the folder of the embedding model, if there is one.
    pub fn model_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        user_path(&self.dir, home)
    }

    /// Returns the path of the file that holds the endpoint's key, if there is one.
    pub fn key_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        user_path(&self.key_file, home)
    }

    /// Returns the name of the variable that holds the endpoint's key.
    pub fn key_variable_name(&self) -> &str {
        key_variable_for(&self.base_url, &self.key_variable)
    }
}
