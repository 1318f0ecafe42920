//! Changes of a text, and their inverse.

use serde::{Deserialize, Serialize};

/// One change of a text: bytes from a position on are replaced by others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextSplice {
    /// The position in bytes from the beginning.
    pub at: usize,
    /// The number of bytes to remove.
    pub bytes: usize,
    /// The text to insert in their place.
    pub text: String,
}

/// Applies splices, which must be sorted and must not overlap; `None` if they do not fit the text.
pub(crate) fn apply_splices(text: &str, splices: &[TextSplice]) -> Option<String> {
    let mut made = String::with_capacity(text.len() + splices.iter().map(|splice| splice.text.len()).sum::<usize>());
    let mut done = 0;
    for splice in splices {
        made.push_str(text.get(done..splice.at)?);
        made.push_str(&splice.text);
        done = splice.at.checked_add(splice.bytes)?;
    }
    made.push_str(text.get(done..)?);
    Some(made)
}

/// Returns the splices that undo [`apply_splices`].
pub(super) fn invert_splices(text: &str, splices: &[TextSplice]) -> Vec<TextSplice> {
    let mut inverse = Vec::with_capacity(splices.len());
    let (mut added, mut gone) = (0, 0);
    for splice in splices {
        let before = text.get(splice.at..splice.at + splice.bytes).unwrap_or_default();
        inverse.push(TextSplice { at: splice.at + added - gone, bytes: splice.text.len(), text: before.to_owned() });
        added += splice.text.len();
        gone += splice.bytes;
    }
    inverse
}
