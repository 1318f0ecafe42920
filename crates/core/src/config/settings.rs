//! The configuration as the rest of the program uses it: plain, typed and checked.
//!
//! These types also define every bound. The JSON schema is generated from them and the check of each value reads that
//! schema, so a bound is written once. The defaults are in `config/default.toml` alone.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ProcessEnvironment;
use super::injection_settings::{InjectionBudgetSettings, InjectionPointsSettings};
use super::judge_settings::{AuditSettings, FeedbackSettings, JudgeSettings, LifecycleSettings, TriggerSettings};
use super::model_settings::{DistillSettings, ModelSettings};
use super::postgres_settings::PostgresSettings;
use super::runtime_settings::{
    DecisionSettings, EmbeddingSettings, HookSettings, HudSettings, ProgressSettings, WorkerSettings,
};
use super::server_settings::{ServeSettings, TelemetrySettings};
use crate::domain::ArchivistConfig;
use crate::memory::BankTenancy;
use crate::memory::jsonl::{JsonlSettings, SyncPolicy};
use crate::recall::{HalfLives, RankingProfile, RankingSettings, ScoreWeights};

/// The configuration of Archivist. Each key that is not set in a file has the default given here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Archivist configuration")]
pub struct Config {
    /// The published settings, which stand at the top level of the file.
    #[serde(flatten)]
    pub archivist: ArchivistConfig,
    /// Which repository this is.
    pub project: ProjectSettings,
    /// Where and how memories are stored.
    pub memory: MemorySettings,
    /// Which memories are given back, and in which order.
    pub recall: RecallSettings,
    /// Where agents keep their sessions.
    pub sources: SourceSettings,
    /// How lessons are distilled from a session.
    pub distill: DistillSettings,
    /// The language model that reflections may ask.
    pub model: ModelSettings,
    /// When a candidate is a new lesson, and when it is one that is known.
    pub judge: JudgeSettings,
    /// How a lesson rises and ends.
    pub lifecycle: LifecycleSettings,
    /// How much a judgement of a lesson counts.
    pub feedback: FeedbackSettings,
    /// When a lesson is said not to have helped.
    pub audit: AuditSettings,
    /// What sets a reflection over several runs off.
    pub triggers: TriggerSettings,
    /// Who hears of reflections.
    pub hud: HudSettings,
    /// The progress notes of the project.
    pub progress: ProgressSettings,
    /// What hooks of agents do.
    pub hooks: HookSettings,
    /// What only a person decides.
    pub decisions: DecisionSettings,
    /// How the queue is worked off.
    pub worker: WorkerSettings,
    /// A model that tells how close two texts are in meaning.
    pub embeddings: EmbeddingSettings,
    /// How the memory is served over HTTP.
    pub serve: ServeSettings,
    /// What is told of the work to an observer.
    pub telemetry: TelemetrySettings,
}

/// Which repository this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectSettings {
    /// The repository's identity in every memory; empty: the remote URL, else the git directory, else the path of
    /// the project.
    pub key: String,
}

/// Where and how memories are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySettings {
    /// The kind of store. "jsonl": files of one JSON record a line; "postgres": a server that many machines share.
    pub backend: MemoryBackend,
    /// The directory of the project's memories; a relative path starts at the project root, one that begins with
    /// `~/` at the home directory.
    #[schemars(length(min = 1))]
    pub dir: String,
    /// The directory of the memories shared by all projects, read like `dir`; empty: no shared memories.
    pub global_dir: String,
    /// When a commit counts as done. "durable": it is on disk before the call returns; "lazy": the operating system
    /// writes it when it likes, and a power cut may lose the last commits.
    pub sync: SyncMode,
    /// How many seconds to wait for another writer before giving up.
    #[schemars(range(min = 1, max = 3600))]
    pub lock_timeout_seconds: u64,
    /// How many versions of a lesson compaction leaves in the live file.
    #[schemars(range(min = 1, max = 100_000))]
    pub versions_kept: u32,
    /// A line of a memory file with more bytes than this is reported and skipped, not read.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_line_bytes: u64,
    /// The derived index catches up once this many bytes are not indexed yet.
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub fold_in_bytes: u64,
    /// How the server is reached, where the store is one.
    pub postgres: PostgresSettings,
}

