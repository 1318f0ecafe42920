//! Decides which directories and which repository belong to the project.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

#[cfg(test)]
#[path = "project_match_tests.rs"]
mod tests;

/// The maximum size of a git file that contains a path.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// The project with all its checkouts and its remote.
pub(super) struct ProjectCheckouts {
    roots: Vec<PathBuf>,
    repository: Option<String>,
    known: HashMap<String, bool>,
}

impl ProjectCheckouts {
    /// Creates it for the project at this path, with the other worktrees of its repository.
    pub(super) fn from_root(root: &Path, repository: Option<&str>) -> Self {
        let mut roots = vec![root.to_path_buf()];
        roots.extend(root.canonicalize());
        roots.extend(list_worktrees(root));
        roots.sort();
        roots.dedup();
        Self { roots, repository: repository.map(normalize_remote_url).filter(|url| url != "/"), known: HashMap::new() }
    }

    /// Returns the paths where the project may be checked out.
    pub(super) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Returns true if this directory is in the project.
    pub(super) fn contains_directory(&mut self, directory: &str) -> bool {
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

    /// Returns true if this URL is that of the project's remote.
    pub(super) fn is_cloned_from(&self, url: &str) -> bool {
        self.repository.as_deref().is_some_and(|ours| ours == normalize_remote_url(url))
    }
}

/// Reduces a remote URL to host and path, without scheme, user and `.git`, so that all its forms are equal.
fn normalize_remote_url(url: &str) -> String {
    let url = url.trim();
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = url.split_once(['/', ':']).unwrap_or((url, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    // The port of `host:22/path` does not matter.
    let path = match path.split_once('/') {
        Some(("22" | "80" | "443", rest)) => rest,
        _ => path,
    };
    let path = path.split(['?', '#']).next().unwrap_or(path).trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    format!("{host}/{path}").to_lowercase()
}

/// Returns the worktrees of the repository of this worktree, as git lists them; both sides must name each other.
fn list_worktrees(root: &Path) -> Vec<PathBuf> {
    let Some(common) = find_common_git_folder(root) else { return Vec::new() };
    let mut found = Vec::new();
    if common.file_name().is_some_and(|name| name == ".git") {
        found.extend(common.parent().map(Path::to_path_buf));
    }
    for entry in std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
        let Some(dot_git) = read_path_pointer(&entry.path().join("gitdir"), "") else { continue };
        let Some(worktree) = dot_git.parent() else { continue };
        if find_common_git_folder(worktree).is_some_and(|theirs| theirs == common) {
            found.push(worktree.to_path_buf());
        }
    }
    found
}

/// Returns the git folder that all worktrees of a repository share.
fn find_common_git_folder(worktree: &Path) -> Option<PathBuf> {
    let dot_git = worktree.join(".git");
    if dot_git.is_dir() {
        return dot_git.canonicalize().ok();
    }
    let git_folder = read_path_pointer(&dot_git, "gitdir:")?;
    let common = read_path_pointer(&git_folder.join("commondir"), "")?;
    common.canonicalize().ok()
}

/// Returns the path that a git file contains, relative to the folder of the file.
fn read_path_pointer(file: &Path, label: &str) -> Option<PathBuf> {
    let mut text = String::new();
    File::open(file).ok()?.take(MAX_POINTER_BYTES).read_to_string(&mut text).ok()?;
    let path = text.trim().strip_prefix(label)?.trim();
    (!path.is_empty()).then_some(file.parent()?.join(path))
}
