//! Which directories and which repository are the project's.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;

/// No file of git's that holds a path is longer.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// The project, under all its names.
pub(super) struct Project {
    roots: Vec<PathBuf>,
    repository: Option<String>,
    known: HashMap<String, bool>,
}

impl Project {
    /// The project at this path, with the other worktrees of its repository.
    pub(super) fn at(root: &Path, repository: Option<&str>) -> Self {
        let mut roots = vec![root.to_path_buf()];
        roots.extend(root.canonicalize());
        roots.extend(worktrees(root));
        roots.sort();
        roots.dedup();
        Self { roots, repository: repository.map(plain).filter(|url| url != "/"), known: HashMap::new() }
    }

    /// Where it may be checked out.
    pub(super) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Whether an agent that worked in this directory worked on the project.
    pub(super) fn holds(&mut self, directory: &str) -> bool {
        if let Some(known) = self.known.get(directory) {
            return *known;
        }
        let path = Path::new(directory);
        let is_below = |path: &Path| self.roots.iter().any(|root| path.starts_with(root));
        let steps_up = path.components().any(|component| component == Component::ParentDir);
        let holds = path.is_absolute()
            && ((!steps_up && is_below(path)) || path.canonicalize().is_ok_and(|path| is_below(&path)));
        self.known.insert(directory.to_owned(), holds);
        holds
    }

    /// Whether this URL is that of the project's remote.
    pub(super) fn is_cloned_from(&self, url: &str) -> bool {
        self.repository.as_deref().is_some_and(|ours| ours == plain(url))
    }
}

/// What all ways of writing a remote share: host and path, without scheme, user and ending.
fn plain(url: &str) -> String {
    let url = url.trim();
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = url.split_once(['/', ':']).unwrap_or((url, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    // The port of `host:22/path` says nothing.
    let path = match path.split_once('/') {
        Some(("22" | "80" | "443", rest)) => rest,
        _ => path,
    };
    let path = path.split(['?', '#']).next().unwrap_or(path).trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    format!("{host}/{path}").to_lowercase()
}

/// The worktrees of the repository whose worktree this is, as git itself keeps them: both sides must name each other.
fn worktrees(root: &Path) -> Vec<PathBuf> {
    let Some(common) = common_git_folder(root) else { return Vec::new() };
    let mut found = Vec::new();
    if common.file_name().is_some_and(|name| name == ".git") {
        found.extend(common.parent().map(Path::to_path_buf));
    }
    for entry in std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
        let Some(dot_git) = pointer(&entry.path().join("gitdir"), "") else { continue };
        let Some(worktree) = dot_git.parent() else { continue };
        if common_git_folder(worktree).is_some_and(|theirs| theirs == common) {
            found.push(worktree.to_path_buf());
        }
    }
    found
}

/// The git folder that all worktrees of a repository share.
fn common_git_folder(worktree: &Path) -> Option<PathBuf> {
    let dot_git = worktree.join(".git");
    if dot_git.is_dir() {
        return dot_git.canonicalize().ok();
    }
    let git_folder = pointer(&dot_git, "gitdir:")?;
    let common = pointer(&git_folder.join("commondir"), "")?;
    common.canonicalize().ok()
}

/// The path that a file of git's holds, from where the file lies.
fn pointer(file: &Path, label: &str) -> Option<PathBuf> {
    let mut text = String::new();
    File::open(file).ok()?.take(MAX_POINTER_BYTES).read_to_string(&mut text).ok()?;
    let path = text.trim().strip_prefix(label)?.trim();
    (!path.is_empty()).then_some(file.parent()?.join(path))
}
