//! A place to load a configuration from, set up in one expression.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::config::{ConfigError, ConfigLoadRequest, LoadedConfig, ProcessEnvironment, load_config};

/// A project and a home directory of its own, and what is asked of them.
pub(super) struct Place {
    pub(super) folder: TempDir,
    pub(super) request: ConfigLoadRequest,
}

impl Place {
    pub(super) fn new() -> Place {
        let folder = TempDir::new().unwrap();
        let environment = ProcessEnvironment {
            home: Some(folder.path().join("home")),
            variables: vec![("ARCHIVIST_CORPUS".to_owned(), "/somewhere".to_owned())],
            current_dir: folder.path().to_path_buf(),
        };
        let project_root = folder.path().join("project");
        let request = ConfigLoadRequest { environment, project_root, ..ConfigLoadRequest::default() };
        Place { folder, request }
    }

    pub(super) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Place {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(super) fn user(self, text: &str) -> Place {
        self.file("home/.config/archivist/config.toml", text)
    }

    pub(super) fn project(self, text: &str) -> Place {
        self.file("project/.openagents/archivist.toml", text)
    }

    pub(super) fn project_json(self, text: &str) -> Place {
        self.file("project/.openagents/project.json", text)
    }

    pub(super) fn given(mut self, path: &str) -> Place {
        self.request.config_file = Some(PathBuf::from(path));
        self
    }

    pub(super) fn variable(mut self, name: &str, value: &str) -> Place {
        self.request.environment.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn flag(mut self, key: &str, value: &str) -> Place {
        self.request.flags.push((key.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn loaded(&self) -> LoadedConfig {
        load_config(&self.request).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The key's value and origin, with the folder left out of the latter.
    pub(super) fn setting(&self, key: &str) -> (serde_json::Value, String) {
        let loaded = self.loaded();
        let setting = loaded.values.into_iter().find(|setting| setting.key == key).unwrap();
        (setting.value, self.shortened(&setting.origin.to_string()))
    }

    pub(super) fn check_error(&self, expected: &str) {
        let error: ConfigError = load_config(&self.request).expect_err("must be refused");
        assert_eq!(self.shortened(&error.to_string()), expected);
    }

    /// What the project says without effect, while everything else is loaded.
    pub(super) fn check_ignored(&self, expected: &str) {
        let ignored = ConfigError { problems: self.loaded().ignored };
        assert_eq!(self.shortened(&ignored.to_string()), expected);
    }

    fn shortened(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}
