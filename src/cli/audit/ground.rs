//! What the project says about itself.

use std::fs;
use std::path::{Path, PathBuf};

use crate::service;

/// Where projects keep their documents, beside those at the root.
const FOLDER: &str = "docs";
/// So many of them are read.
const MAX_FILES: usize = 500;
/// So deep folders go.
const MAX_DEPTH: usize = 6;
/// A longer file is no document.
const MAX_BYTES: u64 = 1024 * 1024;

/// The documents of a project, each by its path from the root. What is audited is no document: it would restate itself.
pub(super) fn documents(root: &Path, audited: Option<&Path>) -> Vec<(String, String)> {
    let audited = audited.and_then(|path| path.canonicalize().ok());
    let is_audited = |path: &Path| {
        let path = path.canonicalize().ok();
        path.zip(audited.as_ref()).is_some_and(|(path, audited)| path.starts_with(audited))
    };
    let at_root = service::documents(root).into_iter().map(|document| (document.path, document.text));
    let below = markdown_files(&root.join(FOLDER), MAX_FILES).into_iter().filter_map(|path| {
        let name = path.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/");
        Some((name, String::from_utf8_lossy(&fs::read(&path).ok()?).into_owned()))
    });
    at_root.chain(below).filter(|(name, _)| !is_audited(&root.join(name))).collect()
}

/// The Markdown files below a folder, in order of their paths. Links and hidden folders are passed over.
pub(super) fn markdown_files(folder: &Path, most: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, MAX_DEPTH, most, &mut found);
    found
}

fn collect(folder: &Path, depth: usize, most: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_skipped = name.starts_with('.') || name == "node_modules";
        if metadata.is_dir() && depth > 0 && !is_skipped {
            collect(&path, depth - 1, most, found);
        } else if metadata.is_file() && metadata.len() <= MAX_BYTES && is_markdown(&path) && found.len() < most {
            found.push(path);
        }
    }
}

pub(super) fn is_markdown(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| matches!(extension.as_str(), "md" | "markdown" | "mdc" | "mdx"))
}
