//! Reads the project's own documents.

use std::fs;
use std::path::{Path, PathBuf};

use archivist_core::service;

/// The folder in which projects keep documents, besides those at the root.
const FOLDER: &str = "docs";
/// The most files that are read from that folder.
const MAX_FILES: usize = 500;
/// The most levels of folders that are searched.
const MAX_DEPTH: usize = 6;
/// The most bytes of a document; longer files are ignored.
const MAX_BYTES: u64 = 1024 * 1024;

/// Returns the documents of a project, each with its path from the root. The audited files are left out, because they
/// would restate themselves.
pub(super) fn read_documents(root: &Path, audited: Option<&Path>) -> Vec<(String, String)> {
    let audited = audited.and_then(|path| path.canonicalize().ok());
    let is_audited = |path: &Path| {
        let path = path.canonicalize().ok();
        path.zip(audited.as_ref()).is_some_and(|(path, audited)| path.starts_with(audited))
    };
    let at_root = service::read_documents(root).into_iter().map(|document| (document.path, document.text));
    let below = find_markdown_files(&root.join(FOLDER), MAX_FILES).into_iter().filter_map(|path| {
        let name = path.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/");
        Some((name, String::from_utf8_lossy(&fs::read(&path).ok()?).into_owned()))
    });
    at_root.chain(below).filter(|(name, _)| !is_audited(&root.join(name))).collect()
}

/// Returns the Markdown files below a folder, sorted by path. Links and hidden folders are skipped.
pub(super) fn find_markdown_files(folder: &Path, most: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect_markdown_files(folder, MAX_DEPTH, most, &mut found);
    found
}

fn collect_markdown_files(folder: &Path, depth: usize, most: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_skipped = name.starts_with('.') || name == "node_modules";
        if metadata.is_dir() && depth > 0 && !is_skipped {
            collect_markdown_files(&path, depth - 1, most, found);
        } else if metadata.is_file() && metadata.len() <= MAX_BYTES && is_markdown(&path) && found.len() < most {
            found.push(path);
        }
    }
}

pub(super) fn is_markdown(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| matches!(extension.as_str(), "md" | "markdown" | "mdc" | "mdx"))
}
