//! Which project is this, and which repository? Read from the file system; no git process is run.

use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::remote::{normalised, remote_url};

/// By what a repository is known, the surest first. Two worktrees of a repository share it; two folders that only have
/// the same name do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoIdentity {
    /// The key that the configuration names.
    Explicit(String),
    /// The URL of the remote, the same for every way of writing it, without credentials.
    Remote(String),
    /// The git directory that all worktrees share.
    GitDir(PathBuf),
    /// The directory of a project that is under no version control.
    Path(PathBuf),
}

impl RepoIdentity {
    /// The identity as text; `None` when it is a path that is not Unicode, because a replaced letter could make two
    /// repositories one.
    pub fn text(&self) -> Option<String> {
        match self {
            RepoIdentity::Explicit(text) | RepoIdentity::Remote(text) => Some(text.clone()),
            RepoIdentity::GitDir(path) | RepoIdentity::Path(path) => path.to_str().map(str::to_owned),
        }
    }
}

impl fmt::Display for RepoIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepoIdentity::Explicit(text) | RepoIdentity::Remote(text) => {
                write!(formatter, "{text}")
            }
            RepoIdentity::GitDir(path) | RepoIdentity::Path(path) => {
                write!(formatter, "{}", path.display())
            }
        }
    }
}

/// The root of the project that holds `start`, an absolute path: the nearest directory upwards with a `.openagents` or
/// a `.git`, else `start` itself.
///
/// The home directory has a `.openagents` of its own for the memories shared by all projects, which does not make it
/// a project: it counts only when `start` is the home directory, or when it is a git repository.
pub fn find(start: &Path, home: Option<&Path>) -> PathBuf {
    let start = without_steps_up(start);
    let is_home = |folder: &Path| home.is_some_and(|home| is_same(folder, home));
    let is_root = |folder: &Path| {
        let openagents_counts = || folder == start || !is_home(folder);
        folder.join(".git").exists() || (folder.join(".openagents").exists() && openagents_counts())
    };
    let root = start.ancestors().find(|folder| is_root(folder)).map(Path::to_path_buf);
    root.unwrap_or(start)
}

/// The identity of the repository that holds the project at `root`. An empty `explicit_key` names nothing.
///
/// As with git itself, a directory belongs to the nearest repository upwards, so a project inside a larger repository
/// has that repository's identity.
pub fn repo_id(root: &Path, explicit_key: &str) -> RepoIdentity {
    let explicit_key = explicit_key.trim();
    if !explicit_key.is_empty() {
        // A key that is a URL is treated like one, lest its credentials end up in every memory.
        let key = if explicit_key.contains("://") { normalised(explicit_key) } else { None };
        return RepoIdentity::Explicit(key.unwrap_or_else(|| super::shown::without_userinfo(explicit_key)));
    }
    let root = canonical(root);
    let Some(common_dir) = root.ancestors().find_map(common_git_dir) else {
        return RepoIdentity::Path(root);
    };
    let remote =
        read_text(&common_dir.join("config")).and_then(|text| remote_url(&text)).and_then(|url| normalised(&url));
    match remote {
        Some(remote) => RepoIdentity::Remote(remote),
        None => RepoIdentity::GitDir(common_dir),
    }
}

/// The git directory of the repository whose worktree is `folder`: its `.git`, or, where that is a file (a linked
/// worktree, a submodule), what the file leads to. A linked worktree's own directory leads on to the shared one.
fn common_git_dir(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    if dot_git.is_dir() {
        return Some(canonical(&dot_git));
    }
    let pointer = read_text(&dot_git)?;
    let git_dir = folder.join(pointer.trim().strip_prefix("gitdir:")?.trim());
    let common_dir = match read_text(&git_dir.join("commondir")) {
        Some(path) => git_dir.join(path.trim()),
        None => git_dir,
    };
    Some(canonical(&common_dir))
}

/// The text of a small file; nothing when it cannot be read, which for an identity is the same as absent.
fn read_text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The one true name of a path, so that two ways to a directory give one identity; the path itself where there is none.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn is_same(left: &Path, right: &Path) -> bool {
    left == right || canonical(left) == canonical(right)
}

/// A path whose textual ancestors are its real ones: `a/b/..` has `a/b` as the former but not as the latter.
fn without_steps_up(path: &Path) -> PathBuf {
    let steps_up = path.components().any(|component| component == Component::ParentDir);
    if steps_up { canonical(path) } else { path.to_path_buf() }
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