impl MemorySettings {
    /// Returns the directory of the project's memories.
    pub fn project_path(&self, project_root: &Path, home: Option<&Path>) -> PathBuf {
        // A `~/` without a home directory was refused when the configuration was loaded.
        absolute_path(&self.dir, project_root, home).unwrap_or_else(|| project_root.join(&self.dir))
    }

    /// Returns the directory of the memories shared by all projects, or `None` if there is to be none or no home
    /// directory to put it in.
    pub fn global_path(&self, project_root: &Path, home: Option<&Path>) -> Option<PathBuf> {
        if self.global_dir.is_empty() {
            return None;
        }
        absolute_path(&self.global_dir, project_root, home)
    }
}

impl MemorySettings {
    /// Returns the settings of the JSONL memory for a project at `project_root`.
    pub fn jsonl_settings(&self, project_root: &Path, home: Option<&Path>) -> JsonlSettings {
        let project = self.project_path(project_root, home);
        // A memory below the project's root is moved and cloned with it, and belongs to this project alone.
        let below = resolve_path(&project).starts_with(resolve_path(project_root));
        JsonlSettings {
            project,
            tenancy: if below { BankTenancy::Own } else { BankTenancy::Shared },
            global: self.global_path(project_root, home),
            sync: match self.sync {
                SyncMode::Durable => SyncPolicy::Durable,
                SyncMode::Lazy => SyncPolicy::Lazy,
            },
            lock_timeout: Duration::from_secs(self.lock_timeout_seconds),
            versions_kept: usize::try_from(self.versions_kept).unwrap_or(usize::MAX),
            max_line_bytes: usize::try_from(self.max_line_bytes).unwrap_or(usize::MAX),
            fold_in_bytes: self.fold_in_bytes,
        }
    }
}

/// The kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Backend")]
pub enum MemoryBackend {
    /// Files of one JSON record a line.
    Jsonl,
    /// A PostgreSQL server.
    Postgres,
}

/// When a commit counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SyncMode {
    /// It is on disk before the call returns.
    Durable,
    /// The operating system writes it when it likes.
    Lazy,
}

/// Which memories are given back, and in which order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecallSettings {
    /// The most memories one recall returns.
    #[schemars(range(min = 1, max = 1000))]
    pub max_results: u32,
    /// How many of the most relevant memories are ranked by the weights.
    #[schemars(range(min = 1, max = 10_000))]
    pub gate: u32,
    /// A memory less relevant than this is never returned.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub floor: f64,
    /// The weights order what is at least this share as close to the question as the closest memory.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub near: f64,
    /// What is less close to the question than this share of the closest memory is not returned beside it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub far: f64,
    /// How often a memory that is due is held back from a run, to learn whether it helps; never one that a person stands
    /// behind.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub holdout: f64,
    /// What decides by lot which memory is held back from which run.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub seed: u64,
    /// Whether memories are found by their meaning as well; it takes a model in `embeddings`, and half a second.
    pub by_meaning: bool,
    /// By what memories are put in order. "balanced": by the weights; "frequency": by how many runs saw them;
    /// "patterns": by how often they held against how often they were noise; "decisions": by whether they fit, and by
    /// age.
    pub profile: RankingProfile,
    /// A memory that the profile "patterns" scores lower than this is never returned.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_score: f64,
    /// What a memory's score is made of; one of the weights must be above 0.
    pub weights: RecallWeights,
    /// After how many days the recency of a memory has fallen to a half.
    pub half_life_days: HalfLifeDays,
    /// Where in a run memories are given, and how many.
    pub points: InjectionPointsSettings,
    /// What the memories in a prompt may cost together, heading and frame included.
    pub budget: InjectionBudgetSettings,
}

