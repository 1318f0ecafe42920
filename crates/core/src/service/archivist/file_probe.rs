//! Checks on disk, within a time limit, that the files and targets that lessons name still exist in the project.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files::read_small_file;
use crate::recall::{AnchorPresence, LessonAnchor};

#[cfg(test)]
#[path = "file_probe_tests.rs"]
mod tests;

/// The most files and folders that are visited.
const MAX_ENTRIES: usize = 50_000;
/// The longest time to walk the project while a session waits.
const MAX_WALK: Duration = Duration::from_millis(150);
/// The longest time to walk the project while only a person waits.
const MAX_PATIENT_WALK: Duration = Duration::from_secs(10);
/// The largest file that is read.
const MAX_READ_BYTES: u64 = 1024 * 1024;
/// The most files of one name that are read.
const MAX_FILES: usize = 50;

/// Folders that hold no source of the project itself.
const SKIPPED: &[&str] = &[".git", ".venv", "__pycache__", "node_modules", "target", "venv"];

const MAKEFILES: &[&str] = &["GNUmakefile", "Makefile", "makefile"];

/// Looks up files and targets in a project. The project is walked at most once.
#[derive(Debug)]
pub struct ProjectFileProbe {
    root: PathBuf,
    patience: Duration,
    files: OnceCell<ProjectFiles>,
}

/// The files of a project, relative to its root, with forward slashes.
#[derive(Debug)]
enum ProjectFiles {
    /// The complete list of files.
    All(Vec<String>),
    /// An incomplete list: a limit was reached, or some folders could not be read.
    Some(Vec<String>),
}

impl ProjectFileProbe {
    /// Makes a probe for the project at this root.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), patience: MAX_WALK, files: OnceCell::new() }
    }

    /// Makes a probe with a long time limit, for interactive use.
    pub fn with_long_time_limit(root: &Path) -> Self {
        Self { patience: MAX_PATIENT_WALK, ..Self::new(root) }
    }

    /// Tells whether an anchor is still present. Symbols are not looked up: they may belong to a dependency.
    pub fn find_anchor(&self, anchor: &LessonAnchor) -> AnchorPresence {
        match anchor {
            LessonAnchor::Path(path) => self.find_path(path),
            LessonAnchor::Script(name) => {
                self.find_in_files(&["package.json"], |text| text.contains(&format!("\"{name}\"")))
            }
            LessonAnchor::Target(name) => self.find_in_files(MAKEFILES, |text| has_make_target(text, name)),
            LessonAnchor::Symbol(_) => AnchorPresence::Unknown,
        }
    }

    /// Finds a path at the root or below any folder, as in a workspace of several packages. A single file of the same
    /// name elsewhere counts as moved.
    fn find_path(&self, path: &str) -> AnchorPresence {
        if self.root.join(path).symlink_metadata().is_ok() {
            return AnchorPresence::Here;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let below = format!("/{path}");
        let folder = format!("/{path}/");
        let (files, otherwise) = self.list_files();
        if files.iter().any(|file| file.ends_with(&below) || format!("/{file}").contains(&folder)) {
            return AnchorPresence::Here;
        }
        let mut named = files.iter().filter(|file| file.rsplit('/').next() == Some(name));
        match (named.next(), named.next()) {
            // With several matches the right one is unknown, and a bare file name may mean any of them.
            (Some(one), None) if path.contains('/') => AnchorPresence::Moved(one.clone()),
            (Some(_), _) => AnchorPresence::Here,
            (None, _) => otherwise,
        }
    }

    /// Tells whether one of the files with these names matches. Without such a file the answer is unknown.
    fn find_in_files(&self, names: &[&str], holds: impl Fn(&str) -> bool) -> AnchorPresence {
        let (files, otherwise) = self.list_files();
        let of_name = |file: &&String| file.rsplit('/').next().is_some_and(|name| names.contains(&name));
        let texts: Vec<Option<String>> = files
            .iter()
            .filter(of_name)
            .take(MAX_FILES + 1)
            .map(|file| String::from_utf8(read_small_file(&self.root.join(file), MAX_READ_BYTES).ok()?).ok())
            .collect();
        if texts.iter().flatten().any(|text| holds(text)) {
            return AnchorPresence::Here;
        }
        let is_certain = !texts.is_empty() && texts.len() <= MAX_FILES && texts.iter().all(Option::is_some);
        if is_certain { otherwise } else { AnchorPresence::Unknown }
    }

    /// Returns the files that were found, and what the absence of a file means.
    fn list_files(&self) -> (&[String], AnchorPresence) {
        match self.files.get_or_init(|| walk_files(&self.root, self.patience)) {
            ProjectFiles::All(files) => (files, AnchorPresence::Gone),
            ProjectFiles::Some(files) => (files, AnchorPresence::Unknown),
        }
    }
}

/// Lists the files below a folder. Symbolic links are listed and not followed.
fn walk_files(root: &Path, patience: Duration) -> ProjectFiles {
    let started = Instant::now();
    let mut files = Vec::new();
    let mut open = vec![(root.to_owned(), String::new())];
    let (mut seen, mut is_whole) = (0, true);
    while let Some((folder, prefix)) = open.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            is_whole = false;
            continue;
        };
        for entry in entries {
            seen += 1;
            if seen > MAX_ENTRIES || started.elapsed() > patience {
                return ProjectFiles::Some(files);
            }
            let Some((entry, kind)) = entry.ok().and_then(|entry| entry.file_type().ok().map(|kind| (entry, kind)))
            else {
                is_whole = false;
                continue;
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            if !kind.is_dir() {
                files.push(format!("{prefix}{name}"));
            } else if !SKIPPED.contains(&name.as_str()) {
                open.push((entry.path(), format!("{prefix}{name}/")));
            }
        }
    }
    files.sort_unstable();
    if is_whole { ProjectFiles::All(files) } else { ProjectFiles::Some(files) }
}

/// Returns true if a makefile defines a target of this name, or may define it by a pattern or an include.
fn has_make_target(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let is_open = line.trim_start().starts_with("include") || line.trim_start().starts_with("-include");
        let target = line.split_once(':').filter(|_| !line.starts_with('\t')).map(|(targets, _)| targets);
        is_open
            || target.is_some_and(|targets| {
                targets.split_whitespace().any(|target| target == name || target.contains(['%', '$']))
            })
    })
}
