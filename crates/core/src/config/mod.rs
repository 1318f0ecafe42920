//! The configuration: seven layers become one checked [`Config`], and every value knows its origin.
//!
//! Lowest first: the built-in `config/default.toml`, the user's file, the project's `.openagents/archivist.toml`, the
//! key `archivist` of the project's `.openagents/project.json`, the file of `--config`, the environment, the flags.
//! This module reads files, but neither the environment nor the home directory by itself: the caller passes them in.

mod config_file;
mod displayed_setting;
mod environment_variables;
mod error;
mod git_remote;
mod injection_settings;
mod judge_settings;
mod layers;
mod model_settings;
mod name_suggestion;
mod postgres_settings;
mod project_discovery;
mod project_rules;
mod runtime_settings;
mod schema;
mod server_settings;
mod settings;
mod value_check;

use std::ffi::OsString;
use std::path::PathBuf;

use self::layers::ConfigLayers;

pub use self::displayed_setting::{EffectiveSetting, Secrecy, SettingOrigin};
pub use self::error::{ConfigError, ConfigProblem};
pub use self::injection_settings::{
    InjectionBudgetSettings, InjectionPointSettings, InjectionPointsSettings, LessonReachChoice,
};
pub use self::judge_settings::{
    AuditSettings, FeedbackSettings, FeedbackWeights, JudgeSettings, LifecycleSettings, TriggerSettings,
};
pub use self::model_settings::{
    AnswerFormatChoice, CassetteMode, DistillSettings, EngineChoice, ModelPriceSettings, ModelSettings,
    SpendCapSettings,
};
pub use self::postgres_settings::PostgresSettings;
pub use self::project_discovery::{RepoIdentity, find_root as find_project_root, find_trust_key, identify_repository};
pub use self::runtime_settings::{
    DecisionSettings, EmbeddingSettings, HookSettings, HudSettings, ProgressSettings, WorkerSettings,
};
pub use self::schema::config_schema;
pub use self::server_settings::{ServeSettings, TelemetrySettings, WriteAccessChoice};
pub use self::settings::{
    AgentHomes, Config, HalfLifeDays, MemoryBackend, MemorySettings, ProjectSettings, RecallSettings, RecallWeights,
    SourceSettings, SyncMode,
};

/// The environment of the process, read once and passed in. It is not `Debug`, because an environment holds secrets.
#[derive(Clone, Default)]
pub struct ProcessEnvironment {
    /// The home directory, if there is one.
    pub home: Option<PathBuf>,
    /// The environment variables; the caller leaves out those that are not Unicode.
    pub variables: Vec<(String, String)>,
    /// The absolute path at which relative paths start.
    pub current_dir: PathBuf,
}

