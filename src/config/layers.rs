//! Reads the layers, lowest first, and lays each over the one before. Every value remembers its layer.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use config::{FileFormat, Map, Value, ValueKind};

use super::LoadRequest;
use super::check::{Keys, Leaf, Named, not_a_section};
use super::error::Problem;
use super::nearest::plain;
use super::parse::parse;
use super::schema::join;
use super::shown::{Origin, Secrecy};
use super::variables::{variable_name, variable_path};

/// The only home of defaults. They reach a process by way of the schema: see [`Keys`].
const DEFAULTS: &str = include_str!("../../config/default.toml");

/// The values that won, and all that was wrong on the way.
pub(super) struct Layers {
    pub(super) values: BTreeMap<&'static str, Held>,
    pub(super) problems: Vec<Problem>,
    keys: Keys,
}

/// One value that passed its check.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) value: ValueKind,
    pub(super) origin: Origin,
    pub(super) secrecy: Secrecy,
}

/// Reads every layer of the request.
pub(super) fn read(request: &LoadRequest) -> Layers {
    let mut layers = Layers::of_defaults(Keys::OF_THE_CONFIGURATION);
    let surroundings = &request.surroundings;
    let openagents = request.project_root.join(".openagents");

    if let Some(path) = user_file(request) {
        layers.add_file(&path, Origin::User, Missing::Fine);
    }
    layers.add_file(&openagents.join("archivist.toml"), Origin::Project, Missing::Fine);
    layers.add_file(&openagents.join("project.json"), Origin::ProjectJson, Missing::Fine);
    if let Some(path) = &request.config_file {
        layers.add_file(&surroundings.current_dir.join(path), Origin::Given, Missing::Wrong);
    }
    layers.add_environment(&surroundings.environment);
    layers.add_flags(&request.flags);
    layers
}

/// Every default, dotted and sorted by key.
pub(super) fn defaults() -> BTreeMap<String, serde_json::Value> {
    let mut flat = BTreeMap::new();
    if let Ok(table) = parse(DEFAULTS, FileFormat::Toml) {
        flatten(table, "", &mut flat);
    }
    flat
}

/// The value as JSON. What JSON cannot say becomes null; the checks let no such value through.
pub(super) fn to_json(value: ValueKind) -> serde_json::Value {
    Value::new(None, value).try_deserialize().unwrap_or_default()
}

/// Whether a layer may be absent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// The layer is then empty.
    Fine,
    /// Somebody asked for this very file.
    Wrong,
}

impl Layers {
    fn of_defaults(keys: Keys) -> Self {
        let held = |leaf: &Leaf| Held { value: leaf.default(), origin: Origin::Default, secrecy: leaf.secrecy };
        let values = keys.leaves.iter().map(|leaf| (leaf.key, held(leaf))).collect();
        Self { values, problems: Vec::new(), keys }
    }

    fn add_file(&mut self, path: &Path, origin: fn(PathBuf) -> Origin, missing: Missing) {
        let origin = origin(path.to_path_buf());
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(error.kind()) && missing == Missing::Fine => return,
            Err(error) => {
                return self.problems.push(Problem::new(format!("cannot read {}: {error}", origin.as_file())));
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return self.problems.push(Problem::with_hint(
                format!("{} is not UTF-8 text", origin.as_file()),
                "save it with the encoding UTF-8".to_owned(),
            ));
        };
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        self.add_text(&text, if is_json { FileFormat::Json } else { FileFormat::Toml }, origin);
    }

    fn add_text(&mut self, text: &str, format: FileFormat, origin: Origin) {
        let mut table = match parse(text, format) {
            Ok(table) => table,
            Err(why) => {
                return self.problems.push(Problem::new(format!("{} {why}", origin.as_file())));
            }
        };
        if matches!(origin, Origin::ProjectJson(_)) {
            // The rest of the file belongs to others.
            table = match table.remove("archivist").map(|ours| ours.kind) {
                None | Some(ValueKind::Nil) => return,
                Some(ValueKind::Table(ours)) => ours,
                Some(other) => {
                    return self.problems.push(not_a_section("archivist", &other, &origin));
                }
            };
        }
        self.add_table(table, "", &origin);
    }

