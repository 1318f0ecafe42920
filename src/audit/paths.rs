//! Files that an entry names and that are not in the project.

use crate::recall::{Anchor, anchors_in};

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;

/// The first file of the project that the entry names and that is not there. A sentence that speaks of what is made,
/// moved or gone names nothing.
pub(super) fn missing(text: &str, is_there: &dyn Fn(&str) -> bool) -> Option<String> {
    let sentences = text.lines().flat_map(|line| line.split_inclusive(". "));
    sentences.flat_map(anchors_in).find_map(|anchor| match anchor {
        Anchor::Path(path) if !is_there(&path) => Some(path),
        _ => None,
    })
}