impl RecallSettings {
    /// Returns the ranking settings, in the types of recall.
    pub fn ranking_settings(&self) -> RankingSettings {
        RankingSettings {
            weights: ScoreWeights {
                importance: self.weights.importance,
                recency: self.weights.recency,
                relevance: self.weights.relevance,
            },
            half_lives: HalfLives { lesson: self.half_life_days.lesson, decision: self.half_life_days.decision },
            gate: usize::try_from(self.gate).unwrap_or(usize::MAX),
            floor: self.floor,
            near: self.near,
            far: self.far,
            max_results: usize::try_from(self.max_results).unwrap_or(usize::MAX),
        }
    }
}

/// What a memory's score is made of. The weights need not add up to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecallWeights {
    /// How much the memory's importance counts.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub importance: f64,
    /// How much it counts that the memory was seen lately.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub recency: f64,
    /// How much it counts that the memory fits the question.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub relevance: f64,
}

/// After how many days the recency of a memory has fallen to a half.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HalfLifeDays {
    /// The half life of a lesson, in days.
    #[schemars(range(max = 36_500.0), extend("exclusiveMinimum" = 0.0))]
    pub lesson: f64,
    /// The half life of a decision, in days.
    #[schemars(range(max = 36_500.0), extend("exclusiveMinimum" = 0.0))]
    pub decision: f64,
}

/// Where agents keep their sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceSettings {
    /// The home of Claude Code; a relative path starts at the project root, one that begins with `~/` at the home
    /// directory; empty: $CLAUDE_CONFIG_DIR, else ~/.claude.
    #[schemars(extend("x-set-by" = "user"))]
    pub claude_home: String,
    /// The home of Codex, read like `claudeHome`; empty: $CODEX_HOME, else ~/.codex.
    #[schemars(extend("x-set-by" = "user"))]
    pub codex_home: String,
    /// The home of Gemini CLI, read like `claudeHome`; empty: ~/.gemini.
    #[schemars(extend("x-set-by" = "user"))]
    pub gemini_home: String,
}

/// The directories in which agents keep their sessions on this machine; `None` if there is no home directory to start
/// at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentHomes {
    /// The home of Claude Code.
    pub claude: Option<PathBuf>,
    /// The home of Codex.
    pub codex: Option<PathBuf>,
    /// The home of Gemini CLI.
    pub gemini: Option<PathBuf>,
}

impl SourceSettings {
    /// Returns the homes that are set here, else those that the agents themselves use.
    pub fn agent_homes(&self, project_root: &Path, environment: &ProcessEnvironment) -> AgentHomes {
        let home = environment.home.as_deref();
        let place = |set: &str, variable: Option<&str>, usual: &str| {
            if !set.is_empty() {
                return absolute_path(set, project_root, home);
            }
            let given =
                variable.and_then(|name| environment.environment_variable(name)).filter(|path| !path.is_empty());
            given.map(|path| environment.current_dir.join(path)).or_else(|| Some(home?.join(usual)))
        };
        AgentHomes {
            claude: place(&self.claude_home, Some("CLAUDE_CONFIG_DIR"), ".claude"),
            codex: place(&self.codex_home, Some("CODEX_HOME"), ".codex"),
            gemini: place(&self.gemini_home, None, ".gemini"),
        }
    }
}

/// Returns true if a configured path starts at the home directory.
pub(super) fn starts_at_home(path: &str) -> bool {
    path == "~" || path.starts_with("~/")
}

/// Returns a configured path as an absolute one, or `None` if it starts at an unknown home directory.
pub(super) fn absolute_path(path: &str, project_root: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if starts_at_home(path) {
        let below_home = path.trim_start_matches('~').trim_start_matches('/');
        return home.map(|home| home.join(below_home));
    }
    Some(project_root.join(path))
}

/// Returns the real target of a path, even if its end does not exist yet, so that two paths to one directory compare
/// equal.
fn resolve_path(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, mut real)) = known else {
        return path.to_path_buf();
    };
    for step in path.strip_prefix(above).unwrap_or(path).components() {
        match step {
            Component::ParentDir => drop(real.pop()),
            Component::CurDir => {}
            step => real.push(step),
        }
    }
    real
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
