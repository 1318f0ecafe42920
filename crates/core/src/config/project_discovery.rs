//! Finds the project and its repository. Both are read from the file system; no git process is run.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::git_remote::{find_remote_url, normalise_remote_url};
use crate::files::read_small_file;
use crate::trust::{RepositoryKey, RepositoryKind};

/// The longest file of git's that is read for a repository's identity.
const MAX_GIT_FILE_BYTES: u64 = 1024 * 1024;

/// The identity of a repository, the most reliable kind first. Two worktrees of a repository share it; two folders that
/// only have the same name do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoIdentity {
    /// The key that the configuration names.
    Explicit(String),
    /// The normalised URL of the remote, without credentials.
    Remote(String),
    /// The git directory that all worktrees share.
    GitDir(PathBuf),
    /// The directory of a project that is under no version control.
    Path(PathBuf),
}

impl RepoIdentity {
    /// Returns the identity as text, or `None` for a path that is not Unicode: a replaced letter could make two
    /// repositories look like one.
    pub fn text(&self) -> Option<String> {
        match self {
            RepoIdentity::Explicit(text) | RepoIdentity::Remote(text) => Some(text.clone()),
            RepoIdentity::GitDir(path) | RepoIdentity::Path(path) => path.to_str().map(str::to_owned),
        }
    }
}

/// Returns the identity under which the repository of a project is trusted, or `None` for a path that is not Unicode. No
/// setting has a say in it, since settings come with the repository.
pub fn find_trust_key(root: &Path) -> Option<RepositoryKey> {
    let identity = identify_repository(root, "");
    let kind = match identity {
        RepoIdentity::Explicit(_) => return None,
        RepoIdentity::Remote(_) => RepositoryKind::Remote,
        RepoIdentity::GitDir(_) => RepositoryKind::GitDir,
        RepoIdentity::Path(_) => RepositoryKind::Path,
    };
    Some(RepositoryKey { kind, identity: identity.text()? })
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

/// Returns the root of the project that contains the absolute path `start`: the nearest directory upwards with a
/// `.openagents` or a `.git`, else `start` itself.
///
/// The home directory has a `.openagents` of its own for the memories shared by all projects, which does not make it a
/// project: it counts only if `start` is the home directory, or if it is a git repository.
pub fn find_root(start: &Path, home: Option<&Path>) -> PathBuf {
    let start = resolve_parent_steps(start);
    let is_home = |folder: &Path| home.is_some_and(|home| is_same_path(folder, home));
    let is_root = |folder: &Path| {
        let openagents_counts = || folder == start || !is_home(folder);
        folder.join(".git").exists() || (folder.join(".openagents").exists() && openagents_counts())
    };
    let root = start.ancestors().find(|folder| is_root(folder)).map(Path::to_path_buf);
    root.unwrap_or(start)
}

/// Returns the identity of the repository that holds the project at `root`. An empty `explicit_key` is ignored.
///
/// As in git itself, a directory belongs to the nearest repository upwards, so a project inside a larger repository has
/// that repository's identity.
pub fn identify_repository(root: &Path, explicit_key: &str) -> RepoIdentity {
    let explicit_key = explicit_key.trim();
    if !explicit_key.is_empty() {
        // A key that is a URL is normalised as well, so that its credentials do not end up in every memory.
        let key = if explicit_key.contains("://") { normalise_remote_url(explicit_key) } else { None };
        return RepoIdentity::Explicit(key.unwrap_or_else(|| super::displayed_setting::hide_userinfo(explicit_key)));
    }
    let root = canonical_path(root);
    let Some(common_dir) = root.ancestors().find_map(find_common_git_dir) else {
        return RepoIdentity::Path(root);
    };
    let remote = read_text(&common_dir.join("config"))
        .and_then(|text| find_remote_url(&text))
        .and_then(|url| normalise_remote_url(&url));
    match remote {
        Some(remote) => RepoIdentity::Remote(remote),
        None => RepoIdentity::GitDir(common_dir),
    }
}

/// Returns the git directory of the repository whose worktree is `folder`: its `.git` or, if that is a file (of a
/// linked worktree or a submodule), the directory it points to. The directory of a linked worktree points on to the
/// shared one.
fn find_common_git_dir(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    if dot_git.is_dir() {
        return Some(canonical_path(&dot_git));
    }
    let pointer = read_text(&dot_git)?;
    let git_dir = folder.join(pointer.trim().strip_prefix("gitdir:")?.trim());
    let common_dir = match read_text(&git_dir.join("commondir")) {
        Some(path) => git_dir.join(path.trim()),
        None => git_dir,
    };
    Some(canonical_path(&common_dir))
}

/// Returns the text of a small file, or `None` if it cannot be read: for an identity that equals a missing file.
fn read_text(path: &Path) -> Option<String> {
    let bytes = read_small_file(path, MAX_GIT_FILE_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the canonical path, so that two paths to one directory give one identity, or the path itself if there is
/// none.
fn canonical_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn is_same_path(left: &Path, right: &Path) -> bool {
    left == right || canonical_path(left) == canonical_path(right)
}

/// Returns a path whose textual ancestors are its real ones, which is not true of `a/b/..` and its textual ancestor
/// `a/b`.
fn resolve_parent_steps(path: &Path) -> PathBuf {
    let steps_up = path.components().any(|component| component == Component::ParentDir);
    if steps_up { canonical_path(path) } else { path.to_path_buf() }
}

#[cfg(test)]
#[path = "project_discovery_tests.rs"]
mod tests;