    fn add_table(&mut self, table: Map<String, Value>, path: &str, origin: &Origin) {
        let sorted: BTreeMap<String, Value> = table.into_iter().collect();
        for (name, value) in sorted {
            let key = join(path, &name);
            if let Some((section, inner)) = name.rsplit_once('.') {
                // A quoted name with a dot in it is one name, not a path, and no name of ours has one.
                self.problems.push(Problem::with_hint(
                    format!("unknown key `{}` in {origin}: it has a dot in its name", key.escape_debug()),
                    format!("put `{}` into the section `{}`", inner.escape_debug(), section.escape_debug()),
                ));
                continue;
            }
            match (self.keys.named(&key), value.kind) {
                (Named::Leaf(leaf), value) => self.hold(leaf, value, origin.clone()),
                // The keys of a misspelt section are looked up one by one: each may have a likely home.
                (Named::Section | Named::Unknown, ValueKind::Table(inner)) if !inner.is_empty() => {
                    self.add_table(inner, &key, origin);
                }
                (Named::Section, ValueKind::Table(_)) => {}
                (Named::Section, value) => self.problems.push(not_a_section(&key, &value, origin)),
                (Named::Unknown, _) => {
                    self.problems.push(self.keys.unknown(&key, origin, str::to_owned));
                }
            }
        }
    }

    fn add_environment(&mut self, environment: &[(String, String)]) {
        let mut ours: Vec<(&str, &str, String)> = environment
            .iter()
            .filter_map(|(name, text)| Some((name.as_str(), text.as_str(), variable_path(name)?)))
            .collect();
        ours.sort_unstable();
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, text, path) in ours {
            let origin = Origin::Environment(name.to_owned());
            match self.keys.named_as(&path, plain) {
                Named::Leaf(leaf) => match seen.insert(leaf.key, name) {
                    None => self.hold(leaf, leaf.read(text), origin),
                    Some(other) => self.problems.push(Problem::with_hint(
                        format!("environment variables {other} and {name} both set `{}`", leaf.key),
                        "unset one of them".to_owned(),
                    )),
                },
                Named::Section => {
                    self.problems.push(not_a_section(&path, &ValueKind::String(text.to_owned()), &origin));
                }
                Named::Unknown => self.problems.push(self.keys.unknown(&path, &origin, variable_name)),
            }
        }
    }

    fn add_flags(&mut self, flags: &[(String, String)]) {
        for (key, text) in flags {
            let origin = Origin::Flag(key.clone());
            match self.keys.named(key) {
                Named::Leaf(leaf) => self.hold(leaf, leaf.read(text), origin),
                Named::Section => {
                    self.problems.push(not_a_section(key, &ValueKind::String(text.clone()), &origin));
                }
                Named::Unknown => self.problems.push(self.keys.unknown(key, &origin, str::to_owned)),
            }
        }
    }

    fn hold(&mut self, leaf: &Leaf, value: ValueKind, origin: Origin) {
        match leaf.accept(value, &origin) {
            Ok(value) => {
                let held = Held { value, origin, secrecy: leaf.secrecy };
                self.values.insert(leaf.key, held);
            }
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// The user's own file. A relative `$XDG_CONFIG_HOME` does not count, as the XDG specification has it.
fn user_file(request: &LoadRequest) -> Option<PathBuf> {
    let surroundings = &request.surroundings;
    let xdg = surroundings.variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = xdg.or_else(|| surroundings.home.as_ref().map(|home| home.join(".config")))?;
    Some(folder.join("archivist").join("config.toml"))
}

fn is_absent(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn flatten(table: Map<String, Value>, path: &str, flat: &mut BTreeMap<String, serde_json::Value>) {
    for (name, value) in table {
        match value.kind {
            ValueKind::Table(inner) => flatten(inner, &join(path, &name), flat),
            other => {
                flat.insert(join(path, &name), to_json(other));
            }
        }
    }
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
