//! Reads the layers, lowest first, and lays each over the one before. Every value remembers its layer.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use config::{FileFormat, Map, Value, ValueKind};

use super::ConfigLoadRequest;
use super::config_file::parse_config_text;
use super::displayed_setting::{Secrecy, SettingOrigin};
use super::environment_variables::{path_from_variable, variable_for_key};
use super::error::ConfigProblem;
use super::name_suggestion::normalise_name;
use super::project_rules::{self, ProjectRules};
use super::schema::join_key;
use super::value_check::{ConfigKey, ConfigKeys, KeyLookup, section_value_problem};
use crate::files::read_small_file;

/// The built-in defaults, defined only in this file. They reach a process through the schema, as [`ConfigKeys`].
const DEFAULTS: &str = include_str!("../../../../config/default.toml");

/// The longest file of settings.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The effective values of all layers, and the problems found while reading them.
pub(super) struct ConfigLayers {
    pub(super) values: BTreeMap<&'static str, LayerValue>,
    pub(super) problems: Vec<ConfigProblem>,
    /// What the project's own files say and may not say. It has no effect.
    pub(super) ignored: Vec<ConfigProblem>,
    keys: ConfigKeys,
    project_rules: ProjectRules,
}

/// One value that passed its check, with its origin.
#[derive(Clone)]
pub(super) struct LayerValue {
    pub(super) value: ValueKind,
    pub(super) origin: SettingOrigin,
    pub(super) secrecy: Secrecy,
}

/// Reads every layer of the request.
pub(super) fn read_layers(request: &ConfigLoadRequest) -> ConfigLayers {
    let environment = &request.environment;
    let project_rules = ProjectRules::for_project(&request.project_root, environment.state_dir());
    let mut layers = ConfigLayers::from_defaults(ConfigKeys::OF_THE_CONFIGURATION, project_rules);
    let openagents = request.project_root.join(".openagents");

    if let Some(path) = user_file_path(request) {
        layers.add_file(&path, SettingOrigin::User, MissingFilePolicy::Fine);
    }
    for (file, origin) in [
        ("archivist.toml", SettingOrigin::Project as fn(PathBuf) -> SettingOrigin),
        ("project.json", SettingOrigin::ProjectJson),
    ] {
        let path = openagents.join(file);
        match project_rules::find_link_problem(&openagents, &path) {
            Some(problem) => layers.ignored.push(problem),
            None => layers.add_file(&path, origin, MissingFilePolicy::Fine),
        }
    }
    if let Some(path) = &request.config_file {
        layers.add_file(&environment.current_dir.join(path), SettingOrigin::Given, MissingFilePolicy::Wrong);
    }
    layers.add_environment(&environment.variables);
    layers.add_flags(&request.flags);
    layers
}

/// Returns every default by its dotted key, sorted.
pub(super) fn default_values() -> BTreeMap<String, serde_json::Value> {
    let mut flat = BTreeMap::new();
    if let Ok(table) = parse_config_text(DEFAULTS, FileFormat::Toml) {
        flatten_table(table, "", &mut flat);
    }
    flat
}

/// Returns the value as JSON. A value that JSON cannot represent becomes null; the checks let no such value through.
pub(super) fn to_json(value: ValueKind) -> serde_json::Value {
    Value::new(None, value).try_deserialize().unwrap_or_default()
}

/// The policy for a layer whose file does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MissingFilePolicy {
    /// A missing file counts as an empty layer.
    Fine,
    /// A missing file is a problem, because the user named it.
    Wrong,
}

impl ConfigLayers {
    fn from_defaults(keys: ConfigKeys, project_rules: ProjectRules) -> Self {
        let held = |leaf: &ConfigKey| LayerValue {
            value: leaf.default_value(),
            origin: SettingOrigin::Default,
            secrecy: leaf.secrecy,
        };
        let values = keys.leaves.iter().map(|leaf| (leaf.key, held(leaf))).collect();
        Self { values, problems: Vec::new(), ignored: Vec::new(), keys, project_rules }
    }

