//! Symbolic links, which are not followed where a repository may have brought them along.

use std::path::Path;

/// Returns true if there is a symbolic link at the path, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}
