//! Changes of a text, and what takes them back.

use serde::{Deserialize, Serialize};

/// One change of a text: from this byte on, so many bytes give way to others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// Where, in bytes from the beginning.
    pub at: usize,
    /// How many bytes go.
    pub bytes: usize,
    /// What comes in their place.
    pub text: String,
}

/// A text with changes made, which must be in order and apart; `None` where they do not fit it.
pub fn spliced(text: &str, splices: &[Splice]) -> Option<String> {
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

/// What turns the text that [`spliced`] makes back into the one it was made of.
pub(super) fn inverse(text: &str, splices: &[Splice]) -> Vec<Splice> {
    let mut inverse = Vec::with_capacity(splices.len());
    let (mut added, mut gone) = (0, 0);
    for splice in splices {
        let before = text.get(splice.at..splice.at + splice.bytes).unwrap_or_default();
        inverse.push(Splice { at: splice.at + added - gone, bytes: splice.text.len(), text: before.to_owned() });
        added += splice.text.len();
        gone += splice.bytes;
    }
    inverse
}