impl ProcessEnvironment {
    /// Reads the environment of this process. Nothing else in the library does.
    pub fn of_this_process() -> Self {
        let unicode = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let home = std::env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
        Self {
            home: home.filter(|path| path.is_absolute()),
            variables: std::env::vars_os().filter_map(unicode).collect(),
            // An empty path means that the directory is gone; whoever needs it reports that.
            current_dir: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// Returns the directory for the program's own state: `$XDG_STATE_HOME/archivist`, or the default below the home
    /// directory.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let xdg = self.environment_variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = xdg.or_else(|| Some(self.home.as_ref()?.join(".local/state")))?;
        Some(folder.join("archivist"))
    }

    /// Returns the environment variable of this name.
    pub fn environment_variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Everything that the configuration depends on.
#[derive(Clone, Default)]
pub struct ConfigLoadRequest {
    /// The environment of the process.
    pub environment: ProcessEnvironment,
    /// The root of the project, as [`find_project_root`] finds it.
    pub project_root: PathBuf,
    /// The file of `--config`. It must exist; a file whose name ends in `.json` is read as JSON, any other as TOML.
    pub config_file: Option<PathBuf>,
    /// Dotted keys and values from the command line; the later of two values for one key wins.
    pub flags: Vec<(String, String)>,
}

/// A configuration without problems.
#[derive(Clone, Debug)]
pub struct LoadedConfig {
    /// The configuration itself.
    pub config: Config,
    /// Every setting with its origin, sorted by key.
    pub values: Vec<EffectiveSetting>,
    /// What the project's own files say without effect, because they may not say it.
    pub ignored: Vec<ConfigProblem>,
}

/// Reads all layers and merges them, or returns every problem found in any of them.
pub fn load_config(request: &ConfigLoadRequest) -> Result<LoadedConfig, ConfigError> {
    let mut layers = layers::read_layers(request);
    let mut across_keys = cross_key_problems(&layers, request);
    layers.problems.append(&mut across_keys);
    if !layers.problems.is_empty() {
        return Err(ConfigError { problems: layers.problems });
    }
    let config = to_typed_config(&layers).map_err(|error| ConfigError {
        problems: vec![ConfigProblem::new(format!("the configuration does not fit together: {error}"))],
    })?;
    let values = layers
        .values
        .into_iter()
        .map(|(key, held)| EffectiveSetting {
            key: key.to_owned(),
            value: layers::to_json(held.value),
            origin: held.origin,
            secrecy: held.secrecy,
        })
        .collect();
    Ok(LoadedConfig { config, values, ignored: layers.ignored })
}

/// Returns the violations of rules between keys, or between a key and the environment, checked on the effective values.
fn cross_key_problems(layers: &ConfigLayers, request: &ConfigLoadRequest) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let weights: Vec<_> = layers.values.iter().filter(|(key, _)| key.starts_with("recall.weights.")).collect();
    let is_zero = |value: &config::ValueKind| matches!(value, config::ValueKind::Float(number) if *number == 0.0);
    if weights.iter().all(|(_, held)| is_zero(&held.value)) {
        let mut origins: Vec<String> = weights.iter().map(|(_, held)| held.origin.to_string()).collect();
        origins.dedup();
        let places = origins.join(" and ");
        problems.push(ConfigProblem::with_hint(
            format!("the keys of `recall.weights` must not all be 0, found 0 for each in {places}"),
            "set at least one of them above 0".to_owned(),
        ));
    }
    if request.environment.home.is_none()
        && let Some(held) = layers.values.get("memory.dir")
        && matches!(&held.value, config::ValueKind::String(path) if settings::starts_at_home(path))
    {
        problems.push(ConfigProblem::with_hint(
            format!("`memory.dir` starts with ~ but the home directory is not known, found in {}", held.origin),
            "set HOME, or give the path in full".to_owned(),
        ));
    }
    problems.extend(threshold_problem(layers));
    problems.extend(model_problems(layers));
    problems.extend(user_path_problems(layers, request));
    problems
}

/// Returns a problem if the threshold for different lessons is above the threshold for equal ones.
fn threshold_problem(layers: &ConfigLayers) -> Option<ConfigProblem> {
    let share = |key: &str| match layers.values.get(key).map(|held| (&held.value, &held.origin)) {
        Some((config::ValueKind::Float(share), origin)) => Some((*share, origin)),
        _ => None,
    };
    let ((same, same_origin), (different, origin)) = (share("judge.sameAbove")?, share("judge.differentBelow")?);
    if different <= same {
        return None;
    }
    // The message names the key that somebody set, not the one with the default.
    let (message, hint) = match origin {
        SettingOrigin::Default => (
            format!(
                "`judge.sameAbove` must be at least `judge.differentBelow` ({different}), found {same} in {same_origin}"
            ),
            "raise it, or lower `judge.differentBelow`",
        ),
        _ => (
            format!("`judge.differentBelow` must be at most `judge.sameAbove` ({same}), found {different} in {origin}"),
            "lower it, or raise `judge.sameAbove`",
        ),
    };
    Some(ConfigProblem::with_hint(message, hint.to_owned()))
}

/// Returns the problems of settings that need each other: a model needs an address and a name, a cassette a directory.
fn model_problems(layers: &ConfigLayers) -> Vec<ConfigProblem> {
    let text = |key: &str| match layers.values.get(key) {
        Some(held) => match &held.value {
            config::ValueKind::String(text) => (text.as_str(), held.origin.to_string()),
            _ => ("", held.origin.to_string()),
        },
        None => ("", String::new()),
    };
    let mut problems = Vec::new();
    let mut needs = |key: &str, needed: &str, hint: &str| {
        let origin = text(key).1;
        problems.push(ConfigProblem::with_hint(
            format!("`{key}` must be set together with `{needed}`, which is empty, found in {origin}"),
            hint.to_owned(),
        ));
    };
    let (url, engine, cassette) = (text("model.baseUrl").0, text("distill.engine").0, text("model.cassette").0);
    if !url.is_empty() && text("model.name").0.is_empty() {
        needs("model.baseUrl", "model.name", "set it to a name that the endpoint knows, such as \"qwen2.5-coder\"");
    }
    if !text("embeddings.baseUrl").0.is_empty() && text("embeddings.model").0.is_empty() {
        let hint = "set it to an embedding model that the endpoint knows, such as \"nomic-embed-text\"";
        needs("embeddings.baseUrl", "embeddings.model", hint);
    }
    if engine == "model" && url.is_empty() && cassette != "replay" {
        needs("distill.engine", "model.baseUrl", "set it to the address of an OpenAI-compatible endpoint");
    }
    if matches!(cassette, "record" | "replay") && text("model.cassetteDir").0.is_empty() {
        needs("model.cassette", "model.cassetteDir", "set it to the directory of the recordings");
    }
    let (backend, origin) = text("memory.backend");
    if backend == "postgres" && !cfg!(feature = "postgres") {
        problems.push(ConfigProblem::with_hint(
            format!("`memory.backend` is \"postgres\" in {origin}, and this archivist was built without it"),
            "build it with the feature `postgres`, or use \"jsonl\"".to_owned(),
        ));
    }
    problems
}

/// Returns the problems of paths that no project may set and that are therefore not allowed to be relative.
fn user_path_problems(layers: &ConfigLayers, request: &ConfigLoadRequest) -> Vec<ConfigProblem> {
    let of_user = [
        "distill.promptDir",
        "model.keyFile",
        "model.cassetteDir",
        "hud.file",
        "embeddings.dir",
        "embeddings.keyFile",
        "memory.postgres.caFile",
    ]
    .into_iter();
    let held = of_user.filter_map(|key| Some((key, layers.values.get(key)?)));
    held.filter_map(|(key, held)| {
        let config::ValueKind::String(path) = &held.value else { return None };
        let starts_at_home = settings::starts_at_home(path);
        let is_known = request.environment.home.is_some() || !starts_at_home;
        let is_fit = path.is_empty() || (is_known && (starts_at_home || std::path::Path::new(path).is_absolute()));
        (!is_fit).then(|| {
            ConfigProblem::with_hint(
                format!(
                    "`{key}` must be an absolute path, or begin with ~/ where HOME is set, found in {}",
                    held.origin
                ),
                "give the path in full".to_owned(),
            )
        })
    })
    .collect()
}

fn to_typed_config(layers: &ConfigLayers) -> Result<Config, config::ConfigError> {
    let mut root = config::Map::new();
    for (key, held) in &layers.values {
        let value = config::Value::new(Some(&held.origin.to_string()), held.value.clone());
        insert_at_key(&mut root, key, value);
    }
    config::Value::new(None, root).try_deserialize()
}

/// Inserts the value at the place that its dotted key names.
fn insert_at_key(table: &mut config::Map<String, config::Value>, key: &str, value: config::Value) {
    let Some((section, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return;
    };
    let empty = || config::Value::new(None, config::Map::<String, config::Value>::new());
    let below = table.entry(section.to_owned()).or_insert_with(empty);
    // No key of the schema is a section as well.
    if let config::ValueKind::Table(inner) = &mut below.kind {
        insert_at_key(inner, rest, value);
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod place;
#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
