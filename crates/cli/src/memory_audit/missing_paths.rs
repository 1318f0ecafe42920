//! Finds files that an entry names but the project does not have.

use archivist_core::recall::{LessonAnchor, find_anchors_in_text};

#[cfg(test)]
#[path = "missing_paths_tests.rs"]
mod tests;

/// Returns the first project file that the entry names and that does not exist. Sentences about files that are created,
/// moved or removed are ignored.
pub(super) fn find_missing_path(text: &str, is_there: &dyn Fn(&str) -> bool) -> Option<String> {
    let sentences = text.lines().flat_map(|line| line.split_inclusive(". "));
    sentences.flat_map(find_anchors_in_text).find_map(|anchor| match anchor {
        LessonAnchor::Path(path) if !is_there(&path) => Some(path),
        _ => None,
    })
}
