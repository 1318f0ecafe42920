//! A folder with homes and a project in it, set up in one expression.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;
use crate::ingest::json_fields::parse_time_text;

pub(super) struct Tree {
    folder: TempDir,
    pub(super) window: SessionWindow,
    pub(super) places: SearchPlaces,
}

impl Tree {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = SearchPlaces {
            project: root.join("shop"),
            claude_home: Some(root.join("claude")),
            codex_home: Some(root.join("codex")),
            gemini_home: Some(root.join("gemini")),
            ..SearchPlaces::default()
        };
        std::fs::create_dir(&places.project).unwrap();
        Self { folder, window: SessionWindow::default(), places }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    /// A file; `ROOT` in its text stands for the folder, as `SLUG` in its path does for the slug of the project.
    pub(super) fn file(self, path: &str, text: &str) -> Self {
        let path = self.with_slug(path);
        let root = self.path("");
        let text = text.replace("ROOT", root.to_str().unwrap().trim_end_matches('/'));
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(super) fn folder(self, path: &str) -> Self {
        std::fs::create_dir_all(self.path(&self.with_slug(path))).unwrap();
        self
    }

    /// The last change of a file.
    pub(super) fn changed(self, path: &str, at: &str) -> Self {
        let path = self.path(&self.with_slug(path));
        set_changed(&path, at);
        self
    }

    pub(super) fn since(mut self, at: &str) -> Self {
        self.window.since = parse_time_text(at);
        self
    }

    pub(super) fn until(mut self, at: &str) -> Self {
        self.window.until = parse_time_text(at);
        self
    }

    pub(super) fn found(&self) -> DiscoveredSessions {
        discover_sessions(&self.places, self.window)
    }

    /// Each session in one line: its id, its files, its subagents, what is about it.
    pub(super) fn told(&self) -> Vec<String> {
        let found = self.found();
        assert_eq!(found.problems, []);
        found.sessions.iter().map(|session| self.line(session)).collect()
    }

    pub(super) fn check(&self, expected: &[&str]) {
        assert_eq!(self.told(), expected);
    }

    fn with_slug(&self, path: &str) -> String {
        path.replace("SLUG", &super::claude::directory_slug(&self.places.project))
    }

    fn line(&self, session: &FoundSession) -> String {
        let mut line = format!("{}: {}", session.id, self.names(&session.files));
        if !session.subagents.is_empty() {
            line.push_str(&format!(" + {}", self.names(&session.subagents)));
        }
        if !session.about.is_empty() {
            line.push_str(&format!(" ? {}", self.names(&session.about)));
        }
        line
    }

    fn names(&self, paths: &[PathBuf]) -> String {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        paths.iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

fn set_changed(path: &Path, at: &str) {
    let seconds = u64::try_from(parse_time_text(at).unwrap().timestamp()).unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
}