    fn add_file(&mut self, path: &Path, origin: fn(PathBuf) -> SettingOrigin, missing: MissingFilePolicy) {
        let origin = origin(path.to_path_buf());
        let bytes = match read_small_file(path, MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(error.kind()) && missing == MissingFilePolicy::Fine => return,
            Err(error) => {
                return self.problems.push(ConfigProblem::new(format!("cannot read {}: {error}", origin.as_file())));
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return self.problems.push(ConfigProblem::with_hint(
                format!("{} is not UTF-8 text", origin.as_file()),
                "save it with the encoding UTF-8".to_owned(),
            ));
        };
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        self.add_text(&text, if is_json { FileFormat::Json } else { FileFormat::Toml }, origin);
    }

    fn add_text(&mut self, text: &str, format: FileFormat, origin: SettingOrigin) {
        let mut table = match parse_config_text(text, format) {
            Ok(table) => table,
            Err(why) => {
                return self.problems.push(ConfigProblem::new(format!("{} {why}", origin.as_file())));
            }
        };
        if matches!(origin, SettingOrigin::ProjectJson(_)) {
            // The rest of the file belongs to other programs.
            table = match table.remove("archivist").map(|ours| ours.kind) {
                None | Some(ValueKind::Nil) => return,
                Some(ValueKind::Table(ours)) => ours,
                Some(other) => {
                    return self.problems.push(section_value_problem("archivist", &other, &origin));
                }
            };
        }
        self.add_table(table, "", &origin);
    }

    fn add_table(&mut self, table: Map<String, Value>, path: &str, origin: &SettingOrigin) {
        let sorted: BTreeMap<String, Value> = table.into_iter().collect();
        for (name, value) in sorted {
            let key = join_key(path, &name);
            if let Some((section, inner)) = name.rsplit_once('.') {
                // A quoted name with a dot in it is one name, not a path, and no key of the configuration has a dot in
                // a name.
                self.problems.push(ConfigProblem::with_hint(
                    format!("unknown key `{}` in {origin}: it has a dot in its name", key.escape_debug()),
                    format!("put `{}` into the section `{}`", inner.escape_debug(), section.escape_debug()),
                ));
                continue;
            }
            match (self.keys.look_up_path(&key), value.kind) {
                (KeyLookup::Leaf(leaf), value) => self.set_value(leaf, value, origin.clone()),
                // The keys of a misspelt section are looked up one by one, so that each can get a suggestion of its
                // own.
                (KeyLookup::Section | KeyLookup::Unknown, ValueKind::Table(inner)) if !inner.is_empty() => {
                    self.add_table(inner, &key, origin);
                }
                (KeyLookup::Section, ValueKind::Table(_)) => {}
                (KeyLookup::Section, value) => self.problems.push(section_value_problem(&key, &value, origin)),
                (KeyLookup::Unknown, _) => {
                    self.problems.push(self.keys.unknown_key_problem(&key, origin, str::to_owned));
                }
            }
        }
    }

    fn add_environment(&mut self, environment: &[(String, String)]) {
        let mut ours: Vec<(&str, &str, String)> = environment
            .iter()
            .filter_map(|(name, text)| Some((name.as_str(), text.as_str(), path_from_variable(name)?)))
            .collect();
        ours.sort_unstable();
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, text, path) in ours {
            let origin = SettingOrigin::Environment(name.to_owned());
            match self.keys.look_up_spelling(&path, normalise_name) {
                KeyLookup::Leaf(leaf) => match seen.insert(leaf.key, name) {
                    None => self.set_value(leaf, leaf.parse_text(text), origin),
                    Some(other) => self.problems.push(ConfigProblem::with_hint(
                        format!("environment variables {other} and {name} both set `{}`", leaf.key),
                        "unset one of them".to_owned(),
                    )),
                },
                KeyLookup::Section => {
                    self.problems.push(section_value_problem(&path, &ValueKind::String(text.to_owned()), &origin));
                }
                KeyLookup::Unknown => {
                    self.problems.push(self.keys.unknown_key_problem(&path, &origin, variable_for_key));
                }
            }
        }
    }

    fn add_flags(&mut self, flags: &[(String, String)]) {
        for (key, text) in flags {
            let origin = SettingOrigin::Flag(key.clone());
            match self.keys.look_up_path(key) {
                KeyLookup::Leaf(leaf) => self.set_value(leaf, leaf.parse_text(text), origin),
                KeyLookup::Section => {
                    self.problems.push(section_value_problem(key, &ValueKind::String(text.clone()), &origin));
                }
                KeyLookup::Unknown => self.problems.push(self.keys.unknown_key_problem(key, &origin, str::to_owned)),
            }
        }
    }

    fn set_value(&mut self, leaf: &ConfigKey, value: ValueKind, origin: SettingOrigin) {
        if origin.is_of_project()
            && let Some(problem) = self.project_rules.find_problem(leaf, &value, &origin)
        {
            self.ignored.push(problem);
            return;
        }
        match leaf.check_value(value, &origin) {
            Ok(value) => {
                let held = LayerValue { value, origin, secrecy: leaf.secrecy };
                self.values.insert(leaf.key, held);
            }
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// Returns the path of the user's own file. A relative `$XDG_CONFIG_HOME` is ignored, as the XDG specification
/// requires.
fn user_file_path(request: &ConfigLoadRequest) -> Option<PathBuf> {
    let environment = &request.environment;
    let xdg = environment.environment_variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = xdg.or_else(|| environment.home.as_ref().map(|home| home.join(".config")))?;
    Some(folder.join("archivist").join("config.toml"))
}

fn is_absent(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn flatten_table(table: Map<String, Value>, path: &str, flat: &mut BTreeMap<String, serde_json::Value>) {
    for (name, value) in table {
        match value.kind {
            ValueKind::Table(inner) => flatten_table(inner, &join_key(path, &name), flat),
            other => {
                flat.insert(join_key(path, &name), to_json(other));
            }
        }
    }
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
