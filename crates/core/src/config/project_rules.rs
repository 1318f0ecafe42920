//! What the settings of a project may say. They come with the repository, so they name nothing outside of it.

use std::path::{Component, Path, PathBuf};

use config::ValueKind;

use super::displayed_setting::SettingOrigin;
use super::environment_variables::variable_for_key;
use super::error::ConfigProblem;
use super::project_discovery::find_trust_key;
use super::settings::starts_at_home;
use super::value_check::ConfigKey;
use crate::files::is_link;
use crate::trust::TrustedRepositories;

#[cfg(test)]
#[path = "project_rules_tests.rs"]
mod tests;

/// The rules for the settings of one project.
pub(super) struct ProjectRules {
    root: PathBuf,
    trusted: TrustedRepositories,
}

impl ProjectRules {
    pub(super) fn for_project(root: &Path, state_dir: Option<PathBuf>) -> Self {
        Self { root: root.to_owned(), trusted: TrustedRepositories::in_state_dir(state_dir.as_deref()) }
    }

    /// Returns the reason why a value that a project sets has no effect, if there is one.
    pub(super) fn find_problem(
        &self,
        leaf: &ConfigKey,
        value: &ValueKind,
        origin: &SettingOrigin,
    ) -> Option<ConfigProblem> {
        if let Some(problem) = leaf.user_key_problem(origin) {
            return Some(problem);
        }
        let ValueKind::String(text) = value else { return None };
        let key = leaf.key;
        match key {
            "memory.dir" if !is_inside_project(text) => Some(ConfigProblem::with_hint(
                format!("`{key}` of a project must be a path inside of the project, without `..`, found in {origin}"),
                format!("set it in the user file, with --memory-dir, or with {}", variable_for_key(key)),
            )),
            "memory.globalDir" if !text.is_empty() => Some(ConfigProblem::with_hint(
                format!("a project may only switch `{key}` off, by \"\", found in {origin}"),
                format!("set it in the user file, with --config, or with {}", variable_for_key(key)),
            )),
            "project.key" if !text.trim().is_empty() && !self.is_trusted() => Some(ConfigProblem::with_hint(
                format!("`{key}` counts only in a repository that is trusted, found in {origin}"),
                "`archivist trust` says that it is".to_owned(),
            )),
            _ => None,
        }
    }

    fn is_trusted(&self) -> bool {
        find_trust_key(&self.root).is_some_and(|key| self.trusted.contains(&key))
    }
}

/// Returns the reason why a file of a project's settings is not read, if it is reached by a link.
pub(super) fn find_link_problem(folder: &Path, file: &Path) -> Option<ConfigProblem> {
    let link = [folder, file].into_iter().find(|path| is_link(path))?;
    file.exists().then(|| {
        ConfigProblem::with_hint(
            format!("the settings in {} are not read, because {} is a symbolic link", file.display(), link.display()),
            "put a real file there, or name it with --config".to_owned(),
        )
    })
}

/// Returns true if a path as a project sets it stays inside of the project, links aside.
fn is_inside_project(path: &str) -> bool {
    let stays = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    !starts_at_home(path) && Path::new(path).components().all(stays)
}
